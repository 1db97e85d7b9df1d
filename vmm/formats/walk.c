// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk over the flow of a trace, and pass it to a format by lanes. */
#include "formats/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "decode/flow.h"
#include "decode/spaces.h"
#include "formats/lanes.h"

struct walk {
	const struct format_walk *of;
	struct format_run run;
	struct format_lane *lane; /* the lane of the last item, or NULL */
	bool by_event;		  /* an event leads to the next block */
};

static uint64_t function_at(void *context, uint64_t ip)
{
	const struct debug_symbol *symbol = debug_symbols_find(context, ip);

	return symbol ? symbol->start : DECODE_NO_FUNCTION;
}

/* Make the lane of an item the current one. */
static int enter(struct walk *w, const struct decode_item *item)
{
	struct format_lane *lane = w->lane;
	int err = 0;

	if (!lane || (item->space ? !lane->known || !decode_space_is(&lane->space, item->space)
				  : lane->known))
		err = format_lanes_find(&w->run, item->space, &w->lane);
	return err;
}

static int take_part(struct walk *w, const struct decode_part *part)
{
	if (!decode_calls_part(w->lane->calls, part))
		return -ENOMEM;
	w->run.clock += part->insns;
	w->run.insns += part->insns;
	return 0;
}

static int take_block(struct walk *w, const struct decode_item *item)
{
	const struct format_block block = {
		.ip = item->ip,
		.last = item->last,
		.insns = item->insns,
		.size = item->size,
		.class = item->class,
		.by_event = w->by_event,
	};
	const struct decode_part part = {
		.ip = item->ip,
		.next = item->last + item->size,
		.function = function_at((void *)(uintptr_t)w->run.symbols, item->ip),
		.insns = item->insns,
		.class = item->class,
	};
	int err;

	w->by_event = false;
	if (!w->run.type->block)
		return take_part(w, &part);
	err = w->run.type->block(&w->run, w->lane, &block);
	w->run.clock += item->insns;
	w->run.insns += item->insns;
	w->lane->has_last = true;
	w->lane->last = item->last;
	w->lane->last_class = item->class;
	return err;
}

static int take_instant(struct walk *w, const struct decode_item *item)
{
	const struct format_instant instant = {
		.name = decode_flow_event_text((enum decode_flow_event)item->event),
		.has_tsc = item->has_tsc,
		.tsc = item->tsc,
		.has_from = item->ip != 0,
		.from = item->ip,
		.has_to = item->has_to,
		.to = item->to,
		.has_value = item->value != 0,
		.value = item->value,
	};

	if (!w->run.type->instant || item->status)
		return 0;
	return w->run.type->instant(&w->run, w->lane, &instant);
}

static int take_event(struct walk *w, const struct decode_item *item)
{
	if (w->lane->calls && !decode_calls_item(w->lane->calls, item))
		return -ENOMEM;
	switch (item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		w->by_event = true;
		break;
	case DECODE_FLOW_OVERFLOW:
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
		w->lane->has_last = false;
		break;
	default:
		break;
	}
	return take_instant(w, item);
}

/* An interruption ends the stacks of all spaces, because the flow in the gap is unknown. */
static int interrupt(struct walk *w, const struct decode_item *item)
{
	size_t i;

	w->by_event = false;
	for (i = 0; i < w->run.lanes.n; i++) {
		struct format_lane *lane = w->run.lanes.at[i];

		if (lane->vcpu != w->run.vcpu)
			continue;
		lane->has_last = false;
		if (lane->calls && !decode_calls_item(lane->calls, item))
			return -ENOMEM;
	}
	return 0;
}

static void note_error(struct format_run *run, const struct decode_item *item)
{
	if (!run->errors++)
		snprintf(run->error, sizeof(run->error),
			 "%s, at byte 0x%" PRIx64 " of vCPU %u's trace, ip 0x%" PRIx64, item->text,
			 item->offset, run->vcpu, item->ip);
}

static int take_item(struct walk *w, const struct decode_item *item)
{
	uint32_t i;
	int err = 0;

	/* An event whose space is not known is of the space that ran. */
	if (item->kind != DECODE_ITEM_EVENT || item->space)
		err = enter(w, item);
	if (err || !w->lane)
		return err;
	switch (item->kind) {
	case DECODE_ITEM_BLOCK:
		return take_block(w, item);
	case DECODE_ITEM_PARTS:
		for (i = 0; !err && i < item->insns; i++)
			err = take_part(w, &item->parts[i]);
		return err;
	default:
		return take_event(w, item);
	}
}

static int pass(struct walk *w, struct decode_item *item)
{
	const struct format_walk *of = w->of;
	int err = 0;

	if (item->kind == DECODE_ITEM_ERROR)
		note_error(&w->run, item);
	if (item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR)
		return interrupt(w, item);
	if (item->kind == DECODE_ITEM_END)
		return 0;
	if (of->by_cr3 && !decode_by_cr3_item(of->by_cr3, item))
		return -ENOMEM;
	if (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_OVERFLOW)
		err = interrupt(w, item);
	if (err || (of->wants && !of->wants(of->context, item)))
		return err;
	return take_item(w, item);
}

/* End the spans of the current vCPU. */
static int end_vcpu(struct walk *w)
{
	size_t i;

	for (i = 0; i < w->run.lanes.n; i++) {
		struct format_lane *lane = w->run.lanes.at[i];

		if (lane->vcpu == w->run.vcpu && lane->calls && !decode_calls_cut(lane->calls))
			return -ENOMEM;
	}
	return 0;
}

static int walk_vcpu(struct walk *w)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err = decode_flow_open(w->of->reader, w->run.vcpu, DECODE_FLOW_BLOCKS, &flow);

	if (err)
		return err;
	w->lane = NULL;
	w->run.clock = 0;
	if (!w->run.type->block)
		err = decode_flow_merge(flow, function_at, (void *)(uintptr_t)w->run.symbols);
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		if (!err)
			err = pass(w, &item);
		/* A full disk must not be found out after hours. */
		if (!err && ferror(w->run.out))
			err = -EIO;
	}
	decode_flow_close(flow);
	return err ? err : end_vcpu(w);
}

int format_walk(const struct format_walk *of, struct format_sum *sum)
{
	struct walk w = {
		.of = of,
		.run = {.out = of->out,
			.reader = of->reader,
			.symbols = of->symbols,
			.type = of->type},
	};
	const unsigned int vcpus = trace_reader_info(of->reader)->vcpus;
	int err = of->type->begin ? of->type->begin(&w.run) : 0;

	for (; !err && w.run.vcpu < vcpus; w.run.vcpu++) {
		if (!of->one_vcpu || of->vcpu == w.run.vcpu)
			err = walk_vcpu(&w);
	}
	if (!err && of->type->end)
		err = of->type->end(&w.run);
	if (of->type->close)
		of->type->close(&w.run);
	*sum = (struct format_sum){
		.insns = w.run.insns, .lanes = w.run.lanes.n, .errors = w.run.errors};
	memcpy(sum->error, w.run.error, sizeof(sum->error));
	format_lanes_free(&w.run);
	return err;
}
