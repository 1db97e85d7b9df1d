// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a shard on its own, and keep what joining its result to others needs. */
#include "decode/shard_part.h"

#include <errno.h>

#include "decode/by_cr3.h"
#include "decode/shard_input.h"

static bool is_right(const struct decode_pt_flow *f, const struct decode_shard *shard)
{
	const struct decode_shard_input in = decode_shard_input_of(f);

	return decode_shard_can_cut(f) && shard->counter < DECODE_SHARD_COUNTERS &&
	       shard->next_cr3 <= f->ncr3s && shard->next_resumed <= f->ncr3s &&
	       decode_cut_is_right(&in, &shard->from) && decode_cut_is_right(&in, &shard->to) &&
	       shard->to.end > shard->from.end;
}

/* The consumers of items, besides the result. */
struct taker {
	struct decode_by_cr3 *by_cr3; /* NULL if spaces are not wanted */
	const struct debug_symbols *symbols;
	struct decode_shard_listing *listing; /* NULL if there is none */
	struct decode_last_calls *last_calls; /* NULL if they are not wanted */
	bool shares;			      /* count the spaces that the file describes */
	bool parts;			      /* trees, or changes of flow, of each space */
	bool tally;			      /* blocks */
};

static bool has_spaces(const struct decode_shard_part *part)
{
	size_t n;

	trace_reader_spaces(part->reader, &n);
	return n != 0;
}

/* Returns true if the summary of the trace has a table of spaces. */
static bool wants_shares(const struct decode_shard_part *part)
{
	return part->kind == DECODE_PARTIAL_COUNTS && !part->code && has_spaces(part);
}

/* Take an item whose space is known. */
static bool take_known(const struct taker *t, const struct decode_item *item,
		       struct decode_partial *to)
{
	if (t->listing) {
		decode_shard_listing_item(t->listing, item);
		return true;
	}
	return !t->parts || decode_space_parts_item(&to->parts, t->symbols, item);
}

/* Take an item, in pieces if it is of several tasks. */
static bool take_item(const struct taker *t, struct decode_item *item, struct decode_partial *to)
{
	bool ok = !t->by_cr3 || decode_by_cr3_item(t->by_cr3, item);

	do
		ok = ok && take_known(t, item, to);
	while (ok && decode_by_cr3_more(t->by_cr3, item));
	return ok;
}

static int take_items(struct decode_flow *flow, const struct taker *taker,
		      struct decode_partial *to)
{
	struct decode_item item;
	int err;

	for (;;) {
		err = decode_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		decode_summary_item(&to->sum, to->vcpu, &item);
		if (taker->last_calls)
			decode_last_calls_item(taker->last_calls, &item);
		if (taker->shares && !decode_shares_item(&to->shares, &item))
			return -ENOMEM;
		if (to->calls && !decode_calls_item(to->calls, &item))
			return -ENOMEM;
		if (!take_item(taker, &item, to))
			return -ENOMEM;
		/* A flow of RTIT does not count. */
		if (taker->tally && item.kind == DECODE_ITEM_BLOCK &&
		    !decode_tally_add(&to->tally, item.ip, item.last, item.insns))
			return -ENOMEM;
	}
}

static int take_counts(struct decode_flow *flow, struct decode_partial *to)
{
	struct decode_flow_sum sum = {0, 0};
	int err = decode_flow_counts(flow, &to->tally, &sum);

	to->sum.insns += sum.insns;
	to->sum.blocks += sum.blocks;
	return err;
}

static bool wants_spaces(const struct decode_shard_part *part)
{
	return part->kind == DECODE_PARTIAL_SPACES || part->kind == DECODE_PARTIAL_EDGES ||
	       (decode_partial_is_listing(part->kind) && part->listing.spaces);
}

static int begin_taker(const struct decode_shard_part *part, struct taker *t,
		       struct decode_partial *to)
{
	t->shares = wants_shares(part);
	if (wants_spaces(part) && !has_spaces(part)) {
		t->by_cr3 = decode_by_cr3_new(part->pti);
		if (!t->by_cr3 || decode_by_cr3_tasks(t->by_cr3, part->reader))
			return -ENOMEM;
		decode_by_cr3_begin(t->by_cr3, part->vcpu);
	}
	t->parts = part->kind == DECODE_PARTIAL_SPACES || part->kind == DECODE_PARTIAL_EDGES;
	if (!decode_partial_is_listing(part->kind))
		return 0;
	t->listing =
		decode_shard_listing_begin(&part->listing, part->vcpu, part->symbols, &to->text);
	return t->listing ? 0 : -ENOMEM;
}

/* Take all items, and free what the taker has. */
static int take(struct decode_flow *flow, struct taker *taker, struct decode_partial *to)
{
	int err = take_items(flow, taker, to), end = decode_shard_listing_end(taker->listing);

	taker->listing = NULL;
	if (!err)
		err = end;
	return err || to->kind != DECODE_PARTIAL_COUNTS ? err : take_counts(flow, to);
}

/* Start the tasks at a shard. The state at the end of the shard before proves the guesses. */
static void begin_tasks(const struct decode_pt_flow *f, const struct decode_shard *shard,
			const struct taker *taker)
{
	const struct decode_segment *s = &f->segments[shard->from.segment];

	if (!taker->by_cr3 || (shard->from.begins && !shard->from.segment))
		return;
	decode_by_cr3_begin_at(taker->by_cr3, f->vcpu, f->ahead.flow.insns,
			       s->count ? (uint32_t)s->first : UINT32_MAX, f->ahead.cr3);
}

/* Keep the state at an end. */
static void set_end(const struct decode_pt_state *state, const struct decode_partial *p,
		    const struct taker *taker, struct decode_partial_end *end)
{
	decode_pt_state_words(state, end->words);
	end->unfit = state->unfit;
	/* Nothing runs between two segments. */
	if (!state->between)
		decode_shares_words(&p->shares, end->words + DECODE_SHARES_AT);
	if (taker->by_cr3)
		decode_by_cr3_words(taker->by_cr3, end->words + DECODE_TASKS_AT);
}

/* Keep which counters at the begin give the same versions of code. */
static void set_counter(const struct decode_shard *shard, uint64_t begun, uint64_t ended,
			uint64_t last_change, uint64_t next_change,
			struct decode_partial_counter *to)
{
	const uint64_t insns = ended - begun;

	switch (shard->counter) {
	case DECODE_SHARD_UNUSED:
		*to = (struct decode_partial_counter){.most = UINT64_MAX, .end = insns};
		return;
	case DECODE_SHARD_FREE:
		*to = (struct decode_partial_counter){last_change, UINT64_MAX, false, false, insns};
		if (next_change != UINT64_MAX && next_change < insns)
			*to = (struct decode_partial_counter){1, 0, false, false, insns};
		else if (next_change != UINT64_MAX)
			to->most = next_change - insns;
		return;
	case DECODE_SHARD_KNOWN:
		*to = (struct decode_partial_counter){0, UINT64_MAX, true, true, ended};
		return;
	default:
		*to = (struct decode_partial_counter){begun, begun, false, true, ended};
	}
}

/* Note how many changes of code were applied, before the first item or behind the last one. */
static void note_changes(const struct decode_pt_flow *f, struct decode_shard_code *code,
			 unsigned int end)
{
	if (code)
		code->applied[end] = decode_code_applied(f->ahead.store);
}

static int decode_shard(struct decode_pt_flow *f, const struct decode_shard_part *part,
			struct taker *taker, struct decode_partial *to)
{
	const struct decode_shard *shard = part->shard;
	const struct decode_pt_carry carry = {.insns = shard->insns,
					      .next_cr3 = shard->next_cr3,
					      .next_resumed = shard->next_resumed,
					      .mode = f->ahead.flow.mode};
	uint64_t begun, last_change, next_change;
	struct decode_pt_state state;
	int err;

	/* The shard before counts the items of the PSB+. */
	to->shares.paused = true;
	f->dropped = wants_shares(part) ? &to->shares : NULL;
	err = decode_pt_shard_start(f, shard, &carry, &state);
	f->dropped = NULL;
	to->shares.paused = false;
	if (err)
		return err;
	begin_tasks(f, shard, taker);
	set_end(&state, to, taker, &to->ends[0]);
	begun = f->ahead.flow.insns;
	last_change = decode_code_last_change(f->ahead.store);
	next_change = decode_code_next_change(f->ahead.store);
	note_changes(f, part->code, 0);
	err = take(&f->base, taker, to);
	decode_pt_shard_state(f, &state);
	set_end(&state, to, taker, &to->ends[1]);
	set_counter(shard, begun, f->ahead.flow.insns, last_change, next_change, &to->counter);
	return err;
}

/* Read the bytes of the shard, and decode them. */
static int decode_items(const struct decode_shard_part *part, struct decode_flow *flow,
			struct taker *taker, struct decode_partial *to)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;
	const struct decode_shard *shard = part->shard;
	const uint64_t from = shard ? shard->from.psb : 0;
	const uint64_t end =
		shard ? shard->to.end : trace_reader_stream_bytes(part->reader, part->vcpu);
	int err = trace_reader_load(part->reader, part->vcpu, from, end);

	if (err == -ENODATA && shard)
		return -EPROTO;
	if (err)
		return err;
	if (!shard) {
		to->ends[0].unfit = to->ends[1].unfit = true;
		return take(flow, taker, to);
	}
	return is_right(f, shard) ? decode_shard(f, part, taker, to) : -EPROTO;
}

static int decode_part(const struct decode_shard_part *part, struct decode_flow *flow,
		       struct decode_partial *to)
{
	struct taker taker = {
		.symbols = part->symbols,
		.last_calls = part->last_calls,
		.tally = part->kind == DECODE_PARTIAL_COUNTS && !part->last_calls,
	};
	int err = part->code ? 0 : begin_taker(part, &taker, to), end;

	if (!err)
		err = decode_items(part, flow, &taker, to);
	decode_by_cr3_free(taker.by_cr3);
	end = decode_shard_listing_end(taker.listing);
	return err ? err : end;
}

/* Decode like decode_part(), and list the code that was used. */
static int decode_code(const struct decode_shard_part *part, struct decode_flow *flow,
		       struct decode_partial *to)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;
	struct decode_code_uses *uses = decode_code_uses_new();
	struct decode_shard_code *code = part->code;
	int err = -ENOMEM;

	if (!uses)
		return err;
	*code = (struct decode_shard_code){.n = 0};
	decode_code_note_uses(f->ahead.store, uses);
	decode_code_note_uses(f->store, uses);
	err = decode_part(part, flow, to);
	note_changes(f, code, 1);
	if (!err)
		err = decode_code_list_used(f->ahead.store, part->reader, part->vcpu, uses,
					    code->applied[0], code->applied[1], &code->list,
					    &code->n);
	decode_code_note_uses(f->ahead.store, NULL);
	decode_code_note_uses(f->store, NULL);
	decode_code_uses_free(uses);
	return err;
}

static enum decode_flow_unit unit_of(const struct decode_shard_part *part)
{
	switch (part->kind) {
	case DECODE_PARTIAL_COUNTS:
		return has_spaces(part) || part->last_calls ? DECODE_FLOW_BLOCKS
							    : DECODE_FLOW_COUNTS;
	case DECODE_PARTIAL_INSNS:
		return DECODE_FLOW_INSNS;
	default:
		return DECODE_FLOW_BLOCKS;
	}
}

int decode_shard_part(const struct decode_shard_part *part, struct decode_partial *to)
{
	const enum decode_flow_unit unit = unit_of(part);
	struct decode_flow *flow;
	int err = decode_flow_open(part->reader, part->vcpu, unit, &flow);

	*to = (struct decode_partial){.kind = part->kind, .vcpu = part->vcpu};
	if (part->kind == DECODE_PARTIAL_EDGES)
		to->parts.wanted = DECODE_SPACE_EDGES;
	if (err)
		return err;
	if (part->kind == DECODE_PARTIAL_CALLS && !part->code) {
		to->calls = decode_calls_new_open(part->symbols);
		err = to->calls ? 0 : -ENOMEM;
	}
	if (!err && decode_partial_has_trees(part->kind))
		err = decode_flow_merge(flow, decode_calls_function, part->symbols);
	if (!err)
		err = part->code ? decode_code(part, flow, to) : decode_part(part, flow, to);
	decode_flow_close(flow);
	return err;
}
