/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This header is shared by the compilers of plain micro-operations: plain.c, special.c, defer.c. */
#ifndef VMM_SOFT_COMPILE_PLAIN_H
#define VMM_SOFT_COMPILE_PLAIN_H

#include "soft/compile/compiler.h"

/* Return the opcode for operands of 1 << size bytes, from that for bytes. */
static inline unsigned int soft_width(unsigned int opcode, unsigned int size)
{
	return opcode | (size != 0);
}

/* defer.c */
/* Returns true if the micro-operation changes this register of the guest. */
bool soft_changes(const struct soft_uop *u, unsigned int slot);

/* plain.c */
/* Emit an immediate of the operand's size, sign-extended from 32 bits for 64-bit operands. */
void soft_emit_immediate(struct soft_compiler *g, unsigned int size, uint64_t imm);
/* The host's flags are all of the guest's after u. Changes RAX. */
void soft_flags_out(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end);

/* special.c */
/* Returns true if an operand of u is AH, CH, DH or BH. */
static inline bool soft_has_high(const struct soft_uop *u)
{
	return (u->dst | u->src) & 7;
}
/* Returns true if there is code for u, which has such an operand. */
bool soft_can_high(const struct soft_uop *u);
void soft_emit_high(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end);
/* Emit an instruction of the kinds that plain.c does not have. */
void soft_emit_special(struct soft_compiler *g, const struct soft_uop *u,
		       const struct soft_uop *end);

#endif /* VMM_SOFT_COMPILE_PLAIN_H */
