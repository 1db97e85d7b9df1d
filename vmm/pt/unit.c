// SPDX-License-Identifier: GPL-2.0-or-later
/* Which trace unit a tracer drives. */
#include "pt/unit.h"

#include "pt/tracer.h"

void vpt_unit_act(struct vpt_tracer *t, struct vpt_pt *acting)
{
	t->acting = acting;
	t->unit.acts = t->unit.trigger_en = &acting->trigger_en;
	t->unit.packet_en = &acting->packet_en;
	t->unit.may_lose = &acting->slow;
	t->unit.ip_base = &acting->ip_base;
	t->unit.ip_mask = &acting->ip_mask;
}

static void choose_pt(struct vpt_tracer *t)
{
	static const bool never;

	t->unit.ops = &vpt_unit_pt;
	t->unit.on = &t->pt.trigger_en;
	t->unit.each_insn = &never;
	vpt_unit_act(t, &t->pt);
}

static void choose_atom(struct vpt_tracer *t)
{
	static const bool always = true;
	const struct vpt_atom *a = &t->atom;

	t->acting = &t->pt;
	t->unit = (struct vpt_unit){
		.ops = &vpt_unit_atom,
		.on = &a->watches,
		.acts = &a->watches,
		.trigger_en = &a->trigger_en,
		.packet_en = &a->packet_en,
		.each_insn = &a->each_insn,
		.may_lose = &always,
		.ip_base = &a->ip_base,
		.ip_mask = &a->ip_mask,
	};
}

void vpt_unit_choose(struct vpt_tracer *t, enum vpt_trace_system system)
{
	if (system == VPT_SYSTEM_RTIT)
		choose_atom(t);
	else
		choose_pt(t);
}
