/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The three clocks of 33.8.3: the core's, the time-stamp counter, and the core crystal
 * clock (ART), which is what MTC and TMA packets carry.
 */
#ifndef VPT_CLOCK_H
#define VPT_CLOCK_H

#include "caps.h"

VPT_BEGIN_DECLS

/* What an engine tells of time: now, for the instruction or event at hand. */
struct vpt_clock {
	/* Core clocks that passed with the clock running; from anywhere, never backwards. */
	uint64_t cycles;
	/* The time-stamp counter before software's changes to it (IA32_TSC_ADJUST, writes,
	 * VMX offset and scale): P times the ART, and what passed since it ticked. */
	uint64_t tsc;
};

/* Is the ratio of the two in CPUID.15H? */
bool vpt_clock_has_art(const struct vpt_caps *caps);

/* The ART at a TSC, rounded down; 0 without a ratio in CPUID.15H. */
uint64_t vpt_clock_art(const struct vpt_caps *caps, uint64_t tsc);

/* The first TSC at which the ART has this value. */
uint64_t vpt_clock_tsc(const struct vpt_caps *caps, uint64_t art);

/* AdjustedProcessorCycles of TMA (33.8.3.1): TSC since the ART last ticked, 9 bits:
 * where P is longer, no more than they hold. */
unsigned int vpt_clock_fast(const struct vpt_caps *caps, uint64_t tsc);

VPT_END_DECLS

#endif /* VPT_CLOCK_H */
