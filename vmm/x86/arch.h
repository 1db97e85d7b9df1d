/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a processor, and the packing of segments into descriptors. */
#ifndef VMM_X86_ARCH_H
#define VMM_X86_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* The order is that of KVM's struct, so that a run page can be used in place. */
struct x86_regs {
	uint64_t rax, rbx, rcx, rdx;
	uint64_t rsi, rdi, rsp, rbp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip, rflags;
};

/*
 * The access rights of a segment, in the layout of the access-rights fields of a VMCS (SDM vol. 3,
 * 25.4.1). The low 16 bits are also those of a descriptor from its bit 40 on.
 */
#define X86_AR_ACCESSED	 (1u << 0)
#define X86_AR_RW	 (1u << 1) /* data can be written, code can be read */
#define X86_AR_DC	 (1u << 2) /* data expands down, code is conforming */
#define X86_AR_EXEC	 (1u << 3)
#define X86_AR_TYPE	 (15u << 0)
#define X86_AR_S	 (1u << 4)
#define X86_AR_DPL_SHIFT 5
#define X86_AR_DPL	 (3u << X86_AR_DPL_SHIFT)
#define X86_AR_P	 (1u << 7)
#define X86_AR_AVL	 (1u << 12)
#define X86_AR_L	 (1u << 13)
#define X86_AR_DB	 (1u << 14)
#define X86_AR_G	 (1u << 15)
#define X86_AR_UNUSABLE	 (1u << 16)

/* Present segments that have been accessed: data that can be written, code that can be read. */
#define X86_AR_DATA (X86_AR_P | X86_AR_S | X86_AR_RW | X86_AR_ACCESSED)
#define X86_AR_CODE (X86_AR_DATA | X86_AR_EXEC)
#define X86_AR_TSS  (X86_AR_P | 11u) /* busy, 32-bit or 64-bit */

struct x86_segment {
	uint64_t base;
	uint32_t limit;
	uint16_t selector;
	uint32_t ar; /* X86_AR_* */
};

struct x86_table {
	uint64_t base;
	uint16_t limit;
};

struct x86_sregs {
	struct x86_segment cs, ds, es, fs, gs, ss, tr, ldt;
	struct x86_table gdt, idt;
	uint64_t cr0, cr2, cr3, cr4, efer;
};

static inline uint8_t x86_segment_type(const struct x86_segment *s)
{
	return s->ar & X86_AR_TYPE;
}

static inline uint8_t x86_segment_dpl(const struct x86_segment *s)
{
	return (s->ar & X86_AR_DPL) >> X86_AR_DPL_SHIFT;
}

static inline void x86_segment_set_dpl(struct x86_segment *s, uint8_t dpl)
{
	s->ar = (s->ar & ~X86_AR_DPL) | ((uint32_t)dpl << X86_AR_DPL_SHIFT & X86_AR_DPL);
}

/* Returns true if the segment is marked present and usable. */
static inline bool x86_segment_usable(const struct x86_segment *s)
{
	return (s->ar & (X86_AR_P | X86_AR_UNUSABLE)) == X86_AR_P;
}

/* Set all bits of @mask in the access rights if @on, or else clear them. */
static inline void x86_segment_set(struct x86_segment *s, uint32_t mask, bool on)
{
	s->ar = on ? s->ar | mask : s->ar & ~mask;
}

/* Return the segment of an eight-byte descriptor (SDM vol. 3, 3.4.5). */
static inline struct x86_segment x86_segment_unpack(uint16_t selector, uint64_t raw)
{
	uint32_t limit = (uint32_t)(raw & 0xffff) | (uint32_t)(raw >> 32 & 0xf0000);
	uint32_t ar = raw >> 40 & 0xf0ff;

	return (struct x86_segment){
		.base = (raw >> 16 & 0xffffff) | (raw >> 32 & 0xff000000),
		.limit = ar & X86_AR_G ? limit << 12 | 0xfff : limit,
		.selector = selector,
		.ar = ar,
	};
}

#endif /* VMM_X86_ARCH_H */
