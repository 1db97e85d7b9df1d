// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/atom_follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/pt_flow.h"
#include "libdecode/tracelet.h"
#include "trace/vec.h"

/* Kinds of records in addition to those of enum vptd_event_kind. */
enum { INSN = VPTD_EVENT_COUNT, SEGMENT };

struct record {
	uint8_t kind;
	bool has_to;
	uint64_t ip, to, value;
	uint64_t insns; /* the counter; 0 for instructions */
};

struct records {
	struct record *at;
	size_t n, room;
	uint64_t sum; /* the counter at the end */
};

/* The ways of decoding. AS_IT_IS is the way of vpt; the others are compared with it. */
enum how {
	AS_IT_IS,
	GATHERED,  /* outcomes are used when the decoder needs the position */
	TRACELETS, /* the same with tracelets; instructions are not reported */
	PIECES,	   /* GATHERED, with three bytes at a time */
};

static uint8_t kind_of(const struct decode_item *item)
{
	static const uint8_t kinds[DECODE_FLOW_COUNT] = {
		[DECODE_FLOW_ENABLED] = VPTD_EVENT_ENABLED,
		[DECODE_FLOW_DISABLED] = VPTD_EVENT_DISABLED,
		[DECODE_FLOW_ASYNC_DISABLED] = VPTD_EVENT_ASYNC_DISABLED,
		[DECODE_FLOW_ASYNC_BRANCH] = VPTD_EVENT_ASYNC_BRANCH,
		[DECODE_FLOW_PAGING] = VPTD_EVENT_PAGING,
		[DECODE_FLOW_OVERFLOW] = VPTD_EVENT_OVERFLOW,
		[DECODE_FLOW_STOP] = VPTD_EVENT_STOP,
		[DECODE_FLOW_CBR] = VPTD_EVENT_CBR};

	switch (item->kind) {
	case DECODE_ITEM_INSN:
		return INSN;
	case DECODE_ITEM_SEGMENT:
		return SEGMENT;
	case DECODE_ITEM_ERROR:
		return VPTD_EVENT_ERROR;
	default:
		return kinds[item->event];
	}
}

static struct record record_of(const struct decode_item *item)
{
	struct record record = {.kind = kind_of(item)};

	if (record.kind == INSN || record.kind == VPTD_EVENT_ASYNC_BRANCH ||
	    record.kind == VPTD_EVENT_ASYNC_DISABLED)
		record.ip = item->ip;
	if (item->kind == DECODE_ITEM_EVENT && item->has_to) {
		record.has_to = true;
		record.to = item->to;
	}
	if (record.kind == VPTD_EVENT_PAGING || record.kind == VPTD_EVENT_CBR)
		record.value = item->value;
	return record;
}

static void take_flow(struct records *records, struct trace_reader *reader, enum how how)
{
	struct dec_flow_ops silent;
	struct dec_tracelets *tracelets = NULL;
	struct decode_pt_flow *f;
	struct decode_flow *flow;
	struct decode_item item;

	if (decode_flow_open(reader, 0, DECODE_FLOW_INSNS, &flow))
		abort();
	f = (struct decode_pt_flow *)flow;
	if (how == PIECES)
		f->ahead.piece = 3;
	if (how == TRACELETS) {
		silent = *f->ahead.flow.ops;
		silent.run = NULL;
		f->ahead.flow.ops = &silent;
		f->ahead.flow.tracelets = tracelets = dec_tracelets_new(1 << 20, true);
	}
	for (;;) {
		struct record record;

		if (decode_flow_next(flow, &item))
			abort();
		if (item.kind == DECODE_ITEM_END)
			break;
		/* The decoder has just been set up and has not decoded anything yet. */
		if (item.kind == DECODE_ITEM_SEGMENT)
			f->ahead.atom.config.at_once = how == AS_IT_IS;
		record = record_of(&item);
		if (item.kind == DECODE_ITEM_EVENT || item.kind == DECODE_ITEM_ERROR)
			record.insns = f->told.at[f->head - 1].code;
		if (!trace_vec_room(records))
			abort();
		records->at[records->n++] = record;
	}
	records->sum = f->ahead.flow.insns;
	decode_flow_close(flow);
	dec_tracelets_free(tracelets);
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

/* Return true if the records differ. @insns: compare events and counters, but not instructions. */
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
		show("gathered", a, k);
	for (k = j < 4 ? 0 : j - 4; k < j + 3; k++)
		show(what, b, k);
	return true;
}

void atom_follow(struct trace_reader *reader, bool list, struct atom_followed *followed)
{
	static const struct {
		enum how how;
		const char *name;
	} others[] = {
		{AS_IT_IS, "not gathered"}, {TRACELETS, "with tracelets"}, {PIECES, "in pieces"}};
	struct records whole = {0};
	size_t i;

	memset(followed, 0, sizeof(*followed));
	take_flow(&whole, reader, GATHERED);
	for (i = 0; list && i < whole.n; i++)
		show("gathered", &whole, i);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct records other = {0};

		take_flow(&other, reader, others[i].how);
		followed->differs |=
			compare(others[i].name, &whole, &other, others[i].how == TRACELETS);
		if (other.sum != whole.sum) {
			printf("# %s: %" PRIu64 " instructions, else %" PRIu64 "\n", others[i].name,
			       other.sum, whole.sum);
			followed->differs = true;
		}
		free(other.at);
	}
	for (i = 0; i < whole.n; i++) {
		followed->insns += whole.at[i].kind == INSN;
		followed->errors += whole.at[i].kind == VPTD_EVENT_ERROR;
	}
	followed->events = whole.n - followed->insns;
	free(whole.at);
}
