// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Determine the time of the run or event that is being reported. */
#include "libdecode/pt_time.h"

#include <string.h>

void dec_timing_init(struct dec_timing *t, const struct dec_time_config *config, bool binds)
{
	memset(t, 0, sizeof(*t));
	t->config = *config;
	t->binds = binds;
	t->eligible = true;
}

void dec_timing_forget(struct dec_timing *t)
{
	dec_time_forget(&t->now);
	t->first = t->behind = t->holds = t->from_now = false;
	t->from = 0;
}

void dec_timing_finish(struct dec_timing *t, uint64_t offset)
{
	/* The PSB+ that ends a part belongs to the next part. */
	if (t->now.in_psb || offset == t->psb_end)
		t->now.cycles -= t->now.psb_cycles;
	dec_timing_forget(t);
}

void dec_timing_ran(struct dec_timing *t, const struct dec_block *block, unsigned int first,
		    unsigned int count)
{
	if (first + count < block->insns)
		return;
	switch (block->end) {
	case DEC_END_COND:
	case DEC_END_JUMP_IND:
	case DEC_END_CALL_IND:
	case DEC_END_RET:
	case DEC_END_FAR:
		t->first = false;
		t->from_now = t->from_now || !t->behind;
		break;
	default:
		break;
	}
}

/*
 * Returns an upper bound. Only eligible events, and runs up to the first branch after a timing
 * packet, have the bound of dec_time_hi().
 */
static uint64_t upper(const struct dec_timing *t)
{
	uint64_t hi = dec_time_until(&t->now), by;
	bool exact = t->what == DEC_TIMED_RUN ? t->first && !t->behind : t->what != DEC_TIMED_NONE;

	if (!t->now.known)
		return DEC_NO_BOUND;
	if (exact && t->eligible)
		hi = dec_time_hi(&t->now, &t->config);
	if (!t->has_next)
		return hi;
	by = t->next.at_anchor ? t->next.hi : dec_time_hi(&t->next, &t->config);
	/* An MTC shows that earlier MTCs were dropped. */
	if (t->next.at_anchor && !t->next.has_tsc && t->next.lo > hi && t->next.lo - hi > 1)
		return by;
	return by < hi ? by : hi;
}

static uint64_t lower(const struct dec_timing *t, const struct dec_time *began)
{
	return t->what == DEC_TIMED_RUN && !t->from_now ? t->from : dec_time_lo(began, &t->config);
}

void dec_timing_point(const struct dec_timing *t, struct dec_point *point)
{
	const struct dec_time *began = t->holds && t->what != DEC_TIMED_NONE ? &t->held : &t->now;
	const struct dec_time *of = &t->now;
	bool is_held;

	memset(point, 0, sizeof(*point));
	point->cycles = of->cycles;
	if (!began->known && !t->now.known)
		return;
	point->known = true;
	point->lo = began->known ? lower(t, began) : 0;
	point->hi = upper(t);
	/* The core clock does not have the ratio of CBR. */
	if (point->lo > point->hi) {
		point->lo = 0;
		point->hi = DEC_NO_BOUND;
	}
	is_held = began->known && (t->held_tsc || !t->now.known);
	of = is_held ? began : &t->now;
	point->cycles = of->cycles;
	point->tsc = dec_time_tsc(of, &t->config);
	if (point->tsc < point->lo)
		point->tsc = point->lo;
	if (point->tsc > point->hi)
		point->tsc = point->hi;
}
