/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeatable pseudo-random numbers (xorshift64*). */
#ifndef GUEST_LIB_RAND_H
#define GUEST_LIB_RAND_H

#include "vpt/base.h"

struct rng {
	uint64_t state;
};

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	/* The state must not be 0; neighbouring seeds should not look alike. */
	rng->state = (seed ^ 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
	if (!rng->state)
		rng->state = 1;
}

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545f4914f6cdd1dull;
}

/* Return a number from 0 to n-1; n is not 0. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

/* Returns true in `percent` of 100 cases. */
static inline bool rng_chance(struct rng *rng, uint32_t percent)
{
	return rng_below(rng, 100) < percent;
}

#endif /* GUEST_LIB_RAND_H */
