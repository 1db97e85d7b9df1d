// SPDX-License-Identifier: GPL-2.0-or-later
/* Sum the calls of each node that last long. A long call has long callers. */
#include "decode/durations.h"

#include "trace/vec.h"

bool decode_durations_begin(struct decode_durations *d, uint32_t node, uint64_t insns,
			    uint64_t ticks)
{
	if (!d->min)
		return true;
	while (d->nodes.n <= node) {
		if (!trace_vec_room(&d->nodes))
			return false;
		d->nodes.at[d->nodes.n++] = (struct decode_long_calls){0};
	}
	d->nodes.at[node].insns_at = insns;
	d->nodes.at[node].ticks_at = ticks;
	return true;
}

void decode_durations_end(struct decode_durations *d, uint32_t node, uint64_t insns, uint64_t ticks)
{
	struct decode_long_calls *l;

	if (!d->min || node >= d->nodes.n)
		return;
	l = &d->nodes.at[node];
	insns -= l->insns_at;
	ticks -= l->ticks_at;
	if ((d->unit == DECODE_DURATION_INSNS ? insns : ticks) < d->min)
		return;
	l->count++;
	l->insns += insns;
	l->ticks += ticks;
}
