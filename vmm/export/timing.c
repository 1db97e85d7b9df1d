// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose how perf gets the time of a trace. */
#include "export/timing.h"

#include <errno.h>

#include "vpt/msr.h"

#define NS 1000000000ull

/* Returns true if perf needs any record except for the first process of each vCPU. */
static bool changes(const struct export_plan *plan)
{
	size_t i, k;

	for (i = 0; i < plan->events.n; i++) {
		if (plan->events.at[i].what != EXPORT_SWITCH)
			return true;
	}
	for (i = 0; i < plan->nlanes; i++) {
		const struct export_lane *l = &plan->lanes[i];

		for (k = 0; k < l->stamps.n; k++) {
			if (l->stamps.at[k].look && !l->stamps.at[k].first)
				return true;
		}
	}
	return false;
}

/* Returns true if the first PSB+ has a time. perf leaves out the packets before a time. */
static bool begins_timed(const struct export_lane *l)
{
	struct export_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	export_scan_segment(&scan, l->start, l->len);
	while (export_scan_next(&scan, &p, &at) && p.kind != VPT_PKT_PSBEND)
		;
	return scan.has_tsc;
}

/* Returns true if all sessions have one rate of MTC packets. *ctl is 0 if no rate is known yet. */
static bool same_rate(const struct export_lane *l, uint64_t *ctl)
{
	const uint64_t mask = VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(MTC_FREQ);
	size_t i;

	for (i = 0; i < l->nperiods; i++) {
		uint64_t it = l->periods[i].start->ctl;

		if (!(it & VPT_CTL_MASK(MTC_EN)))
			continue;
		if (*ctl && *ctl != (it & mask))
			return false;
		*ctl = it & mask;
	}
	return true;
}

/* Return the timing if the packets can stay, else FOLDED. */
static enum export_record_timing kept(const struct export_plan *plan)
{
	unsigned int i, timed = 0, timeless = 0;
	uint64_t mtc = 0;

	if (changes(plan))
		return EXPORT_RECORD_FOLDED;
	for (i = 0; i < plan->nlanes; i++) {
		const struct export_lane *l = &plan->lanes[i];

		if (l->start == EXPORT_SCAN_NONE)
			continue;
		if (l->backwards || !same_rate(l, &mtc))
			return EXPORT_RECORD_FOLDED;
		if (!l->timed)
			timeless++;
		else if (begins_timed(l))
			timed++;
		else
			return EXPORT_RECORD_FOLDED;
	}
	if (timed && timeless)
		return EXPORT_RECORD_FOLDED;
	return timed ? EXPORT_RECORD_TIMED : EXPORT_RECORD_TIMELESS;
}

int export_timing(const struct export_plan *plan, enum export_how how,
		  enum export_record_timing *timing)
{
	*timing = how == EXPORT_TSC ? EXPORT_RECORD_FOLDED : kept(plan);
	if (how == EXPORT_PACKETS)
		return *timing == EXPORT_RECORD_FOLDED ? -ENOTSUP : 0;
	/* Instruction counts as time are better than no time. */
	if (*timing == EXPORT_RECORD_TIMELESS)
		*timing = EXPORT_RECORD_FOLDED;
	return 0;
}

void export_conversion(uint64_t hz, struct export_record_time *time)
{
	time->shift = 0;
	time->mult = hz ? NS / hz : 1;
	/* Use as much of the ratio as fits into perf's 32 bits. */
	while (hz && time->shift < 31) {
		uint64_t mult = (NS << (time->shift + 1)) / hz;

		if (mult > UINT32_MAX)
			break;
		time->mult = mult;
		time->shift++;
	}
	time->zero = EXPORT_BEGINNING - (EXPORT_REFERENCE >> time->shift) * time->mult;
}
