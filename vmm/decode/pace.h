/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pace of a flow with times: instructions per core clock (33.3.6), core clocks per time
 * (33.8.3.4), and the time since the first known time.
 */
#ifndef VMM_DECODE_PACE_H
#define VMM_DECODE_PACE_H

#include "decode/item.h"

struct decode_pace {
	uint64_t hz; /* the TSC frequency; 0 if not known */
	/* Core clocks are retired instructions by definition (adr/0010), and not a measurement. */
	bool is_virtual;
	/* The instructions and core clocks while tracing is on and CYC packets count. PARTS do not count. */
	uint64_t insns, cycles;
	bool paused; /* follow the time, and count neither */
	/* The sum over all spans between two known times, traced or not (timeline.h). */
	struct decode_timeline_sum sum;

	/* The state of the current vCPU. */
	bool has_first, has_last, running;
	uint64_t first, last; /* the first and the last TSC */
	uint64_t at_cycles;   /* the core clocks of the last item, in its segment */
	uint64_t ticks;	      /* the ticks between the previous item and the current item */
};

/*
 * Returns true if the time of an item is known. A relative time of 0 is unknown if no later packet
 * bounds it.
 */
static inline bool decode_pace_knows(const struct decode_when *when)
{
	return when->known && !(when->relative && !when->tsc && when->until == UINT64_MAX);
}

/* Start another vCPU. The items that follow belong to it. */
void decode_pace_begin(struct decode_pace *p);
void decode_pace_item(struct decode_pace *p, const struct decode_item *item);

/* Convert TSC ticks to nanoseconds. Returns 0 if the frequency is not known. */
uint64_t decode_pace_ns(const struct decode_pace *p, uint64_t ticks);

/*
 * Return the frequency in Hz of a core clock with @cycles clocks in @ticks TSC ticks. Returns 0 if
 * not known.
 */
uint64_t decode_pace_core_hz(const struct decode_pace *p, uint64_t cycles, uint64_t ticks);

#endif /* VMM_DECODE_PACE_H */
