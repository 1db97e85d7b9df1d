/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual time. One instruction takes one core clock. The TSC advances with the core clock by the
 * ratio of P1 to the core's ratio. Time without instructions, such as in HLT, is added. A ratio of
 * 0 to 0 means one to one.
 */
#ifndef VMM_ENGINE_TIME_H
#define VMM_ENGINE_TIME_H

#include <stdint.h>

#include "vpt/clock.h"

struct engine_time {
	uint64_t retired; /* the number of instructions at which `tsc` is valid */
	uint64_t tsc;	  /* the TSC without the changes by software */
	uint64_t idle;	  /* the core clocks that passed without an instruction */
	uint64_t offset;  /* the TSC that software reads less the TSC without its changes */
	uint32_t ticks;	  /* TSC ticks per `clocks` */
	uint32_t clocks;  /* core clocks per `ticks` */
};

/* Return the TSC without the changes by software, after `retired` instructions. */
static inline uint64_t engine_time_tsc(const struct engine_time *t, uint64_t retired)
{
	uint64_t passed = retired - t->retired;

	if (t->ticks != t->clocks)
		passed = (uint64_t)((unsigned __int128)passed * t->ticks / t->clocks);
	return t->tsc + passed;
}

/* Return the number of instructions after which that TSC is at least `tsc`. */
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

/* Set the TSC that software reads. */
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

/* Let core clocks pass without instructions. */
static inline void engine_time_idle(struct engine_time *t, uint64_t retired, uint64_t clocks)
{
	uint64_t now = engine_time_tsc(t, retired + clocks);

	t->retired = retired;
	t->tsc = now;
	t->idle += clocks;
}

/*
 * Set the ratio of TSC ticks to core clocks. Before that, `stopped` ticks pass without a core
 * clock.
 */
static inline void engine_time_ratio(struct engine_time *t, uint64_t retired, uint32_t ticks,
				     uint32_t clocks, uint64_t stopped)
{
	t->tsc = engine_time_tsc(t, retired) + stopped;
	t->retired = retired;
	t->ticks = ticks;
	t->clocks = clocks;
}

#endif /* VMM_ENGINE_TIME_H */
