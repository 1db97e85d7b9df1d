/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual time of the devices: nanoseconds since the machine was created. A device counts ticks
 * of its own clock from that same moment, so that rounding errors do not add up.
 */
#ifndef VMM_DEV_CLOCK_H
#define VMM_DEV_CLOCK_H

#include <stdint.h>

#define DEV_NS_PER_SECOND 1000000000ull
/* A time that is never reached. */
#define DEV_NEVER UINT64_MAX

/* Return the number of ticks that have passed at `ns`. */
static inline uint64_t dev_clock_ticks(uint64_t ns, uint64_t hz)
{
	return (uint64_t)((unsigned __int128)ns * hz / DEV_NS_PER_SECOND);
}

/* Return the least ns for which dev_clock_ticks() is at least `ticks`. */
static inline uint64_t dev_clock_ns(uint64_t ticks, uint64_t hz)
{
	unsigned __int128 ns;

	if (!hz)
		return DEV_NEVER;
	ns = ((unsigned __int128)ticks * DEV_NS_PER_SECOND + hz - 1) / hz;
	return ns < DEV_NEVER ? (uint64_t)ns : DEV_NEVER;
}

static inline uint64_t dev_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif /* VMM_DEV_CLOCK_H */
