// SPDX-License-Identifier: GPL-2.0-or-later
/* Count taken branches, and the ranges of instructions between them. */
#include "formats/taken.h"

#include <errno.h>
#include <stdlib.h>

int format_taken_begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct format_taken));
	return run->own ? 0 : -ENOMEM;
}

int format_taken_lane(struct format_run *run, struct format_lane *lane)
{
	(void)run;
	lane->own = calloc(1, sizeof(struct decode_ranges));
	return lane->own ? 0 : -ENOMEM;
}

static int add_branch(const struct format_run *run, uint64_t from, uint64_t to, uint64_t count)
{
	struct format_taken *t = run->own;

	if (from < run->base || to < run->base)
		return 0;
	return trace_pairs_count(&t->branches, from - run->base, to - run->base, count);
}

int format_taken_edge(struct format_run *run, struct format_lane *lane,
		      const struct format_edge *edge)
{
	const bool event = edge->kind == DECODE_EDGE_EVENT;

	if (edge->kind == DECODE_EDGE_NOT_TAKEN)
		return 0;
	if (!decode_ranges_cut(lane->own, event ? DECODE_RANGE_OTHER : DECODE_RANGE_BRANCH))
		return -ENOMEM;
	return event ? 0 : add_branch(run, edge->from, edge->to, edge->count);
}

int format_taken_block(struct format_run *run, struct format_lane *lane,
		       const struct format_block *block)
{
	(void)run;
	if (!lane->from.known && !decode_ranges_cut(lane->own, DECODE_RANGE_OTHER))
		return -ENOMEM;
	decode_ranges_block(lane->own, block->ip, block->last);
	return 0;
}

static int add_ranges(const struct format_run *run, struct trace_pairs *to,
		      const struct trace_pairs *from)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < from->n; i++) {
		const struct trace_pair *range = &from->at[i];

		if (range->a >= run->base)
			err = trace_pairs_count(to, range->a - run->base, range->b - run->base,
						range->value);
	}
	return err;
}

static int add_all_ranges(struct format_run *run, const struct decode_ranges *from)
{
	struct format_taken *t = run->own;
	int err = add_ranges(run, &t->ranges, &from->counts[DECODE_RANGE_BRANCH]);

	return err ? err : add_ranges(run, &t->others, &from->counts[DECODE_RANGE_OTHER]);
}

int format_taken_join(struct format_run *run, struct format_lane *lane,
		      const struct decode_space_edges *edges)
{
	int err = add_all_ranges(run, &edges->ranges);
	unsigned int k;
	size_t i;

	(void)lane;
	for (k = 0; k < DECODE_EDGE_COUNT; k++) {
		const struct trace_pairs *from = &edges->kind[k];

		if (k == DECODE_EDGE_NOT_TAKEN || k == DECODE_EDGE_EVENT)
			continue;
		for (i = 0; !err && i < from->n; i++)
			err = add_branch(run, from->at[i].a, from->at[i].b, from->at[i].value);
	}
	return err;
}

int format_taken_end(struct format_run *run)
{
	struct format_taken *t = run->own;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < run->lanes.n; i++) {
		struct decode_ranges *ranges = run->lanes.at[i]->own;

		err = decode_ranges_close(ranges) ? add_all_ranges(run, ranges) : -ENOMEM;
	}
	trace_pairs_sort(&t->branches);
	trace_pairs_sort(&t->ranges);
	trace_pairs_sort(&t->others);
	return err;
}

void format_taken_close(struct format_run *run)
{
	struct format_taken *t = run->own;
	size_t i;

	for (i = 0; i < run->lanes.n; i++) {
		if (run->lanes.at[i]->own)
			decode_ranges_free(run->lanes.at[i]->own);
		free(run->lanes.at[i]->own);
	}
	if (t) {
		trace_pairs_free(&t->branches);
		trace_pairs_free(&t->ranges);
		trace_pairs_free(&t->others);
	}
	free(t);
}
