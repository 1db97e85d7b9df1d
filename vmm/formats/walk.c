// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk over the flow of a trace, and pass it to a format by lanes. */
#include "formats/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "decode/flow.h"
#include "decode/shards.h"
#include "decode/spaces.h"
#include "formats/lanes.h"
#include "text/text.h"
#include "vpt/atom_msr.h"
#include "vpt/msr.h"

struct walk {
	const struct format_walk *of;
	struct format_run run;
	struct format_lane *lane;    /* the lane of the last item, or NULL */
	uint64_t since;		     /* the clock from which on @lane runs, inside the cut */
	struct format_lane *left;    /* the guest of a VM exit without host code yet, or NULL */
	struct decode_cutter cutter; /* of the current vCPU */
	bool timed;		     /* the flow of the current vCPU has times */
	const struct trace_reader_mark *marks; /* those that are still to come */
	size_t nmarks;
};

/* The current lane stops here, or its interval is divided. */
static int end_run(struct walk *w)
{
	const uint64_t since = w->since;

	w->since = w->run.clock;
	if (!w->lane || !w->run.inside || !w->run.type->runs)
		return 0;
	return w->run.type->runs(&w->run, w->lane, since);
}

/* Make the lane of an item the current one. */
static int enter(struct walk *w, const struct decode_item *item)
{
	struct format_lane *lane = w->lane;
	int err;

	if (lane && (item->space ? lane->known && decode_space_is(&lane->space, item->space)
				 : !lane->known))
		return 0;
	err = end_run(w);
	if (!err)
		err = format_lanes_find(&w->run, item->space, &w->lane);
	if (err)
		return err;
	w->lane->from.known = false;
	if (format_lane_side(w->lane) != FORMAT_HOST)
		w->left = NULL;
	else if (lane && format_lane_side(lane) == FORMAT_GUEST)
		w->left = lane;
	return 0;
}

/* Report a VM exit whose handler begins at @ip. */
static int take_exit(struct walk *w, uint64_t ip, enum format_exit exit)
{
	struct format_lane *guest = w->left;

	if (exit == FORMAT_EXIT_HANDLED)
		w->left = NULL;
	if (!guest || !w->run.inside || !w->run.type->vm_exit)
		return 0;
	return w->run.type->vm_exit(&w->run, guest, w->lane, ip, exit);
}

/* Start or end the cut for the lanes of the current vCPU. Returns 0 or -ENOMEM. */
static int cross(struct walk *w, bool inside)
{
	int err = end_run(w);
	size_t i;

	if (err)
		return err;
	w->run.inside = inside;
	for (i = 0; i < w->run.lanes.n; i++) {
		struct format_lane *lane = w->run.lanes.at[i];

		if (lane->vcpu != w->run.vcpu)
			continue;
		if (!inside && lane->calls && !decode_calls_cut(lane->calls))
			return -ENOMEM;
		format_lane_watch(lane, inside ? FORMAT_SPANS : FORMAT_NO_SPANS);
	}
	return 0;
}

/* Start or end the cut if the clock has reached its edge. */
static int check_cut(struct walk *w)
{
	const bool inside = decode_cutter_has(&w->cutter, w->run.clock);

	return inside == w->run.inside ? 0 : cross(w, inside);
}

/* Report the marks before @clock. */
static int take_marks(struct walk *w, uint64_t clock)
{
	char text[TRACE_USER_MARK_MAX + 7];
	const uint64_t now = w->run.clock;
	int err = 0;

	for (; !err && w->nmarks && w->marks->mark.insns < clock; w->marks++, w->nmarks--) {
		const struct trace_user_mark *mark = &w->marks->mark;
		const struct format_instant instant = {
			.name = text,
			.has_tsc = mark->tsc != 0,
			.tsc = mark->tsc,
			.has_value = true,
			.value = mark->value,
		};

		if (!w->run.inside || !w->run.type->instant)
			continue;
		snprintf(text, sizeof(text), "mark: %.*s", (int)mark->len, w->marks->text);
		if (mark->insns > now)
			w->run.clock = mark->insns;
		err = w->run.type->instant(&w->run, w->lane, &instant);
	}
	w->run.clock = now;
	return err;
}

static int advance(struct walk *w, uint64_t insns)
{
	int err = take_marks(w, w->run.clock + insns);

	w->run.clock += insns;
	if (w->run.inside)
		w->run.insns += insns;
	return err;
}

/* Take a part, in pieces if the cut begins or ends within it. */
static int take_part(struct walk *w, const struct decode_part *part)
{
	struct decode_part piece = *part;
	uint32_t left = part->insns;
	int err = check_cut(w);

	if (!err)
		err = take_exit(w, part->ip, FORMAT_EXIT_LEFT);
	while (!err && left) {
		piece.insns = (uint32_t)decode_cutter_room(&w->cutter, w->run.clock, left);
		left -= piece.insns;
		piece.class = left ? DECODE_INSN_OTHER : part->class;
		if (!decode_calls_part(w->lane->calls, &piece))
			return -ENOMEM;
		err = take_exit(w, part->ip, FORMAT_EXIT_HANDLED);
		if (!err)
			err = advance(w, piece.insns);
		if (!err && left)
			err = check_cut(w);
	}
	return err;
}

/* Report how execution reached @ip in the current lane. */
static int take_edge(struct walk *w, uint64_t ip)
{
	struct format_edge edge = {.from = w->lane->from.ip, .to = ip, .count = 1};

	if (!w->run.inside || !w->run.type->edge ||
	    !decode_edge_kind(&w->lane->from, ip, &edge.kind))
		return 0;
	return w->run.type->edge(&w->run, w->lane, &edge);
}

static int take_whole_block(struct walk *w, const struct decode_item *item)
{
	const struct format_block block = {
		.ip = item->ip,
		.last = item->last,
		.insns = item->insns,
		.size = item->size,
		.mode = item->mode,
	};
	uint64_t left = item->insns, n;
	int err = check_cut(w);

	if (!err)
		err = take_edge(w, item->ip);
	if (!err && w->run.inside && w->run.type->block)
		err = w->run.type->block(&w->run, w->lane, &block);
	for (; !err && left; left -= n) {
		err = check_cut(w);
		n = decode_cutter_room(&w->cutter, w->run.clock, left);
		if (!err)
			err = advance(w, n);
	}
	decode_from_block(&w->lane->from, item);
	return err;
}

static int take_block(struct walk *w, const struct decode_item *item)
{
	const struct decode_part part = {
		.ip = item->ip,
		.next = item->last + item->size,
		.function = decode_calls_function((void *)(uintptr_t)w->run.symbols, item->ip),
		.insns = item->insns,
		.class = item->class,
	};

	return format_has_blocks(w->run.type) ? take_whole_block(w, item) : take_part(w, &part);
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

	if (!w->run.inside || !w->run.type->instant || item->status)
		return 0;
	return w->run.type->instant(&w->run, w->lane, &instant);
}

static int take_event(struct walk *w, const struct decode_item *item)
{
	int err = check_cut(w);

	if (err)
		return err;
	if (w->lane->calls && !decode_calls_item(w->lane->calls, item))
		return -ENOMEM;
	switch (item->event) {
	case DECODE_FLOW_ASYNC_BRANCH:
		/*
		 * The event is after the last block, or at the place that its branch reached. That
		 * of INT n is at the INT n, which has run.
		 */
		err = item->shown ? 0 : take_edge(w, item->ip);
		decode_from_event(&w->lane->from, item);
		break;
	case DECODE_FLOW_OVERFLOW:
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
		w->lane->from.known = false;
		break;
	default:
		break;
	}
	return err ? err : take_instant(w, item);
}

/* An interruption ends the stacks of all spaces, because the flow in the gap is unknown. */
static int interrupt(struct walk *w, const struct decode_item *item)
{
	size_t i;

	w->left = NULL;
	for (i = 0; i < w->run.lanes.n; i++) {
		struct format_lane *lane = w->run.lanes.at[i];

		if (lane->vcpu != w->run.vcpu)
			continue;
		lane->from.known = false;
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

/* Advance the clock over an item that is not exported. */
static int skip(struct walk *w, const struct decode_item *item)
{
	int err = end_run(w);

	w->run.clock += decode_cut_insns(item);
	w->since = w->run.clock;
	/* The calls of the exported lanes resume after an interval that is not known. */
	if (w->lane)
		w->lane->from.known = false;
	return err;
}

static int pass(struct walk *w, const struct decode_item *item)
{
	const struct format_walk *of = w->of;
	int err = 0;

	if (item->kind == DECODE_ITEM_ERROR)
		note_error(&w->run, item);
	if (item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR)
		return interrupt(w, item);
	if (item->kind == DECODE_ITEM_END)
		return 0;
	if (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_OVERFLOW)
		err = interrupt(w, item);
	if (!err && of->wants && !of->wants(of->context, item))
		return skip(w, item);
	return err ? err : take_item(w, item);
}

/* Pass an item, in pieces if it is of several address spaces. */
static int pass_pieces(struct walk *w, struct decode_item *item)
{
	int err = 0;

	if (w->of->by_cr3 && !decode_by_cr3_item(w->of->by_cr3, item))
		return -ENOMEM;
	do
		err = pass(w, item);
	while (!err && decode_by_cr3_more(w->of->by_cr3, item));
	return err;
}

/* Returns true if the current vCPU has packets with the time. */
static bool has_times(const struct walk *w)
{
	const bool rtit = trace_reader_info(w->of->reader)->flags & TRACE_INFO_ATOM;
	const uint64_t bit = rtit ? VPT_ATOM_MASK(CTL, STS_EN) : VPT_CTL_MASK(TSC_EN);
	const struct trace_period *p;
	size_t count, i;

	p = trace_reader_sessions(w->of->reader, w->run.vcpu, &count);
	for (i = 0; i < count; i++)
		if (p[i].start->ctl & bit)
			return true;
	return false;
}

static int open_flow(struct walk *w, struct decode_flow **flow)
{
	const struct decode_shards_how how = {.jobs = w->of->jobs};
	int err;

	w->timed = decode_window_is_timed(&w->cutter.cut) ||
		   (w->run.type->time && !w->of->untimed && has_times(w));
	err = decode_shards_open(w->of->reader, w->run.vcpu, DECODE_FLOW_BLOCKS, &how, flow);
	if (!err && w->timed)
		decode_flow_keep_time(*flow);
	return err;
}

/* Get the next item, and report its time. */
static int next_item(struct walk *w, struct decode_flow *flow, struct decode_item *item)
{
	int err = decode_flow_next(flow, item);

	if (err || !w->timed)
		return err;
	decode_cutter_time(&w->cutter, w->run.clock, item);
	if (w->of->untimed || !w->run.type->time || item->kind == DECODE_ITEM_END ||
	    !item->when.known)
		return 0;
	return w->run.type->time(&w->run, &item->when);
}

static int walk_vcpu(struct walk *w)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err;

	decode_cutter_begin(&w->cutter, w->of->cut ? &w->of->cut[w->run.vcpu] : NULL);
	err = open_flow(w, &flow);
	if (err)
		return err;
	w->lane = w->left = NULL;
	w->run.clock = w->since = 0;
	w->run.inside = false;
	w->marks = trace_reader_marks(w->of->reader, w->run.vcpu, &w->nmarks);
	if (w->of->by_cr3)
		decode_by_cr3_begin(w->of->by_cr3, w->run.vcpu);
	if (!format_has_blocks(w->run.type))
		err = decode_flow_merge(flow, decode_calls_function,
					(void *)(uintptr_t)w->run.symbols);
	if (!err)
		err = check_cut(w);
	while (!err && item.kind != DECODE_ITEM_END && w->run.clock < w->cutter.cut.until) {
		err = next_item(w, flow, &item);
		if (!err)
			err = pass_pieces(w, &item);
		/* A full disk must not be found out after hours. */
		if (!err && ferror(w->run.out))
			err = -EIO;
	}
	decode_flow_close(flow);
	return err ? err : cross(w, false);
}

int format_walk(const struct format_walk *of, struct format_sum *sum)
{
	struct walk w = {
		.of = of,
		.run = {.out = of->out,
			.reader = of->reader,
			.symbols = of->symbols,
			.base = of->base,
			.only = of->only,
			.type = of->type,
			.walk = of,
			.own = of->own},
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
