/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each change of flow of an address space was executed, in a part of a trace. The place
 * from which its first block is reached may be in the part before.
 */
#ifndef VMM_DECODE_SPACE_EDGES_H
#define VMM_DECODE_SPACE_EDGES_H

#include "decode/edge.h"
#include "trace/pairs.h"

/* The place from which the first block is reached. */
enum decode_edges_begin {
	DECODE_EDGES_OPEN, /* it is the place at the end of the part before, and @from is not set */
	DECODE_EDGES_WAITS,  /* the same, and this place leads to @first */
	DECODE_EDGES_CLOSED, /* the part before does not matter */
};

/* Zero-initialise: an open part without blocks. */
struct decode_space_edges {
	struct trace_pairs kind[DECODE_EDGE_COUNT]; /* counts of (from, to) */
	enum decode_edges_begin begin;
	bool ends; /* @from is the place at the end, and not that of the part before */
	uint64_t first;
	struct decode_from from; /* `block` is not kept */
};

/* Take a BLOCK or an EVENT of the space. Returns false if there is no memory. */
bool decode_space_edges_item(struct decode_space_edges *e, const struct decode_item *item);
/* The flow is interrupted: how the next block is reached is not known. */
void decode_space_edges_break(struct decode_space_edges *e);
/* Append the part @next. Returns false if there is no memory. */
bool decode_space_edges_join(struct decode_space_edges *e, const struct decode_space_edges *next);
void decode_space_edges_free(struct decode_space_edges *e);

#endif /* VMM_DECODE_SPACE_EDGES_H */
