/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks and the changes of flow of an address space, in a part of a trace that can be joined
 * to others. The place from which its first block is reached may be in the part before.
 */
#ifndef VMM_DECODE_SPACE_EDGES_H
#define VMM_DECODE_SPACE_EDGES_H

#include "decode/block_map.h"
#include "decode/edge.h"
#include "decode/ranges.h"
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
	struct trace_pairs blocks;   /* counts of (first instruction, decode_block_end()) */
	struct decode_ranges ranges; /* between taken branches */
	enum decode_edges_begin begin;
	bool waits;	/* the block before that at @mapped is in the part before, if one is */
	bool ends;	/* @from is the place at the end, and not that of the part before */
	bool inherits;	/* only events have run: `from.block` is that of the part before */
	uint64_t first; /* of WAITS */
	uint64_t mapped;
	struct decode_from from;
};

/* The end of a block as a number: where its last instruction is, and its size, which may be 0. */
static inline uint64_t decode_block_end(uint64_t ip, uint64_t last, uint8_t size)
{
	return (last - ip) << 4 | (size & 15);
}

static inline uint64_t decode_block_last(const struct trace_pair *block)
{
	return block->a + (uint64_t)((int64_t)block->b >> 4);
}

static inline uint8_t decode_block_size(const struct trace_pair *block)
{
	return block->b & 15;
}

/*
 * Take a BLOCK or an EVENT of the space. @map counts the edges between the blocks of all spaces.
 * Returns false if there is no memory.
 */
bool decode_space_edges_item(struct decode_space_edges *e, struct decode_block_map *map,
			     const struct decode_item *item);
/* The flow is interrupted: how the next block is reached is not known. */
void decode_space_edges_break(struct decode_space_edges *e);
/* Append the part @next. Returns false if there is no memory. */
bool decode_space_edges_join(struct decode_space_edges *e, struct decode_block_map *map,
			     const struct decode_space_edges *next);
/*
 * Count what is open at both ends, because nothing is before and behind the part. Returns false if
 * there is no memory.
 */
bool decode_space_edges_close(struct decode_space_edges *e, struct decode_block_map *map);
void decode_space_edges_free(struct decode_space_edges *e);

#endif /* VMM_DECODE_SPACE_EDGES_H */
