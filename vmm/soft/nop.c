// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions without an effect here: hints, and fences, for there is one processor
 * and its accesses are in order.
 */
#include "soft/operand.h"

/* Not left out: a store before it may change its bytes into something else. */
VPT_UOP(nop)
{
	(void)c;
	return VPT_NEXT(c, u);
}

/* CLFLUSH and its like fault as a load of a byte does. */
VPT_LOAD_UOP(probe, 8)
{
	(void)m;
	return VPT_NEXT(c, u);
}

/* As insns_alu.def has them. */
enum { ROW_NOTHING, ROW_LINE, ROW_UNDEFINED };

bool vpt_tr_nop(struct vpt_translation *t)
{
	static const struct vpt_mem_uop line = VPT_MEM_UOP(probe);

	switch (t->arg) {
	case ROW_NOTHING:
		vpt_tr_emit(t, nop);
		return true;
	case ROW_LINE:
		vpt_tr_emit_bytes(t, &line, 0, 1, false);
		return true;
	default:
		return false;
	}
}
