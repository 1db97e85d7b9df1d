// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls that a page of vpt report has, if it cannot have all. */
#include <stdlib.h>
#include <string.h>

#include "formats/report_spans.h"
#include "lib/suite.h"

#define MAX 2000u

static struct format_report_spans spans;
static struct format_report_kept lane[2];

static void setup(void)
{
	memset(lane, 0, sizeof(lane));
	lane[1].vcpu = 1;
	ck_assert_int_eq(format_report_spans_begin(&spans, 2, MAX, 1000), 0);
	ck_assert_int_eq(format_report_spans_lane(&spans, &lane[0]), 0);
	ck_assert_int_eq(format_report_spans_lane(&spans, &lane[1]), 0);
}

static void teardown(void)
{
	format_report_spans_free(&spans);
	free(lane[0].at);
	free(lane[1].at);
}

static void add(unsigned int vcpu, uint64_t begin, uint64_t insns)
{
	const struct format_report_span span = {.begin = begin, .end = begin + insns};

	ck_assert_int_eq(format_report_spans_add(&spans, &lane[vcpu], &span), 0);
}

/* Count the kept calls of a range, of at least a number of instructions. */
static size_t count(unsigned int vcpu, uint64_t from, uint64_t to, uint64_t insns)
{
	size_t i, n = 0;

	for (i = 0; i < lane[vcpu].n; i++) {
		const struct format_report_span *s = &lane[vcpu].at[i];

		n += s->begin >= from && s->begin < to && s->end - s->begin >= insns;
	}
	return n;
}

/* A small trace has all calls. */
START_TEST(all)
{
	unsigned int i;

	for (i = 0; i < MAX; i++)
		add(i % 2, 1000 + i * 7, i % 5);
	ck_assert_uint_eq(spans.n, MAX);
	ck_assert_uint_eq(lane[0].n + lane[1].n, MAX);
	ck_assert_uint_eq(lane[0].omitted + lane[1].omitted, 0);
	ck_assert_uint_eq(format_report_spans_most(&spans), 0);
	ck_assert_uint_eq(format_report_spans_least(&spans, 0, 5000), 0);
}
END_TEST

/* The length of call @i. Calls of the second half are short. */
static uint64_t length(unsigned int i, unsigned int n)
{
	return i < n / 2 ? 100 + i % 400 : 1 + i % 4;
}

/* Calls of each part are kept, also where others are longer. */
START_TEST(parts)
{
	const unsigned int n = 100000;
	const uint64_t each = 512;
	uint64_t least;
	size_t have, want;
	unsigned int part, i;

	for (i = 0; i < n; i++)
		add(0, 1000 + i * each, length(i, n));
	ck_assert_uint_le(spans.n, MAX);
	ck_assert_uint_ge(spans.n, MAX / 2);
	ck_assert_uint_eq(lane[0].n + lane[0].omitted, n);
	for (part = 0; part < 50; part++) {
		const unsigned int from = part * n / 50, to = from + n / 50;

		ck_assert_uint_ge(count(0, 1000 + from * each, 1000 + to * each, 0), 5);
	}
	/* All calls of the reported length are kept. */
	for (i = 0; i < n; i++) {
		least = format_report_spans_least(&spans, 0, 1000 + i * each);
		have = count(0, 1000 + i * each, 1000 + i * each + 1, least);
		want = length(i, n) >= least;
		ck_assert_uint_eq(have, want);
		i += 36;
	}
	ck_assert_uint_ge(format_report_spans_least(&spans, 0, 1000), 256);
	ck_assert_uint_le(format_report_spans_least(&spans, 0, 1000 + (n - 1) * each), 4);
}
END_TEST

/* If all calls of a cell have one length, the cell keeps a part of them. Long calls are kept. */
START_TEST(one_length)
{
	const unsigned int n = 50000;
	unsigned int i;

	for (i = 0; i < n; i++) {
		add(1, 1000 + i * 100, 20);
		if (i % 1000 == 999)
			add(1, 1000 + (i - 999) * 100, 100000);
	}
	ck_assert_uint_le(spans.n, MAX);
	ck_assert_uint_ge(count(1, 0, UINT64_MAX, 0), MAX / 4);
	ck_assert_uint_eq(count(1, 0, UINT64_MAX, 100000), 50);
	ck_assert_uint_ge(count(1, 1000, 1000 + n * 10, 0), MAX / 40);
	ck_assert_uint_ge(count(1, 1000 + n * 90, 1000 + n * 100, 0), MAX / 40);
	ck_assert_uint_eq(format_report_spans_least(&spans, 1, 1000), 32);
	ck_assert_uint_eq(format_report_spans_most(&spans), 32);
}
END_TEST

/* If a call is kept, its caller of the same length class is kept, too. */
START_TEST(nested)
{
	const unsigned int n = 20000;
	size_t i, without = 0;
	unsigned int k;

	for (k = 0; k < n; k++) {
		add(0, 1000 + k * 1000 + 10, 270);
		add(0, 1000 + k * 1000 + 5, 290);
		add(0, 1000 + k * 1000, 300);
	}
	ck_assert_uint_ge(lane[0].n, MAX / 4);
	for (i = 0; i < lane[0].n; i++) {
		const struct format_report_span *s = &lane[0].at[i];

		if (s->end - s->begin == 270)
			without += !count(0, s->begin - 10, s->begin - 9, 300);
	}
	ck_assert_uint_le(without, lane[0].n / 50);
	ck_assert_uint_ge(count(0, 0, UINT64_MAX, 300), lane[0].n / 4);
}
END_TEST

TEST_SUITE("report_spans", setup, teardown)
{
	TEST_ADD(tcase, all, parts, one_length, nested);
}
