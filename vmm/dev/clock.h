/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual time of the devices: nanoseconds since the machine was made. A device
 * counts ticks of its own clock from that same moment, so that no rounding adds up.
 */
#ifndef VMM_DEV_CLOCK_H
#define VMM_DEV_CLOCK_H

#include <stdint.h>

#define VPT_NS_PER_SECOND 1000000000ull
/* A time that does not come. */
#define VPT_NEVER UINT64_MAX

/* Ticks that have passed by then. */
static inline uint64_t vpt_clock_ticks(uint64_t ns, uint64_t hz)
{
	return (uint64_t)((unsigned __int128)ns * hz / VPT_NS_PER_SECOND);
}

/* When so many ticks have passed: the least ns for which vpt_clock_ticks() says so. */
static inline uint64_t vpt_clock_ns(uint64_t ticks, uint64_t hz)
{
	unsigned __int128 ns;

	if (!hz)
		return VPT_NEVER;
	ns = ((unsigned __int128)ticks * VPT_NS_PER_SECOND + hz - 1) / hz;
	return ns < VPT_NEVER ? (uint64_t)ns : VPT_NEVER;
}

static inline uint64_t vpt_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif /* VMM_DEV_CLOCK_H */
