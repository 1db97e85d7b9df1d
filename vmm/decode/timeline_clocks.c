// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of the timeline, which convert core clocks to TSC ticks, and the marks that anchor
 * them in time.
 */
#include "decode/timeline_scan.h"

__extension__ typedef unsigned __int128 u128;

/* The number of core clocks from which measured spans give a better ratio than CBR. */
#define CALIBRATED 1024
/* The maximum number of core clocks in one packet. Only a hostile stream has more. */
#define CYC_MAX (UINT64_C(1) << 40)

uint64_t decode_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	u128 q = (u128)a * b / c;

	return q > DECODE_NEVER ? DECODE_NEVER : (uint64_t)q;
}

/* Convert `cycles` to parts of TSC ticks at a ratio. */
static uint64_t parts(const struct decode_timeline_scan *s, uint64_t cycles, unsigned int ratio)
{
	return decode_muldiv(cycles, s->config.caps->max_nonturbo * DECODE_TICK, ratio);
}

void decode_scan_ratio(struct decode_timeline_scan *s, unsigned int ratio)
{
	if (s->cbr != ratio) {
		s->cal_cycles = s->cal_ticks = 0;
		s->has_span = false;
	}
	s->cbr = ratio;
	s->cbr_sure = true;
	/* If no ratio was known, the clocks until now may have had any ratio. A session that
	 * begins has no clocks yet. */
	if (s->fresh) {
		s->cbr_min = s->cbr_max = ratio;
	} else if (s->cbr_max) {
		s->cbr_min = ratio < s->cbr_min ? ratio : s->cbr_min;
		s->cbr_max = ratio > s->cbr_max ? ratio : s->cbr_max;
	}
	/* A CBR can follow a sleep. Without TSC packets the length of the sleep is not known. */
	if (!s->in_psb && s->has_relative && !s->has_tsc) {
		s->vague = s->has_base;
		s->now.wild++;
		s->now.lost++;
	}
}

static uint64_t estimate(const struct decode_timeline_scan *s, uint64_t cycles)
{
	if (s->cal_cycles >= CALIBRATED && s->cal_ticks < DECODE_NEVER / DECODE_TICK)
		return decode_muldiv(cycles, s->cal_ticks * DECODE_TICK, s->cal_cycles);
	if (s->cbr && s->config.caps->max_nonturbo)
		return parts(s, cycles, s->cbr);
	return cycles * DECODE_TICK;
}

void decode_scan_slack(struct decode_timeline_scan *s)
{
	uint64_t n = s->threshold;

	/* The position between two clock edges is unknown too. */
	n = n ? n : 1;
	s->now.slack = s->cbr_min > 1 ? parts(s, n, s->cbr_min - 1) + DECODE_TICK : 0;
	if (s->cbr_min <= 1)
		s->now.wild++;
}

void decode_scan_cycles(struct decode_timeline_scan *s, uint64_t cycles)
{
	bool known = s->cbr_min && s->config.caps->max_nonturbo && cycles < CYC_MAX;

	if (cycles >= CYC_MAX)
		cycles = CYC_MAX;
	s->now.cycles += cycles;
	s->now.ticks += estimate(s, cycles);
	if (known)
		s->now.least += parts(s, cycles, s->cbr_max + 1);
	if (known && s->cbr_min > 1)
		s->now.most += parts(s, cycles, s->cbr_min - 1) + 1;
	else
		s->now.wild++;
	s->cbr_min = s->cbr_max = s->cbr_sure ? s->cbr : 0;
}

static void learn_span(struct decode_timeline_scan *s)
{
	const struct decode_mark *a = &s->span, *b = &s->now;
	bool whole = s->has_span && !b->alone && a->lost == b->lost && b->counted && a->counted;

	if (whole && b->tsc_lo > a->tsc_lo && b->cycles > a->cycles) {
		s->cal_cycles += b->cycles - a->cycles;
		s->cal_ticks += b->tsc_lo - a->tsc_lo;
	}
	s->span = *b;
	s->has_span = true;
}

void decode_scan_anchor(struct decode_timeline_scan *s, uint64_t lo, uint64_t hi, bool alone)
{
	s->now.anchor = true;
	s->now.alone = alone;
	s->now.tsc_lo = lo;
	s->now.tsc_hi = hi;
	s->now.next = DECODE_NEVER;
	s->now.wild += alone;
	learn_span(s);
}

void decode_scan_lost(struct decode_timeline_scan *s)
{
	s->in_psb = false;
	s->now.lost++;
	s->now.wild++;
	/* The lost packets may include a CBR, and the last CYCs may have had that ratio. */
	s->now.least = s->told_least;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
}

void decode_scan_gap(struct decode_timeline_scan *s)
{
	s->begun = true;
	s->fresh = true;
	s->now.wild++;
	s->now.lost++;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
}
