// SPDX-License-Identifier: GPL-2.0-or-later
/* Count taken branches, and the ranges of instructions between them. */
#include "formats/taken.h"

#include <errno.h>
#include <stdlib.h>

/* The range in which a lane is. */
struct range {
	uint64_t first, last;
	bool runs;   /* at least one block of it has run */
	bool branch; /* a branch has reached it */
};

int format_taken_begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct format_taken));
	return run->own ? 0 : -ENOMEM;
}

int format_taken_lane(struct format_run *run, struct format_lane *lane)
{
	(void)run;
	lane->own = calloc(1, sizeof(struct range));
	return lane->own ? 0 : -ENOMEM;
}

static int add(struct trace_pairs *pairs, uint64_t a, uint64_t b)
{
	struct trace_pair *pair = trace_pairs_add(pairs, a, b);

	if (!pair)
		return -ENOMEM;
	pair->value++;
	return 0;
}

/* Count the range of a lane, and begin one that an edge reaches. */
static int cut(struct format_taken *t, struct range *r, uint64_t base, bool branch)
{
	struct trace_pairs *to = r->branch ? &t->ranges : &t->others;
	const bool counts = r->runs && r->first <= r->last && r->first >= base;
	const int err = counts ? add(to, r->first - base, r->last - base) : 0;

	*r = (struct range){.branch = branch};
	return err;
}

int format_taken_edge(struct format_run *run, struct format_lane *lane,
		      const struct format_edge *edge)
{
	struct format_taken *t = run->own;
	int err;

	if (edge->kind == DECODE_EDGE_NOT_TAKEN)
		return 0;
	if (edge->kind == DECODE_EDGE_EVENT)
		return cut(t, lane->own, run->base, false);
	err = cut(t, lane->own, run->base, true);
	if (err || edge->from < run->base || edge->to < run->base)
		return err;
	return add(&t->branches, edge->from - run->base, edge->to - run->base);
}

int format_taken_block(struct format_run *run, struct format_lane *lane,
		       const struct format_block *block)
{
	struct range *r = lane->own;
	int err = 0;

	if (!lane->from.known)
		err = cut(run->own, r, run->base, false);
	if (!r->runs)
		r->first = block->ip;
	r->last = block->last;
	r->runs = true;
	return err;
}

int format_taken_end(struct format_run *run)
{
	struct format_taken *t = run->own;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < run->lanes.n; i++)
		err = cut(t, run->lanes.at[i]->own, run->base, false);
	trace_pairs_sort(&t->branches);
	trace_pairs_sort(&t->ranges);
	trace_pairs_sort(&t->others);
	return err;
}

void format_taken_close(struct format_run *run)
{
	struct format_taken *t = run->own;
	size_t i;

	for (i = 0; i < run->lanes.n; i++)
		free(run->lanes.at[i]->own);
	if (t) {
		trace_pairs_free(&t->branches);
		trace_pairs_free(&t->ranges);
		trace_pairs_free(&t->others);
	}
	free(t);
}
