/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address spaces of a partial result as the tables of its file (docs/abi/vpt-part.md). */
#ifndef VMM_DECODE_PARTIAL_SPACES_H
#define VMM_DECODE_PARTIAL_SPACES_H

#include "decode/calls_piece.h"
#include "decode/share.h"
#include "decode/space_parts.h"

struct decode_partial_space {
	uint64_t id, task; /* of struct decode_space_part */
	/* How many of the tables are its own, behind those of the space before. */
	uint64_t pieces, edges, blocks, ranges;
	uint8_t has_calls;
	/* Of struct decode_space_edges, and of its `from`. */
	uint8_t begin; /* enum decode_edges_begin */
	uint8_t ends;
	uint8_t known, event, class;
	uint8_t waits, inherits;
	uint8_t before; /* of struct decode_space_part */
	/* Of struct decode_ranges. */
	uint8_t head_runs, cut, now_runs;
	uint8_t by; /* enum decode_range_begin */
	uint8_t reserved[3];
	uint64_t first, ip, next, block, mapped;
	uint64_t head[2], now[2]; /* of the ranges: the first and the last instruction */
};

struct decode_partial_edge {
	uint64_t from, to, count;
	uint32_t kind; /* enum decode_edge_kind */
	uint32_t reserved;
};

struct decode_partial_block {
	uint64_t ip;
	uint64_t last; /* the IP of the last instruction */
	uint64_t count;
	uint32_t size; /* of the last instruction; 0 if not known */
	uint32_t reserved;
};

struct decode_partial_range {
	uint64_t first, last, count;
	uint32_t by; /* enum decode_range_begin */
	uint32_t reserved;
};

/* A byte of struct decode_block_map that is not 0. */
struct decode_partial_byte {
	uint16_t index;
	uint8_t count;
	uint8_t reserved;
};

/* Zero-initialise. */
struct decode_partial_spaces {
	struct decode_calls_pieces calls;
	struct {
		struct decode_partial_space *at;
		size_t n, room;
	} spaces;
	struct {
		struct decode_partial_edge *at;
		size_t n, room;
	} edges;
	struct {
		struct decode_partial_block *at;
		size_t n, room;
	} blocks;
	struct {
		struct decode_partial_range *at;
		size_t n, room;
	} ranges;
	struct {
		struct decode_partial_byte *at;
		size_t n, room;
	} map;
};

/* Make the tables. The trees of @p are closed. Returns 0 or -ENOMEM. Free @to in any case. */
int decode_partial_spaces_make(struct decode_space_parts *p, struct decode_partial_spaces *to);
void decode_partial_spaces_free(struct decode_partial_spaces *s);

/*
 * Take the tables into @p, which is empty but for `wanted` and `now`. They may be those of a forged file. Returns 0, -EINVAL or
 * -ENOMEM. Free @p in any case.
 */
int decode_partial_spaces_take(const struct decode_partial_spaces *from,
			       struct decode_space_parts *p);

/* The share of a space (share.h). */
struct decode_partial_share {
	uint64_t id, cr3, vmcs; /* these and the flags identify the space */
	uint64_t insns, blocks, entries, exits, time;
	uint32_t flags;
	uint8_t known, seen;
	uint8_t reserved[10];
};

/* Zero-initialise. */
struct decode_partial_shares {
	struct decode_partial_share *at;
	size_t n, room;
};

/* Make the table. Returns 0 or -ENOMEM. Free its entries in any case. */
int decode_partial_shares_make(const struct decode_shares *s, struct decode_partial_shares *to);
/* Take the table, which may be forged. Returns 0, -EINVAL or -ENOMEM. */
int decode_partial_shares_take(const struct decode_partial_shares *from, struct decode_shares *s);

#endif /* VMM_DECODE_PARTIAL_SPACES_H */
