// SPDX-License-Identifier: GPL-2.0-or-later
/* Offer whole runs, as the decoder reports them or from the queue. */
#include <errno.h>

#include "libdecode/tracelet.h"
#include "decode/pt_flow.h"

/* The place of the decoder when a run ended. */
struct where {
	uint64_t offset;
	size_t session;
};

static struct where here(const struct decode_pt_flow *f)
{
	return (struct where){*f->ahead.offset, f->ahead.session};
}

static uint32_t offer(struct decode_pt_flow *f, const struct dec_block *block, uint64_t ip,
		      unsigned int first, unsigned int count, struct where where)
{
	const struct decode_flow_run run = {
		.ip = ip,
		.cr3 = f->cr3,
		.offset = where.offset,
		.session = (uint32_t)where.session,
		.lens = dec_code_lens(f->ahead.code, block) + first,
		.count = count,
		.block = first ? DECODE_RUN_PART : block->id,
		.mode = block->mode,
	};

	return f->offer.takers->take(f->offer.context, &run);
}

/* Returns true if the next run must be queued, behind other entries or before a change of code. */
static bool must_queue(const struct decode_pt_flow *f, uint64_t code)
{
	/* decode_flow_code() can be older than the decoder's code. */
	return f->told.n || code >= f->change;
}

uint32_t decode_pt_offer(struct decode_pt_flow *f, const struct dec_block *block,
			 unsigned int first, unsigned int count)
{
	const bool by_offset = decode_code_by_offset(f->ahead.store);
	uint32_t taken = 0;

	if (!must_queue(f, decode_pt_code_position(&f->ahead) - (by_offset ? 0 : count)))
		taken = offer(f, block, dec_code_ip(f->ahead.code, block, first), first, count,
			      here(f));
	/* From here on walks would be refused up to the next push. */
	if (taken < count)
		f->ahead.flow.tracelets = NULL;
	return taken;
}

/* Offer the blocks of a walk. Either all are accepted, or the decoder runs them one by one. */
static bool on_walk(void *context, const struct dec_walk *walk)
{
	struct decode_pt_flow *f = context;
	const struct decode_flow_takers *takers = f->offer.takers;
	bool whole = true;
	uint32_t i;

	if (!takers || must_queue(f, decode_pt_code_position(&f->ahead)))
		return false;
	if (*walk->mark &&
	    takers->again(f->offer.context, *walk->mark, walk->insns, *f->ahead.offset))
		return true;
	takers->begin(f->offer.context);
	for (i = 0; i < walk->steps && whole; i++) {
		const struct dec_block *block = dec_code_at(f->ahead.code, walk->path[i] >> 1);

		whole = !block->insns ||
			offer(f, block, block->ip, 0, block->insns, here(f)) == block->insns;
	}
	*walk->mark = takers->end(f->offer.context, whole);
	return whole;
}

/* Offer a queued run. Returns false if a part is left. */
static bool offer_queued(struct decode_pt_flow *f, struct decode_told *run)
{
	uint32_t taken = offer(f, run->block, run->ip, run->first, run->count,
			       (struct where){run->offset, run->session});

	f->run = run;
	run->first += taken;
	run->ip = dec_code_ip(f->ahead.code, run->block, run->first);
	run->count -= taken;
	if (run->count)
		return false;
	f->run = NULL;
	return true;
}

/* Offer the queued runs. Returns false if a part of the queue is left. */
bool decode_pt_offer_queued(struct decode_pt_flow *f)
{
	if (f->run && !offer_queued(f, f->run))
		return false;
	while (f->head < f->told.n) {
		struct decode_told *told = &f->told.at[f->head];

		if (told->kind != DECODE_TOLD_RUN || told->code >= f->change)
			return false;
		f->head++;
		if (!offer_queued(f, told))
			return false;
	}
	return true;
}

/* Create tracelets only for Intel PT, because the flow of RTIT must see the end of each run. */
int decode_pt_offer_open(struct decode_pt_flow *f, const struct decode_flow_takers *takers)
{
	if (f->offer.tracelets || !takers->again || decode_pt_is_atom(f))
		return 0;
	f->offer.tracelets = dec_tracelets_new(DECODE_PT_CACHE, true);
	f->offer.ops = *f->ahead.flow.ops;
	f->offer.ops.walk = on_walk;
	f->ahead.flow.ops = &f->offer.ops;
	return f->offer.tracelets ? 0 : -ENOMEM;
}

void decode_pt_runs_close(struct decode_pt_flow *f)
{
	dec_tracelets_free(f->offer.tracelets);
}
