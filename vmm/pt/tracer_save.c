// SPDX-License-Identifier: GPL-2.0-or-later
/* A tracer as plain data and back, with what it has not yet given to the file. */
#include "pt/tracer.h"

#include <errno.h>
#include <string.h>

/* No guest lives so long; and counts can be added without a look. */
#define MOST (1ull << 62)

/* Of the flags. */
#define CR3_KNOWN 1u
#define LOST	  2u

VPT_STATIC_ASSERT(sizeof(struct tracer_state) == sizeof(struct vpt_pt_state) +
							 sizeof(struct vpt_atom_state) + 40 + 8 +
							 4096,
		  "without padding");

void tracer_save(struct tracer *t, struct tracer_state *state)
{
	memset(state, 0, sizeof(*state));
	t->unit.ops->save(t, state);
	state->insns = t->insns;
	state->since_sync = t->since_sync;
	state->bytes = t->bytes;
	state->told = t->told;
	if (t->oracle_cr3_known)
		state->oracle_cr3 = t->oracle_cr3;
	state->flags = (t->oracle_cr3_known ? CR3_KNOWN : 0) | (t->lost ? LOST : 0);
}

static bool counts_ok(const struct tracer_state *state)
{
	return state->insns < MOST && state->since_sync < MOST && state->bytes < MOST &&
	       !(state->flags & ~(CR3_KNOWN | LOST));
}

int tracer_load(struct tracer *t, const struct tracer_state *state)
{
	if (!counts_ok(state) || !t->unit.ops->load(t, state))
		return -EINVAL;
	t->insns = state->insns;
	t->since_sync = state->since_sync;
	t->bytes = state->bytes;
	t->told = state->told;
	t->oracle_cr3 = state->oracle_cr3;
	t->oracle_cr3_known = state->flags & CR3_KNOWN;
	t->lost = state->flags & LOST;
	return 0;
}
