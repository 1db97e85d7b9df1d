// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count runs. Tracelets count whole blocks, and this file counts the blocks that the decoder runs
 * one by one. Parts of blocks are rare and are added to a tally.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/tracelet.h"
#include "decode/pt_flow.h"

/* Count a part of a block, at the addresses of its instructions. */
static bool add_part(struct decode_pt_flow *f, const struct dec_block *block, unsigned int first,
		     unsigned int count)
{
	const struct dec_code *code = f->ahead.code;
	const uint64_t ip = dec_code_ip(code, block, first);
	struct trace_pair *mode = NULL;

	if (f->counts.branches) {
		mode = trace_pairs_add(&f->counts.modes, ip, 0);
		if (!mode)
			return false;
		mode->value = block->mode;
	}
	return decode_tally_add(&f->counts.parts, ip, dec_code_ip(code, block, first + count - 1),
				count);
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_pt_flow *f = context;
	struct decode_pt_counts *c = &f->counts;
	bool to_end = first + count == block->insns;
	bool ok;

	if (!first && to_end) {
		dec_runs_add(&c->runs, block->id, 1);
		ok = !c->runs.lost;
	} else {
		ok = add_part(f, block, first, count);
	}
	if (!ok)
		f->ahead.no_memory = true;
	c->open = !to_end || !decode_pt_ends_block(decode_pt_class(block));
	c->blocks += !c->open;
	c->until = f->ahead.flow.insns;
}

bool decode_pt_counts_is_open(const struct decode_pt_flow *f)
{
	/* Otherwise tracelets continued from there, and tracelets end with blocks. */
	return f->counts.open && f->counts.until == f->ahead.flow.insns;
}

void decode_pt_counts_break(struct decode_pt_flow *f)
{
	f->counts.blocks += decode_pt_counts_is_open(f);
	f->counts.open = false;
}

bool decode_pt_items_from(struct decode_flow *flow, uint64_t at)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;

	f->counts.items_from = at;
	return f->counts.wanted;
}

uint64_t decode_pt_counts_until(struct decode_pt_flow *f, uint64_t end)
{
	struct decode_pt_ahead *a = &f->ahead;

	if (a->at < f->counts.items_from)
		return f->counts.items_from < end ? f->counts.items_from : end;
	/* The item of the rest of an open block counts that block. */
	if (f->counts.wanted && a->flow.tracelets) {
		a->flow.ops = a->system->flow;
		a->flow.tracelets = NULL;
		a->piece = DECODE_AHEAD_PIECE;
	}
	return end;
}

int decode_pt_counts_open(struct decode_pt_flow *f)
{
	struct dec_flow *flow = &f->ahead.flow;

	f->counts.ops = *flow->ops;
	f->counts.ops.run = on_run;
	flow->ops = &f->counts.ops;
	flow->weight = 0;
	f->counts.items_from = UINT64_MAX;
	f->counts.tracelets = flow->tracelets = dec_tracelets_new(DECODE_PT_CACHE, true);
	return flow->tracelets ? 0 : -ENOMEM;
}

void decode_pt_counts_close(struct decode_pt_flow *f)
{
	dec_tracelets_free(f->counts.tracelets);
	dec_runs_free(&f->counts.runs);
	dec_runs_free(&f->counts.walked);
	decode_tally_free(&f->counts.parts);
	dec_edges_free(&f->counts.edges);
	trace_pairs_free(&f->counts.modes);
}

static bool add_block(struct decode_pt_counts *c, struct dec_block *block,
		      struct decode_tally *tally, struct decode_flow_sum *sum)
{
	uint64_t walked = block->hits[DEC_FALL] + block->hits[DEC_TAKEN];
	uint64_t count = walked + dec_runs_of(&c->runs, block->id);

	if (!count)
		return true;
	sum->insns += count * block->insns;
	if (decode_pt_ends_block(decode_pt_class(block)))
		sum->blocks += walked;
	return decode_tally_add_count(tally, block->ip, block->last, count, count * block->insns);
}

int decode_pt_counts_sum(struct decode_pt_flow *f, struct decode_tally *tally,
			 struct decode_flow_sum *sum)
{
	struct decode_pt_counts *c = &f->counts;
	uint32_t id;
	size_t i;

	if (!dec_tracelets_expand(f->counts.tracelets, &f->ahead.flow))
		return -ENOMEM;
	sum->blocks += c->blocks;
	for (id = 0; id < dec_code_count(f->ahead.code); id++) {
		if (!add_block(c, dec_code_at(f->ahead.code, id), tally, sum))
			return -ENOMEM;
	}
	for (i = 0; i < c->parts.nslots; i++) {
		const struct decode_block_count *part = &c->parts.slots[i];

		sum->insns += part->insns;
		if (part->count &&
		    !decode_tally_add_count(tally, part->ip, part->last, part->count, part->insns))
			return -ENOMEM;
	}
	return 0;
}
