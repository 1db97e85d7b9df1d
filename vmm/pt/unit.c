// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the trace unit that a tracer drives. */
#include "pt/unit.h"

#include "pt/tracer.h"

void tracer_unit_act(struct tracer *t, struct vpt_pt *acting)
{
	t->acting = acting;
	if (t->config.flags & TRACER_CONFIG_VMX)
		t->recorder.vmx = &acting->vmx;
	t->unit.acts = &acting->gate;
	t->unit.ip_base = &acting->ip_base;
	t->unit.ip_mask = &acting->ip_mask;
}

static void choose_pt(struct tracer *t)
{
	t->unit.ops = &tracer_unit_pt;
	t->unit.gate = &t->pt.gate;
	tracer_unit_act(t, &t->pt);
}

static void choose_atom(struct tracer *t)
{
	struct vpt_atom *a = &t->atom;

	tracer_unit_act(t, &t->pt);
	t->unit = (struct tracer_unit){
		.ops = &tracer_unit_atom,
		.gate = &a->gate,
		.acts = &a->gate,
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
