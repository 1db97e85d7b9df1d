/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a decoded instruction to micro-operations. insns.def names for each mnemonic
 * the function here that translates it.
 */
#ifndef VMM_SOFT_TRANSLATE_H
#define VMM_SOFT_TRANSLATE_H

#include <Zydis/Zydis.h>

#include "soft/soft.h"

struct soft_translation {
	struct soft *c;
	const ZydisDecodedInstruction *insn;
	const ZydisDecodedOperand *op; /* all of them, the hidden ones too */
	const uint8_t *code;	       /* its bytes */
	uint64_t ip, next;	       /* RIP of it and after it */
	uint8_t bits;		       /* 16, 32, 64 */
	uint8_t size;		       /* operand bytes: 1, 2, 4, 8 of the first operand */
	uint32_t mode;		       /* enum soft_block_mode */
	uint32_t arg;		       /* of the row in insns.def */
	bool ends;		       /* set: the block ends with this instruction */
	struct soft_block *block;      /* in progress */
};

/*
 * Translate t->insn: append micro-operations, the last one ending with SOFT_NEXT()
 * unless t->ends. False: this form cannot be done, which makes it raise #UD.
 */
typedef bool (*soft_translate_fn)(struct soft_translation *t);

/* Append one, with ip and len filled in and all operands ZERO. */
struct soft_uop *soft_tr_emit(struct soft_translation *t, soft_uop_fn fn);

/* Is operand n a general register, memory, an immediate? */
bool soft_tr_is_gpr(const struct soft_translation *t, unsigned int n);
bool soft_tr_is_mem(const struct soft_translation *t, unsigned int n);
bool soft_tr_is_imm(const struct soft_translation *t, unsigned int n);
/* Bytes of operand n. */
unsigned int soft_tr_size(const struct soft_translation *t, unsigned int n);
/* Offset of a general register (any width, AH too) in the register file. */
uint8_t soft_tr_reg(ZydisRegister reg);
/* The same of operand n. */
uint8_t soft_tr_gpr(const struct soft_translation *t, unsigned int n);
/* Immediate of operand n, sign-extended where the instruction says so. */
uint64_t soft_tr_imm(const struct soft_translation *t, unsigned int n);

/*
 * The address of memory operand n, as base, index, scale and disp of a micro-operation
 * of this instruction: call it first, then emit, then soft_tr_put_address(). Where a
 * segment or the address size matters it emits one that computes the address, checks
 * it and leaves it in EA; `len` bytes are checked against the segment's limit.
 */
struct soft_address {
	uint8_t base, index, scale, flags;
	int64_t disp;
};
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

/* The offset alone, as LEA makes it, in the address size: left in EA. */
void soft_tr_offset(struct soft_translation *t, unsigned int n);

/* Raise an exception when executed. #GP, #SS, #PF... get error code 0. */
void soft_tr_raise(struct soft_translation *t, uint8_t vector);
/* Leave for the core before this instruction when in run(). (The translator `core`
 * below is for instructions that the core alone does.) */
void soft_tr_leave(struct soft_translation *t);

/* Translators, by file. insns_*.def say which does what. */
#define SOFT_TRANSLATOR(name) bool soft_tr_##name(struct soft_translation *t);
#include "soft/translators.def"
#undef SOFT_TRANSLATOR

#endif /* VMM_SOFT_TRANSLATE_H */
