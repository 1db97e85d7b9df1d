// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert a tracer to plain data and back, with the bytes that the file does not have yet. */
#include "pt/tracer.h"

#include <errno.h>
#include <string.h>

/* No guest reaches this count, and two such counts can be added without an overflow. */
#define MOST (1ull << 62)

/* Bits of tracer_state.flags. */
#define CR3_KNOWN 1u
#define LOST	  2u

VPT_STATIC_ASSERT(sizeof(struct tracer_state) == sizeof(struct vpt_pt_state) +
							 sizeof(struct vpt_atom_state) + 40 + 8 +
							 4096,
		  "without padding");

void tracer_save(struct tracer *t, struct tracer_state *state)
{
	const struct tracer_recorder *rec = &t->recorder;

	memset(state, 0, sizeof(*state));
	t->unit.ops->save(t, state);
	state->insns = rec->insns;
	state->since_sync = t->since_sync;
	state->bytes = rec->bytes;
	state->place = rec->place;
	if (rec->state & TRACER_RECORDER_CR3_KNOWN) {
		state->oracle_cr3 = rec->oracle_cr3;
		state->flags |= CR3_KNOWN;
	}
	if (rec->state & TRACER_RECORDER_LOST)
		state->flags |= LOST;
}

static bool counts_ok(const struct tracer_state *state)
{
	return state->insns < MOST && state->since_sync < MOST && state->bytes < MOST &&
	       !(state->flags & ~(CR3_KNOWN | LOST));
}

int tracer_load(struct tracer *t, const struct tracer_state *state)
{
	struct tracer_recorder *rec = &t->recorder;

	if (!counts_ok(state) || !t->unit.ops->load(t, state))
		return -EINVAL;
	rec->insns = state->insns;
	t->since_sync = state->since_sync;
	rec->bytes = state->bytes;
	rec->place = state->place;
	rec->oracle_cr3 = state->oracle_cr3;
	rec->state &= ~(uint32_t)(TRACER_RECORDER_CR3_KNOWN | TRACER_RECORDER_LOST);
	if (state->flags & CR3_KNOWN)
		rec->state |= TRACER_RECORDER_CR3_KNOWN;
	if (state->flags & LOST)
		rec->state |= TRACER_RECORDER_LOST;
	return 0;
}
