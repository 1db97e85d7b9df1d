// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts, lists or collects the items of a trace for vpt decode. */
#include <errno.h>
#include <stdlib.h>

#include "cli/decode_inside.h"
#include "cli/jobs.h"
#include "decode/shards.h"

/* The end of a stream in which the last calls are searched. Calls are far apart in loops alone. */
#define LAST_CALLS_BYTES 65536u

/* A listing with fewer lines has one thread. */
#define LINES_OF_THREADS 500000u

/* Take an item that is not in the part. */
static int skip_item(struct cli_decode *d, const struct decode_item *item)
{
	/* Without the instructions of an error before the part, its clock is not exact. */
	if (item->kind == DECODE_ITEM_ERROR)
		decode_summary_item(&d->sum, d->vcpu, item);
	if (d->o->quiet)
		return 0;
	if (d->o->mode == CLI_DECODE_CALLS)
		return cli_decode_calls_item(&d->calls, item) ? 0 : -ENOMEM;
	if (d->o->mode == CLI_DECODE_INSN || d->o->mode == CLI_DECODE_BLOCKS)
		decode_listing_skip(&d->listing, item);
	return 0;
}

static int count_block(struct cli_decode *d, const struct decode_item *item)
{
	/* A line of source cannot be divided, and belongs to the part in which its block begins. */
	if (item->kind != DECODE_ITEM_BLOCK || (d->o->mode == CLI_DECODE_COVERAGE && item->rest))
		return 0;
	return decode_tally_add(&d->tally, item->ip, item->last, item->insns) ? 0 : -ENOMEM;
}

static void list_item(struct cli_decode *d, const struct decode_item *item)
{
	if (!d->left || !decode_listing_shows(item))
		return;
	if (d->begins)
		decode_listing_begin(&d->listing, d->clock);
	d->begins = false;
	decode_listing_item(&d->listing, item);
	d->left--;
}

/* Take an item, or a piece of it that is completely in the part or out of it. */
static int take_piece(struct cli_decode *d, const struct decode_item *item)
{
	if (d->has_spaces && !decode_shares_item(&d->shares, item))
		return -ENOMEM;
	if (d->o->time)
		decode_pace_item(&d->pace, item);
	if (!cli_decode_side_wants(&d->o->side, item))
		return 0;
	if (d->outside)
		return skip_item(d, item);
	decode_summary_item(&d->sum, d->vcpu, item);
	if (d->o->quiet)
		return 0;
	switch (d->o->mode) {
	case CLI_DECODE_INSN:
	case CLI_DECODE_BLOCKS:
		list_item(d, item);
		return 0;
	case CLI_DECODE_CALLS:
		return cli_decode_calls_item(&d->calls, item) ? 0 : -ENOMEM;
	default:
		return count_block(d, item);
	}
}

/* The part begins or ends. */
static void cross(struct cli_decode *d, bool outside)
{
	d->outside = outside;
	d->shares.paused = outside;
	d->pace.paused = outside;
	cli_decode_calls_count(&d->calls, outside ? DECODE_CALLS_NO_COUNT : DECODE_CALLS_COUNT);
	d->begins = !outside && d->clock;
}

static int take_cut(void *context, uint64_t clock, struct decode_item *piece)
{
	struct cli_decode *d = context;
	const uint64_t insns = decode_cut_insns(piece);
	int err;

	d->clock = clock;
	if (piece->kind == DECODE_ITEM_END)
		return 0;
	if (d->outside == decode_cutter_has(&d->cutter, clock))
		cross(d, !d->outside);
	err = take_piece(d, piece);
	d->went_on |= insns && clock >= d->cutter.cut.until;
	d->clock += insns;
	return err;
}

/* Take an item of one address space. Returns 0 or -ENOMEM. */
static int take_whole(struct cli_decode *d, struct decode_item *item)
{
	if (!d->cuts)
		return take_piece(d, item);
	/* A line cannot be divided, and belongs to the part in which its block begins. */
	if (d->o->mode == CLI_DECODE_BLOCKS)
		return take_cut(d, d->clock, item);
	return decode_cutter_split(&d->cutter, d->clock, item, take_cut, d);
}

/* Take an item, in pieces if it is of several address spaces. Returns 0 or -ENOMEM. */
static int take_item(struct cli_decode *d, struct decode_item *item)
{
	int err;

	if (d->by_cr3 && !decode_by_cr3_item(d->by_cr3, item))
		return -ENOMEM;
	cli_decode_stop_item(&d->stop, d->vcpu, item);
	if (d->cuts)
		decode_cutter_time(&d->cutter, d->clock, item);
	do
		err = take_whole(d, item);
	while (!err && decode_by_cr3_more(d->by_cr3, item));
	return err;
}

bool cli_decode_wants_more(const struct cli_decode *d)
{
	return d->left || (d->o->mode != CLI_DECODE_INSN && d->o->mode != CLI_DECODE_BLOCKS);
}

/* Returns true if further items of the current vCPU can add to the output. */
static bool goes_on(const struct cli_decode *d)
{
	/* The next block shows which calls ended with the part. */
	const bool past = d->cuts && d->clock >= d->cutter.cut.until &&
			  (d->went_on || d->o->mode != CLI_DECODE_CALLS);

	return !past && cli_decode_wants_more(d);
}

/*
 * Counts are by far the fastest unit, but have neither times nor address spaces, and no order that
 * could be cut.
 */
static enum decode_flow_unit unit_of(const struct cli_decode *d)
{
	if (d->o->quiet)
		return d->cuts ? DECODE_FLOW_BLOCKS : DECODE_FLOW_COUNTS;
	switch (d->o->mode) {
	case CLI_DECODE_INSN:
		return DECODE_FLOW_INSNS;
	case CLI_DECODE_SUMMARY:
	case CLI_DECODE_COVERAGE:
		return d->o->time || d->has_spaces || d->cuts || cli_decode_side_told(&d->o->side)
			       ? DECODE_FLOW_BLOCKS
			       : DECODE_FLOW_COUNTS;
	default:
		return DECODE_FLOW_BLOCKS;
	}
}

static int take_counts(struct cli_decode *d, struct decode_flow *flow)
{
	struct decode_flow_sum sum;
	int err = d->o->quiet ? 0 : decode_flow_counts(flow, &d->tally, &sum);

	if (err || d->o->quiet)
		return err;
	d->sum.insns += sum.insns;
	d->sum.blocks += sum.blocks;
	return 0;
}

/* Returns true if the flow must compute times. */
static bool is_timed(const struct cli_decode *d)
{
	return d->o->time || (d->cuts && decode_window_is_timed(&d->cutter.cut));
}

/* Returns true if all items are wanted, without a time or an address space. */
static bool wants_all(const struct cli_decode *d)
{
	return !d->o->quiet && !d->o->time && !d->cuts && !d->has_spaces &&
	       !cli_decode_side_part(&d->o->side);
}

static bool is_listing(const struct cli_decode *d)
{
	return d->o->mode == CLI_DECODE_INSN || d->o->mode == CLI_DECODE_BLOCKS;
}

/* Returns true if a listing of all items is wanted, which threads can print in parts. */
static bool is_one_listing(const struct cli_decode *d)
{
	return wants_all(d) && is_listing(d);
}

/* Return the number of threads. A plan of shards takes longer than a few lines of a listing. */
static unsigned int jobs_of(const struct cli_decode *d)
{
	if (is_listing(d) && !d->cuts && d->left < LINES_OF_THREADS)
		return 1;
	return cli_jobs(d->o->jobs, d->reader);
}

static int open_flow(struct cli_decode *d, unsigned int vcpu, struct decode_flow **flow)
{
	const struct decode_shards_how how = {
		.jobs = jobs_of(d),
		.listing = is_one_listing(d),
	};

	return decode_shards_open(d->reader, vcpu, unit_of(d), &how, flow);
}

/* Start a vCPU. */
static int begin_vcpu(struct cli_decode *d, unsigned int vcpu)
{
	d->vcpu = vcpu;
	d->listing.vcpu = vcpu;
	d->clock = 0;
	d->went_on = false;
	decode_cutter_begin(&d->cutter, d->cuts ? &d->cuts[vcpu] : NULL);
	decode_pace_begin(&d->pace);
	decode_shares_begin(&d->shares);
	/* Calls that are active at the end of the trace do not count as divided. */
	if (!cli_decode_calls_forget(&d->calls))
		return -ENOMEM;
	if (d->cuts)
		cross(d, true);
	return 0;
}

/* End a vCPU, after the item @last. */
static void end_vcpu(struct cli_decode *d, const struct decode_flow *flow,
		     const struct decode_item *last)
{
	struct decode_timeline_sum sum;

	if (!d->cuts) {
		decode_flow_time_sum(flow, &sum);
		d->pace.sum.cycles += sum.cycles;
		d->pace.sum.ticks += sum.ticks;
		return;
	}
	/* Keep where the part was. */
	d->cuts[d->vcpu].from = d->cutter.cut.from;
	d->cuts[d->vcpu].until = d->cutter.cut.until < d->clock ? d->cutter.cut.until : d->clock;
	/* The end of the guest is not in the part. */
	if (d->stop.pm && d->vcpu == d->stop.pm->vcpu &&
	    (d->outside || last->kind != DECODE_ITEM_END))
		d->stop.pm = NULL;
}

int cli_decode_open_vcpu(struct cli_decode *d, unsigned int vcpu, bool grows,
			 struct decode_flow **flow)
{
	int err = begin_vcpu(d, vcpu);

	if (err)
		return err;
	err = grows ? decode_flow_open(d->reader, vcpu, unit_of(d), flow)
		    : open_flow(d, vcpu, flow);
	if (err)
		return err;
	if (grows)
		err = decode_flow_grow(*flow);
	if (d->by_cr3)
		decode_by_cr3_begin(d->by_cr3, vcpu);
	if (is_timed(d))
		decode_flow_keep_time(*flow);
	if (!err && d->o->mode == CLI_DECODE_CALLS)
		err = decode_flow_merge(*flow, decode_calls_function, d->symbols);
	if (err)
		decode_flow_close(*flow);
	return err;
}

int cli_decode_items(struct cli_decode *d, struct decode_flow *flow, struct decode_item *item,
		     bool *done)
{
	int err = 0;

	while (!err && item->kind != DECODE_ITEM_END && goes_on(d)) {
		err = decode_flow_next(flow, item);
		if (!err)
			err = take_item(d, item);
	}
	*done = !err;
	return err;
}

int cli_decode_close_vcpu(struct cli_decode *d, struct decode_flow *flow,
			  const struct decode_item *item, int err)
{
	if (!err)
		err = take_counts(d, flow);
	end_vcpu(d, flow, item);
	decode_flow_close(flow);
	return err;
}

/*
 * Returns true if the summary has the calls before the stop of this vCPU, which it otherwise
 * counts.
 */
static bool shows_last_calls(const struct cli_decode *d, unsigned int vcpu)
{
	return d->o->mode == CLI_DECODE_SUMMARY && unit_of(d) == DECODE_FLOW_COUNTS &&
	       cli_decode_stop_wants(&d->stop, vcpu);
}

static void begin_last_calls(struct cli_decode *d, struct decode_flow *flow)
{
	const uint64_t bytes = trace_reader_stream_bytes(d->reader, d->vcpu);

	const uint64_t from = bytes > LAST_CALLS_BYTES ? bytes - LAST_CALLS_BYTES : 0;

	d->stop.counted = decode_flow_items_from(flow, from) && from;
}

/* Search the whole stream for the last calls if its end has too few. Returns 0 or -errno. */
static int end_last_calls(struct cli_decode *d)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err;

	if (decode_last_calls_get(&d->stop.last, DECODE_LAST_CALLS - 1) ||
	    trace_reader_stream_bytes(d->reader, d->vcpu) <= LAST_CALLS_BYTES)
		return 0;
	err = decode_flow_open(d->reader, d->vcpu, DECODE_FLOW_BLOCKS, &flow);
	if (err)
		return err;
	d->stop.last = (struct decode_last_calls){.n = 0};
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		if (!err)
			decode_last_calls_item(&d->stop.last, &item);
	}
	decode_flow_close(flow);
	return err;
}

/* Returns true if only one tree of all calls is wanted, which threads can build in parts. */
static bool is_one_tree(const struct cli_decode *d)
{
	return wants_all(d) && d->o->mode == CLI_DECODE_CALLS && !d->calls.min;
}

static int take_tree(struct cli_decode *d, struct decode_flow *flow)
{
	struct decode_shard_calls to = {.tree = cli_decode_calls_tree(&d->calls)};
	int err = to.tree ? decode_shards_calls(flow, d->symbols, d->vcpu, &to) : -ENOMEM;

	decode_summary_add(&d->sum, &to.sum);
	return err;
}

static int take_listing(struct cli_decode *d, struct decode_flow *flow)
{
	struct decode_shards_listing to = {.listing = &d->listing, .left = d->left};
	int err = decode_shards_list(flow, d->vcpu, &to);

	d->left = to.left;
	decode_summary_add(&d->sum, &to.sum);
	return err;
}

int cli_decode_vcpu(struct cli_decode *d, unsigned int vcpu)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	const bool last_calls = shows_last_calls(d, vcpu);
	struct decode_flow *flow;
	bool done;
	int err = cli_decode_open_vcpu(d, vcpu, false, &flow);

	if (err)
		return err;
	if (last_calls)
		begin_last_calls(d, flow);
	if (is_one_tree(d))
		err = take_tree(d, flow);
	else if (is_one_listing(d))
		err = take_listing(d, flow);
	else
		err = cli_decode_items(d, flow, &item, &done);
	err = cli_decode_close_vcpu(d, flow, &item, err);
	return !err && last_calls ? end_last_calls(d) : err;
}
