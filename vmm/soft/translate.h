/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translate decoded instructions to micro-operations. insns_*.def name the translator of each
 * mnemonic.
 */
#ifndef VMM_SOFT_TRANSLATE_H
#define VMM_SOFT_TRANSLATE_H

#include <Zydis/Zydis.h>

#include "soft/soft.h"

struct soft_translation {
	struct soft *c;
	const ZydisDecodedInstruction *insn;
	const ZydisDecodedOperand *op;	/* all operands, including hidden ones */
	const uint8_t *code;		/* the bytes of the instruction */
	uint64_t ip, next;		/* RIP of the instruction and of the next */
	uint8_t bits;			/* of the code: 16, 32, 64 */
	uint8_t size;			/* bytes of the first operand; 0 if there is none */
	uint32_t mode;			/* enum soft_block_mode */
	uint32_t arg;			/* the argument of the row in insns_*.def */
	bool ends;			/* if true, the block ends with this instruction */
	struct soft_block *block;	/* the block in progress */
	struct engine_stretch *stretch; /* its instructions for the log, or NULL */
};

/*
 * Translate t->insn to micro-operations. The last one must end with SOFT_NEXT() unless t->ends is
 * set. Return false if this form is not supported. The instruction then raises #UD.
 */
typedef bool (*soft_translate_fn)(struct soft_translation *t);

/* Append a micro-operation with ip and len filled in. All its operands are ZERO. */
struct soft_uop *soft_tr_emit(struct soft_translation *t, soft_uop_fn fn);

/* Return true if operand n is a general register, memory or an immediate. */
bool soft_tr_is_gpr(const struct soft_translation *t, unsigned int n);
bool soft_tr_is_mem(const struct soft_translation *t, unsigned int n);
bool soft_tr_is_imm(const struct soft_translation *t, unsigned int n);
/* Return the size of operand n in bytes. */
unsigned int soft_tr_size(const struct soft_translation *t, unsigned int n);
/* Return the offset of a general register (any width, AH too) in the register file. */
uint8_t soft_tr_reg(ZydisRegister reg);
/* Return the same for operand n, which must be a general register. */
uint8_t soft_tr_gpr(const struct soft_translation *t, unsigned int n);
/* Return the immediate of operand n, sign-extended if the instruction does so. */
uint64_t soft_tr_imm(const struct soft_translation *t, unsigned int n);

/* The address of a memory operand, as the fields of a micro-operation. */
struct soft_address {
	uint8_t base, index, scale, flags;
	int64_t disp;
};
/*
 * Return the address of memory operand n. Call this function first. Then emit the micro-operation
 * that accesses memory, and pass the address to soft_tr_put_address().
 *
 * If a segment or the address size matters, this function itself emits a micro-operation. It
 * computes the address, checks `len` bytes against the segment's limit, and sets EA.
 */
struct soft_address soft_tr_address(struct soft_translation *t, unsigned int n, unsigned int len,
				    bool write);
static inline void soft_tr_put_address(struct soft_uop *u, const struct soft_address *a)
{
	u->base = a->base;
	u->index = a->index;
	u->scale = a->scale;
	u->flags |= a->flags;
	u->disp = a->disp;
}

/* Emit the computation of the offset alone into EA, truncated to the address size, as by LEA. */
void soft_tr_offset(struct soft_translation *t, unsigned int n);

/* Emit a micro-operation that raises an exception. #GP, #SS, #PF... get error code 0. */
void soft_tr_raise(struct soft_translation *t, uint8_t vector);
/*
 * Make run(), but not step(), leave to the core before this instruction. (The translator `core`
 * below is for instructions that only the core executes.)
 */
void soft_tr_leave(struct soft_translation *t);

/* The translators. insns_*.def assign instructions to them. */
#define SOFT_TRANSLATOR(name) bool soft_tr_##name(struct soft_translation *t);
#include "soft/translators.def"
#undef SOFT_TRANSLATOR

#endif /* VMM_SOFT_TRANSLATE_H */
