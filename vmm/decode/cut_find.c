// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the clocks of marks, of addresses and of the last instructions of a vCPU. */
#include "decode/cut_find.h"

#include <errno.h>
#include <string.h>

#include "decode/by_cr3.h"
#include "decode/flow.h"

static bool wanted(const struct decode_cut_find *f, unsigned int vcpu)
{
	return f->vcpu < 0 || (unsigned int)f->vcpu == vcpu;
}

/* Return the clock of the first mark of a vCPU with a text, or DECODE_CUT_NEVER. */
static uint64_t find_mark(const struct trace_reader *reader, unsigned int vcpu, const char *text)
{
	const struct trace_reader_mark *mark;
	size_t n, i;

	mark = trace_reader_marks(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		if (mark[i].mark.len == strlen(text) &&
		    !memcmp(mark[i].text, text, mark[i].mark.len))
			return mark[i].mark.insns;
	}
	return DECODE_CUT_NEVER;
}

/* Count the instructions of a vCPU. Returns 0 or -errno. */
static int count(struct trace_reader *reader, unsigned int vcpu, uint64_t *insns)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_tally tally = {0};
	struct decode_flow_sum sum;
	struct decode_flow *flow;
	int err = decode_flow_open(reader, vcpu, DECODE_FLOW_COUNTS, &flow);

	*insns = 0;
	if (err)
		return err;
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		if (!err && item.kind == DECODE_ITEM_BLOCK)
			*insns += item.insns;
	}
	if (!err)
		err = decode_flow_counts(flow, &tally, &sum);
	if (!err)
		*insns += sum.insns;
	decode_tally_free(&tally);
	decode_flow_close(flow);
	return err;
}

/* A search for addresses in the flow of a vCPU. */
struct search {
	const struct decode_cut_find *of;
	struct decode_by_cr3 *by_cr3; /* NULL if the file describes address spaces */
	struct decode_flow *flow;
	struct decode_cutter cutter;
	uint64_t clock;
};

static bool is_at(const struct search *s, const struct decode_place *place,
		  const struct decode_item *item)
{
	return place->kind == DECODE_PLACE_ADDRESS && item->ip == place->n &&
	       (!s->of->wants || s->of->wants(s->of->context, item));
}

/* Compare an instruction with the addresses whose clocks are still unknown. */
static void take_insn(struct search *s, const struct decode_item *item)
{
	struct decode_window *cut = &s->cutter.cut;
	const bool has_begun = s->clock > cut->from || s->of->from.kind == DECODE_PLACE_NONE;

	if (has_begun && cut->until == DECODE_CUT_NEVER && is_at(s, &s->of->until, item))
		cut->until = s->clock;
	if (cut->from == DECODE_CUT_NEVER && is_at(s, &s->of->from, item))
		cut->from = s->clock;
}

/* Returns true if an address is still to be found. */
static bool goes_on(const struct search *s)
{
	return (s->of->from.kind == DECODE_PLACE_ADDRESS &&
		s->cutter.cut.from == DECODE_CUT_NEVER) ||
	       (s->of->until.kind == DECODE_PLACE_ADDRESS &&
		s->cutter.cut.until == DECODE_CUT_NEVER);
}

static int run(struct search *s)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	int err = 0;

	if (decode_window_is_timed(&s->cutter.cut))
		decode_flow_keep_time(s->flow);
	while (!err && goes_on(s) && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(s->flow, &item);
		if (!err && s->by_cr3 && !decode_by_cr3_item(s->by_cr3, &item))
			err = -ENOMEM;
		if (err)
			break;
		decode_cutter_time(&s->cutter, s->clock, &item);
		if (item.kind == DECODE_ITEM_INSN)
			take_insn(s, &item);
		s->clock += item.kind == DECODE_ITEM_INSN;
	}
	return err;
}

/* Find the addresses of a vCPU's cut. Returns 0 or -errno. */
static int find_addresses(const struct decode_cut_find *f, unsigned int vcpu,
			  struct decode_window *cut)
{
	struct search s = {.of = f};
	size_t spaces;
	int err;

	/* A vCPU without the beginning of the part needs no end of it. */
	if (cut->from == DECODE_CUT_NEVER && !cut->from_ticks &&
	    f->from.kind != DECODE_PLACE_ADDRESS)
		return 0;
	trace_reader_spaces(f->reader, &spaces);
	if (!spaces) {
		s.by_cr3 = decode_by_cr3_new(f->pti);
		if (!s.by_cr3)
			return -ENOMEM;
	}
	decode_cutter_begin(&s.cutter, cut);
	err = decode_flow_open(f->reader, vcpu, DECODE_FLOW_INSNS, &s.flow);
	if (!err) {
		err = run(&s);
		decode_flow_close(s.flow);
	}
	if (f->from.kind == DECODE_PLACE_ADDRESS)
		cut->from = s.cutter.cut.from;
	if (f->until.kind == DECODE_PLACE_ADDRESS)
		cut->until = s.cutter.cut.until;
	decode_by_cr3_free(s.by_cr3);
	return err;
}

/* Find what the file has of the places without decoding. */
static struct decode_window find_places(const struct decode_cut_find *f, unsigned int vcpu)
{
	struct decode_window cut = {0, DECODE_CUT_NEVER, 0, DECODE_CUT_NEVER};

	if (f->from.kind == DECODE_PLACE_CLOCK)
		cut.from = f->from.n;
	else if (f->from.kind == DECODE_PLACE_MARK)
		cut.from = find_mark(f->reader, vcpu, f->from.mark);
	else if (f->from.kind == DECODE_PLACE_ADDRESS || f->from.n)
		cut.from = DECODE_CUT_NEVER;
	if (f->from.kind == DECODE_PLACE_TIME)
		cut.from_ticks = f->from.n;
	if (f->until.kind == DECODE_PLACE_CLOCK)
		cut.until = f->until.n;
	else if (f->until.kind == DECODE_PLACE_MARK)
		cut.until = find_mark(f->reader, vcpu, f->until.mark);
	else if (f->until.kind == DECODE_PLACE_TIME)
		cut.until_ticks = f->until.n;
	return cut;
}

static int find_last(const struct decode_cut_find *f, unsigned int vcpu, struct decode_window *cut)
{
	uint64_t insns;
	int err = count(f->reader, vcpu, &insns);

	cut->from = !err && insns > f->last ? insns - f->last : 0;
	return err;
}

/* Returns true if a place that can be missing was found, or cannot be missing. */
static bool is_found(const struct decode_place *place, uint64_t clock)
{
	return (place->kind != DECODE_PLACE_MARK && place->kind != DECODE_PLACE_ADDRESS) ||
	       clock != DECODE_CUT_NEVER;
}

int decode_cut_find(const struct decode_cut_find *f, struct decode_window *cuts)
{
	const unsigned int vcpus = trace_reader_info(f->reader)->vcpus;
	const bool search =
		f->from.kind == DECODE_PLACE_ADDRESS || f->until.kind == DECODE_PLACE_ADDRESS;
	bool from = false, until = false;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < vcpus; i++) {
		cuts[i] = find_places(f, i);
		if (!wanted(f, i))
			continue;
		if (f->only_last)
			err = find_last(f, i, &cuts[i]);
		else if (search)
			err = find_addresses(f, i, &cuts[i]);
		from |= is_found(&f->from, cuts[i].from);
		until |= is_found(&f->until, cuts[i].until);
	}
	if (err)
		return err;
	return !from ? -ENOENT : !until ? -ESRCH : 0;
}
