/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a vCPU's flow: from an instruction to the one before another. The clock of a vCPU is
 * the number of its instructions that were decoded before.
 */
#ifndef VMM_DECODE_CUT_H
#define VMM_DECODE_CUT_H

#include "decode/pace.h"

#define DECODE_CUT_NEVER UINT64_MAX

struct decode_window {
	/* Clocks. DECODE_CUT_NEVER if there is no such edge, or if a time decides. */
	uint64_t from, until;
	/* TSC ticks since the first known time of the vCPU; 0 and DECODE_CUT_NEVER: no such edge. */
	uint64_t from_ticks, until_ticks;
};

/* The progress of a flow through its cut. */
struct decode_cutter {
	struct decode_window
		cut; /* edges that are times become clocks when the flow reaches them */
	struct decode_pace pace;
};

/* Returns true if an edge is a time. The flow must then keep its times. */
static inline bool decode_window_is_timed(const struct decode_window *cut)
{
	return cut->from_ticks || cut->until_ticks != DECODE_CUT_NEVER;
}

/* Start a vCPU. NULL selects the whole flow. */
void decode_cutter_begin(struct decode_cutter *c, const struct decode_window *cut);

/* Find the edges that are times. Call this function with each item, before its instructions. */
void decode_cutter_time(struct decode_cutter *c, uint64_t clock, const struct decode_item *item);

/* Returns true if what happens at @clock is in the part. */
static inline bool decode_cutter_has(const struct decode_cutter *c, uint64_t clock)
{
	return clock >= c->cut.from && clock < c->cut.until;
}

/* Return how many of @n instructions from @clock on come before the next edge. */
static inline uint64_t decode_cutter_room(const struct decode_cutter *c, uint64_t clock, uint64_t n)
{
	const uint64_t edge = clock < c->cut.from ? c->cut.from : c->cut.until;

	return edge > clock && edge - clock < n ? edge - clock : n;
}

/* Return the number of instructions of an item. */
uint64_t decode_cut_insns(const struct decode_item *item);

/*
 * Divide an item at the edges. take() gets each piece with its clock: a BLOCK whose later pieces
 * have @rest set, or PARTS. It returns 0 or -errno, which ends the division. Returns that value.
 */
typedef int decode_cutter_take(void *context, uint64_t clock, struct decode_item *piece);
int decode_cutter_split(const struct decode_cutter *c, uint64_t clock, struct decode_item *item,
			decode_cutter_take *take, void *context);

#endif /* VMM_DECODE_CUT_H */
