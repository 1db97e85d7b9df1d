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

struct x86_segment {
	uint64_t base;
	uint32_t limit;
	uint16_t selector;
	uint8_t type, dpl;
	bool s, present, l, db, g, avl, unusable;
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

/* Return the segment of an eight-byte descriptor (SDM vol. 3, 3.4.5). */
static inline struct x86_segment x86_segment_unpack(uint16_t selector, uint64_t raw)
{
	uint32_t limit = (uint32_t)(raw & 0xffff) | (uint32_t)(raw >> 32 & 0xf0000);
	bool g = raw >> 55 & 1;

	return (struct x86_segment){
		.base = (raw >> 16 & 0xffffff) | (raw >> 32 & 0xff000000),
		.limit = g ? limit << 12 | 0xfff : limit,
		.selector = selector,
		.type = raw >> 40 & 15,
		.s = raw >> 44 & 1,
		.dpl = raw >> 45 & 3,
		.present = raw >> 47 & 1,
		.avl = raw >> 52 & 1,
		.l = raw >> 53 & 1,
		.db = raw >> 54 & 1,
		.g = g,
	};
}

#endif /* VMM_X86_ARCH_H */
