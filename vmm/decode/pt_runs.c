// SPDX-License-Identifier: GPL-2.0-or-later
/* Offer runs as a whole: as the decoder reports them, or those that are queued. */
#include "pt_flow.h"

static uint32_t offer(struct vpt_pt_flow *f, const struct dec_block *block, uint64_t ip,
		      unsigned int first, unsigned int count)
{
	const struct vpt_flow_run run = {
		.ip = ip,
		.cr3 = f->cr3,
		.lens = dec_code_lens(f->ahead.code, block) + first,
		.count = count,
		.block = first ? VPT_RUN_PART : block->id,
		.mode = block->mode,
	};

	return f->offer.take(f->offer.context, &run);
}

static uint64_t behind(const struct vpt_pt_flow *f, const struct dec_block *block, uint64_t ip,
		       unsigned int first, unsigned int count)
{
	const uint8_t *lens = dec_code_lens(f->ahead.code, block) + first;
	unsigned int i;

	for (i = 0; i < count; i++)
		ip += lens[i];
	return ip;
}

uint32_t vpt_pt_offer(struct vpt_pt_flow *f, const struct dec_block *block, unsigned int first,
		      unsigned int count)
{
	uint64_t ip = first ? behind(f, block, block->ip, 0, first) : block->ip;

	/* vpt_flow_code() is older than the code that the decoder has. */
	if (f->ahead.flow.insns - count >= f->change)
		return 0;
	return offer(f, block, ip, first, count);
}

/* Offer a queued run. Returns false if some of it is left. */
static bool offer_queued(struct vpt_pt_flow *f, struct vpt_told *run)
{
	uint32_t taken = offer(f, run->block, run->ip, run->first, run->count);

	f->run = run;
	run->ip = behind(f, run->block, run->ip, run->first, taken);
	run->first += taken;
	run->count -= taken;
	if (run->count)
		return false;
	f->run = NULL;
	return true;
}

/* Offer the queued runs. Returns false if not all of the queue is taken. */
static bool offer_all(struct vpt_pt_flow *f)
{
	if (f->run && !offer_queued(f, f->run))
		return false;
	while (f->head < f->told.n) {
		struct vpt_told *told = &f->told.at[f->head];

		if (told->kind != VPT_TOLD_RUN || told->insns >= f->change)
			return false;
		f->head++;
		if (!offer_queued(f, told))
			return false;
	}
	return true;
}

int vpt_pt_runs(struct vpt_flow *flow, vpt_flow_take *take, void *context)
{
	struct vpt_pt_flow *f = (struct vpt_pt_flow *)flow;
	int more = 1;

	if (f->blocks || f->timed || !f->told_bare)
		return 0;
	f->offer = (struct vpt_pt_offer){take, context};
	while (more > 0 && offer_all(f) && f->ahead.segment)
		more = vpt_pt_push(f);
	f->offer.take = NULL;
	return more < 0 ? more : 0;
}
