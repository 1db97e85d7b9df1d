// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes a trace whose streams are read in windows, and compares each item with that of a trace in
 * memory. Units are instructions, blocks, merged blocks and counts. Blocks, counts and the listing of
 * instructions are also decoded by three threads.
 *
 * usage: windows STEP FILE
 *
 * STEP is the number of bytes that a window reads at once. Prints "items N, dropped K": K bytes of the
 * streams were no longer in memory when their flows ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/shards.h"
#include "lib/same_items.h"
#include "lib/same_listings.h"
#include "lib/same_trees.h"

static uint64_t items, dropped;

static void die(const char *why)
{
	fprintf(stderr, "windows: %s\n", why);
	exit(1);
}

static struct trace_reader *open_file(const char *path, unsigned int how)
{
	struct trace_reader *reader;
	char why[256];

	if (trace_reader_open_as(path, how | TRACE_READER_NO_ORACLE, &reader, why, sizeof(why)))
		die(why);
	return reader;
}

static uint64_t function_at(void *context, uint64_t ip)
{
	(void)context;
	return ip & ~(uint64_t)63;
}

static bool same(const struct decode_item *a, const struct decode_item *b)
{
	uint32_t i;

	if (a->kind != b->kind || a->offset != b->offset)
		return false;
	if (a->kind != DECODE_ITEM_PARTS)
		return same_item(a, b);
	for (i = 0; i < a->insns && a->insns == b->insns; i++) {
		if (!same_part(&a->parts[i], &b->parts[i]))
			return false;
	}
	return a->insns == b->insns;
}

/* A stream of windows must be like the other one where it is in memory. */
static void count_dropped(struct trace_reader *whole, struct trace_reader *windows,
			  unsigned int vcpu)
{
	const uint8_t *a, *b;
	size_t n, m, i;

	a = trace_reader_stream(whole, vcpu, &n);
	b = trace_reader_stream(windows, vcpu, &m);
	if (n != m)
		die("the streams have other sizes");
	for (i = 0; i < n; i++) {
		if (b[i] && a[i] != b[i])
			die("a byte of the window is wrong");
		dropped += a[i] != b[i];
	}
}

static void compare_counts(struct decode_flow *a, struct decode_flow *b)
{
	struct decode_tally x = {NULL, 0, 0}, y = {NULL, 0, 0};
	struct decode_flow_sum of_x = {0, 0}, of_y = {0, 0};

	if (decode_flow_counts(a, &x, &of_x) || decode_flow_counts(b, &y, &of_y))
		die("cannot count");
	decode_tally_sort(&x);
	decode_tally_sort(&y);
	if (of_x.insns != of_y.insns || x.used != y.used ||
	    (x.used && memcmp(x.slots, y.slots, x.used * sizeof(*x.slots))))
		die("the counts differ");
	decode_tally_free(&x);
	decode_tally_free(&y);
}

static void compare(struct trace_reader *whole, struct trace_reader *windows, unsigned int vcpu,
		    enum decode_flow_unit unit, unsigned int jobs, bool merge)
{
	const struct decode_shards_how how = {.jobs = jobs, .bytes = 4096};
	struct decode_item x = {.kind = DECODE_ITEM_SEGMENT}, y;
	struct decode_flow *a, *b;

	if (decode_flow_open(whole, vcpu, unit, &a) ||
	    decode_shards_open(windows, vcpu, unit, &how, &b))
		die("cannot open a flow");
	if (merge && (decode_flow_merge(a, function_at, NULL) ||
		      (jobs == 1 && decode_flow_merge(b, function_at, NULL))))
		die("cannot merge");
	while (x.kind != DECODE_ITEM_END) {
		if (decode_flow_next(a, &x) || decode_flow_next(b, &y))
			die("cannot decode");
		if (!same(&x, &y))
			die("an item differs");
		items++;
	}
	if (unit == DECODE_FLOW_COUNTS)
		compare_counts(a, b);
	decode_flow_close(a);
	decode_flow_close(b);
	count_dropped(whole, windows, vcpu);
}

/* Compare the listings of instructions, with texts of shards that are kept, and that are too large. */
static void compare_listings(struct trace_reader *whole, struct trace_reader *windows,
			     unsigned int vcpu, uint64_t text)
{
	const struct decode_shards_how how = {
		.jobs = 3, .bytes = 4096, .listing = true, .text = text};
	const struct decode_listing form = {.json = false};
	struct decode_flow *a, *b;

	if (decode_flow_open(whole, vcpu, DECODE_FLOW_INSNS, &a) ||
	    decode_shards_open(windows, vcpu, DECODE_FLOW_INSNS, &how, &b))
		die("cannot open a flow");
	if (!same_listings(a, b, vcpu, &form, UINT64_MAX))
		die("a listing differs");
	decode_flow_close(a);
	decode_flow_close(b);
	count_dropped(whole, windows, vcpu);
}

/* Two flows of a vCPU at once cannot both have a window. */
static void compare_two(struct trace_reader *whole, struct trace_reader *windows, unsigned int vcpu)
{
	struct decode_item x = {.kind = DECODE_ITEM_SEGMENT}, y, z;
	struct decode_flow *a, *b, *c;

	if (decode_flow_open(whole, vcpu, DECODE_FLOW_BLOCKS, &a) ||
	    decode_flow_open(windows, vcpu, DECODE_FLOW_BLOCKS, &b) || decode_flow_next(b, &y) ||
	    decode_flow_open(windows, vcpu, DECODE_FLOW_BLOCKS, &c) || decode_flow_next(a, &x))
		die("cannot open two flows");
	while (x.kind != DECODE_ITEM_END) {
		if (!same(&x, &y) || decode_flow_next(c, &z) || !same(&x, &z))
			die("an item of two flows differs");
		if (decode_flow_next(a, &x) || decode_flow_next(b, &y))
			die("cannot decode");
		items++;
	}
	decode_flow_close(a);
	decode_flow_close(b);
	decode_flow_close(c);
	if (trace_reader_has_window(windows, vcpu) &&
	    !(trace_reader_info(whole)->flags & TRACE_INFO_ATOM))
		die("the second flow has a window");
}

int main(int argc, char **argv)
{
	struct trace_reader *whole, *windows;
	unsigned int v, jobs;

	if (argc != 3)
		return 2;
	whole = open_file(argv[2], 0);
	windows = open_file(argv[2], TRACE_READER_WINDOW);
	trace_reader_set_window(windows, strtoull(argv[1], NULL, 10));
	if (trace_reader_extent(whole)->damages != trace_reader_extent(windows)->damages)
		die("the damages differ");
	for (v = 0; v < trace_reader_info(whole)->vcpus; v++) {
		for (jobs = 1; jobs <= 3; jobs += 2) {
			compare(whole, windows, v, DECODE_FLOW_COUNTS, jobs, false);
			compare(whole, windows, v, DECODE_FLOW_BLOCKS, jobs, false);
		}
		compare(whole, windows, v, DECODE_FLOW_BLOCKS, 1, true);
		compare(whole, windows, v, DECODE_FLOW_INSNS, 1, false);
		compare_listings(whole, windows, v, 0);
		compare_listings(whole, windows, v, 65536);
		compare_two(whole, windows, v);
	}
	printf("items %llu, dropped %llu\n", (unsigned long long)items,
	       (unsigned long long)dropped);
	trace_reader_close(whole);
	trace_reader_close(windows);
	return 0;
}
