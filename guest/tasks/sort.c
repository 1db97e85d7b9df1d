// SPDX-License-Identifier: GPL-2.0-or-later
/* Recursive quicksort with a comparison through a pointer. */
#include "work.h"

#include "lib/guest.h"

#define COUNT_MAX 96u

typedef bool less_fn(uint32_t a, uint32_t b);

static noinline bool up(uint32_t a, uint32_t b)
{
	return a < b;
}

static noinline bool down(uint32_t a, uint32_t b)
{
	return a > b;
}

static noinline void sort(uint32_t *first, uint32_t *last, less_fn *less)
{
	uint32_t *i = first, *k = last, pivot, tmp;

	if (first >= last)
		return;
	pivot = first[(last - first) / 2];
	while (i <= k) {
		while (less(*i, pivot))
			i++;
		while (less(pivot, *k))
			k--;
		if (i <= k) {
			tmp = *i;
			*i++ = *k;
			*k-- = tmp;
		}
	}
	sort(first, k, less);
	sort(i, last, less);
}

bool work_sort(struct rng *rng)
{
	uint32_t v[COUNT_MAX], n = 2 + rng_below(rng, COUNT_MAX - 1), i;
	less_fn *volatile less = rng_chance(rng, 50) ? up : down;
	uint64_t before = 0, after;
	bool ok = true;

	for (i = 0; i < n; i++) {
		v[i] = rng_below(rng, 4 * n);
		before += v[i];
	}
	sort(v, v + n - 1, less);
	after = v[0];
	for (i = 1; i < n; i++) {
		ok &= !less(v[i], v[i - 1]);
		after += v[i];
	}
	return ok && after == before;
}
