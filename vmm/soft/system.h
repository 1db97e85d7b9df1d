/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that system instructions share: segments, descriptor tables, checks. */
#ifndef VMM_SOFT_SYSTEM_H
#define VMM_SOFT_SYSTEM_H

#include "soft/soft.h"
#include "soft/translate.h"

#define SOFT_CR4_VME	  (1ull << 0)
#define SOFT_CR4_PVI	  (1ull << 1)
#define SOFT_CR4_TSD	  (1ull << 2)
#define SOFT_CR4_DE	  (1ull << 3)
#define SOFT_CR4_MCE	  (1ull << 6)
#define SOFT_CR4_PGE	  (1ull << 7)
#define SOFT_CR4_FSGSBASE (1ull << 16)
#define SOFT_CR4_PCIDE	  (1ull << 17)
#define SOFT_CR4_PKE	  (1ull << 22)

/* Segment registers, as instructions and Zydis count them. */
enum soft_seg { SOFT_SEG_ES, SOFT_SEG_CS, SOFT_SEG_SS, SOFT_SEG_DS, SOFT_SEG_FS, SOFT_SEG_GS };

/* descriptor.c */
struct x86_segment *soft_seg_cache(struct soft *c, enum soft_seg n);
/* Return true if [offset, offset + len) may be accessed. Always true in 64-bit mode. */
bool soft_permits(const struct soft *c, const struct x86_segment *s, uint64_t offset, uint64_t len,
		  bool write);
/* Return the linear address of an offset. A failed check raises #GP, or #SS for SS. */
uint64_t soft_linear(struct soft *c, const struct soft_uop *u, enum soft_seg n, uint64_t offset,
		     unsigned int len, bool write);

/* Access a descriptor table or a similar structure, with supervisor rights at any CPL. */
void soft_system_read(struct soft *c, const struct soft_uop *u, uint64_t va, void *to, size_t len);
void soft_system_write(struct soft *c, const struct soft_uop *u, uint64_t va, const void *from,
		       size_t len);

struct soft_descriptor {
	uint64_t at; /* linear address */
	uint64_t raw, high;
	struct x86_segment seg;
};
/*
 * Read a descriptor, which has 16 bytes if `wide`. Return false if the selector is beyond its table
 * or there is no LDT.
 */
bool soft_descriptor(struct soft *c, const struct soft_uop *u, uint16_t selector, bool wide,
		     struct soft_descriptor *d);

/* segment.c */
void soft_load_segment(struct soft *c, const struct soft_uop *u, enum soft_seg n,
		       uint16_t selector);

/* io.c. Raise #GP if this port must not be accessed. */
void soft_check_port(struct soft *c, const struct soft_uop *u, uint16_t port, unsigned int size);

/* query.c. Return the configured leaf, without bits that follow the state; NULL if absent. */
const struct engine_cpuid_entry *soft_cpuid(const struct soft *c, uint32_t leaf, uint32_t subleaf);
/* Return true if this bit of CPUID.7.0:EBX is set. */
bool soft_has7(const struct soft *c, unsigned int ebx_bit);

/* msr.c. Complete the instruction after ENGINE_EXIT_RDMSR or ENGINE_EXIT_WRMSR of step(). */
void soft_msr_complete(struct soft *c, struct engine_exit *exit);

/* Return the register of a 16-bit source operand. A memory operand is loaded into T0. */
uint8_t soft_tr_source16(struct soft_translation *t, unsigned int n);
/* Store T0 in operand n: 16 bits in memory, or the operand size in a register. */
void soft_tr_put_t0(struct soft_translation *t, unsigned int n);

/* Parts of soft_tr_system(), soft_tr_segment() and soft_tr_msr(), by file. */
bool soft_tr_control(struct soft_translation *
			     t); /* control.c: MOV of control and debug registers, CLTS LMSW SMSW */
bool soft_tr_tables(
	struct soft_translation *t); /* tables.c: LGDT LIDT SGDT SIDT LLDT SLDT LTR STR */
bool soft_tr_rights(struct soft_translation *t); /* rights.c: LAR LSL VERR VERW ARPL */
bool soft_tr_query(
	struct soft_translation *t); /* query.c: CPUID RDTSC RDTSCP RDPID RDPMC RDRAND RDSEED */
bool soft_tr_bases(struct soft_translation *t); /* bases.c: RDFSBASE to WRGSBASE, SWAPGS */

#endif /* VMM_SOFT_SYSTEM_H */
