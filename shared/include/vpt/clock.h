/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The three clocks of 33.8.3: the clock of the core, the time-stamp counter, and the core crystal
 * clock (ART), which MTC and TMA packets carry.
 */
#ifndef VPT_CLOCK_H
#define VPT_CLOCK_H

#include "caps.h"

VPT_BEGIN_DECLS

/* The time that an engine reports, as of the instruction or event at hand. */
struct vpt_clock {
	/*
	 * Core clocks that passed while the clock ran. The origin is arbitrary. The count never
	 * decreases.
	 */
	uint64_t cycles;
	/*
	 * The time-stamp counter before the changes of software (IA32_TSC_ADJUST, writes, VMX
	 * offset and scale). It is P times the ART, plus the ticks since the ART last ticked.
	 */
	uint64_t tsc;
};

/* Returns true if CPUID.15H has the ratio of the TSC and the ART. */
bool vpt_clock_has_art(const struct vpt_caps *caps);

/* Returns the ART at a TSC, rounded down, or 0 without a ratio in CPUID.15H. */
uint64_t vpt_clock_art(const struct vpt_caps *caps, uint64_t tsc);

/* Returns the first TSC at which the ART has this value. */
uint64_t vpt_clock_tsc(const struct vpt_caps *caps, uint64_t art);

/*
 * Returns AdjustedProcessorCycles of TMA (33.8.3.1): the TSC ticks since the ART last ticked. The
 * field has 9 bits. If P is longer, the value saturates.
 */
unsigned int vpt_clock_fast(const struct vpt_caps *caps, uint64_t tsc);

VPT_END_DECLS

#endif /* VPT_CLOCK_H */
