/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The random numbers of RDRAND and RDSEED. The n-th number is a function of the seed and n alone:
 * SplitMix64. The numbers are for simulations, and no secret.
 */
#ifndef VMM_ENGINE_RANDOM_H
#define VMM_ENGINE_RANDOM_H

#include <stdint.h>

struct engine_random {
	uint64_t seed;
	uint64_t count; /* the numbers that the guest has read */
};

static inline uint64_t engine_random_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Return the next number, of which every bit is random. */
static inline uint64_t engine_random_next(struct engine_random *r)
{
	return engine_random_mix(engine_random_mix(r->seed) + ++r->count * 0x9e3779b97f4a7c15);
}

#endif /* VMM_ENGINE_RANDOM_H */
