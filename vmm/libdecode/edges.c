// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Count edges in a table with open addressing, by branch and target. */
#include "libdecode/edges.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u

static struct dec_edge *find(const struct dec_edges *edges, uint32_t from, uint64_t to)
{
	uint64_t hash = (to ^ (uint64_t)from << 40) * 0x9e3779b97f4a7c15ull;
	size_t i = hash >> 32 & edges->mask;

	while (edges->slots[i].count && (edges->slots[i].to != to || edges->slots[i].from != from))
		i = (i + 1) & edges->mask;
	return &edges->slots[i];
}

static bool grow(struct dec_edges *edges)
{
	struct dec_edges grown = {.mask = edges->slots ? 2 * edges->mask + 1 : FIRST_SLOTS - 1,
				  .used = edges->used,
				  .lost = edges->lost};
	size_t i;

	grown.slots = calloc(grown.mask + 1, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (i = 0; edges->slots && i <= edges->mask; i++) {
		const struct dec_edge *e = &edges->slots[i];

		if (e->count)
			*find(&grown, e->from, e->to) = *e;
	}
	free(edges->slots);
	*edges = grown;
	return true;
}

void dec_edges_add(struct dec_edges *edges, uint32_t from, uint64_t to, uint64_t count)
{
	struct dec_edge *e;

	if ((!edges->slots || edges->used * 2 > edges->mask) && !grow(edges)) {
		edges->lost = true;
		return;
	}
	e = find(edges, from, to);
	if (!e->count) {
		e->from = from;
		e->to = to;
		edges->used++;
	}
	e->count += count;
}

void dec_edges_clear(struct dec_edges *edges)
{
	if (edges->slots)
		memset(edges->slots, 0, (edges->mask + 1) * sizeof(*edges->slots));
	edges->used = 0;
}

void dec_edges_free(struct dec_edges *edges)
{
	free(edges->slots);
}
