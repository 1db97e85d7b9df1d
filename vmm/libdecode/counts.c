// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Count edges, independent of the decoder that made them. */
#include <stdlib.h>
#include <string.h>

#include "libdecode/decoder.h"

#define FIRST_SLOTS 4096u

/*
 * A table with open addressing. A slot whose count is 0 is free. Sorting moves the edges to the
 * front.
 */
struct vptd_counts {
	struct vptd_edge *slots;
	size_t mask, used;
	bool sorted;
};

struct vptd_counts *vptd_counts_new(void)
{
	return calloc(1, sizeof(struct vptd_counts));
}

void vptd_counts_free(struct vptd_counts *counts)
{
	if (!counts)
		return;
	free(counts->slots);
	free(counts);
}

static struct vptd_edge *find(const struct vptd_counts *c, const struct vptd_edge *edge)
{
	size_t i = (dec_edge_hash(edge->from, edge->to) ^ edge->page >> 12) >> 16 & c->mask;

	for (; c->slots[i].count; i = (i + 1) & c->mask) {
		const struct vptd_edge *e = &c->slots[i];

		if (e->from == edge->from && e->to == edge->to && e->page == edge->page)
			break;
	}
	return &c->slots[i];
}

/* Place the edges by their hashes in a new table of @slots slots. */
static bool lay_out(struct vptd_counts *c, size_t slots)
{
	struct vptd_counts new = {.mask = slots - 1, .used = c->used};
	size_t i;

	new.slots = calloc(slots, sizeof(*new.slots));
	if (!new.slots)
		return false;
	for (i = 0; c->slots && i <= c->mask; i++) {
		if (c->slots[i].count)
			*find(&new, &c->slots[i]) = c->slots[i];
	}
	free(c->slots);
	*c = new;
	return true;
}

static bool add(struct vptd_counts *c, const struct vptd_edge *edge)
{
	struct vptd_edge *e;

	if (!edge->count)
		return true;
	if ((c->sorted || !c->slots || c->used * 2 > c->mask) &&
	    !lay_out(c, !c->slots		? FIRST_SLOTS
			: c->used * 2 > c->mask ? 2 * (c->mask + 1)
						: c->mask + 1))
		return false;
	e = find(c, edge);
	if (e->count) {
		e->count += edge->count;
	} else {
		*e = *edge;
		c->used++;
	}
	return true;
}

/* Add the edges of a block that ends with a direct branch, and clear its counts. */
static bool add_block(struct vptd_counts *c, struct dec_block *block)
{
	struct vptd_edge edge = {.from = block->last, .page = dec_block_key(block)};
	bool branches = block->end == DEC_END_COND || block->end == DEC_END_JUMP ||
			block->end == DEC_END_CALL;

	if (branches) {
		edge.to = block->target;
		edge.count = block->hits[DEC_TAKEN];
		if (!add(c, &edge))
			return false;
		block->hits[DEC_TAKEN] = 0;
		edge.to = block->next;
		edge.count = block->hits[DEC_FALL];
		if (!add(c, &edge))
			return false;
	}
	memset(block->hits, 0, sizeof(block->hits));
	return true;
}

/* Add an edge of an indirect branch or RET. */
static bool add_indirect(struct vptd_counts *c, const struct vptd_decoder *d, struct dec_edge *from)
{
	const struct dec_block *block = dec_code_at(d->code, from->from);
	const struct vptd_edge edge = {
		.from = block->last,
		.to = from->to,
		.page = dec_block_key(block),
		.count = from->count,
	};

	return add(c, &edge);
}

enum vptd_status vptd_count(struct vptd_decoder *d, struct vptd_counts *counts)
{
	uint32_t id;
	size_t i;

	if (!d->counts_edges)
		return VPTD_E_ARGUMENT;
	if (d->flow.tracelets && !dec_tracelets_expand(d->flow.tracelets, &d->flow))
		return VPTD_E_MEMORY;
	if (d->edges.lost)
		return VPTD_E_MEMORY;
	for (id = 0; id < dec_code_count(d->code); id++) {
		if (!add_block(counts, dec_code_at(d->code, id)))
			return VPTD_E_MEMORY;
	}
	for (i = 0; d->edges.slots && i <= d->edges.mask; i++) {
		if (d->edges.slots[i].count && !add_indirect(counts, d, &d->edges.slots[i]))
			return VPTD_E_MEMORY;
	}
	dec_edges_clear(&d->edges);
	return VPTD_OK;
}

enum vptd_status vptd_counts_add(struct vptd_counts *into, const struct vptd_counts *from)
{
	size_t i;

	for (i = 0; from->slots && i <= from->mask; i++) {
		if (!add(into, &from->slots[i]))
			return VPTD_E_MEMORY;
	}
	return VPTD_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct vptd_edge *x = a, *y = b;

	if (!x->count || !y->count)
		return !x->count - !y->count;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->page < y->page ? -1 : x->page > y->page;
}

size_t vptd_counts_edges(struct vptd_counts *counts)
{
	if (!counts->sorted && counts->slots)
		qsort(counts->slots, counts->mask + 1, sizeof(*counts->slots), by_address);
	counts->sorted = true;
	return counts->used;
}

int vptd_counts_edge(struct vptd_counts *counts, size_t i, struct vptd_edge *edge)
{
	if (i >= vptd_counts_edges(counts))
		return 0;
	*edge = counts->slots[i];
	return 1;
}

void vptd_counts_bitmap(const struct vptd_counts *counts, uint8_t *bitmap)
{
	size_t i;

	for (i = 0; counts->slots && i <= counts->mask; i++) {
		const struct vptd_edge *e = &counts->slots[i];
		uint8_t *byte = &bitmap[dec_edge_hash(e->from, e->to) >> 48];

		if (e->count)
			*byte = e->count < 255u - *byte ? (uint8_t)(*byte + e->count) : 255;
	}
}
