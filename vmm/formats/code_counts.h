/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of times that each block of code ran, and where each branch led to. All address spaces
 * count together, as functions do.
 */
#ifndef VMM_FORMATS_CODE_COUNTS_H
#define VMM_FORMATS_CODE_COUNTS_H

#include "decode/flow.h"
#include "formats/walk.h"
#include "trace/pairs.h"

/* All arrays are sorted. No entry can be found by trace_pairs_find(). */
struct format_code_counts {
	struct trace_pairs blocks;  /* (first instruction, the code of its end and mode) */
	struct trace_pairs ways;    /* (conditional branch, 1 if taken) */
	struct trace_pairs targets; /* (another branch, target) */
	uint64_t longest;	    /* the most bytes between the first and the last instruction */
};

/* The end and the mode of a block in the second number of format_code_counts.blocks. */
static inline uint64_t format_block_last(const struct trace_pair *block)
{
	return block->a + (block->b >> 8);
}

static inline unsigned int format_block_mode(const struct trace_pair *block)
{
	return block->b & 0xff;
}

/*
 * Count the part of a trace that @walk selects; its type and output are not used. The whole trace
 * of Intel PT is counted a lot faster than a part of one. Returns 0 or -errno. Free the counts also
 * after an error.
 */
int format_code_counts_read(const struct format_walk *walk, struct format_code_counts *counts);
void format_code_counts_free(struct format_code_counts *counts);

#endif /* VMM_FORMATS_CODE_COUNTS_H */
