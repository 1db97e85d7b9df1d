// SPDX-License-Identifier: GPL-2.0-or-later
/* A vCPU as the core knows it, as plain data and back. */
#include "core/vcpu_save.h"
#include "core/irq.h"

#include <string.h>

/* Causes that a load of SS can hold back: B0 to B3, BS. */
#define DEBUG_CAUSES (0xfull | VPT_DR6_BS)

VPT_STATIC_ASSERT(sizeof(struct vpt_vcpu_state) == 24 + 14 * 8 + 88, "a part of a file format");

static uint32_t flag(bool set, uint32_t bit)
{
	return set ? bit : 0;
}

void vpt_vcpu_save(struct vpt_vcpu *v, struct vpt_vcpu_state *state)
{
	const struct vpt_irq *irq = &v->irq;

	memset(state, 0, sizeof(*state));
	state->flags =
		flag(v->halted, VPT_VCPU_HALTED) | flag(v->shadow, VPT_VCPU_SHADOW) |
		flag(v->arrived, VPT_VCPU_ARRIVED) | flag(v->nmi_blocked, VPT_VCPU_NMI_BLOCKED) |
		flag(v->after_ss, VPT_VCPU_AFTER_SS) | flag(irq->timer_due, VPT_VCPU_TIMER_DUE) |
		flag(irq->pmi_raised, VPT_VCPU_PMI_RAISED) | flag(irq->pmi_due, VPT_VCPU_PMI_DUE);
	state->timer_vector = irq->timer_vector;
	state->pmi_vector = irq->pmi_vector;
	state->debug_pending = v->debug_pending;
	state->steps = v->steps;
	vpt_perfmon_save(v, &state->perfmon);
	vpt_wait_save(v, &state->wait);
}

bool vpt_vcpu_restore(struct vpt_vcpu *v, const struct vpt_vcpu_state *state)
{
	struct vpt_irq *irq = &v->irq;
	uint32_t flags = state->flags;

	if (flags & ~(uint32_t)VPT_VCPU_FLAGS || state->reserved ||
	    state->debug_pending & ~DEBUG_CAUSES || !vpt_perfmon_load(v, &state->perfmon) ||
	    !vpt_wait_load(v, &state->wait))
		return false;
	v->halted = flags & VPT_VCPU_HALTED;
	v->shadow = flags & VPT_VCPU_SHADOW;
	v->arrived = flags & VPT_VCPU_ARRIVED;
	v->nmi_blocked = flags & VPT_VCPU_NMI_BLOCKED;
	v->after_ss = flags & VPT_VCPU_AFTER_SS;
	irq->timer_due = flags & VPT_VCPU_TIMER_DUE;
	irq->pmi_raised = flags & VPT_VCPU_PMI_RAISED;
	irq->pmi_due = flags & VPT_VCPU_PMI_DUE;
	irq->timer_vector = state->timer_vector;
	irq->pmi_vector = state->pmi_vector;
	v->debug_pending = state->debug_pending;
	v->steps = state->steps;
	vpt_vcpu_load(v);
	return true;
}
