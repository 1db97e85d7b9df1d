// SPDX-License-Identifier: GPL-2.0-or-later
/* PTWRITE: a load, and the end of a block, as what PT makes of it may want a look around. */
#include "soft/branch.h"
#include "soft/operand.h"

#define T0 (VPT_R_T0 * 8)

VPT_LOAD_UOP(load32, 32)
{
	c->r[VPT_R_T0] = m;
	return VPT_NEXT(c, u);
}

VPT_LOAD_UOP(load64, 64)
{
	c->r[VPT_R_T0] = m;
	return VPT_NEXT(c, u);
}

static __attribute__((noinline, cold)) void report(struct vpt_soft *c, const struct vpt_uop *u)
{
	const uint64_t value = VPT_REG(c, u->src, uint64_t);
	const struct vpt_event event = {
		.kind = VPT_EV_PTWRITE,
		.flags = u->aux == 8 ? VPT_EVF_WIDE : 0,
		.from = u->ip,
		.to = u->imm,
		.value = u->aux == 8 ? value : (uint32_t)value,
	};

	vpt_soft_report(c, u, &event);
}

/* src: the value, aux: its bytes; imm: the next RIP. */
VPT_UOP(ptwrite)
{
	if (c->pt)
		report(c, u);
	return vpt_follow(c, u->ptr, u->imm);
}

bool vpt_tr_ptwrite(struct vpt_translation *t)
{
	static const struct vpt_mem_uop load[2] = {VPT_MEM_UOP(load32), VPT_MEM_UOP(load64)};
	struct vpt_uop *u;

	if (t->insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return false;
	if (vpt_tr_is_mem(t, 0))
		vpt_tr_emit_mem(t, &load[t->size == 8], 0, false);
	u = vpt_tr_emit(t, ptwrite);
	u->src = vpt_tr_is_mem(t, 0) ? T0 : vpt_tr_gpr(t, 0);
	u->aux = t->size;
	u->imm = t->next;
	u->ptr = &t->block->link[0];
	t->ends = true;
	return true;
}
