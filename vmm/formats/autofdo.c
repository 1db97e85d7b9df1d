// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Taken branches and the ranges between them, as AutoFDO's tools read them with --profiler=text.
 * These are ranges, addresses of samples (there are none), and branches, each after their number.
 * Addresses are relative to the first segment of the binary.
 */
#include <inttypes.h>

#include "formats/taken.h"

/*
 * Return the next range of two sorted tables, and remove it from its table. A range that both have is
 * one.
 */
static struct trace_pair next(struct trace_pairs *a, struct trace_pairs *b)
{
	const int order = !a->n ? 1 : !b->n ? -1 : trace_pair_compare(&a->at[0], &b->at[0]);
	struct trace_pairs *from = order <= 0 ? a : b;
	struct trace_pair pair = from->at[0];

	from->at++;
	from->n--;
	if (!order) {
		pair.value += b->at[0].value;
		b->at++;
		b->n--;
	}
	return pair;
}

/* Write the ranges if @out is not NULL. Returns their number. */
static uint64_t write_ranges(FILE *out, const struct format_taken *t)
{
	struct trace_pairs a = t->ranges, b = t->others;
	uint64_t n;

	for (n = 0; a.n || b.n; n++) {
		const struct trace_pair pair = next(&a, &b);

		if (out)
			fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", pair.a, pair.b,
				pair.value);
	}
	return n;
}

static int end(struct format_run *run)
{
	const struct format_taken *t = run->own;
	const int err = format_taken_end(run);
	size_t i;

	if (err)
		return err;
	fprintf(run->out, "%" PRIu64 "\n", write_ranges(NULL, t));
	write_ranges(run->out, t);
	fprintf(run->out, "0\n%zu\n", t->branches.n);
	for (i = 0; i < t->branches.n; i++)
		fprintf(run->out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", t->branches.at[i].a,
			t->branches.at[i].b, t->branches.at[i].value);
	return 0;
}

const struct format_type format_type_autofdo = {
	.name = "autofdo",
	.relative = FORMAT_AT_BEGIN,
	.begin = format_taken_begin,
	.lane = format_taken_lane,
	.edge = format_taken_edge,
	.block = format_taken_block,
	.join = format_taken_join,
	.end = end,
	.close = format_taken_close,
};
