/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pace of a flow that keeps time: instructions per core clock (33.3.6), core clocks per time
 * (33.8.3.4), and the time since the first known one.
 */
#ifndef VMM_DECODE_PACE_H
#define VMM_DECODE_PACE_H

#include "decode/item.h"

struct decode_pace {
	uint64_t hz; /* of the TSC; 0: not known */
	/* Core clocks are retired instructions by definition (adr/0010): not a measurement. */
	bool is_virtual;
	/* While instructions are traced, and CYC packets count; of these: */
	uint64_t insns, cycles;
	/* Of all spans between two times, traced or not (timeline.h). */
	struct decode_timeline_sum sum;

	/* Of the vCPU that is being decoded. */
	bool has_first, has_last, running;
	uint64_t first, last; /* TSC */
	uint64_t at_cycles;   /* of the last item, in its segment */
	uint64_t ticks;	      /* of the item at hand, since the one before */
};

/*
 * Returns true if the time of an item is known. A time that is relative to a beginning without a
 * packet, and that no later packet bounds, is not known.
 */
static inline bool decode_pace_knows(const struct decode_when *when)
{
	return when->known && !(when->relative && !when->tsc && when->until == UINT64_MAX);
}

/* Begin another vCPU, to which the items that follow belong. */
void decode_pace_begin(struct decode_pace *p);
void decode_pace_item(struct decode_pace *p, const struct decode_item *item);

/* TSC ticks as nanoseconds; 0 if the frequency is not known. */
uint64_t decode_pace_ns(const struct decode_pace *p, uint64_t ticks);

/* The frequency of the core clock that was counted for so many ticks, in Hz; 0: not known. */
uint64_t decode_pace_core_hz(const struct decode_pace *p, uint64_t cycles, uint64_t ticks);

#endif /* VMM_DECODE_PACE_H */
