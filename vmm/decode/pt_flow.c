// SPDX-License-Identifier: GPL-2.0-or-later
/* Make items of Intel PT and of RTIT with libvptdecode. */
#include "decode/pt_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/guest_tsc.h"
#include "decode/share.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

/* An address that no page has. */
#define NO_PAGE UINT64_MAX

static struct decode_pt_flow *of(struct decode_flow *flow)
{
	return (struct decode_pt_flow *)flow;
}

static const struct decode_pt_flow *of_const(const struct decode_flow *flow)
{
	return (const struct decode_pt_flow *)flow;
}

const struct decode_segment *decode_pt_flow_segment(const struct decode_flow *flow)
{
	const struct decode_pt_flow *f = of_const(flow);

	return &f->segments[f->next ? f->next - 1 : 0];
}

/* Find the times between packets, unless the caller does. */
static int start_clock(struct decode_pt_flow *f, const struct decode_segment *s)
{
	const struct decode_pt_clock_input in = {
		.info = trace_reader_info(f->reader),
		.segment = s,
		.periods = f->periods,
		.bytes = f->bytes,
	};
	int err;

	if (!f->base.timed || f->time_by_reads)
		return 0;
	/* They are interpolated, and found before the flow. */
	err = decode_pt_window_whole(f);
	return err ? err : decode_pt_clock_begin(&f->clock, &in);
}

void decode_pt_time_by_reads(struct decode_pt_flow *f)
{
	f->base.timed = f->time_by_reads = true;
}

int decode_pt_start_bytes(struct decode_pt_flow *f, const struct decode_segment *s, uint64_t from)
{
	const bool stops = f->stop.segment == (size_t)(s - f->segments) && !f->stop.begins;
	struct decode_guest_tsc_input input = {
		.segment = s,
		.from = from,
		.to = stops ? f->stop.at : s->end,
		.stream = f->stream,
		.spaces = f->spaces,
	};
	int err = decode_pt_window_segment(f);

	if (err)
		return err;
	input.vmcs = trace_reader_vmcs(f->reader, f->vcpu, &input.nvmcs);
	free(f->own_bytes);
	f->own_bytes = NULL;
	err = decode_pt_is_atom(f) ? 0 : decode_guest_tsc(&input, &f->own_bytes);
	f->bytes = f->own_bytes ? f->own_bytes : f->stream + s->begin;
	return err;
}

/*
 * Find the number of bytes before the first that can be decoded. RTIT can be decoded from the
 * first session on, because the file has its registers.
 */
static int skipped(struct decode_pt_flow *f, const struct decode_segment *s, uint64_t *bytes)
{
	if (!decode_pt_is_atom(f) || !s->count)
		return decode_pt_window_psb(f, s, bytes);
	*bytes = f->periods[s->first].start->offset - s->begin;
	return 0;
}

static int start_segment(struct decode_pt_flow *f, struct decode_item *item)
{
	const struct decode_segment *s = &f->segments[f->next++];
	uint64_t bytes;
	int err;

	decode_pt_clock_end(&f->clock, &f->base.sum);
	err = decode_pt_start_bytes(f, s, s->begin);
	if (!err)
		err = start_clock(f, s);
	if (!err)
		err = skipped(f, s, &bytes);
	if (err)
		return err;
	f->ahead.system->begin(f, s);
	f->cr3 = DECODE_CR3_UNKNOWN;
	f->page_at = NO_PAGE;
	f->space = NULL;
	f->read = 0;
	memset(&f->cfe, 0, sizeof(f->cfe));
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_SEGMENT;
	item->session = (uint32_t)s->first;
	item->cr3 = DECODE_CR3_UNKNOWN;
	item->value = bytes;
	item->offset = s->begin;
	f->told_bare = decode_pt_is_atom(f) || !decode_segment_no_tnt(s, f->periods);
	return 0;
}

static void add_time(struct decode_pt_flow *f, const struct dec_point *point,
		     struct decode_item *item)
{
	const struct decode_when by_decoder = {
		.known = point->known, .tsc = point->tsc, .lo = point->lo, .hi = point->hi};

	if (f->time_by_reads)
		item->when.cycles = f->read;
	decode_pt_clock_item(&f->clock, f->read, &by_decoder, item);
}

/* Add the current position to an item. */
static void place(struct decode_pt_flow *f, const struct decode_told *told,
		  struct decode_item *item)
{
	uint64_t read = told->offset - decode_pt_flow_segment(&f->base)->begin;

	/* An overflow is reported with the offset of its OVF, which other packets may follow. */
	if (read > f->read)
		f->read = read;
	item->cr3 = f->cr3;
	item->space = f->space;
	item->session = told->session;
	item->left = told->left;
	item->all_read = told->all_read;
	item->when.known = false;
	if (f->base.timed)
		add_time(f, &f->points.at[told - f->told.at], item);
}

static void start_run(struct decode_pt_flow *f, struct decode_told *told)
{
	f->run = told;
	if ((told->code < f->change && told->code >= f->changed) || f->store == f->ahead.store)
		return;
	decode_code_advance(f->store, told->code);
	f->page_at = NO_PAGE;
	f->change = decode_code_next_change(f->store);
	/* Counters do not go back. */
	f->changed = decode_code_by_offset(f->store) ? decode_code_last_change(f->store) : 0;
}

/* Clear an item in parts. A memset() of the whole size would be the slowest instruction here. */
static void clear(struct decode_item *item)
{
	memset(item, 0, offsetof(struct decode_item, ip));
	memset(&item->ip, 0, offsetof(struct decode_item, when) - offsetof(struct decode_item, ip));
	memset(&item->when, 0, sizeof(item->when));
}

/*
 * Copy the bytes of an instruction. Most instructions are in the page of the previous instruction.
 */
static void copy_code(struct decode_pt_flow *f, uint64_t ip, struct decode_item *item)
{
	uint64_t in_page = ip % TRACE_CODE_BYTES;

	if (f->page_at != ip - in_page) {
		f->page_at = ip - in_page;
		f->page = decode_code_page(f->store, f->cr3, f->page_at);
	}
	if (f->page && in_page <= TRACE_CODE_BYTES - sizeof(item->raw))
		memcpy(item->raw, f->page + in_page, sizeof(item->raw));
	else
		(void)decode_code_fetch(f->store, ip, item->raw, item->size);
}

static void one_insn(struct decode_pt_flow *f, struct decode_item *item)
{
	struct decode_told *run = f->run;
	const uint8_t *lens = dec_code_lens(f->ahead.code, run->block);

	clear(item);
	item->kind = DECODE_ITEM_INSN;
	item->class = run->count == 1 ? run->class : DECODE_INSN_OTHER;
	item->mode = run->mode;
	item->size = lens[run->first];
	item->insns = 1;
	item->ip = item->last = run->ip;
	item->offset = run->offset;
	copy_code(f, run->ip, item);
	item->has_to = run->count == 1 && run->has_to;
	item->to = item->has_to ? run->to : 0;
	place(f, run, item);
	run->ip += item->size;
	run->first++;
	if (!--run->count)
		f->run = NULL;
}

/* Return the whole run as an item. */
static void whole_run(struct decode_pt_flow *f, struct decode_item *item)
{
	const struct decode_told *run = f->run;
	const uint32_t last = run->first + run->count - 1;

	clear(item);
	item->kind = DECODE_ITEM_BLOCK;
	item->class = run->class;
	item->mode = run->mode;
	item->insns = run->count;
	item->ip = run->ip;
	item->last = dec_code_ip(f->ahead.code, run->block, last);
	item->offset = run->offset;
	item->size = dec_code_lens(f->ahead.code, run->block)[last];
	f->run = NULL;
	place(f, run, item);
}

static void parts(struct decode_pt_flow *f, const struct decode_told *told,
		  struct decode_item *item)
{
	clear(item);
	item->kind = DECODE_ITEM_PARTS;
	item->parts = f->merge.parts.at + told->first;
	item->insns = told->count;
	item->offset = told->offset;
	place(f, told, item);
}

/* Process an entry of the queue. Returns 1 if there is an item, 0 if not, or -errno. */
static int take_told(struct decode_pt_flow *f, struct decode_item *item)
{
	struct decode_told *told = &f->told.at[f->head++];
	int some;

	switch ((enum decode_told_kind)told->kind) {
	case DECODE_TOLD_RUN:
		start_run(f, told);
		return 0;
	case DECODE_TOLD_SPACE:
		f->cr3 = told->cr3;
		f->space = told->space;
		decode_code_select(f->store, f->cr3);
		f->page_at = NO_PAGE;
		return 0;
	case DECODE_TOLD_PARTS:
		parts(f, told, item);
		return 1;
	case DECODE_TOLD_EVENT:
		break;
	}
	some = decode_pt_item(f, told, item);
	if (some > 0)
		place(f, told, item);
	return some;
}

static int push(struct decode_pt_flow *f)
{
	int more;

	f->head = f->told.n = f->points.n = 0;
	decode_pt_merge_next(f);
	if (!f->quiet)
		trace_reader_progress(f->reader, f->vcpu, f->ahead.at);
	more = f->ahead.system->push(f);
	decode_pt_merge_queue(f);
	return more;
}

/*
 * Let the decoder continue, because the queue is empty. Returns 1 if there is an item, 0 if not, or
 * -errno.
 */
static int decode_more(struct decode_pt_flow *f, struct decode_item *item)
{
	int more;

	if (decode_pt_live_waits(f))
		return -EAGAIN;
	if (f->ahead.segment && !decode_pt_at_stop(f)) {
		more = push(f);
		return more < 0 ? more : 0;
	}
	f->head = f->told.n = f->points.n = 0;
	if (f->next < f->nsegments && !decode_pt_at_stop(f)) {
		more = start_segment(f, item);
		return more ? more : 1;
	}
	decode_pt_clock_end(&f->clock, &f->base.sum);
	memset(item, 0, sizeof(*item));
	item->offset = f->len;
	return 1;
}

int decode_pt_drop_told(struct decode_pt_flow *f)
{
	struct decode_item item;
	int some = 0;

	while (f->head < f->told.n && some >= 0) {
		some = take_told(f, &item);
		if (some > 0 && f->dropped && !decode_shares_item(f->dropped, &item))
			some = -ENOMEM;
	}
	f->run = NULL;
	return some < 0 ? some : 0;
}

static void bare_item(struct decode_pt_flow *f, struct decode_item *item)
{
	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_ERROR;
	item->text = "DisTNT was set: the flow is not in the trace";
	item->session = (uint32_t)f->ahead.session;
	item->cr3 = f->cr3;
	item->offset = decode_pt_flow_segment(&f->base)->begin;
	f->told_bare = true;
}

static int next_item(struct decode_pt_flow *f, struct decode_item *item)
{
	int some;

	do {
		if (f->run) {
			if (f->blocks)
				whole_run(f, item);
			else
				one_insn(f, item);
			return 0;
		}
		if (f->ahead.segment && !f->told_bare) {
			bare_item(f, item);
			return 0;
		}
		some = f->head < f->told.n ? take_told(f, item) : decode_more(f, item);
	} while (!some);
	return some < 0 ? some : 0;
}

/* Combine consecutive runs into a block, up to the next branch. */
static int next_block(struct decode_pt_flow *f, struct decode_item *item)
{
	struct decode_item *more = &f->behind;
	int err;

	if (f->has_behind) {
		*item = f->behind;
		f->has_behind = false;
		return 0;
	}
	if (f->live.has_begun_block) {
		*item = f->live.begun_block;
		f->live.has_begun_block = false;
		err = 0;
	} else {
		err = next_item(f, item);
	}
	while (!err && item->kind == DECODE_ITEM_BLOCK && !decode_pt_ends_block(item->class)) {
		err = next_item(f, more);
		if (err || more->kind != DECODE_ITEM_BLOCK) {
			f->has_behind = !err;
			f->live.has_begun_block = err == -EAGAIN;
			f->live.begun_block = *item;
			break;
		}
		item->insns += more->insns;
		item->last = more->last;
		item->size = more->size;
		item->class = more->class;
		item->offset = more->offset;
		item->left = more->left;
		item->all_read = more->all_read;
	}
	return err;
}

int decode_pt_flow_next(struct decode_flow *flow, struct decode_item *item)
{
	struct decode_pt_flow *f = of(flow);

	return f->blocks ? next_block(f, item) : next_item(f, item);
}

static const struct decode_code_store *code(const struct decode_flow *flow)
{
	return of_const(flow)->store;
}

void decode_pt_flow_close(struct decode_flow *flow)
{
	struct decode_pt_flow *f = of(flow);

	decode_pt_clock_end(&f->clock, &f->base.sum);
	decode_pt_window_close(f);
	if (f->store != f->ahead.store)
		decode_code_close(f->store);
	if (f->counts.wanted)
		decode_pt_counts_close(f);
	decode_pt_merge_close(f);
	decode_pt_runs_close(f);
	decode_pt_ahead_close(f);
	decode_spaces_close(f->spaces);
	free(f->told.at);
	free(f->points.at);
	free(f->cfe_items.at);
	free(f->own_bytes);
	free(f->segments);
	free(f);
}

int decode_pt_flow_counts(struct decode_flow *flow, struct decode_tally *tally,
			  struct decode_flow_sum *sum)
{
	struct decode_pt_flow *f = of(flow);

	return f->counts.wanted ? decode_pt_counts_sum(f, tally, sum) : 0;
}

int decode_pt_flow_runs(struct decode_flow *flow, const struct decode_flow_takers *takers,
			void *context)
{
	struct decode_pt_flow *f = of(flow);
	int more;

	if (f->blocks || f->base.timed || !f->told_bare)
		return 0;
	more = decode_pt_offer_open(f, takers);
	if (more)
		return more;
	f->ahead.piece = DECODE_AHEAD_OFFERED;
	f->offer.takers = takers;
	f->offer.context = context;
	for (more = 1; more > 0 && decode_pt_offer_queued(f) && f->ahead.segment;) {
		f->ahead.flow.tracelets = takers->again ? f->offer.tracelets : NULL;
		more = push(f);
	}
	f->ahead.flow.tracelets = NULL;
	f->offer.takers = NULL;
	return more < 0 ? more : 0;
}

static const struct decode_flow_ops pt_flow_ops = {
	.close = decode_pt_flow_close,
	.merge = decode_pt_merge,
	.counts = decode_pt_flow_counts,
	.items_from = decode_pt_items_from,
	.branches = decode_pt_count_branches,
	.visit = decode_pt_visit_counts,
	.next = decode_pt_flow_next,
	.runs = decode_pt_flow_runs,
	.grow = decode_pt_grow,
	.more = decode_pt_more,
	.segment = decode_pt_flow_segment,
	.code = code,
};

/* Open the code at the position of returned items, which differs from the decoder's position. */
static int open_store(struct decode_pt_flow *f)
{
	f->change = decode_code_next_change(f->ahead.store);
	f->store = f->ahead.store;
	if (f->change == UINT64_MAX || f->counts.wanted)
		return 0;
	f->store = NULL;
	return decode_code_open(f->reader, f->vcpu, &f->store);
}

static int open_parts(struct decode_pt_flow *f)
{
	bool atom = trace_reader_info(f->reader)->flags & TRACE_INFO_ATOM;
	int err = decode_pt_ahead_open(f, atom ? &decode_ahead_atom : &decode_ahead_pt);

	f->counts.wanted = f->counts.wanted && !atom;
	f->ahead.piece = f->counts.wanted ? DECODE_AHEAD_COUNTED : DECODE_AHEAD_PIECE;
	if (!err && f->counts.wanted)
		err = decode_pt_counts_open(f);
	if (!err)
		err = open_store(f);
	if (!err)
		err = decode_spaces_open(f->reader, f->ahead.store, &f->spaces);
	if (err)
		return err;
	err = decode_pt_window_open(f);
	if (err)
		return err;
	f->stream = trace_reader_stream(f->reader, f->vcpu, &f->len);
	f->segments = decode_segments(f->periods, f->nperiods, f->stream, f->len,
				      f->ahead.system->is_psb, &f->nsegments);
	return f->stream && f->segments ? 0 : -ENOMEM;
}

int decode_pt_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
			struct decode_flow **flow)
{
	struct decode_pt_flow *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->base.ops = &pt_flow_ops;
	f->reader = reader;
	f->vcpu = vcpu;
	f->blocks = unit != DECODE_FLOW_INSNS;
	f->counts.wanted = unit == DECODE_FLOW_COUNTS;
	f->caps = &trace_reader_info(reader)->caps;
	f->periods = trace_reader_sessions(reader, vcpu, &f->nperiods);
	f->cr3s = trace_reader_cr3(reader, vcpu, &f->ncr3s);
	f->switches = trace_reader_switches(reader, vcpu, &f->nswitches);
	f->cr3 = DECODE_CR3_UNKNOWN;
	f->page_at = NO_PAGE;
	f->stop.segment = SIZE_MAX;
	err = open_parts(f);
	if (err) {
		decode_pt_flow_close(&f->base);
		return err;
	}
	*flow = &f->base;
	return 0;
}
