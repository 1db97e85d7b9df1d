// SPDX-License-Identifier: GPL-2.0-or-later
/* When an address space runs, if it runs often. */
#include <stdlib.h>

#include "formats/report_runs.h"
#include "lib/suite.h"

#define MAX FORMAT_REPORT_RUNS_MAX

static struct format_report_runs runs;

static void setup(void)
{
	runs = (struct format_report_runs){0};
}

static void teardown(void)
{
	free(runs.at);
}

static void add(uint64_t begin, uint64_t end)
{
	ck_assert_int_eq(format_report_runs_add(&runs, begin, end), 0);
}

/* Few intervals are kept as they are, and those without a distance are one. */
START_TEST(few)
{
	unsigned int i;

	add(5, 5);
	ck_assert_uint_eq(runs.n, 0);
	for (i = 0; i < MAX; i++)
		add(10 * i + 1, 10 * i + 9);
	ck_assert_uint_eq(runs.n, MAX);
	ck_assert_uint_eq(runs.gap, 0);
	ck_assert_uint_eq(runs.at[7].begin, 71);
	ck_assert_uint_eq(runs.at[7].end, 79);
	add(10 * MAX - 1, 10 * MAX + 3);
	ck_assert_uint_eq(runs.n, MAX);
	ck_assert_uint_eq(runs.at[MAX - 1].end, 10 * MAX + 3);
}
END_TEST

/* Too many are joined where they are near each other: a long pause remains. */
START_TEST(many)
{
	const uint64_t pause = 1 << 20;
	unsigned int i;
	size_t n;

	for (i = 0; i < 3 * MAX; i++)
		add((i < MAX / 2 ? 0 : pause) + 2000 * i,
		    (i < MAX / 2 ? 0 : pause) + 2000 * i + 100);
	ck_assert_uint_le(runs.n, MAX);
	ck_assert_uint_ge(runs.gap, 2000 - 100);
	ck_assert_uint_lt(runs.gap, pause);
	ck_assert_uint_eq(runs.at[0].begin, 0);
	ck_assert_uint_eq(runs.at[runs.n - 1].end, pause + 2000 * (3 * MAX - 1) + 100);
	for (n = 1; n < runs.n; n++)
		ck_assert_uint_gt(runs.at[n].begin - runs.at[n - 1].end, runs.gap);
	ck_assert_uint_eq(runs.n, 2);
	ck_assert_uint_eq(runs.at[1].begin - runs.at[0].end, pause + 2000 - 100);
}
END_TEST

/* The number is bounded, and large where the distances are different. */
START_TEST(bounded)
{
	uint64_t clock = 0, seed = 1;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		clock += seed >> 40;
		add(clock, clock + (seed >> 33 & 0xff) + 1);
		clock += (seed >> 33 & 0xff) + 1;
		ck_assert_uint_le(runs.n, MAX);
	}
	ck_assert_uint_ge(runs.n, MAX / 3);
	ck_assert_uint_eq(runs.at[runs.n - 1].end, clock);
}
END_TEST

TEST_SUITE("report_runs", setup, teardown)
{
	TEST_ADD(tcase, few, many, bounded);
}
