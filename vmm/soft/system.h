/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the instructions of an operating system share: segments, tables, checks. */
#ifndef VMM_SOFT_SYSTEM_H
#define VMM_SOFT_SYSTEM_H

#include "soft/soft.h"
#include "soft/translate.h"

#define VPT_CR4_VME	 (1ull << 0)
#define VPT_CR4_PVI	 (1ull << 1)
#define VPT_CR4_TSD	 (1ull << 2)
#define VPT_CR4_DE	 (1ull << 3)
#define VPT_CR4_MCE	 (1ull << 6)
#define VPT_CR4_PGE	 (1ull << 7)
#define VPT_CR4_FSGSBASE (1ull << 16)
#define VPT_CR4_PCIDE	 (1ull << 17)
#define VPT_CR4_PKE	 (1ull << 22)

/* Segment registers, as instructions and Zydis count them. */
enum vpt_seg { VPT_SEG_ES, VPT_SEG_CS, VPT_SEG_SS, VPT_SEG_DS, VPT_SEG_FS, VPT_SEG_GS };

/* descriptor.c */
struct vpt_segment *vpt_soft_seg(struct vpt_soft *c, enum vpt_seg n);
/* May [offset, offset + len) be accessed? Always in 64-bit mode. */
bool vpt_soft_permits(const struct vpt_soft *c, const struct vpt_segment *s, uint64_t offset,
		      uint64_t len, bool write);
/* The linear address of an offset, all checks made: #GP, or #SS for the stack. */
uint64_t vpt_soft_linear(struct vpt_soft *c, const struct vpt_uop *u, enum vpt_seg n,
			 uint64_t offset, unsigned int len, bool write);

/* Tables of the processor itself, which CPL has no say in. */
void vpt_soft_system_read(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, void *to,
			  size_t len);
void vpt_soft_system_write(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va,
			   const void *from, size_t len);

struct vpt_descriptor {
	uint64_t at; /* linear address */
	uint64_t raw, high;
	struct vpt_segment seg;
};
/* False: the selector is beyond its table. `wide`: it has 16 bytes. */
bool vpt_soft_descriptor(struct vpt_soft *c, const struct vpt_uop *u, uint16_t selector, bool wide,
			 struct vpt_descriptor *d);

/* segment.c */
void vpt_soft_load_segment(struct vpt_soft *c, const struct vpt_uop *u, enum vpt_seg n,
			   uint16_t selector);

/* io.c: may this port be accessed? If not, #GP. */
void vpt_soft_check_port(struct vpt_soft *c, const struct vpt_uop *u, uint16_t port,
			 unsigned int size);

/* query.c: the table alone, without what follows from the state; NULL: no such leaf. */
const struct vpt_cpuid_entry *vpt_soft_cpuid(const struct vpt_soft *c, uint32_t leaf,
					     uint32_t subleaf);
bool vpt_soft_has7(const struct vpt_soft *c, unsigned int ebx_bit);

/* msr.c: after VPT_EXIT_RDMSR or WRMSR of step(). */
void vpt_soft_msr_complete(struct vpt_soft *c, struct vpt_exit *exit);

/* Where a 16-bit source is: operand n itself, or T0 to which it has been loaded. */
uint8_t vpt_tr_source16(struct vpt_translation *t, unsigned int n);
/* Store T0 to operand n: 16 bits to memory, a register whole. */
void vpt_tr_put_t0(struct vpt_translation *t, unsigned int n);

/* Parts of vpt_tr_system(), vpt_tr_segment() and vpt_tr_msr(), by file. */
bool vpt_tr_control(struct vpt_translation
			    *t); /* control.c: MOV of control and debug registers, CLTS LMSW SMSW */
bool vpt_tr_tables(struct vpt_translation *t); /* tables.c: LGDT LIDT SGDT SIDT LLDT SLDT LTR STR */
bool vpt_tr_rights(struct vpt_translation *t); /* rights.c: LAR LSL VERR VERW ARPL */
bool vpt_tr_query(struct vpt_translation *t);  /* query.c: CPUID RDTSC RDTSCP RDPID RDPMC */
bool vpt_tr_bases(struct vpt_translation *t);  /* bases.c: RDFSBASE to WRGSBASE, SWAPGS */

#endif /* VMM_SOFT_SYSTEM_H */
