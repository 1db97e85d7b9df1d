// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes a trace by one thread and in shards. Compares each item, each part of a merged block, each
 * count, each branch and each listing.
 *
 * usage: shards JOBS BYTES PLANS SEED DAMAGE FILE
 *
 * Each vCPU is decoded PLANS times in each unit, with other cuts each time. BYTES is the minimum
 * size of a shard. DAMAGE places of the stream get other bytes in each plan. A place is a single byte,
 * or 64 bytes that are copied from another place. In every other plan, shards with changes of code
 * nearby do not wait for their counter.
 *
 * Prints "plans P, shards N, alone A, proved M, failed F". Of N shards, M were proved. In F plans a proof
 * failed, and one thread decoded the rest. The text of A shards was not kept, and they were decoded again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/shards.h"
#include "lib/damage.h"
#include "lib/same_items.h"
#include "lib/same_listings.h"
#include "lib/same_trees.h"
#include "trace/pairs.h"

struct sum {
	uint64_t plans, shards, alone, proved, failed;
	uint64_t counted; /* the instructions of the last flow that counted without branches */
	uint64_t blocks;  /* its blocks */
};

static struct debug_symbols *symbols;

struct options {
	unsigned int plans, seed, damage;
};

/* A flow whose PARTS are returned one by one. */
struct cursor {
	struct decode_flow *flow;
	struct decode_item item;
	uint32_t part;
};

static uint64_t function_at(void *context, uint64_t ip)
{
	(void)context;
	/* Functions without symbols, so that blocks of several functions exist. */
	return ip % 5 ? ip & ~(uint64_t)63 : DECODE_NO_FUNCTION;
}

static int next(struct cursor *c)
{
	if (c->item.kind == DECODE_ITEM_PARTS && ++c->part < c->item.insns)
		return 0;
	c->part = 0;
	return decode_flow_next(c->flow, &c->item);
}

static bool same(const struct cursor *a, const struct cursor *b)
{
	const struct decode_when *x = &a->item.when, *y = &b->item.when;

	if (a->item.kind != b->item.kind)
		return false;
	/* How parts are gathered depends on shards, and their bounds depend on that. */
	if (a->item.kind == DECODE_ITEM_PARTS)
		return same_part(&a->item.parts[a->part], &b->item.parts[b->part]) &&
		       x->known == y->known && x->relative == y->relative && x->tsc == y->tsc;
	return same_item(&a->item, &b->item) && same_time(x, y);
}

static int differ(const char *what, const struct cursor *a, const struct cursor *b)
{
	fprintf(stderr,
		"shards: %s: kind %u at byte 0x%llx, ip 0x%llx; in shards kind %u at byte "
		"0x%llx, ip 0x%llx\n",
		what, a->item.kind, (unsigned long long)a->item.offset,
		(unsigned long long)a->item.ip, b->item.kind, (unsigned long long)b->item.offset,
		(unsigned long long)b->item.ip);
	return 1;
}

static bool same_counts(struct decode_flow *a, struct decode_flow *b, struct sum *sum)
{
	struct decode_tally x = {NULL, 0, 0}, y = {NULL, 0, 0};
	struct decode_flow_sum of_x, of_y;
	bool ok = !decode_flow_counts(a, &x, &of_x) && !decode_flow_counts(b, &y, &of_y);

	if (ok) {
		decode_tally_sort(&x);
		decode_tally_sort(&y);
		ok = of_x.insns == of_y.insns && of_x.blocks == of_y.blocks && x.used == y.used &&
		     (!x.used || !memcmp(x.slots, y.slots, x.used * sizeof(*x.slots)));
		sum->counted = of_x.insns;
		sum->blocks = of_x.blocks;
	}
	decode_tally_free(&x);
	decode_tally_free(&y);
	return ok;
}

/* A flow without @items counts them and what both flows counted. */
static bool same_split_counts(struct decode_flow *a, struct decode_flow *b,
			      const struct decode_flow_sum *items, const struct sum *sum)
{
	struct sum counted = {0};

	return same_counts(a, b, &counted) && counted.counted + items->insns == sum->counted &&
	       counted.blocks + items->blocks == sum->blocks;
}

/* Blocks, and branches by the way they left. */
struct visited {
	uint64_t insns;
	struct trace_pairs blocks, ways[DECODE_WAY_TARGET + 1];
};

static int visit_block(void *context, const struct decode_block_count *b, unsigned int mode)
{
	struct visited *to = context;

	to->insns += b->insns;
	return trace_pairs_count(&to->blocks, b->ip, b->last << 8 | mode, b->count);
}

static int visit_branch(void *context, uint64_t ip, uint64_t to, enum decode_flow_way way,
			uint64_t count)
{
	struct visited *of = context;

	return trace_pairs_count(&of->ways[way], ip, to, count);
}

static bool same_pairs(struct trace_pairs *a, struct trace_pairs *b)
{
	size_t i;

	trace_pairs_sort(a);
	trace_pairs_sort(b);
	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (a->at[i].a != b->at[i].a || a->at[i].b != b->at[i].b ||
		    a->at[i].value != b->at[i].value)
			return false;
	return true;
}

static void free_visited(struct visited *v)
{
	unsigned int i;

	trace_pairs_free(&v->blocks);
	for (i = 0; i <= DECODE_WAY_TARGET; i++)
		trace_pairs_free(&v->ways[i]);
}

/* The blocks have all instructions that a flow without branches counts. */
static bool same_visits(struct decode_flow *a, struct decode_flow *b, const struct sum *sum)
{
	struct visited x = {0}, y = {0};
	const struct decode_flow_visitor of_x = {visit_block, visit_branch, &x};
	const struct decode_flow_visitor of_y = {visit_block, visit_branch, &y};
	bool ok = !decode_flow_visit_counts(a, &of_x) && !decode_flow_visit_counts(b, &of_y) &&
		  x.insns == sum->counted && same_pairs(&x.blocks, &y.blocks);
	unsigned int i;

	for (i = 0; i <= DECODE_WAY_TARGET; i++)
		ok = ok && same_pairs(&x.ways[i], &y.ways[i]);
	free_visited(&x);
	free_visited(&y);
	return ok;
}

enum unit {
	COUNTS,
	SPLIT_COUNTS,
	BRANCHES,
	BLOCKS,
	TIMED_BLOCKS,
	MERGED,
	TIMED_MERGED,
	CALLS,
	LIST_BLOCKS,
	LIST_INSNS,
	UNITS
};

static int compare(struct cursor *a, struct cursor *b, const char *what, enum unit unit,
		   struct sum *sum)
{
	struct decode_flow_sum items = {0, 0};

	for (;;) {
		if (next(a) || next(b))
			return differ("cannot decode", a, b);
		if (!same(a, b))
			return differ(what, a, b);
		if (a->item.kind == DECODE_ITEM_END)
			break;
		if (a->item.kind == DECODE_ITEM_BLOCK) {
			items.insns += a->item.insns;
			items.blocks++;
		}
	}
	if (unit == SPLIT_COUNTS)
		return same_split_counts(a->flow, b->flow, &items, sum)
			       ? 0
			       : differ("counts and items are not all", a, b);
	if (unit == BRANCHES)
		return same_visits(a->flow, b->flow, sum) ? 0 : differ("other branches", a, b);
	return same_counts(a->flow, b->flow, sum) ? 0 : differ("other counts", a, b);
}

/* Compare the tree of calls that threads build in parts with that of all items. */
static int compare_trees(struct cursor *a, struct cursor *b)
{
	struct decode_shard_calls x = {.tree = decode_calls_new(NULL)};
	struct decode_shard_calls y = {.tree = decode_calls_new(NULL)};
	bool ok = x.tree && y.tree && !decode_shards_calls(a->flow, NULL, 0, &x) &&
		  !decode_shards_calls(b->flow, NULL, 0, &y);

	ok = ok && same_trees(x.tree, y.tree) && x.sum.insns == y.sum.insns &&
	     x.sum.errors == y.sum.errors &&
	     !memcmp(x.sum.events, y.sum.events, sizeof(x.sum.events));
	decode_calls_free(x.tree);
	decode_calls_free(y.tree);
	return ok ? 0 : differ("another tree of calls", a, b);
}

/*
 * Compare the listings that threads print in parts with that of all items. Forms take turns. A third of
 * the listings has all items.
 */
static int compare_listings(struct cursor *a, struct cursor *b, unsigned int vcpu,
			    const struct decode_shards_how *how)
{
	static unsigned int turn;
	const unsigned int n = turn++;
	uint32_t random = how->random;
	const struct decode_listing form = {.symbols = symbols, .lines = n & 2, .json = n % 8 == 7};
	const uint64_t limit = n % 3 ? next_random(&random) % 200000 : UINT64_MAX;

	if (!same_listings(a->flow, b->flow, vcpu, &form, limit))
		return differ("another listing", a, b);
	return listing_was_bounded(b->flow, how) ? 0 : differ("too much text was kept", a, b);
}

static enum decode_flow_unit unit_of(enum unit unit)
{
	if (unit == LIST_INSNS)
		return DECODE_FLOW_INSNS;
	return unit >= BLOCKS ? DECODE_FLOW_BLOCKS : DECODE_FLOW_COUNTS;
}

static int compare_unit(struct cursor *a, struct cursor *b, unsigned int vcpu, enum unit unit,
			const struct decode_shards_how *how, struct sum *sum)
{
	static const char *const names[] = {
		"counts",	 "split counts",	  "branches", "blocks", "times",
		"merged blocks", "times of merged blocks"};

	if (how->listing)
		return compare_listings(a, b, vcpu, how);
	return unit == CALLS ? compare_trees(a, b) : compare(a, b, names[unit], unit, sum);
}

static int run(struct trace_reader *reader, unsigned int vcpu, enum unit unit,
	       const struct decode_shards_how *how, struct sum *sum)
{
	const enum decode_flow_unit by = unit_of(unit);
	const bool merged = unit >= MERGED && unit <= CALLS;
	struct cursor a = {0}, b = {0};
	struct decode_shards_done done;
	uint64_t at;
	int err = decode_flow_open(reader, vcpu, by, &a.flow);

	if (!err)
		err = decode_shards_open(reader, vcpu, by, how, &b.flow);
	if (!err && (unit == TIMED_BLOCKS || unit == TIMED_MERGED)) {
		decode_flow_keep_time(a.flow);
		decode_flow_keep_time(b.flow);
	}
	if (!err && unit == SPLIT_COUNTS) {
		at = how->random % 7
			     ? trace_reader_stream_bytes(reader, vcpu) * (how->random % 64) / 64
			     : 0;
		if (decode_flow_items_from(a.flow, at) != decode_flow_items_from(b.flow, at))
			err = differ("one flow does not count", &a, &b);
	}
	if (!err && unit == BRANCHES &&
	    decode_flow_count_branches(a.flow) != decode_flow_count_branches(b.flow))
		err = differ("one flow does not count", &a, &b);
	if (!err && merged)
		err = decode_flow_merge(a.flow, function_at, NULL);
	if (!err && merged)
		err = decode_flow_merge(b.flow, function_at, NULL);
	if (!err)
		err = compare_unit(&a, &b, vcpu, unit, how, sum);
	if (!err && decode_shards_done(b.flow, &done)) {
		sum->alone += done.alone;
		/* A listing with a limit does not decode all shards. */
		sum->shards += how->listing ? 0 : done.shards;
		sum->proved += how->listing ? 0 : done.proved;
		sum->failed += !how->listing && done.shards != done.proved;
	}
	sum->plans++;
	decode_flow_close(a.flow);
	decode_flow_close(b.flow);
	return err;
}

/* Make all plans of a vCPU. Returns 0, or 1 after the first difference. */
static int run_vcpu(struct trace_reader *reader, unsigned int vcpu, struct decode_shards_how how,
		    const struct options *o, struct sum *sum)
{
	size_t len;
	uint8_t *stream = (uint8_t *)(uintptr_t)trace_reader_stream(reader, vcpu, &len);
	uint8_t *copy = malloc(len + 1);
	unsigned int unit, i;
	int err = copy ? 0 : 1;

	for (i = 0; i < o->plans && !err; i++) {
		how.random = 2654435761u * (o->seed + i) | 1;
		how.eager = i & 1;
		memcpy(copy, stream, len);
		damage(stream, len, o->damage, how.random);
		for (unit = 0; unit < UNITS && !err; unit++) {
			how.listing = unit >= LIST_BLOCKS;
			/* Many texts are too large. */
			how.text = (uint64_t)4096 << (5 * i + unit) % 12;
			err = run(reader, vcpu, unit, &how, sum);
		}
		memcpy(stream, copy, len);
	}
	free(copy);
	return err;
}

int main(int argc, char **argv)
{
	struct decode_shards_how how = {0};
	struct trace_reader *reader;
	struct options o;
	struct sum sum = {0};
	unsigned int v;
	char why[256];
	int err = 0;

	if (argc != 7)
		return 2;
	how.jobs = (unsigned int)atoi(argv[1]);
	how.bytes = (uint64_t)atoll(argv[2]);
	o.plans = (unsigned int)atoi(argv[3]);
	o.seed = (unsigned int)atoi(argv[4]);
	o.damage = (unsigned int)atoi(argv[5]);
	if (trace_reader_open_as(argv[6], TRACE_READER_NO_ORACLE, &reader, why, sizeof(why))) {
		fprintf(stderr, "shards: %s: %s\n", argv[6], why);
		return 1;
	}
	err = debug_symbols_open_lines(reader, &symbols);
	if (!err)
		err = debug_symbols_read_lines(symbols);
	for (v = 0; v < trace_reader_info(reader)->vcpus && !err; v++)
		err = run_vcpu(reader, v, how, &o, &sum);
	printf("plans %llu, shards %llu, alone %llu, proved %llu, failed %llu\n",
	       (unsigned long long)sum.plans, (unsigned long long)sum.shards,
	       (unsigned long long)sum.alone, (unsigned long long)sum.proved,
	       (unsigned long long)sum.failed);
	debug_symbols_close(symbols);
	trace_reader_close(reader);
	return err ? 1 : 0;
}
