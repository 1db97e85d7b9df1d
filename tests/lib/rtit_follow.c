// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/rtit_follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "decode/segment.h"
#include "libdecode/rtit.h"
#include "libdecode/tracelet.h"
#include "lib/versions.h"
#include "trace/atom_session.h"
#include "trace/vec.h"

/* Kinds beside those of enum vptd_event_kind. */
enum { INSN = VPTD_EVENT_COUNT, SEGMENT };

struct record {
	uint8_t kind;
	bool has_to;
	uint64_t ip, to, value;
	uint64_t insns; /* the counter; 0 of instructions */
};

struct records {
	struct record *at;
	size_t n, room;
};

struct follow {
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_rtit rtit;
	struct versions versions;
	const struct vpt_cr3_switch *cr3s;
	size_t ncr3s, next_cr3, next_resumed;
	const struct vpt_period *periods;
	size_t nperiods, period;
	uint64_t space, sum, errors;
	bool pip;
	bool sides; /* SPACE blocks, and no PIP, tell the space */
	struct records records;
};

static void add(struct records *records, struct record record)
{
	if (!vpt_vec_room(records))
		abort();
	records->at[records->n++] = record;
}

static void use_space(struct follow *f, uint64_t space, unsigned int mode)
{
	f->space = space;
	if (dec_rtit_use_space(&f->rtit, space, space, mode))
		abort();
}

/* Use what the file says of the space up to the counter. @always: also if a PIP knows better. */
static void follow_space(struct follow *f, bool always)
{
	static const uint8_t modes[] = {64, 32, 16, 64};
	uint64_t space = f->space;
	unsigned int mode = f->flow.mode;

	for (; f->next_cr3 < f->ncr3s && f->cr3s[f->next_cr3].insns <= f->flow.insns;
	     f->next_cr3++) {
		uint64_t is = f->cr3s[f->next_cr3].cr3;
		uint64_t named =
			versions_space(&f->versions, is & ~(VPT_CR3_CODE_MASK | VPT_CR3_RESUMED));

		mode = modes[is & VPT_CR3_CODE_MASK];
		if (named != NO_SPACE && (always || f->rtit.counts || !f->pip))
			space = named;
	}
	use_space(f, space, mode);
}

static void on_limit(void *context)
{
	struct follow *f = context;
	uint64_t next = versions_advance(&f->versions, f->flow.insns);

	follow_space(f, false);
	if (f->next_cr3 < f->ncr3s && f->cr3s[f->next_cr3].insns < next)
		next = f->cr3s[f->next_cr3].insns;
	f->flow.limit = next;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct follow *f = context;
	const uint8_t *lens = dec_code_lens(f->code, block);
	uint64_t ip = block->ip;
	unsigned int i;

	for (i = 0; i < first + count; ip += lens[i++]) {
		if (i >= first)
			add(&f->records, (struct record){.kind = INSN, .ip = ip});
	}
}

static uint64_t on_space(void *context, uint64_t cr3)
{
	struct follow *f = context;

	f->pip = true;
	if (!f->sides)
		f->space = versions_space(&f->versions, cr3);
	return f->space;
}

/* RTIT's CR3 blocks have a mark where an overflow was over. */
static bool on_resumed(void *context, uint64_t *insns)
{
	struct follow *f = context;
	const struct vpt_session *end = f->period < f->nperiods ? f->periods[f->period].end : NULL;
	size_t i = f->next_resumed;

	while (i < f->ncr3s &&
	       (!(f->cr3s[i].cr3 & VPT_CR3_RESUMED) || f->cr3s[i].insns < f->flow.insns))
		i++;
	if (i == f->ncr3s || !end || f->cr3s[i].insns > end->insns)
		return false;
	f->next_resumed = i + 1;
	f->next_cr3 = i;
	*insns = f->flow.insns = f->cr3s[i].insns;
	follow_space(f, true);
	f->flow.limit = 0;
	return true;
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct follow *f = context;
	struct record record = {.kind = e->kind, .insns = f->flow.insns};

	f->errors += e->kind == VPTD_EVENT_ERROR;
	/* The other flow does not report where it joins. */
	if (e->kind == VPTD_EVENT_SYNC)
		return;
	if (e->flags & VPTD_EV_TO) {
		record.has_to = true;
		record.to = e->to;
	}
	if (e->kind == VPTD_EVENT_ASYNC_BRANCH || e->kind == VPTD_EVENT_ASYNC_DISABLED)
		record.ip = e->ip;
	if (e->kind == VPTD_EVENT_PAGING || e->kind == VPTD_EVENT_CBR)
		record.value = e->value;
	add(&f->records, record);
}

/*
 * Packets were lost, or a VM entry or exit sent no PIP: execution can be in the only space that has
 * code there.
 */
static bool on_hole(void *context, uint64_t ip)
{
	struct follow *f = context;
	uint64_t found;

	if (f->rtit.counts && f->space != NO_SPACE && !f->sides)
		return false;
	found = versions_guess(&f->versions, ip);
	if (found == NO_SPACE || found == f->space)
		return false;
	use_space(f, found, f->flow.mode);
	return true;
}

static enum dec_rtit_why why_of(const struct vpt_session *end)
{
	switch (end->end) {
	case VPT_END_DISABLED:
		return DEC_RTIT_CLEARED;
	case VPT_END_TRACE_STOP:
		return DEC_RTIT_STOPPED;
	case VPT_END_CHANGED:
		return DEC_RTIT_CHANGED;
	default:
		return DEC_RTIT_ENDED;
	}
}

static void push(struct follow *f, const uint8_t *bytes, uint64_t len, unsigned int piece)
{
	uint64_t at, n;

	for (at = 0; at < len; at += n) {
		n = piece ? 1 + (at * piece) % 7 : len;
		if (n > len - at)
			n = len - at;
		dec_rtit_push(&f->rtit, bytes + at, n);
	}
}

static void decode_session(struct follow *f, const uint8_t *stream, uint64_t limit,
			   unsigned int piece)
{
	const struct vpt_session *start = f->periods[f->period].start,
				 *end = f->periods[f->period].end;
	struct vpt_atom_regs regs;

	f->pip = false;
	f->flow.limit = 0;
	vpt_atom_session_get(start, &regs);
	dec_rtit_begin(&f->rtit, &regs, start->insns);
	push(f, stream + start->offset, limit - start->offset, piece);
	if (end) {
		vpt_atom_session_get(end, &regs);
		dec_rtit_end(&f->rtit, &regs, end->insns, why_of(end));
	}
	f->sum += f->flow.insns - start->insns;
}

static void decode_segment(struct follow *f, const struct vpt_segment *s, const uint8_t *stream,
			   const struct dec_rtit_config *config, unsigned int piece)
{
	static const struct dec_rtit_ops ops = {on_event, on_space, on_resumed};
	size_t i;

	add(&f->records, (struct record){.kind = SEGMENT});
	dec_rtit_init(&f->rtit, &f->flow, config, &ops, f);
	f->rtit.offset = s->begin;
	/* The record that counted at the end of the segment before still counts here. */
	while (f->next_cr3 && s->count &&
	       f->cr3s[f->next_cr3 - 1].insns > f->periods[s->first].start->insns)
		f->next_cr3--;
	if (f->next_cr3)
		f->next_cr3--;
	use_space(f, NO_SPACE, 64);
	for (i = 0; i < s->count; i++) {
		f->period = s->first + i;
		decode_session(f, stream,
			       i + 1 < s->count ? f->periods[s->first + i + 1].start->offset
						: s->end,
			       piece);
	}
	if (!s->count)
		push(f, stream + s->begin, s->end - s->begin, piece);
	dec_rtit_finish(&f->rtit);
}

enum how { WITH_RUNS, WITH_TRACELETS };

static void decode(struct follow *f, struct vpt_reader *reader, enum how how, unsigned int piece)
{
	static const struct dec_flow_ops loud = {on_run, on_limit, on_hole},
					 silent = {NULL, on_limit, on_hole};
	const struct vpt_file_info *info = vpt_reader_info(reader);
	const struct dec_rtit_config config = {.errata = VPT_INFO_ERRATA(info->flags),
					       .guest = info->owner == VPT_OWNER_GUEST};
	struct vpt_segment *segments;
	const uint8_t *stream;
	size_t len, n, i;

	memset(f, 0, sizeof(*f));
	vpt_reader_spaces(reader, &n);
	f->sides = n != 0;
	f->code = dec_code_new();
	stream = vpt_reader_stream(reader, 0, &len);
	f->periods = vpt_reader_sessions(reader, 0, &f->nperiods);
	f->cr3s = vpt_reader_cr3(reader, 0, &f->ncr3s);
	segments = vpt_segments(f->periods, f->nperiods, stream, len, vpt_is_atom_psb, &n);
	if (!f->code || !segments)
		abort();
	versions_open(&f->versions, reader, f->code);
	dec_flow_init(&f->flow, f->code, how == WITH_RUNS ? &loud : &silent, f);
	if (how == WITH_TRACELETS)
		f->flow.tracelets = dec_tracelets_new(1 << 20, true);
	f->flow.limit = 0;
	for (i = 0; i < n; i++)
		decode_segment(f, &segments[i], stream, &config, piece);
	free(segments);
	dec_tracelets_free(f->flow.tracelets);
	dec_code_free(f->code);
	versions_close(&f->versions);
}

static uint8_t kind_of(const struct vpt_item *item)
{
	static const uint8_t kinds[VPT_FLOW_COUNT] = {
		[VPT_FLOW_ENABLED] = VPTD_EVENT_ENABLED,
		[VPT_FLOW_DISABLED] = VPTD_EVENT_DISABLED,
		[VPT_FLOW_ASYNC_DISABLED] = VPTD_EVENT_ASYNC_DISABLED,
		[VPT_FLOW_ASYNC_BRANCH] = VPTD_EVENT_ASYNC_BRANCH,
		[VPT_FLOW_PAGING] = VPTD_EVENT_PAGING,
		[VPT_FLOW_OVERFLOW] = VPTD_EVENT_OVERFLOW,
		[VPT_FLOW_STOP] = VPTD_EVENT_STOP,
		[VPT_FLOW_CBR] = VPTD_EVENT_CBR,
	};

	switch (item->kind) {
	case VPT_ITEM_INSN:
		return INSN;
	case VPT_ITEM_SEGMENT:
		return SEGMENT;
	case VPT_ITEM_ERROR:
		return VPTD_EVENT_ERROR;
	default:
		return kinds[item->event];
	}
}

static struct record record_of(const struct vpt_item *item)
{
	struct record record = {.kind = kind_of(item)};

	if (record.kind == INSN || record.kind == VPTD_EVENT_ASYNC_BRANCH ||
	    record.kind == VPTD_EVENT_ASYNC_DISABLED)
		record.ip = item->ip;
	if (item->kind == VPT_ITEM_EVENT && item->has_to) {
		record.has_to = true;
		record.to = item->to;
	}
	if (record.kind == VPTD_EVENT_PAGING || record.kind == VPTD_EVENT_CBR)
		record.value = item->value;
	return record;
}

static void take_flow(struct records *records, struct vpt_reader *reader)
{
	struct vpt_flow *flow;
	struct vpt_item item;

	if (vpt_flow_open(reader, 0, VPT_FLOW_INSNS, &flow))
		abort();
	for (;;) {
		if (vpt_flow_next(flow, &item))
			abort();
		if (item.kind == VPT_ITEM_END)
			break;
		add(records, record_of(&item));
	}
	vpt_flow_close(flow);
}

static void show(const char *whose, const struct records *records, size_t i)
{
	const struct record *record = &records->at[i];

	if (i >= records->n)
		printf("# %s %zu: end\n", whose, i);
	else if (record->kind == INSN)
		printf("# %s %zu: %" PRIx64 "\n", whose, i, record->ip);
	else
		printf("# %s %zu: %s ip %" PRIx64 " to %" PRIx64 "%s value %" PRIx64 "\n", whose, i,
		       record->kind == SEGMENT
			       ? "segment"
			       : vptd_event_text((enum vptd_event_kind)record->kind),
		       record->ip, record->to, record->has_to ? "" : " (none)", record->value);
}

static bool same(const struct record *a, const struct record *b, bool insns)
{
	return a->kind == b->kind && a->has_to == b->has_to && a->ip == b->ip && a->to == b->to &&
	       a->value == b->value && (!insns || a->insns == b->insns);
}

/* Returns true if they differ. @insns: compare events and counters, and no instructions. */
static bool compare(const char *what, const struct records *a, const struct records *b, bool insns)
{
	size_t i = 0, j = 0, k;

	for (;; i++, j++) {
		while (insns && i < a->n && a->at[i].kind == INSN)
			i++;
		while (insns && j < b->n && b->at[j].kind == INSN)
			j++;
		if (i >= a->n || j >= b->n || !same(&a->at[i], &b->at[j], insns))
			break;
	}
	if (i >= a->n && j >= b->n)
		return false;
	printf("# %s differs\n", what);
	for (k = i < 4 ? 0 : i - 4; k < i + 3; k++)
		show("libdecode", a, k);
	for (k = j < 4 ? 0 : j - 4; k < j + 3; k++)
		show(what, b, k);
	return true;
}

void rtit_follow(struct vpt_reader *reader, bool list, struct rtit_followed *followed)
{
	static struct follow whole, tracelets, pieces;
	struct records flow = {0};
	size_t i;

	memset(followed, 0, sizeof(*followed));
	decode(&whole, reader, WITH_RUNS, 0);
	take_flow(&flow, reader);
	for (i = 0; list && (i < whole.records.n || i < flow.n); i++) {
		show("libdecode", &whole.records, i);
		show("flow", &flow, i);
	}
	followed->differs = compare("flow", &whole.records, &flow, false);
	decode(&tracelets, reader, WITH_TRACELETS, 0);
	followed->differs |= compare("with tracelets", &whole.records, &tracelets.records, true);
	decode(&pieces, reader, WITH_RUNS, 3);
	followed->differs |= compare("in pieces", &whole.records, &pieces.records, false);
	if (tracelets.sum != whole.sum || pieces.sum != whole.sum) {
		printf("# with tracelets %" PRIu64 " instructions, in pieces %" PRIu64
		       ", else %" PRIu64 "\n",
		       tracelets.sum, pieces.sum, whole.sum);
		followed->differs = true;
	}
	for (i = 0; i < whole.records.n; i++)
		followed->insns += whole.records.at[i].kind == INSN;
	followed->events = whole.records.n - followed->insns;
	followed->errors = whole.errors;
	free(whole.records.at);
	free(tracelets.records.at);
	free(pieces.records.at);
	free(flow.at);
}
