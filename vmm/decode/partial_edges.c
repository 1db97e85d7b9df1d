// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn the blocks and the changes of flow of a space into tables, and back. */
#include "decode/partial_edges.h"

#include <errno.h>

#include "trace/vec.h"

static bool append_edges(struct decode_partial_spaces *to, const struct decode_space_edges *from)
{
	unsigned int k;
	size_t i;

	for (k = 0; k < DECODE_EDGE_COUNT; k++) {
		const struct trace_pairs *pairs = &from->kind[k];

		for (i = 0; i < pairs->n; i++) {
			if (!trace_vec_room(&to->edges))
				return false;
			to->edges.at[to->edges.n++] =
				(struct decode_partial_edge){.from = pairs->at[i].a,
							     .to = pairs->at[i].b,
							     .count = pairs->at[i].value,
							     .kind = k};
		}
	}
	return true;
}

static bool append_blocks(struct decode_partial_spaces *to, const struct trace_pairs *from)
{
	size_t i;

	for (i = 0; i < from->n; i++) {
		const struct trace_pair *block = &from->at[i];

		if (!trace_vec_room(&to->blocks))
			return false;
		to->blocks.at[to->blocks.n++] =
			(struct decode_partial_block){.ip = block->a,
						      .last = decode_block_last(block),
						      .count = block->value,
						      .size = decode_block_size(block)};
	}
	return true;
}

static bool append_ranges(struct decode_partial_spaces *to, const struct decode_ranges *from)
{
	unsigned int by;
	size_t i;

	for (by = 0; by < DECODE_RANGE_BEGINS; by++) {
		const struct trace_pairs *pairs = &from->counts[by];

		for (i = 0; i < pairs->n; i++) {
			if (!trace_vec_room(&to->ranges))
				return false;
			to->ranges.at[to->ranges.n++] =
				(struct decode_partial_range){.first = pairs->at[i].a,
							      .last = pairs->at[i].b,
							      .count = pairs->at[i].value,
							      .by = by};
		}
	}
	return true;
}

bool decode_partial_edges_make(const struct decode_space_edges *e, struct decode_partial_spaces *to,
			       struct decode_partial_space *s)
{
	const struct decode_ranges *r = &e->ranges;
	const size_t edges = to->edges.n, blocks = to->blocks.n, ranges = to->ranges.n;

	if (!append_edges(to, e) || !append_blocks(to, &e->blocks) || !append_ranges(to, r))
		return false;
	s->edges = to->edges.n - edges;
	s->blocks = to->blocks.n - blocks;
	s->ranges = to->ranges.n - ranges;
	s->begin = (uint8_t)e->begin;
	s->ends = e->ends;
	s->known = e->from.known;
	s->event = e->from.event;
	s->class = e->from.class;
	s->waits = e->waits;
	s->inherits = e->inherits;
	s->head_runs = r->head.runs;
	s->cut = r->cut;
	s->now_runs = r->now.runs;
	s->by = (uint8_t)r->by;
	s->first = e->first;
	s->ip = e->from.ip;
	s->next = e->from.next;
	s->block = e->from.block;
	s->mapped = e->mapped;
	s->head[0] = r->head.first;
	s->head[1] = r->head.last;
	s->now[0] = r->now.first;
	s->now[1] = r->now.last;
	return true;
}

static bool is_forged(const struct decode_partial_space *s)
{
	const uint8_t flags[] = {s->ends,   s->known,	  s->event, s->waits,	s->inherits,
				 s->before, s->head_runs, s->cut,   s->now_runs};
	size_t i;

	for (i = 0; i < sizeof(flags); i++) {
		if (flags[i] > 1)
			return true;
	}
	return s->task > UINT32_MAX + 1ull || s->begin > DECODE_EDGES_CLOSED ||
	       s->by >= DECODE_RANGE_BEGINS || s->reserved[0] || s->reserved[1] || s->reserved[2];
}

static int take_edges(struct decode_partial_edges_left *left, uint64_t n,
		      struct decode_space_edges *to)
{
	const struct decode_partial_edge *e = left->edges;
	int err = 0;

	if (n > left->nedges)
		return -EINVAL;
	for (; !err && e < left->edges + n; e++)
		err = e->kind >= DECODE_EDGE_COUNT || e->reserved
			      ? -EINVAL
			      : trace_pairs_count(&to->kind[e->kind], e->from, e->to, e->count);
	left->edges = e;
	left->nedges -= n;
	return err;
}

static int take_blocks(struct decode_partial_edges_left *left, uint64_t n,
		       struct decode_space_edges *to)
{
	const struct decode_partial_block *b = left->blocks;
	int err = 0;

	if (n > left->nblocks)
		return -EINVAL;
	for (; !err && b < left->blocks + n; b++)
		err = b->size > 15 || b->reserved || !b->count
			      ? -EINVAL
			      : trace_pairs_count(
					&to->blocks, b->ip,
					decode_block_end(b->ip, b->last, (uint8_t)b->size),
					b->count);
	left->blocks = b;
	left->nblocks -= n;
	return err;
}

static int take_ranges(struct decode_partial_edges_left *left, uint64_t n, struct decode_ranges *to)
{
	const struct decode_partial_range *r = left->ranges;
	int err = 0;

	if (n > left->nranges)
		return -EINVAL;
	for (; !err && r < left->ranges + n; r++)
		err = r->by >= DECODE_RANGE_BEGINS || r->reserved || r->first > r->last
			      ? -EINVAL
			      : trace_pairs_count(&to->counts[r->by], r->first, r->last, r->count);
	left->ranges = r;
	left->nranges -= n;
	return err;
}

int decode_partial_edges_take(struct decode_partial_edges_left *left,
			      const struct decode_partial_space *s, struct decode_space_edges *to)
{
	int err;

	if (is_forged(s))
		return -EINVAL;
	err = take_edges(left, s->edges, to);
	if (!err)
		err = take_blocks(left, s->blocks, to);
	if (!err)
		err = take_ranges(left, s->ranges, &to->ranges);
	to->begin = (enum decode_edges_begin)s->begin;
	to->waits = s->waits;
	to->ends = s->ends;
	to->inherits = s->inherits;
	to->first = s->first;
	to->mapped = s->mapped;
	to->from = (struct decode_from){.known = s->known,
					.event = s->event,
					.class = s->class,
					.ip = s->ip,
					.next = s->next,
					.block = s->block};
	to->ranges.head = (struct decode_range){s->head[0], s->head[1], s->head_runs};
	to->ranges.now = (struct decode_range){s->now[0], s->now[1], s->now_runs};
	to->ranges.cut = s->cut;
	to->ranges.by = (enum decode_range_begin)s->by;
	return err;
}

bool decode_partial_map_make(const struct decode_block_map *map, struct decode_partial_spaces *to)
{
	uint32_t i;

	for (i = 0; map->count && i < DECODE_BLOCK_MAP_SIZE; i++) {
		if (!map->count[i])
			continue;
		if (!trace_vec_room(&to->map))
			return false;
		to->map.at[to->map.n++] =
			(struct decode_partial_byte){.index = (uint16_t)i, .count = map->count[i]};
	}
	return true;
}

int decode_partial_map_take(const struct decode_partial_spaces *from, struct decode_block_map *map)
{
	size_t i;

	for (i = 0; i < from->map.n; i++) {
		const struct decode_partial_byte *b = &from->map.at[i];

		if (b->reserved || !b->count || (i && b->index <= b[-1].index))
			return -EINVAL;
		if (!decode_block_map_count(map, b->index, b->count))
			return -ENOMEM;
	}
	return 0;
}
