// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares a flow with times whose blocks are merged with one whose blocks are items. Each block
 * has the time of the item that it is merged into. Trees of calls have the same time for each call.
 *
 * usage: merged PLANS SEED DAMAGE FILE
 *
 * DAMAGE places of each vCPU's stream get other bytes in each of the PLANS. Prints "blocks B, items
 * I, times T": B blocks were merged into I items, and the time changed T times.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/calls.h"
#include "decode/flow.h"
#include "lib/damage.h"
#include "trace/reader.h"

struct sum {
	uint64_t blocks, items, times;
};

static uint64_t function_at(void *context, uint64_t ip)
{
	(void)context;
	return ip % 5 ? ip & ~(uint64_t)63 : DECODE_NO_FUNCTION;
}

static struct debug_symbols *symbols;

/* @function is NULL if blocks are not merged. */
static int open_flow(struct trace_reader *reader, unsigned int vcpu, decode_flow_function *function,
		     struct decode_flow **flow)
{
	int err;

	*flow = NULL;
	err = decode_flow_open(reader, vcpu, DECODE_FLOW_BLOCKS, flow);
	if (err)
		return err;
	decode_flow_keep_time(*flow);
	return function ? decode_flow_merge(*flow, function, symbols) : 0;
}

static bool same_time(const struct decode_item *a, const struct decode_item *b)
{
	return a->when.known == b->when.known && a->when.relative == b->when.relative &&
	       (!a->when.known || a->when.tsc == b->when.tsc);
}

static int differ(const char *what, const struct decode_item *a, const struct decode_item *b)
{
	printf("# %s: kind %u, ip 0x%" PRIx64 ", byte 0x%" PRIx64 ", time %" PRIu64
	       "; merged: kind %u, byte 0x%" PRIx64 ", time %" PRIu64 "\n",
	       what, a->kind, a->ip, a->offset, a->when.tsc, b->kind, b->offset, b->when.tsc);
	return 1;
}

/*
 * Compare the blocks of one part, whose item is @b. *rest instructions of the last block are left.
 */
static int compare_part(struct decode_flow *blocks, const struct decode_item *b,
			const struct decode_part *part, struct decode_item *a, uint32_t *rest,
			struct sum *sum)
{
	uint32_t left = part->insns, some;

	for (; left; left -= some, *rest -= some) {
		if (!*rest) {
			if (decode_flow_next(blocks, a))
				return 1;
			if (a->kind != DECODE_ITEM_BLOCK)
				return differ("no block", a, b);
			if (left == part->insns && a->ip != part->ip)
				return differ("another address", a, b);
			sum->blocks++;
			*rest = a->insns;
		}
		if (!same_time(a, b))
			return differ("another time", a, b);
		some = left < *rest ? left : *rest;
	}
	return 0;
}

static int compare_items(struct trace_reader *reader, unsigned int vcpu, struct sum *sum)
{
	struct decode_flow *blocks, *merged = NULL;
	struct decode_item a = {.kind = DECODE_ITEM_SEGMENT}, b = a;
	uint64_t last = 0;
	uint32_t rest = 0, i;
	int err = open_flow(reader, vcpu, NULL, &blocks) ||
		  open_flow(reader, vcpu, function_at, &merged);

	while (!err && b.kind != DECODE_ITEM_END) {
		err = decode_flow_next(merged, &b);
		sum->times += b.when.known && b.when.tsc != last;
		last = b.when.tsc;
		if (b.kind == DECODE_ITEM_PARTS) {
			sum->items++;
			for (i = 0; !err && i < b.insns; i++)
				err = compare_part(blocks, &b, &b.parts[i], &a, &rest, sum);
			continue;
		}
		err = err || decode_flow_next(blocks, &a);
		if (!err && (rest || a.kind != b.kind || a.event != b.event || !same_time(&a, &b)))
			err = differ("another item", &a, &b);
	}
	decode_flow_close(blocks);
	decode_flow_close(merged);
	return err;
}

/* Print the tree of calls of a flow, with times. Returns NULL if that fails. */
static char *tree(struct trace_reader *reader, unsigned int vcpu, bool merged)
{
	struct decode_pace pace = {.hz = 1000000000};
	struct decode_calls *calls = decode_calls_new(symbols);
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!calls || !out)
		abort();
	err = open_flow(reader, vcpu, merged ? decode_calls_function : NULL, &flow);
	decode_pace_begin(&pace);
	decode_calls_keep_time(calls, &pace);
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		decode_pace_item(&pace, &item);
		err = err || !decode_calls_item(calls, &item);
	}
	if (!err && decode_calls_forget(calls))
		decode_calls_print(calls, out, true, NULL, UINT64_MAX);
	decode_flow_close(flow);
	decode_calls_free(calls);
	fclose(out);
	if (err) {
		free(text);
		return NULL;
	}
	return text;
}

static int compare_trees(struct trace_reader *reader, unsigned int vcpu)
{
	char *a = tree(reader, vcpu, false), *b = tree(reader, vcpu, true);
	int err = !a || !b || strcmp(a, b);

	if (err)
		printf("# other trees of calls\n");
	free(a);
	free(b);
	return err;
}

static int run_vcpu(struct trace_reader *reader, unsigned int vcpu, unsigned int n, uint32_t random,
		    struct sum *sum)
{
	size_t len;
	uint8_t *stream = (uint8_t *)(uintptr_t)trace_reader_stream(reader, vcpu, &len);
	uint8_t *copy = malloc(len + 1);
	int err;

	if (!copy)
		return 1;
	memcpy(copy, stream, len);
	damage(stream, len, n, random);
	err = compare_items(reader, vcpu, sum) || compare_trees(reader, vcpu);
	memcpy(stream, copy, len);
	free(copy);
	return err;
}

int main(int argc, char **argv)
{
	struct trace_reader *reader;
	struct sum sum = {0};
	unsigned int v, i, plans;
	char why[256];
	int err = 0;

	if (argc != 5)
		return 2;
	plans = (unsigned int)atoi(argv[1]);
	if (trace_reader_open_as(argv[4], TRACE_READER_NO_ORACLE, &reader, why, sizeof(why))) {
		fprintf(stderr, "merged: %s: %s\n", argv[4], why);
		return 1;
	}
	err = debug_symbols_open(reader, &symbols);
	for (i = 0; i < plans && !err; i++)
		for (v = 0; v < trace_reader_info(reader)->vcpus && !err; v++)
			err = run_vcpu(reader, v, (unsigned int)atoi(argv[3]),
				       2654435761u * ((unsigned int)atoi(argv[2]) + i) | 1, &sum);
	printf("blocks %" PRIu64 ", items %" PRIu64 ", times %" PRIu64 "\n", sum.blocks, sum.items,
	       sum.times);
	debug_symbols_close(symbols);
	trace_reader_close(reader);
	return err;
}
