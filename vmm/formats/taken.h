/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts as profilers make them of last branch records. They are those of taken branches, and of the
 * ranges of instructions from the target of one to the next. All lanes count together.
 * Addresses are relative to run->base, and those below it do not count.
 */
#ifndef VMM_FORMATS_TAKEN_H
#define VMM_FORMATS_TAKEN_H

#include "formats/format.h"
#include "trace/pairs.h"

struct format_taken {
	struct trace_pairs branches; /* (address of the branch, target) */
	struct trace_pairs ranges; /* (first instruction, last instruction), reached by a branch */
	struct trace_pairs others; /* the same, reached by an event or after a gap */
};

/* Functions of struct format_type for a format that has these counts in run->own. */
int format_taken_begin(struct format_run *run);
int format_taken_lane(struct format_run *run, struct format_lane *lane);
int format_taken_edge(struct format_run *run, struct format_lane *lane,
		      const struct format_edge *edge);
int format_taken_block(struct format_run *run, struct format_lane *lane,
		       const struct format_block *block);
int format_taken_join(struct format_run *run, struct format_lane *lane,
		      const struct decode_space_edges *edges);
void format_taken_close(struct format_run *run);

/*
 * Count the last range of each lane, and sort all counts by their addresses. Call this at the begin of
 * end(). Returns 0 or -ENOMEM.
 */
int format_taken_end(struct format_run *run);

#endif /* VMM_FORMATS_TAKEN_H */
