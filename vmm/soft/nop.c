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

/* Rows of insns_alu.def. */
enum { ROW_NOTHING, ROW_LINE, ROW_UNDEFINED };

bool soft_tr_nop(struct soft_translation *t)
{
	static const struct soft_mem_uop line = SOFT_MEM_UOP(probe);

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
