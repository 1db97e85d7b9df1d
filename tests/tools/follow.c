// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold vmm/libdecode against the flow that vpt decodes with libipt: the same instructions in the
 * same order, and as many with tracelets.
 * usage: follow FILE	a trace of Intel PT without SPACE blocks; vCPU 0 is compared
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "decode/segment.h"
#include "lib/versions.h"
#include "libdecode/pt.h"
#include "libdecode/tracelet.h"
#include "trace/vec.h"
#include "vpt/msr.h"

struct follow {
	struct trace_reader *reader;
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	struct versions versions;
	const struct trace_cr3_switch *cr3s;
	size_t ncr3s, next_cr3;
	const struct trace_period *periods;
	size_t nperiods, period;
	bool pip;
	uint64_t errors;
	struct {
		uint64_t *at;
		size_t n, room;
	} ips;
};

static void on_limit(void *context)
{
	struct follow *f = context;

	f->flow.limit = versions_advance(&f->versions, f->flow.insns);
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct follow *f = context;
	const uint8_t *lens = dec_code_lens(f->code, block);
	uint64_t ip = block->ip;
	unsigned int i;

	for (i = 0; i < first + count; ip += lens[i++]) {
		if (i < first)
			continue;
		if (!trace_vec_room(&f->ips))
			abort();
		f->ips.at[f->ips.n++] = ip;
	}
}

static uint64_t space_of(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	const struct follow *f = context;
	uint64_t space = versions_space(&f->versions, cr3);

	(void)nr;
	(void)vmcs;
	return space == NO_SPACE ? cr3 & ~(uint64_t)0xfff : space;
}

/*
 * Handle the start of a session or the end of an overflow. If no PIP reports the address space,
 * take the space from the file.
 */
static void resumed(struct follow *f, const struct vptd_event *e)
{
	size_t was = f->period;

	while (f->period + 1 < f->nperiods && f->periods[f->period + 1].start->offset < e->offset)
		f->period++;
	if (f->period != was) {
		f->pip = false;
		if (f->periods[f->period].start->insns)
			f->flow.insns = f->periods[f->period].start->insns;
	}
	for (; !f->pip && f->next_cr3 < f->ncr3s && f->cr3s[f->next_cr3].insns <= f->flow.insns;
	     f->next_cr3++)
		dec_code_select(f->code, space_of(f, f->cr3s[f->next_cr3].cr3, false, 0));
	if (f->flow.limit <= f->flow.insns)
		on_limit(f);
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct follow *f = context;

	switch (e->kind) {
	case VPTD_EVENT_ERROR:
		if (!f->errors++)
			printf("# byte %#" PRIx64 ", ip %#" PRIx64 ": %s\n", e->offset, e->ip,
			       vptd_status_text((enum vptd_status)e->value));
		break;
	case VPTD_EVENT_PAGING:
		f->pip = true;
		break;
	case VPTD_EVENT_ENABLED:
	case VPTD_EVENT_OVERFLOW:
	case VPTD_EVENT_SYNC:
		if (e->flags & VPTD_EV_TO)
			resumed(f, e);
		break;
	/* libipt shows INT n, and the WRMSR that clears TraceEn, as events alone. */
	case VPTD_EVENT_ASYNC_BRANCH:
		f->ips.n -= f->ips.n && e->flags & VPTD_EV_SOFT_INT;
		break;
	case VPTD_EVENT_ASYNC_DISABLED:
		f->ips.n -= f->ips.n && f->ips.at[f->ips.n - 1] == e->ip;
		break;
	default:
		break;
	}
}

static void decode_segment(struct follow *f, const struct decode_segment *s, const uint8_t *stream)
{
	static const struct dec_pt_ops ops = {on_event, space_of};
	struct dec_pt_config config = {0};

	if (s->count) {
		const struct trace_session *start = f->periods[s->first].start;

		config.no_flow = !(start->ctl & VPT_CTL_MASK(BRANCH_EN)) ||
				 start->ctl & VPT_CTL_MASK(DIS_TNT);
		config.no_retc = start->ctl & VPT_CTL_MASK(DIS_RETC);
		config.no_os = !(start->ctl & VPT_CTL_MASK(OS));
		config.event_en = start->ctl & VPT_CTL_MASK(EVENT_EN);
		config.cr3_filter = start->ctl & VPT_CTL_MASK(CR3_FILTER);
		config.cr3_match = start->cr3_match;
		f->period = s->first;
		if (start->insns)
			f->flow.insns = start->insns;
	}
	f->pip = false;
	dec_pt_init(&f->pt, &f->flow, &config, &ops, f);
	f->pt.offset = s->begin;
	dec_pt_push(&f->pt, stream + s->begin, s->end - s->begin);
	dec_pt_finish(&f->pt);
}

/* Decode all of vCPU 0. Returns the sum of what the segments' counters moved on by. */
static uint64_t decode(struct follow *f, struct trace_reader *reader, bool report)
{
	static const struct dec_flow_ops loud = {.run = on_run, .limit = on_limit},
					 silent = {.limit = on_limit};
	const uint8_t *stream;
	struct decode_segment *segments;
	size_t len, n, i;
	uint64_t sum = 0;

	memset(f, 0, sizeof(*f));
	f->reader = reader;
	f->code = dec_code_new();
	stream = trace_reader_stream(reader, 0, &len);
	f->periods = trace_reader_sessions(reader, 0, &f->nperiods);
	f->cr3s = trace_reader_cr3(reader, 0, &f->ncr3s);
	segments = decode_segments(f->periods, f->nperiods, stream, len, decode_is_psb, &n);
	if (!f->code || !segments)
		abort();
	versions_open(&f->versions, reader, f->code);
	dec_flow_init(&f->flow, f->code, report ? &loud : &silent, f);
	if (!report)
		f->flow.tracelets = dec_tracelets_new(1 << 20, true);
	on_limit(f);
	for (i = 0; i < n; i++) {
		uint64_t before = f->flow.insns;

		if (segments[i].count && f->periods[segments[i].first].start->insns)
			before = f->periods[segments[i].first].start->insns;
		decode_segment(f, &segments[i], stream);
		sum += f->flow.insns - before;
	}
	free(segments);
	dec_tracelets_free(f->flow.tracelets);
	dec_code_free(f->code);
	versions_close(&f->versions);
	return sum;
}

/* Return 0 if the flow of libipt has the same instructions. */
static int compare(const struct follow *f, struct trace_reader *reader)
{
	struct decode_flow *flow;
	struct decode_item item;
	size_t n = 0;

	if (judge_flow_open_by(reader, 0, DECODE_FLOW_INSNS, DECODE_FLOW_BY_LIBIPT, &flow))
		abort();
	do {
		if (decode_flow_next(flow, &item))
			abort();
		if (item.kind == DECODE_ITEM_ERROR)
			break;
		if (item.kind != DECODE_ITEM_INSN)
			continue;
		if (n == f->ips.n || f->ips.at[n] != item.ip)
			break;
		n++;
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	if (item.kind == DECODE_ITEM_END && n == f->ips.n)
		return 0;
	printf("# instruction %zu of %zu differs: %#" PRIx64 "\n", n, f->ips.n, item.ip);
	return 1;
}

int main(int argc, char **argv)
{
	static struct follow f;
	struct trace_reader *reader;
	uint64_t whole, counted;
	char why[256];
	int differs;

	if (argc != 2 || trace_reader_open(argv[1], &reader, why, sizeof(why))) {
		fprintf(stderr, "usage: follow FILE\n");
		return 2;
	}
	whole = decode(&f, reader, true);
	differs = compare(&f, reader) || f.errors;
	free(f.ips.at);
	counted = decode(&f, reader, false);
	if (counted != whole) {
		printf("# with tracelets %" PRIu64 " instructions, without %" PRIu64 "\n", counted,
		       whole);
		differs = 1;
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " errors\n", whole, f.errors);
	trace_reader_close(reader);
	return differs;
}
