// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines, functions and both ways of conditional branches that ran, as an lcov tracefile. */
#include <errno.h>
#include <stdlib.h>

#include "decode/coverage.h"
#include "formats/format.h"

struct lcov {
	struct decode_tally blocks;
	struct trace_pairs branches; /* (address, 1 if taken) */
};

static int begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct lcov));
	return run->own ? 0 : -ENOMEM;
}

static int edge(struct format_run *run, struct format_lane *lane, const struct format_edge *e)
{
	struct lcov *l = run->own;
	struct trace_pair *pair;

	(void)lane;
	if (e->kind != DECODE_EDGE_TAKEN && e->kind != DECODE_EDGE_NOT_TAKEN)
		return 0;
	pair = trace_pairs_add(&l->branches, e->from, e->kind == DECODE_EDGE_TAKEN);
	if (!pair)
		return -ENOMEM;
	pair->value += e->count;
	return 0;
}

static int block(struct format_run *run, struct format_lane *lane, const struct format_block *b)
{
	struct lcov *l = run->own;

	(void)lane;
	return decode_tally_add(&l->blocks, b->ip, b->last, b->insns) ? 0 : -ENOMEM;
}

static int end(struct format_run *run)
{
	struct decode_coverage sum;
	struct lcov *l = run->own;

	decode_tally_sort(&l->blocks);
	return decode_coverage_write(run->symbols, &l->blocks, &l->branches, run->out, &sum);
}

static void close(struct format_run *run)
{
	struct lcov *l = run->own;

	if (!l)
		return;
	decode_tally_free(&l->blocks);
	trace_pairs_free(&l->branches);
	free(l);
}

const struct format_type format_type_lcov = {
	.name = "lcov",
	.lines = true,
	.begin = begin,
	.edge = edge,
	.block = block,
	.end = end,
	.close = close,
};
