// SPDX-License-Identifier: GPL-2.0-or-later
/* The callbacks of the decoder of short traces: blocks that ran, changes of code, and errors. */
#include "decode/pt_edges_inside.h"
#include "trace/vec.h"

#define PAGE_MASK 0xfffull

/* Add the blocks that were made since the last call. */
static bool know(struct decode_edges *d, uint32_t id)
{
	while (d->seen.n <= id) {
		const struct dec_block *block = dec_code_at(d->code, (uint32_t)d->seen.n);

		if (!trace_vec_room(&d->seen))
			return false;
		d->seen.at[d->seen.n++] = (struct decode_edges_seen){
			.index = {[DEC_FALL] = decode_edges_index(block->last, block->next),
				  [DEC_TAKEN] = decode_edges_index(block->last, block->target)},
		};
	}
	return true;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_edges *d = context;

	(void)first;
	(void)count;
	if (vpt_unlikely(block->id >= d->seen.n) && !know(d, block->id)) {
		d->no_memory = true;
		return;
	}
	if (d->seen.at[block->id].trace == d->trace)
		return;
	d->seen.at[block->id].trace = d->trace;
	if (!trace_vec_room(&d->ran)) {
		d->no_memory = true;
		return;
	}
	d->ran.at[d->ran.n++] = block->id;
}

void decode_edges_follow(struct decode_edges *d)
{
	for (; d->next < d->changes.n; d->next++) {
		const struct decode_edges_change *c = &d->changes.at[d->next];

		if (c->insns > d->flow.insns)
			break;
		if (dec_code_content(d->code, c->gpa, c->bytes) ||
		    dec_code_map(d->code, c->cr3, c->vaddr, c->gpa))
			d->no_memory = true;
	}
	d->flow.limit = d->next < d->changes.n ? d->changes.at[d->next].insns : UINT64_MAX;
}

static void on_limit(void *context)
{
	decode_edges_follow(context);
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct decode_edges *d = context;

	if (event->kind != VPTD_EVENT_ERROR)
		return;
	if (event->value == VPTD_E_MEMORY)
		d->no_memory = true;
	if (d->sum.errors++)
		return;
	d->sum.error_ip = event->ip;
	d->sum.error = vptd_status_text((enum vptd_status)event->value);
}

/* There is no VMX, so CR3 alone identifies an address space. */
static uint64_t on_space(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	(void)context;
	(void)nr;
	(void)vmcs;
	return cr3 & ~PAGE_MASK;
}

const struct dec_flow_ops decode_edges_flow_ops = {.run = on_run, .limit = on_limit};
const struct dec_pt_ops decode_edges_pt_ops = {.event = on_event, .space = on_space};
