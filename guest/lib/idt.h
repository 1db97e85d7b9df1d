/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts and exceptions. Vectors 0-31 have gates from the start; others get theirs with the
 * first hook.
 *
 * A hook runs with interrupts off on the interrupted stack (ring 3: on RSP0). It may change the
 * frame, to which IRETQ then returns. An exception without a hook is looked up in the fixups
 * (fixup.h). If there is no fixup, the guest prints the frame and fails.
 */
#ifndef GUEST_LIB_IDT_H
#define GUEST_LIB_IDT_H

#include "vpt/base.h"

enum vector {
	VEC_DE = 0,
	VEC_DB = 1,
	VEC_BP = 3,
	VEC_OF = 4,
	VEC_UD = 6,
	VEC_NM = 7,
	VEC_DF = 8,
	VEC_NP = 11,
	VEC_SS = 12,
	VEC_GP = 13,
	VEC_PF = 14,
	VEC_EXCEPTIONS = 32,
	VEC_COUNT = 256,
};

struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector;
	uint64_t error; /* 0 if the vector has no error code */
	uint64_t rip, cs, rflags, rsp, ss;
};

typedef void idt_hook_fn(struct trap_frame *frame);

void idt_init(void);

/* Load IDTR on another processor. SIDT would show the IDTR of a host that hides the guest's. */
void idt_load(void);

/* Set the hook of a vector; NULL removes it. Returns the previous hook. */
idt_hook_fn *idt_hook(uint8_t vector, idt_hook_fn *hook);

/* Set whether a vector's gate is present. Otherwise the vector raises #NP. */
void idt_set_present(uint8_t vector, bool present);

/* Deliver a vector on stack n of the TSS, 0: on the current stack. */
void idt_set_ist(uint8_t vector, unsigned int n);

/* Let ring 3 use INT n with this vector. */
void idt_allow_user(uint8_t vector);

#endif /* GUEST_LIB_IDT_H */
