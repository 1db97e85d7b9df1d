// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions without effect here: hints, and fences, because one processor runs at a time and
 * makes its accesses in order. PAUSE lets another one run.
 */
#include "soft/kind.h"
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

SOFT_UOP(pause)
{
	if (c->call & SOFT_STEP || c->base.tsc_limit == UINT64_MAX)
		return SOFT_NEXT(c, u);
	c->r[SOFT_R_RIP] = c->bits == 64 ? u->ip + u->len : (uint32_t)(u->ip + u->len);
	return soft_leave(c, u, true, ENGINE_EXIT_PAUSE);
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
		if (t->insn->mnemonic == ZYDIS_MNEMONIC_PAUSE)
			soft_tr_emit(t, pause);
		else
			soft_tr_emit(t, nop)->kind = SOFT_KIND(SOFT_K_NOP, SOFT_K_RR, 2, 0);
		return true;
	case ROW_LINE:
		soft_tr_emit_bytes(t, &line, 0, 1, false);
		return true;
	default:
		return false;
	}
}
