// SPDX-License-Identifier: GPL-2.0-or-later
/* Save and restore the core's state of a vCPU. */
#include "core/vcpu_save.h"
#include "core/debug.h"
#include "core/irq.h"

#include <string.h>

/* The causes that a load of SS can defer: B0 to B3, BS. */
#define DEBUG_CAUSES (0xfull | X86_DR6_BS)

VPT_STATIC_ASSERT(sizeof(struct core_vcpu_state) == 40 + 14 * 8 + 88, "a part of a file format");

VPT_STATIC_ASSERT(CORE_VCPU_FLAGS == (1 << 11) - 1, "a part of a file format");

/* Replace the bits of @mask by those of @from. */
static void load_bits(uint32_t *word, uint32_t from, uint32_t mask)
{
	*word = (*word & ~mask) | (from & mask);
}

void core_vcpu_save(struct core_vcpu *v, struct core_vcpu_state *state)
{
	const struct core_irq *irq = &v->irq;

	memset(state, 0, sizeof(*state));
	state->flags = (v->pending | v->shadowed | irq->pending) & CORE_VCPU_FLAGS;
	state->timer_vector = irq->timer_vector;
	state->pmi_vector = irq->pmi_vector;
	state->debug_pending = v->debug_pending;
	state->steps = v->steps;
	state->turn_end = v->pending & CORE_VCPU_YIELDS ? 0 : v->turn_end;
	state->tsc_limit = v->engine->can & ENGINE_REPORTS ? v->ev->tsc_limit : UINT64_MAX;
	core_perfmon_save(v, &state->perfmon);
	core_wait_save(v, &state->wait);
}

bool core_vcpu_restore(struct core_vcpu *v, const struct core_vcpu_state *state)
{
	struct core_irq *irq = &v->irq;
	uint32_t flags = state->flags;

	if (flags & ~(uint32_t)CORE_VCPU_FLAGS || state->reserved ||
	    state->debug_pending & ~DEBUG_CAUSES || !core_perfmon_load(v, &state->perfmon) ||
	    !core_wait_load(v, &state->wait))
		return false;
	load_bits(&v->pending, flags, CORE_VCPU_PENDING_SAVED);
	load_bits(&v->shadowed, flags, CORE_VCPU_SHADOWED_SAVED);
	load_bits(&irq->pending, flags, CORE_IRQ_SAVED);
	irq->timer_vector = state->timer_vector;
	irq->pmi_vector = state->pmi_vector;
	v->debug_pending = state->debug_pending;
	v->steps = state->steps;
	v->turn_end = state->turn_end;
	v->ev->tsc_limit = state->tsc_limit;
	core_vcpu_load(v);
	if (core_vcpu_counts(v))
		return true;
	/* The host's clocks begin now. */
	v->way &= ~(uint32_t)CORE_WAY_UNTRACED;
	v->way |= CORE_WAY_RAN_FREE | CORE_WAY_STEP_TO_PLAIN;
	core_put_bit(&v->way, CORE_WAY_BREAKPOINTS, core_debug_set(v));
	return true;
}
