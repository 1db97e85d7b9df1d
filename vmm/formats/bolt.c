// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Taken branches and the ranges between them, as perf2bolt reads them with --pa. Addresses are those
 * of the binary as it is linked. BOLT ignores those of other binaries. A branch is never counted as mispredicted, because a trace does not show it.
 */
#include <inttypes.h>

#include "formats/taken.h"

static void write_ranges(FILE *out, const struct trace_pairs *ranges, char kind)
{
	size_t i;

	for (i = 0; i < ranges->n; i++)
		fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", kind, ranges->at[i].a,
			ranges->at[i].b, ranges->at[i].value);
}

static int end(struct format_run *run)
{
	const struct format_taken *t = run->own;
	const int err = format_taken_end(run);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < t->branches.n; i++)
		fprintf(run->out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", t->branches.at[i].a,
			t->branches.at[i].b, t->branches.at[i].value);
	write_ranges(run->out, &t->ranges, 'F');
	write_ranges(run->out, &t->others, 'f');
	return 0;
}

const struct format_type format_type_bolt = {
	.name = "bolt",
	.relative = FORMAT_LINKED,
	.begin = format_taken_begin,
	.lane = format_taken_lane,
	.edge = format_taken_edge,
	.block = format_taken_block,
	.join = format_taken_join,
	.end = end,
	.close = format_taken_close,
};
