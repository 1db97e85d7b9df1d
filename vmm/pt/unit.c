// SPDX-License-Identifier: GPL-2.0-or-later
/* Which trace unit a tracer drives. */
#include "pt/unit.h"

#include "pt/tracer.h"

void tracer_unit_act(struct tracer *t, struct vpt_pt *acting)
{
	t->acting = acting;
	t->unit.acts = t->unit.trigger_en = &acting->trigger_en;
	t->unit.packet_en = &acting->packet_en;
	t->unit.may_lose = &acting->slow;
	t->unit.ip_base = &acting->ip_base;
	t->unit.ip_mask = &acting->ip_mask;
}

static void choose_pt(struct tracer *t)
{
	static const bool never;

	t->unit.ops = &tracer_unit_pt;
	t->unit.on = &t->pt.trigger_en;
	t->unit.each_insn = &never;
	tracer_unit_act(t, &t->pt);
}

static void choose_atom(struct tracer *t)
{
	static const bool always = true;
	const struct vpt_atom *a = &t->atom;

	t->acting = &t->pt;
	t->unit = (struct tracer_unit){
		.ops = &tracer_unit_atom,
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

void tracer_unit_choose(struct tracer *t, enum tracer_trace_system system)
{
	if (system == TRACER_SYSTEM_ATOM)
		choose_atom(t);
	else
		choose_pt(t);
}
