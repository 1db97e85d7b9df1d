// SPDX-License-Identifier: GPL-2.0-or-later
/* Count the changes of flow of an address space, in parts that can be joined. */
#include "decode/space_edges.h"

static bool add(struct decode_space_edges *e, enum decode_edge_kind kind, uint64_t from,
		uint64_t to, uint64_t count)
{
	struct trace_pair *pair = trace_pairs_add(&e->kind[kind], from, to);

	if (pair)
		pair->value += count;
	return pair != NULL;
}

/* Execution reaches @ip. */
static bool reach(struct decode_space_edges *e, uint64_t ip)
{
	enum decode_edge_kind kind;

	if (!e->ends) {
		e->begin = DECODE_EDGES_WAITS;
		e->first = ip;
		return true;
	}
	return !decode_edge_kind(&e->from, ip, &kind) || add(e, kind, e->from.ip, ip, 1);
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
}

bool decode_space_edges_item(struct decode_space_edges *e, const struct decode_item *item)
{
	if (item->kind == DECODE_ITEM_BLOCK) {
		if (!reach(e, item->ip))
			return false;
		set_end(e);
		decode_from_block(&e->from, item);
		return true;
	}
	switch (item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		/* The event of an INT n is at the INT n, which has run. */
		if (!item->shown && !reach(e, item->ip))
			return false;
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

bool decode_space_edges_join(struct decode_space_edges *e, const struct decode_space_edges *next)
{
	unsigned int k;
	size_t i;

	if (next->begin == DECODE_EDGES_WAITS && !reach(e, next->first))
		return false;
	for (k = 0; k < DECODE_EDGE_COUNT; k++) {
		const struct trace_pairs *pairs = &next->kind[k];

		for (i = 0; i < pairs->n; i++)
			if (!add(e, (enum decode_edge_kind)k, pairs->at[i].a, pairs->at[i].b,
				 pairs->at[i].value))
				return false;
	}
	if (!next->ends)
		return true;
	set_end(e);
	e->from = next->from;
	return true;
}

void decode_space_edges_free(struct decode_space_edges *e)
{
	unsigned int k;

	for (k = 0; k < DECODE_EDGE_COUNT; k++)
		trace_pairs_free(&e->kind[k]);
}
