// SPDX-License-Identifier: GPL-2.0-or-later
/* PTWRITE: load the operand and end the block, because PT may request attention. */
#include "soft/branch.h"
#include "soft/operand.h"

#define T0 (SOFT_R_T0 * 8)

SOFT_LOAD_UOP(load32, 32)
{
	c->r[SOFT_R_T0] = m;
	return SOFT_NEXT(c, u);
}

SOFT_LOAD_UOP(load64, 64)
{
	c->r[SOFT_R_T0] = m;
	return SOFT_NEXT(c, u);
}

static __attribute__((noinline, cold)) void report(struct soft *c, const struct soft_uop *u)
{
	const uint64_t value = SOFT_REG(c, u->src, uint64_t);
	const bool wide = u->aux == 8;

	soft_report_ptwrite(c, u, wide ? value : (uint32_t)value, wide);
}

/* src is the value and aux its size in bytes; imm is the next RIP. */
SOFT_UOP(ptwrite)
{
	if (c->gate)
		report(c, u);
	return soft_follow(c, u->ptr, u->imm);
}

bool soft_tr_ptwrite(struct soft_translation *t)
{
	static const struct soft_mem_uop load[2] = {SOFT_MEM_UOP(load32), SOFT_MEM_UOP(load64)};
	struct soft_uop *u;

	if (t->insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return false;
	if (soft_tr_is_mem(t, 0))
		soft_tr_emit_mem(t, &load[t->size == 8], 0, false);
	u = soft_tr_emit(t, ptwrite);
	u->src = soft_tr_is_mem(t, 0) ? T0 : soft_tr_gpr(t, 0);
	u->aux = t->size;
	u->imm = t->next;
	u->ptr = &t->block->link[0];
	t->ends = true;
	return true;
}
