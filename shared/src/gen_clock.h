/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Time and the internal buffer, as the generators of PT and of Atom's RTIT both see them. */
#ifndef VPTI_SRC_GEN_CLOCK_H
#define VPTI_SRC_GEN_CLOCK_H

#include "vpt/pt.h"

VPT_BEGIN_DECLS

__extension__ typedef unsigned __int128 vpti_u128;

/* The generator skips timing packets if more than this are due at once. */
#define VPTI_BURST_MAX 255u

/* Read both clocks. The core clock is never behind `before`, its last reading. */
static inline void vpti_clock_read(const struct vpt_pt_ops *ops, void *opaque, uint64_t before,
				   struct vpt_clock *now)
{
	if (ops->clock) {
		ops->clock(opaque, now);
	} else {
		struct vpt_context ctx;

		ops->context(opaque, &ctx);
		now->cycles = now->tsc = ctx.tsc;
	}
	if (now->cycles < before)
		now->cycles = before;
}

/*
 * Returns the core clock at which the TSC reached `tsc` between two readings, rounded up: the
 * least n with n * ticks >= passed * clocks. A search avoids a division of 128 bits.
 */
static inline uint64_t vpti_clock_at(const struct vpt_clock *from, const struct vpt_clock *to,
				     uint64_t tsc)
{
	const uint64_t ticks = to->tsc - from->tsc;
	const vpti_u128 product = (vpti_u128)(tsc - from->tsc) * (to->cycles - from->cycles);
	uint64_t low = 0, high = to->cycles - from->cycles;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if ((vpti_u128)middle * ticks >= product)
			high = middle;
		else
			low = middle + 1;
	}
	return from->cycles + low;
}

/* The level of an internal buffer at the core clock `drained`. */
struct vpti_level {
	uint64_t *drained;
	uint32_t *fill;
	uint32_t *credit; /* of the next byte that leaves, 1024ths */
};

/* Remove the bytes that leave the buffer until `now`. `rate` is bytes in 1024 clocks; 0 is 1024. */
static inline void vpti_level_drain(struct vpti_level level, uint32_t rate, uint64_t now)
{
	/* Any buffer is empty after so many clocks, and their product with the rate fits. */
	const uint64_t most = 0xffffffffu;
	uint64_t clocks, left;

	if (now <= *level.drained)
		return;
	clocks = now - *level.drained;
	*level.drained = now;
	if (clocks > most)
		clocks = most;
	left = clocks * (rate ? rate : 1024) + *level.credit;
	if (left >> 10 < *level.fill) {
		*level.fill -= (uint32_t)(left >> 10);
		*level.credit = (uint32_t)left & 1023;
	} else {
		*level.fill = 0;
		*level.credit = 0;
	}
}

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_CLOCK_H */
