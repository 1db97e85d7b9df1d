// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recursion. RET compression keeps 64 return addresses (33.4.2.2). Deeper recursion overflows them,
 * and its outermost returns are sent in full.
 */
#include "work.h"

#include "lib/guest.h"

/* Not a tail call, so that each level returns to the one above. */
static noinline uint64_t depth_of(uint64_t n)
{
	uint64_t below = n ? depth_of(n - 1) : 0;

	barrier();
	return below + (n != 0);
}

/* Hofstadter's female and male sequences: mutual recursion with two calls per level. */
static uint32_t male(uint32_t n);

static noinline uint32_t female(uint32_t n)
{
	return n ? n - male(female(n - 1)) : 1;
}

static noinline uint32_t male(uint32_t n)
{
	return n ? n - female(male(n - 1)) : 0;
}

static const uint8_t females[] = {1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7};
static const uint8_t males[] = {0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7};

/* A cycle of three functions through pointers, which computes n modulo 3. */
typedef unsigned int modulo_fn(uint64_t n);
static modulo_fn modulo0, modulo1, modulo2;
static modulo_fn *volatile const cycle[3] = {modulo0, modulo1, modulo2};

#define MODULO(name, value, next)                                \
	static noinline unsigned int name(uint64_t n)            \
	{                                                        \
		unsigned int r = n ? cycle[next](n - 1) : value; \
                                                                 \
		barrier();                                       \
		return r;                                        \
	}

MODULO(modulo0, 0, 1)
MODULO(modulo1, 1, 2)
MODULO(modulo2, 2, 0)

static noinline uint64_t ackermann(uint64_t m, uint64_t n)
{
	uint64_t r;

	if (!m)
		return n + 1;
	r = n ? ackermann(m, n - 1) : 1;
	barrier();
	r = ackermann(m - 1, r);
	barrier();
	return r;
}

static noinline uint32_t hanoi(uint32_t discs)
{
	uint32_t moves;

	if (!discs)
		return 0;
	moves = hanoi(discs - 1) + 1;
	barrier();
	return moves + hanoi(discs - 1);
}

bool work_recursion(struct rng *rng)
{
	/* Half of the depths are near 64, the others far beyond. */
	uint64_t depth = rng_chance(rng, 50) ? 60 + rng_below(rng, 10) : 65 + rng_below(rng, 400);
	uint32_t n = rng_below(rng, ARRAY_SIZE(males));

	switch (rng_below(rng, 5)) {
	case 0:
		return depth_of(depth) == depth;
	case 1:
		return female(n) == females[n] && male(n) == males[n];
	case 2:
		return cycle[0](depth) == depth % 3;
	case 3:
		return ackermann(2, n) == 2 * n + 3;
	default:
		return hanoi(n) == (1u << n) - 1;
	}
}
