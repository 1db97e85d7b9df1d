// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline_scan.h"

#include <string.h>

/* Core clocks from which on spans tell the ratio better than CBR does. */
#define CALIBRATED 1024
/* More core clocks than that at once are not true. */
#define CYC_MAX (UINT64_C(1) << 40)

__extension__ typedef unsigned __int128 u128;

uint64_t vpt_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	u128 q = (u128)a * b / c;

	return q > VPT_NEVER ? VPT_NEVER : (uint64_t)q;
}

/* Parts of ticks in `cycles` at a ratio. */
static uint64_t parts(const struct vpt_timeline_scan *s, uint64_t cycles, unsigned int ratio)
{
	return vpt_muldiv(cycles, s->config.caps->max_nonturbo * VPT_TICK, ratio);
}

void vpt_scan_ratio(struct vpt_timeline_scan *s, unsigned int ratio)
{
	if (s->cbr != ratio) {
		s->cal_cycles = s->cal_ticks = 0;
		s->has_span = false;
	}
	s->cbr = ratio;
	s->cbr_sure = true;
	/* The clocks until now may have been of any ratio if none was known, but of a
	 * session that begins there were none. */
	if (s->fresh) {
		s->cbr_min = s->cbr_max = ratio;
	} else if (s->cbr_max) {
		s->cbr_min = ratio < s->cbr_min ? ratio : s->cbr_min;
		s->cbr_max = ratio > s->cbr_max ? ratio : s->cbr_max;
	}
	/* It may be a sleep that this ends, and how long it was nothing tells. */
	if (!s->in_psb && s->has_relative && !s->has_tsc) {
		s->vague = s->has_base;
		s->now.wild++;
		s->now.lost++;
	}
}

static uint64_t estimate(const struct vpt_timeline_scan *s, uint64_t cycles)
{
	if (s->cal_cycles >= CALIBRATED && s->cal_ticks < VPT_NEVER / VPT_TICK)
		return vpt_muldiv(cycles, s->cal_ticks * VPT_TICK, s->cal_cycles);
	if (s->cbr && s->config.caps->max_nonturbo)
		return parts(s, cycles, s->cbr);
	return cycles * VPT_TICK;
}

/* How long may it be since the last CYC, at a packet that has none? */
static void set_slack(struct vpt_timeline_scan *s)
{
	uint64_t n = s->threshold;

	/* Where a clock edge lies between two others is not told either. */
	n = n ? n : 1;
	s->now.slack = s->cbr_min > 1 ? parts(s, n, s->cbr_min - 1) + VPT_TICK : 0;
	if (s->cbr_min <= 1)
		s->now.wild++;
}

void vpt_scan_cycles(struct vpt_timeline_scan *s, uint64_t cycles)
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

static void learn_span(struct vpt_timeline_scan *s)
{
	const struct vpt_mark *a = &s->span, *b = &s->now;
	bool whole = s->has_span && !b->alone && a->lost == b->lost && b->counted && a->counted;

	if (whole && b->tsc_lo > a->tsc_lo && b->cycles > a->cycles) {
		s->cal_cycles += b->cycles - a->cycles;
		s->cal_ticks += b->tsc_lo - a->tsc_lo;
	}
	s->span = *b;
	s->has_span = true;
}

void vpt_scan_anchor(struct vpt_timeline_scan *s, uint64_t lo, uint64_t hi, bool alone)
{
	s->now.anchor = true;
	s->now.alone = alone;
	s->now.tsc_lo = lo;
	s->now.tsc_hi = hi;
	s->now.next = VPT_NEVER;
	s->now.wild += alone;
	learn_span(s);
}

void vpt_scan_lost(struct vpt_timeline_scan *s)
{
	s->in_psb = false;
	s->now.lost++;
	s->now.wild++;
	/* A change of the ratio may be among what is lost, which the last CYCs counted. */
	s->now.least = s->told_least;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
}

/* Nothing was traced for some time. */
void vpt_scan_gap(struct vpt_timeline_scan *s)
{
	s->begun = true;
	s->fresh = true;
	s->now.wild++;
	s->now.lost++;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
}

static void enter(struct vpt_timeline_scan *s)
{
	const struct vpt_timeline_session *session = &s->config.sessions[s->session++];

	s->ctl = session->ctl;
	s->system->enter(s, session);
}

void vpt_timeline_scan_init(struct vpt_timeline_scan *s, const struct vpt_timeline_config *config)
{
	memset(s, 0, sizeof(*s));
	s->config = *config;
	s->system = config->rtit ? &vpt_timeline_rtit : &vpt_timeline_pt;
	s->begun = true;
	s->fresh = true;
	s->ctc_bits = 8;
	if (config->nsessions) {
		enter(s);
		s->now.wild = s->now.lost = 0;
	}
}

bool vpt_timeline_scan_next(struct vpt_timeline_scan *s, struct vpt_mark *mark)
{
	const struct vpt_timeline_config *c = &s->config;

	while (s->at < c->len) {
		const uint8_t *bytes = c->bytes + s->at;
		size_t size, len = c->len - s->at;
		bool marks = false;

		while (s->session < c->nsessions && c->sessions[s->session].at <= s->at)
			enter(s);
		s->now.anchor = s->now.alone = s->now.flow = s->now.eligible = false;
		s->now.joins = false;
		size = s->system->take(s, bytes, len, &marks);
		if (!size) {
			s->at += 1 + s->system->find_psb(bytes + 1, len - 1);
			vpt_scan_lost(s);
			continue;
		}
		s->at += size;
		if (!marks && !s->now.anchor)
			continue;
		if (s->now.counted)
			set_slack(s);
		else
			s->now.wild++;
		s->now.end = s->at;
		s->told_least = s->now.least;
		*mark = s->now;
		return true;
	}
	return false;
}
