/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic by the host's own instruction, so that every flag has the value that silicon gives it.
 * This includes undefined flags. `insn` is the instruction as a string and `s` its suffix ("b",
 * "w", "l", "q"). `fl` is an lvalue of 16 bits with the layout of soft.fl.
 */
#ifndef VMM_SOFT_ALU_FLAGS_H
#define VMM_SOFT_ALU_FLAGS_H

#include "soft/flagcond.h"

/* Load AX with the flags in the layout of `fl`. No flag changes. */
#define SOFT_FLAGS_OUT "\n\tlahf\n\tseto %%al"
/* Set the flags from AX. OF is in AL, and the addition overflows if AL is 1. */
#define SOFT_FLAGS_IN "addb $0x7f, %%al\n\tsahf\n\t"
/* Set only CF. */
#define SOFT_CARRY_IN "btw $8, %w[in]\n\t"

/* a = a insn b */
#define SOFT_ALU_ASM(insn, s, a, b, fl) \
	asm(insn s " %2, %1" SOFT_FLAGS_OUT : "=a"(fl), "+q"(a) : "qm"(b))
#define SOFT_ALU_ASM_CARRY(insn, s, a, b, fl)             \
	asm(SOFT_CARRY_IN insn s " %2, %1" SOFT_FLAGS_OUT \
	    : "=a"(fl), "+q"(a)                           \
	    : "qm"(b), [in] "rm"(fl))
/* For instructions that keep undefined flags on some processors, such as multiplication. */
#define SOFT_ALU_ASM_FULL(insn, s, a, b, fl) \
	asm(SOFT_FLAGS_IN insn s " %2, %1" SOFT_FLAGS_OUT : "+&a"(fl), "+q"(a) : "qm"(b))
/* The same operation with `a` in memory. */
#define SOFT_ALU_MEM(insn, s, a, b, fl) \
	asm(insn s " %2, %1" SOFT_FLAGS_OUT : "=a"(fl), "+m"(a) : "q"(b))
#define SOFT_ALU_MEM_CARRY(insn, s, a, b, fl)             \
	asm(SOFT_CARRY_IN insn s " %2, %1" SOFT_FLAGS_OUT \
	    : "=a"(fl), "+m"(a)                           \
	    : "q"(b), [in] "r"(fl))
/* Set only the flags: CMP and TEST. */
#define SOFT_CMP_ASM(insn, s, a, b, fl) \
	asm(insn s " %2, %1" SOFT_FLAGS_OUT : "=a"(fl) : "q"(a), "qm"(b))

/* a = insn a. The CARRY forms load CF first, because INC and DEC preserve it. */
#define SOFT_UNARY_ASM(insn, s, a, fl) asm(insn s " %1" SOFT_FLAGS_OUT : "=a"(fl), "+q"(a))
#define SOFT_UNARY_ASM_CARRY(insn, s, a, fl) \
	asm(SOFT_CARRY_IN insn s " %1" SOFT_FLAGS_OUT : "=a"(fl), "+q"(a) : [in] "rm"(fl))
#define SOFT_UNARY_MEM(insn, s, a, fl) asm(insn s " %1" SOFT_FLAGS_OUT : "=a"(fl), "+m"(a))
#define SOFT_UNARY_MEM_CARRY(insn, s, a, fl) \
	asm(SOFT_CARRY_IN insn s " %1" SOFT_FLAGS_OUT : "=a"(fl), "+m"(a) : [in] "r"(fl))

/*
 * Shift `a` by `count`. The FULL form loads all flags first, because some survive, and a count of 0
 * preserves all.
 */
#define SOFT_SHIFT_ASM(insn, s, a, count, fl) \
	asm(insn s " %%cl, %1" SOFT_FLAGS_OUT : "=a"(fl), "+q"(a) : "c"(count))
#define SOFT_SHIFT_ASM_FULL(insn, s, a, count, fl) \
	asm(SOFT_FLAGS_IN insn s " %%cl, %1" SOFT_FLAGS_OUT : "+a"(fl), "+q"(a) : "c"(count))

/*
 * A comparison together with its branch. The bool `holds` becomes true if condition `cc` (z, nbe...
 * of SOFT_CONDITIONS()) holds after the instruction.
 */
#define SOFT_CMP_ASM_COND(insn, s, a, b, fl, cc, holds) \
	asm(insn s " %3, %2" SOFT_FLAGS_OUT : "=a"(fl), "=@cc" #cc(holds) : "q"(a), "qm"(b))
#define SOFT_ALU_ASM_COND(insn, s, a, b, fl, cc, holds) \
	asm(insn s " %3, %1" SOFT_FLAGS_OUT : "=a"(fl), "+q"(a), "=@cc" #cc(holds) : "qm"(b))
#define SOFT_UNARY_ASM_CARRY_COND(insn, s, a, fl, cc, holds) \
	asm(SOFT_CARRY_IN insn s " %1" SOFT_FLAGS_OUT        \
	    : "=a"(fl), "+q"(a), "=@cc" #cc(holds)           \
	    : [in] "rm"(fl))

#endif /* VMM_SOFT_ALU_FLAGS_H */
