/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the files of the stride cache: making and using strides (stride.c), and the
 * memory and the counts of strides (stride_counts.c).
 */
#ifndef VMM_LIBDECODE_STRIDE_INSIDE_H
#define VMM_LIBDECODE_STRIDE_INSIDE_H

#include "libdecode/paths.h"
#include "libdecode/stride.h"

/* The maximum number of addresses that a stride pops and pushes, together. */
#define DEC_STRIDE_STACK 12u
#define DEC_STRIDE_STEPS 256u  /* the maximum number of blocks in a stride */
#define DEC_STRIDE_ROOM	 8192u /* first entries of the arrays of addresses and paths */
#define DEC_STRIDE_SEEN	 32768u

/* Masks of enum dec_end: ends that need a target. */
#define DEC_NEEDS_TARGET \
	(1u << DEC_END_RET | 1u << DEC_END_JUMP_IND | 1u << DEC_END_CALL_IND | 1u << DEC_END_FAR)

struct dec_stride {
	uint64_t units[DEC_STRIDE_UNITS / 2];
	const struct dec_block *from; /* NULL: the slot is free */
	struct dec_block *to;
	uint32_t view;
	uint32_t hits;
	uint32_t stack;	     /* index of the addresses in `addresses` */
	uint32_t insns : 17; /* at most DEC_STRIDE_STEPS * 512 */
	uint32_t n : 3;	     /* units */
	uint32_t pops : 4, pushes : 4;
	uint32_t of_all : 1; /* @view is that of all spaces: an index into views[] */
};

struct dec_strides {
	struct dec_stride *slot;
	size_t mask, used;
	size_t max; /* the maximum number of slots */
	uint32_t max_room;
	struct dec_paths paths;		/* a header is the number of blocks */
	bool has_retc, pops;		/* the flow's values when the strides were made */
	uint16_t seen[DEC_STRIDE_SEEN]; /* hashes of packets that occurred once */
};

/* Move the count of one stride to the hits of its blocks, or to the edges of @f if it has any. */
void dec_stride_expand(const struct dec_strides *s, const struct dec_flow *f, struct dec_stride *w);

#endif /* VMM_LIBDECODE_STRIDE_INSIDE_H */
