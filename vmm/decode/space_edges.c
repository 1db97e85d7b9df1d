// SPDX-License-Identifier: GPL-2.0-or-later
/* Count the blocks and the changes of flow of an address space, in parts that can be joined. */
#include "decode/space_edges.h"

static bool add(struct trace_pairs *pairs, uint64_t a, uint64_t b, uint64_t count)
{
	struct trace_pair *pair = trace_pairs_add(pairs, a, b);

	if (pair)
		pair->value += count;
	return pair != NULL;
}

static bool add_all(struct trace_pairs *to, const struct trace_pairs *from)
{
	size_t i;

	for (i = 0; i < from->n; i++)
		if (!add(to, from->at[i].a, from->at[i].b, from->at[i].value))
			return false;
	return true;
}

/* Execution reaches a block at @ip, or an event there. */
static bool reach(struct decode_space_edges *e, uint64_t ip)
{
	enum decode_edge_kind kind;

	if (!e->ends) {
		e->begin = DECODE_EDGES_WAITS;
		e->first = ip;
		return true;
	}
	if (!decode_edge_kind(&e->from, ip, &kind))
		return e->from.known || decode_ranges_cut(&e->ranges, DECODE_RANGE_OTHER);
	if (!add(&e->kind[kind], e->from.ip, ip, 1))
		return false;
	return kind == DECODE_EDGE_NOT_TAKEN ||
	       decode_ranges_cut(&e->ranges, kind == DECODE_EDGE_EVENT ? DECODE_RANGE_OTHER
								       : DECODE_RANGE_BRANCH);
}

/* Count a block by the block before, or note that the block before is in an earlier part. */
static bool map_block(struct decode_space_edges *e, struct decode_block_map *map, uint64_t ip)
{
	if (e->ends && !e->inherits)
		return decode_block_map_add(map, &e->from, ip);
	e->waits = true;
	e->mapped = ip;
	return true;
}

static void set_end(struct decode_space_edges *e)
{
	if (!e->ends && e->begin == DECODE_EDGES_OPEN)
		e->begin = DECODE_EDGES_CLOSED;
	e->ends = true;
}

void decode_space_edges_break(struct decode_space_edges *e)
{
	set_end(e);
	e->from.known = false;
	e->inherits = false;
}

static bool take_block(struct decode_space_edges *e, struct decode_block_map *map,
		       const struct decode_item *item)
{
	if (!map_block(e, map, item->ip) || !reach(e, item->ip) ||
	    !add(&e->blocks, item->ip, decode_block_end(item->ip, item->last, item->size), 1))
		return false;
	decode_ranges_block(&e->ranges, item->ip, item->last);
	set_end(e);
	decode_from_block(&e->from, item);
	e->inherits = false;
	return true;
}

bool decode_space_edges_item(struct decode_space_edges *e, struct decode_block_map *map,
			     const struct decode_item *item)
{
	if (item->kind == DECODE_ITEM_BLOCK)
		return take_block(e, map, item);
	switch (item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		/* The event of an INT n is at the INT n, which has run. */
		if (!item->shown && !reach(e, item->ip))
			return false;
		e->inherits |= !e->ends;
		set_end(e);
		decode_from_event(&e->from, item);
		return true;
	case DECODE_FLOW_OVERFLOW:
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
		decode_space_edges_break(e);
		return true;
	default:
		return true;
	}
}

/* Count the first blocks of @next, which are reached from the end of @e. */
static bool join_first(struct decode_space_edges *e, struct decode_block_map *map,
		       const struct decode_space_edges *next)
{
	return (!next->waits || map_block(e, map, next->mapped)) &&
	       (next->begin != DECODE_EDGES_WAITS || reach(e, next->first));
}

/* Make the place at the end of @next that of @e. */
static void join_end(struct decode_space_edges *e, const struct decode_space_edges *next)
{
	const struct decode_from before = e->from;
	const bool open = !e->ends || e->inherits;

	set_end(e);
	e->from = next->from;
	e->inherits = next->inherits && open;
	if (next->inherits)
		e->from.block = !open && before.known ? before.block : 0;
}

bool decode_space_edges_join(struct decode_space_edges *e, struct decode_block_map *map,
			     const struct decode_space_edges *next)
{
	unsigned int k;

	if (!join_first(e, map, next))
		return false;
	for (k = 0; k < DECODE_EDGE_COUNT; k++)
		if (!add_all(&e->kind[k], &next->kind[k]))
			return false;
	if (!add_all(&e->blocks, &next->blocks) || !decode_ranges_join(&e->ranges, &next->ranges))
		return false;
	if (next->ends)
		join_end(e, next);
	return true;
}

bool decode_space_edges_close(struct decode_space_edges *e, struct decode_block_map *map)
{
	const struct decode_from unknown = {.known = false};

	if (e->waits && !decode_block_map_add(map, &unknown, e->mapped))
		return false;
	e->waits = false;
	e->begin = DECODE_EDGES_CLOSED;
	return decode_ranges_close(&e->ranges);
}

void decode_space_edges_free(struct decode_space_edges *e)
{
	unsigned int k;

	for (k = 0; k < DECODE_EDGE_COUNT; k++)
		trace_pairs_free(&e->kind[k]);
	trace_pairs_free(&e->blocks);
	decode_ranges_free(&e->ranges);
}
