/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The counters of MTC and CYC, as gen_time.c and gen_timing.c share them. */
#ifndef VPTI_SRC_GEN_TIME_H
#define VPTI_SRC_GEN_TIME_H

#include "gen_timing.h"
#include "gen_clock.h"

VPT_BEGIN_DECLS

/* Returns the range of the cycle counter in core clocks. */
static inline uint64_t vpti_gen_counter_range(const struct vpt_pt *pt)
{
	return ((uint64_t)pt->time.cyc_alone + 1) * 4;
}

/* Read the clock into `now`, which is never behind the last reading. */
static inline void vpti_gen_read_clock(struct vpt_pt *pt, struct vpt_clock *now)
{
	vpti_clock_read(pt->ops, pt->opaque, pt->time.now.cycles, now);
}

/* Returns the value that MTC reports the low 8 bits of. */
static inline uint64_t vpti_gen_mtc_count(const struct vpt_pt *pt, uint64_t tsc)
{
	return vpt_clock_art(pt->caps, tsc) >> pt->time.mtc_freq;
}

/* Returns the same as of `now`. The count is cached until `mtc_due`, to save the divisions. */
static inline uint64_t vpti_gen_mtc_count_at(struct vpt_pt *pt, const struct vpt_clock *now)
{
	struct vpt_pt_time *time = &pt->time;
	uint64_t count;

	if (vpt_likely(now->tsc >= time->now.tsc && now->tsc < time->mtc_due))
		return time->mtc_last;
	count = vpti_gen_mtc_count(pt, now->tsc);
	time->mtc_due = vpt_clock_tsc(pt->caps, (count + 1) << time->mtc_freq);
	return count;
}

/* Set the counters to `next` without the packets that were due until then. */
void vpti_gen_time_skip(struct vpt_pt *pt, const struct vpt_clock *next);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_TIME_H */
