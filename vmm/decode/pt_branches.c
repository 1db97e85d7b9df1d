// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count the outcomes and targets of branches along with the runs of blocks. Blocks and edges of the
 * decoder count the branches outside of tracelets at once, and those of tracelets after the end.
 */
#include <errno.h>
#include <stdlib.h>

#include "libdecode/tracelet.h"
#include "decode/pt_flow.h"

bool decode_pt_count_branches(struct decode_flow *flow)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;

	if (!f->counts.wanted)
		return false;
	f->counts.branches = true;
	f->ahead.flow.weight = 1;
	f->ahead.flow.edges = &f->counts.edges;
	f->ahead.flow.walked = &f->counts.walked;
	return true;
}

/* Visit a block and the branch at its end. */
static int visit_block(const struct dec_block *block, uint64_t count,
		       const struct decode_flow_visitor *v)
{
	int err = 0;

	if (count)
		err = v->block(v->context,
			       &(struct decode_block_count){block->ip, block->last, count,
							    count * block->insns},
			       block->mode);
	if (err || block->end != DEC_END_COND)
		return err;
	if (block->hits[DEC_TAKEN])
		err = v->branch(v->context, block->last, block->target, DECODE_WAY_TAKEN,
				block->hits[DEC_TAKEN]);
	if (!err && block->hits[DEC_FALL])
		err = v->branch(v->context, block->last, block->next, DECODE_WAY_NOT_TAKEN,
				block->hits[DEC_FALL]);
	return err;
}

static int visit_parts(const struct decode_pt_counts *c, const struct decode_flow_visitor *v)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < c->parts.nslots; i++) {
		const struct decode_block_count *part = &c->parts.slots[i];

		if (part->count)
			err = v->block(
				v->context, part,
				(unsigned int)trace_pairs_find(&c->modes, part->ip, 0)->value);
	}
	return err;
}

static int visit_targets(const struct decode_pt_flow *f, const struct decode_flow_visitor *v)
{
	const struct dec_edges *edges = &f->counts.edges;
	size_t i;
	int err = 0;

	for (i = 0; !err && edges->slots && i <= edges->mask; i++) {
		const struct dec_edge *e = &edges->slots[i];

		if (e->count)
			err = v->branch(v->context, dec_code_at(f->ahead.code, e->from)->last,
					e->to, DECODE_WAY_TARGET, e->count);
	}
	return err;
}

int decode_pt_visit_counts(struct decode_flow *flow, const struct decode_flow_visitor *visitor)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;
	struct decode_pt_counts *c = &f->counts;
	const uint32_t n = dec_code_count(f->ahead.code);
	uint32_t id;
	int err = 0;

	if (!dec_tracelets_expand(f->counts.tracelets, &f->ahead.flow) || c->edges.lost ||
	    c->walked.lost)
		return -ENOMEM;
	/* Blocks count the branches outside of tracelets too, so their own counts are not their runs. */
	for (id = 0; !err && id < n; id++)
		err = visit_block(dec_code_at(f->ahead.code, id),
				  dec_runs_of(&c->runs, id) + dec_runs_of(&c->walked, id), visitor);
	if (!err)
		err = visit_parts(c, visitor);
	if (!err)
		err = visit_targets(f, visitor);
	return err;
}
