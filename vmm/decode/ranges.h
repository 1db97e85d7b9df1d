/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count ranges of instructions that ran without a taken branch, in parts that can be joined. The
 * range in which a part begins may have begun in the part before.
 */
#ifndef VMM_DECODE_RANGES_H
#define VMM_DECODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/pairs.h"

struct decode_range {
	uint64_t first, last; /* instructions */
	bool runs;	      /* at least one block of it has run */
};

/* The way in which a range was reached. */
enum decode_range_begin {
	DECODE_RANGE_OTHER, /* an event, or a gap */
	DECODE_RANGE_BRANCH,
	DECODE_RANGE_BEGINS
};

/* Zero-initialise: an open part without blocks. */
struct decode_ranges {
	struct trace_pairs counts[DECODE_RANGE_BEGINS]; /* of (first, last) */
	struct decode_range head; /* the blocks that continue the range of the part before */
	bool cut;		  /* that range has ended, and @now is the current one */
	struct decode_range now;
	enum decode_range_begin by; /* how @now was reached */
};

/* Count the current range, and begin one. Returns false if there is no memory. */
bool decode_ranges_cut(struct decode_ranges *r, enum decode_range_begin by);
/* Extend the current range by a block. */
void decode_ranges_block(struct decode_ranges *r, uint64_t first, uint64_t last);
/* Append the part @next. Returns false if there is no memory. */
bool decode_ranges_join(struct decode_ranges *r, const struct decode_ranges *next);
/*
 * Count the open ranges at both ends. Nothing can be joined afterwards. Returns false if there is
 * no memory.
 */
bool decode_ranges_close(struct decode_ranges *r);
void decode_ranges_free(struct decode_ranges *r);

#endif /* VMM_DECODE_RANGES_H */
