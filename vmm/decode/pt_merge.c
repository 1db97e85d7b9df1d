// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks that follow each other within a function, told as one. What becomes of a call is seen at
 * CALLs, RETs and jumps to other functions; there are some four blocks between two of these.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pt_flow.h"

/* Not looked up yet. No function starts there. */
#define NOT_KNOWN UINT64_MAX

static uint64_t *function_of(struct vpt_pt_merge *m, const struct dec_block *block)
{
	size_t room = m->functions.room ? m->functions.room : 4096;
	uint64_t *at;

	while (room <= block->id)
		room *= 2;
	if (room != m->functions.room) {
		at = realloc(m->functions.at, room * sizeof(*at));
		if (!at)
			return NULL;
		memset(at + m->functions.room, 0xff, (room - m->functions.room) * sizeof(*at));
		m->functions.at = at;
		m->functions.room = room;
	}
	at = &m->functions.at[block->id];
	if (*at == NOT_KNOWN)
		*at = m->function(m->context, block->ip);
	return at;
}

/* Does a block of @function go on with what came before it? Without names nobody can tell. */
static bool goes_on(const struct vpt_told_blocks *before, uint64_t function)
{
	switch ((enum vpt_insn_class)before->class) {
	case VPT_INSN_OTHER:
	case VPT_INSN_PTWRITE:
		return true;
	case VPT_INSN_COND:
	case VPT_INSN_JUMP:
		return !function || function == before->function;
	default:
		return false;
	}
}

/* Where the last of these instructions is, and how long. */
static void find_last(struct vpt_pt_flow *f, const struct dec_block *block, unsigned int count,
		      struct vpt_told_blocks *blocks)
{
	const uint8_t *lens = dec_code_lens(f->ahead.code, block);
	unsigned int i;

	blocks->size = lens[count - 1];
	if (count == block->insns) {
		blocks->last = block->last;
		return;
	}
	blocks->last = block->ip;
	for (i = 0; i + 1 < count; i++)
		blocks->last += lens[i];
}

static uint64_t address_of(struct vpt_pt_flow *f, const struct dec_block *block, unsigned int first)
{
	const uint8_t *lens = dec_code_lens(f->ahead.code, block);
	uint64_t ip = block->ip;
	unsigned int i;

	for (i = 0; i < first; i++)
		ip += lens[i];
	return ip;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct vpt_pt_flow *f = context;
	struct vpt_told_blocks *blocks = &f->merge.blocks;
	const uint64_t *function = function_of(&f->merge, block);

	if (!function) {
		f->ahead.no_memory = true;
		return;
	}
	if (blocks->insns && !goes_on(blocks, *function))
		vpt_pt_merge_flush(f);
	if (!blocks->insns) {
		blocks->ip = first ? address_of(f, block, first) : block->ip;
		blocks->function = *function;
		blocks->mode = block->mode;
		blocks->offset = *f->ahead.offset;
	}
	blocks->insns += count;
	blocks->class =
		(uint8_t)(first + count == block->insns ? vpt_pt_class(block) : VPT_INSN_OTHER);
	find_last(f, block, first + count, blocks);
	/* The counter of an item has 32 bits. */
	if (blocks->insns >= UINT32_MAX / 2)
		vpt_pt_merge_flush(f);
}

void vpt_pt_merge_flush(struct vpt_pt_flow *f)
{
	struct vpt_told_blocks *blocks = &f->merge.blocks;
	struct vpt_told *told;

	if (!blocks->insns)
		return;
	told = vpt_pt_tell(f, VPT_TOLD_BLOCKS);
	if (told)
		told->blocks = *blocks;
	blocks->insns = 0;
}

void vpt_pt_merge(struct vpt_flow *flow, vpt_flow_function *function, void *context)
{
	struct vpt_pt_flow *f = (struct vpt_pt_flow *)flow;

	/* What has a time of its own is told alone. RTIT has an end_run() of its own. */
	if (f->timed || !f->blocks || f->counts.wanted || vpt_pt_is_rtit(f))
		return;
	f->merge.function = function;
	f->merge.context = context;
	f->merge.ops = *f->ahead.flow.ops;
	f->merge.ops.run = on_run;
	f->ahead.flow.ops = &f->merge.ops;
}

void vpt_pt_merge_close(struct vpt_pt_flow *f)
{
	free(f->merge.functions.at);
}
