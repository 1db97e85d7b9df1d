// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Quicksort with a comparison through a pointer: branches depend on data. --arg: number of rounds
 * with new values; a round is 120,000 instructions.
 */
#include "lib/guest.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("quicksort and insertion sort, compare by pointer");

#define COUNT 400
#define SMALL 8

typedef bool less_fn(uint32_t a, uint32_t b);

static uint32_t values[COUNT];

static noinline bool ascending(uint32_t a, uint32_t b)
{
	return a < b;
}

static noinline bool descending(uint32_t a, uint32_t b)
{
	return a > b;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t tmp = *a;

	*a = *b;
	*b = tmp;
}

static noinline void insertion_sort(uint32_t *v, int n, less_fn *less)
{
	int i, k;

	for (i = 1; i < n; i++)
		for (k = i; k > 0 && less(v[k], v[k - 1]); k--)
			swap(&v[k], &v[k - 1]);
}

static noinline int partition(uint32_t *v, int n, less_fn *less)
{
	uint32_t pivot = v[n / 2];
	int i = -1, k = n;

	for (;;) {
		do {
			i++;
		} while (less(v[i], pivot));
		do {
			k--;
		} while (less(pivot, v[k]));
		if (i >= k)
			return k + 1;
		swap(&v[i], &v[k]);
	}
}

static noinline void quicksort(uint32_t *v, int n, less_fn *less)
{
	int middle;

	if (n <= SMALL) {
		insertion_sort(v, n, less);
		return;
	}
	middle = partition(v, n, less);
	quicksort(v, middle, less);
	quicksort(v + middle, n - middle, less);
}

static bool is_sorted(less_fn *less)
{
	unsigned int i;

	for (i = 1; i < COUNT; i++)
		if (less(values[i], values[i - 1]))
			return false;
	return true;
}

static uint64_t sum(void)
{
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		total += values[i];
	return total;
}

static bool sorted_up = true, sorted_down = true;
static struct rng rng;
static uint64_t rounds = 1;

static void fill(void)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		values[i] = (uint32_t)rng_next(&rng);
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		if (i)
			fill();
		quicksort(values, COUNT, ascending);
		sorted_up &= is_sorted(ascending);
		quicksort(values, COUNT, descending);
		sorted_down &= is_sorted(descending);
	}
}

static void many_rounds(void)
{
	struct trace t;

	rounds = boot->arg[0];
	trace_long(&t, work);
	report(sorted_up && sorted_down, "sorted, each time");
}

void payload(void)
{
	struct trace t;
	uint64_t before;

	rng_seed(&rng, boot->seed);
	fill();
	if (boot->arg[0]) {
		many_rounds();
		return;
	}
	before = sum();
	trace_simple(&t, work);
	report(sorted_up, "sorted upwards");
	report(sorted_down, "sorted downwards");
	report_equal(sum(), before, "the same values");
	if (t.on)
		report(t.scan.tnt_bits > COUNT, "branches were traced");
}
