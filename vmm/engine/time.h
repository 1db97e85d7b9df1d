/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual time: an instruction is a core clock, and the TSC goes with the core clock by
 * the ratio of P1 to the core's own. What passes without an instruction, in HLT say, is
 * added. A ratio of 0 to 0 is that of one to one.
 */
#ifndef VMM_ENGINE_TIME_H
#define VMM_ENGINE_TIME_H

#include <stdint.h>

#include "vpt/clock.h"

struct engine_time {
	uint64_t retired; /* instructions as of which `tsc` is right */
	uint64_t tsc;	  /* before software's changes to it */
	uint64_t idle;	  /* core clocks that passed without an instruction */
	uint64_t offset;  /* software's TSC less that one */
	uint32_t ticks;	  /* of the TSC, in so many */
	uint32_t clocks;  /* of the core */
};

/* The TSC before software's changes, after so many instructions. */
static inline uint64_t engine_time_tsc(const struct engine_time *t, uint64_t retired)
{
	uint64_t passed = retired - t->retired;

	if (t->ticks != t->clocks)
		passed = (uint64_t)((unsigned __int128)passed * t->ticks / t->clocks);
	return t->tsc + passed;
}

/* Instructions by which the TSC, before software's changes, is `tsc` or later. */
static inline uint64_t engine_time_reach(const struct engine_time *t, uint64_t tsc)
{
	unsigned __int128 wait = tsc > t->tsc ? tsc - t->tsc : 0;

	if (t->ticks != t->clocks)
		wait = (wait * t->clocks + t->ticks - 1) / t->ticks;
	return wait < UINT64_MAX - t->retired ? t->retired + (uint64_t)wait : UINT64_MAX;
}

/* Returns the TSC that software reads. */
static inline uint64_t engine_time_read(const struct engine_time *t, uint64_t retired)
{
	return engine_time_tsc(t, retired) + t->offset;
}

/* Software writes it. */
static inline void engine_time_write(struct engine_time *t, uint64_t retired, uint64_t value)
{
	t->offset = value - engine_time_tsc(t, retired);
}

static inline struct vpt_clock engine_time_clock(const struct engine_time *t, uint64_t retired)
{
	struct vpt_clock clock;

	clock.cycles = retired + t->idle;
	clock.tsc = engine_time_tsc(t, retired);
	return clock;
}

/* So many core clocks pass in which nothing is executed. */
static inline void engine_time_idle(struct engine_time *t, uint64_t retired, uint64_t clocks)
{
	uint64_t now = engine_time_tsc(t, retired + clocks);

	t->retired = retired;
	t->tsc = now;
	t->idle += clocks;
}

/* From now on it is `ticks` to `clocks`; `stopped` ticks passed without a core clock. */
static inline void engine_time_ratio(struct engine_time *t, uint64_t retired, uint32_t ticks,
				     uint32_t clocks, uint64_t stopped)
{
	t->tsc = engine_time_tsc(t, retired) + stopped;
	t->retired = retired;
	t->ticks = ticks;
	t->clocks = clocks;
}

#endif /* VMM_ENGINE_TIME_H */
