// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions without effect here: hints, and fences, because the only processor makes its
 * accesses in order.
 */
#include "soft/operand.h"

/*
 * Even a NOP needs a micro-operation. If an earlier store in the block changes the NOP, execution
 * must leave the block here.
 */
SOFT_UOP(nop)
{
	(void)c;
	return SOFT_NEXT(c, u);
}

/* CLFLUSH and similar instructions fault like a load of a byte. */
SOFT_LOAD_UOP(probe, 8)
{
	(void)m;
	return SOFT_NEXT(c, u);
}

/* F3 90 with REX.B is XCHG of R8 and the accumulator, not PAUSE. */
#define NOP_XCHG(bits)                                                              \
	SOFT_UOP(xchg_r8_##bits)                                                    \
	{                                                                           \
		const uint##bits##_t a = (uint##bits##_t)c->r[SOFT_R_RAX];          \
                                                                                    \
		soft_put##bits(c, SOFT_R_RAX * 8, (uint##bits##_t)c->r[SOFT_R_R8]); \
		soft_put##bits(c, SOFT_R_R8 * 8, a);                                \
		return SOFT_NEXT(c, u);                                             \
	}

NOP_XCHG(16)
NOP_XCHG(32)
NOP_XCHG(64)

/* Rows of insns_alu.def. */
enum { ROW_NOTHING, ROW_LINE, ROW_UNDEFINED };

bool soft_tr_nop(struct soft_translation *t)
{
	static const struct soft_mem_uop line = SOFT_MEM_UOP(probe);

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_PAUSE && t->insn->raw.rex.B) {
		soft_tr_emit(t, t->insn->operand_width == 64   ? xchg_r8_64
				: t->insn->operand_width == 16 ? xchg_r8_16
							       : xchg_r8_32);
		return true;
	}
	switch (t->arg) {
	case ROW_NOTHING:
		soft_tr_emit(t, nop);
		return true;
	case ROW_LINE:
		soft_tr_emit_bytes(t, &line, 0, 1, false);
		return true;
	default:
		return false;
	}
}
