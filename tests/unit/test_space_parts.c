// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks and changes of flow of parts of a trace: joined in any grouping they are those of the whole.
 *
 * The flows are random: blocks of several spaces, events whose space is not known, gaps and overflows.
 * Parts can be empty. Some of them are written to a file and read back. The whole is that of a plain
 * model of the walk for exports, which keeps the state of a single pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/partial_file.h"
#include "lib/below.h"
#include "lib/suite.h"

#define STEPS  120
#define SPACES 3
#define LANES  (SPACES + 1) /* the last one is the space that is not known */

static struct trace_space spaces[SPACES];
static uint64_t address(void)
{
	return 0x1000 + 16 * below(6);
}

static struct decode_item random_event(void)
{
	static const uint8_t events[] = {DECODE_FLOW_ASYNC_BRANCH, DECODE_FLOW_ASYNC_BRANCH,
					 DECODE_FLOW_ASYNC_BRANCH, DECODE_FLOW_DISABLED,
					 DECODE_FLOW_PAGING,	   DECODE_FLOW_OVERFLOW};

	return (struct decode_item){
		.kind = DECODE_ITEM_EVENT,
		.event = events[below(sizeof(events))],
		.ip = address(),
		.shown = !below(4),
	};
}

static struct decode_item random_item(uint32_t switches)
{
	static const uint8_t classes[] = {DECODE_INSN_OTHER, DECODE_INSN_COND, DECODE_INSN_COND,
					  DECODE_INSN_JUMP, DECODE_INSN_FAR_CALL};
	struct decode_item item = {.kind = DECODE_ITEM_BLOCK};
	static uint32_t space;

	if (!below(40))
		return (struct decode_item){.kind = below(2) ? DECODE_ITEM_SEGMENT
							     : DECODE_ITEM_ERROR};
	if (!below(4)) {
		item = random_event();
	} else {
		item.ip = address();
		item.last = item.ip + below(12) - !below(9);
		item.size = (uint8_t)below(5);
		item.class = classes[below(sizeof(classes))];
	}
	if (!below(switches))
		space = below(LANES);
	if (item.kind == DECODE_ITEM_BLOCK || below(2))
		item.space = space < SPACES ? &spaces[space] : NULL;
	return item;
}

/* The results of a space, and the state of the pass in it. */
struct lane {
	struct trace_pairs kind[DECODE_EDGE_COUNT], blocks, ranges[DECODE_RANGE_BEGINS];
	struct decode_from from;
	uint64_t first, last;
	bool runs, branch;
};

struct model {
	struct lane lane[LANES];
	struct lane *now;
	unsigned int map[DECODE_BLOCK_MAP_SIZE];
};

static void count(struct trace_pairs *pairs, uint64_t a, uint64_t b)
{
	struct trace_pair *pair = trace_pairs_add(pairs, a, b);

	ck_assert(pair);
	pair->value++;
}

static void end_range(struct lane *l, bool branch)
{
	if (l->runs && l->first <= l->last)
		count(&l->ranges[l->branch ? DECODE_RANGE_BRANCH : DECODE_RANGE_OTHER], l->first,
		      l->last);
	l->runs = false;
	l->branch = branch;
}

static void model_edge(struct lane *l, uint64_t ip)
{
	enum decode_edge_kind kind;

	if (!decode_edge_kind(&l->from, ip, &kind))
		return;
	count(&l->kind[kind], l->from.ip, ip);
	if (kind != DECODE_EDGE_NOT_TAKEN)
		end_range(l, kind != DECODE_EDGE_EVENT);
}

static uint32_t hash(uint64_t ip)
{
	return (uint32_t)(ip >> 4 ^ ip << 8) & 0xffff;
}

static void model_block(struct model *m, struct lane *l, const struct decode_item *item)
{
	model_edge(l, item->ip);
	if (!l->from.known)
		end_range(l, false);
	m->map[hash(item->ip) ^ (l->from.known ? hash(l->from.block) >> 1 : 0)]++;
	count(&l->blocks, item->ip, (item->last - item->ip) << 4 | item->size);
	if (!l->runs)
		l->first = item->ip;
	l->last = item->last;
	l->runs = true;
	decode_from_block(&l->from, item);
}

static void model_item(struct model *m, const struct decode_item *item)
{
	const bool event = item->kind == DECODE_ITEM_EVENT;
	struct lane *l;
	unsigned int i;

	if (item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR ||
	    (event && item->event == DECODE_FLOW_OVERFLOW))
		for (i = 0; i < LANES; i++)
			m->lane[i].from.known = false;
	if (!event && item->kind != DECODE_ITEM_BLOCK)
		return;
	l = item->space ? &m->lane[item->space - spaces] : &m->lane[SPACES];
	if (event && !item->space)
		l = m->now;
	if (l && l != m->now)
		l->from.known = false;
	m->now = l;
	if (!event) {
		model_block(m, l, item);
	} else if (l && item->event == DECODE_FLOW_ASYNC_BRANCH) {
		if (!item->shown)
			model_edge(l, item->ip);
		decode_from_event(&l->from, item);
	} else if (l && item->event == DECODE_FLOW_DISABLED) {
		l->from.known = false;
	}
}

static void same_pairs(struct trace_pairs *a, struct trace_pairs *b)
{
	trace_pairs_sort(a);
	trace_pairs_sort(b);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert(!a->n || !memcmp(a->at, b->at, a->n * sizeof(*a->at)));
	trace_pairs_free(a);
}

static void same_lane(struct lane *l, struct decode_space_edges *e)
{
	unsigned int k;

	end_range(l, false);
	for (k = 0; k < DECODE_EDGE_COUNT; k++)
		same_pairs(&l->kind[k], &e->kind[k]);
	same_pairs(&l->blocks, &e->blocks);
	for (k = 0; k < DECODE_RANGE_BEGINS; k++)
		same_pairs(&l->ranges[k], &e->ranges.counts[k]);
}

static void same_map(const struct model *m, const struct decode_block_map *map)
{
	unsigned int i;

	for (i = 0; i < DECODE_BLOCK_MAP_SIZE; i++)
		ck_assert_uint_eq(m->map[i] < 255 ? m->map[i] : 255,
				  map->count ? map->count[i] : 0);
}

static void same(struct model *m, struct decode_space_parts *p)
{
	static struct decode_space_edges none;
	unsigned int i;
	size_t k;

	ck_assert(decode_space_parts_close(p));
	for (i = 0; i < LANES; i++) {
		struct decode_space_edges *edges = &none;

		for (k = 0; k < p->spaces.n; k++)
			if (!p->spaces.at[k].before &&
			    p->spaces.at[k].id == (i < SPACES ? spaces[i].id : UINT64_MAX))
				edges = &p->spaces.at[k].edges;
		same_lane(&m->lane[i], edges);
	}
	same_map(m, &p->map);
}

/* Write a part to a file, and read it back. */
static void pass_file(struct decode_space_parts *p)
{
	struct decode_partial partial = {.kind = DECODE_PARTIAL_EDGES, .end = 1, .parts = *p};
	char path[64], why[128];
	int fd = memfd_create("part", 0);

	ck_assert(fd >= 0 && !decode_partial_write(&partial, fd));
	decode_partial_free(&partial);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_msg(!decode_partial_read(path, &partial, why, sizeof(why)), "%s", why);
	*p = partial.parts;
	close(fd);
}

/* Make the part of @n items, by one pass or by joining two parts of them. */
static struct decode_space_parts make(const struct decode_item *items, uint32_t n)
{
	struct decode_space_parts p = {.wanted = DECODE_SPACE_EDGES}, next;
	uint32_t first = below(n + 1), i;

	if (n > 2 && below(8)) {
		p = make(items, first);
		next = make(items + first, n - first);
		ck_assert(decode_space_parts_join(&p, &next));
	} else {
		for (i = 0; i < n; i++)
			ck_assert(decode_space_parts_item(&p, NULL, &items[i]));
	}
	if (!below(4))
		pass_file(&p);
	return p;
}

START_TEST(parts)
{
	struct decode_item items[STEPS];
	struct decode_space_parts p;
	struct model *m = calloc(1, sizeof(*m));
	uint32_t i, n;

	ck_assert(m);
	random_state = 2654435761u * (uint32_t)(_i + 1);
	for (i = 0; i < SPACES; i++)
		spaces[i].id = 0x1000 * (i + 1);
	n = below(STEPS);
	for (i = 0; i < n; i++) {
		items[i] = random_item(2 + (uint32_t)_i % 9);
		model_item(m, &items[i]);
	}
	p = make(items, n);
	same(m, &p);
	decode_space_parts_free(&p);
	free(m);
}
END_TEST

/* The last instruction of a block can be below the first one, if addresses wrap. */
START_TEST(block_ends)
{
	static const uint64_t lasts[] = {0x1000, 0x1fff, 0xfff, 0x10, UINT64_MAX};
	const uint64_t last = lasts[_i];
	const struct trace_pair block = {.a = 0x1000, .b = decode_block_end(0x1000, last, 15)};

	ck_assert_uint_eq(decode_block_last(&block), last);
	ck_assert_uint_eq(decode_block_size(&block), 15);
}
END_TEST

/* A count stays at 255 after it was joined. */
START_TEST(saturation)
{
	const struct decode_item block = {.kind = DECODE_ITEM_BLOCK, .space = spaces};
	struct decode_space_parts p[2] = {{.wanted = DECODE_SPACE_EDGES},
					  {.wanted = DECODE_SPACE_EDGES}};
	unsigned int i;

	for (i = 0; i < 400; i++)
		ck_assert(decode_space_parts_item(&p[i / 200], NULL, &block));
	ck_assert_uint_eq(p[0].map.count[0], 199);
	ck_assert(decode_space_parts_join(&p[0], &p[1]));
	ck_assert_uint_eq(p[0].map.count[0], 255);
	decode_space_parts_free(&p[0]);
}
END_TEST

TEST_SUITE("space_parts", NULL, NULL)
{
	TEST_LOOP(tcase, 1000, parts);
	TEST_LOOP(tcase, 5, block_ends);
	TEST_ADD(tcase, saturation);
}
