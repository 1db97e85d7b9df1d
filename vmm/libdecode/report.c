// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Call the callbacks of the public decoder. */
#include "libdecode/decoder.h"

static void on_event(void *context, const struct vptd_event *event)
{
	struct vptd_decoder *d = context;

	if (event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_MEMORY)
		d->no_memory = true;
	/* The state in a PSB+ is not counted, because parts of a trace would count it twice. */
	if (!(event->flags & VPTD_EV_STATUS) && event->kind != VPTD_EVENT_SYNC)
		d->events[event->kind]++;
	if (!d->ops.event)
		return;
	d->timing.what = DEC_TIMED_EVENT;
	d->ops.event(d->context, event);
	d->timing.what = DEC_TIMED_NONE;
}

static uint64_t on_space(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	struct vptd_decoder *d = context;
	uint64_t space;

	if (!d->ops.space)
		return cr3 | nr;
	d->asks = true;
	space = d->ops.space(d->context, cr3, nr, vmcs);
	d->asks = false;
	return space;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct vptd_decoder *d = context;
	const struct vptd_run run = {
		.ip = dec_code_ip(d->code, block, first),
		.page = dec_block_key(block),
		.offset = *d->offset,
		.lens = dec_code_lens(d->code, block) + first,
		.count = count,
		.mode = block->mode,
	};

	d->ops.run(d->context, &run);
}

static void on_timed_run(void *context, const struct dec_block *block, unsigned int first,
			 unsigned int count)
{
	struct vptd_decoder *d = context;

	d->timing.what = DEC_TIMED_RUN;
	on_run(context, block, first, count);
	d->timing.what = DEC_TIMED_NONE;
	dec_timing_ran(&d->timing, block, first, count);
}

bool dec_report_miss(void *context, uint64_t space, uint64_t address)
{
	struct vptd_decoder *d = context;
	uint64_t key = DEC_OWN_KEYS | d->own_keys;
	uint8_t bytes[VPTD_PAGE];
	int found;

	d->asks = true;
	found = d->ops.fetch(d->context, space, address, &key, bytes);
	d->asks = false;
	if (found != 1)
		return false;
	d->own_keys += key == (DEC_OWN_KEYS | d->own_keys);
	if (dec_code_content(d->code, key, bytes) || dec_code_map(d->code, space, address, key)) {
		d->no_memory = true;
		return false;
	}
	return true;
}

static uint64_t on_rtit_space(void *context, uint64_t cr3)
{
	return on_space(context, cr3, false, UINT64_MAX);
}

const struct dec_flow_ops dec_report_runs = {.run = on_run};
const struct dec_flow_ops dec_report_timed_runs = {.run = on_timed_run};
const struct dec_pt_ops dec_report_pt = {.event = on_event, .space = on_space};
const struct dec_atom_ops dec_report_rtit = {.event = on_event, .space = on_rtit_space};

enum vptd_status dec_decoder_done(struct vptd_decoder *d)
{
	bool no_memory = d->no_memory || d->edges.lost;

	d->no_memory = d->edges.lost = false;
	return no_memory ? VPTD_E_MEMORY : VPTD_OK;
}
