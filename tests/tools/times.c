// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold libvptdecode's time of each instruction against the timeline that vpt decode uses, against
 * the true time, and against the time of parts that are cut at PSBs.
 * usage: times FILE [PARTS]	a trace with TSC packets; vCPU 0, one address space, code that stays
 *	PARTS: on the software CPU instruction n ran at n * PARTS / 100 ticks
 *
 * Exit status 0: the same. 1: not. 3: the file has not what this needs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/onepiece.h"
#include "judge/judge.h"
#include "libdecode/vptdecode.h"
#include "trace/reader.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define NOT_THIS 3

struct insn {
	uint64_t ip;
	struct vptd_time time;
};

struct insns {
	struct insn *at;
	size_t n, room;
};

struct trace {
	struct trace_reader *reader;
	const uint8_t *stream;
	size_t len;
	const struct trace_code *code;
	size_t ncode;
	uint64_t ctl;
	const struct vpt_caps *caps;
};

struct decoding {
	struct vptd_decoder *d;
	struct insns *insns;
	uint64_t cycles; /* of the parts before */
};

static void on_run(void *context, const struct vptd_run *run)
{
	struct decoding *of = context;
	struct insn insn = {.ip = run->ip};
	uint32_t i;

	if (vptd_now(of->d, &insn.time))
		abort();
	insn.time.cycles += of->cycles;
	for (i = 0; i < run->count; insn.ip += run->lens[i++]) {
		if (!trace_vec_room(of->insns))
			abort();
		of->insns->at[of->insns->n++] = insn;
	}
}

/* libipt shows INT n as an event alone. */
static void on_event(void *context, const struct vptd_event *event)
{
	struct decoding *of = context;

	if (event->kind == VPTD_EVENT_ASYNC_BRANCH && event->flags & VPTD_EV_SOFT_INT)
		of->insns->n--;
	else if (event->kind == VPTD_EVENT_ASYNC_DISABLED && of->insns->n &&
		 of->insns->at[of->insns->n - 1].ip == event->ip)
		of->insns->n--;
}

static uint64_t one_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)cr3;
	(void)nr;
	(void)vmcs;
	return 1;
}

/* Decode bytes @from to @to. Returns the core clocks until then. */
static uint64_t decode(const struct trace *t, size_t from, size_t to, uint64_t cycles,
		       struct insns *insns)
{
	const struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_CTL | VPTD_TIME,
		.ctl = t->ctl,
		.crystal_num = t->caps->l15_ebx,
		.crystal_den = t->caps->l15_eax,
		.max_nonturbo = (uint32_t)t->caps->max_nonturbo,
	};
	const struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = on_run, .space = one_space};
	struct decoding of = {.insns = insns, .cycles = cycles};
	enum vptd_status status;
	struct vptd_time time;
	size_t i;

	of.d = vptd_new(&config, &ops, &of, &status);
	if (!of.d)
		abort();
	for (i = 0; i < t->ncode; i++) {
		const struct trace_code_page *page = t->code[i].page;

		if (vptd_page(of.d, VPTD_ANY_SPACE, page->vaddr, page->vaddr >> 12,
			      t->code[i].bytes))
			abort();
	}
	if (vptd_push(of.d, t->stream + from, to - from) || vptd_finish(of.d) ||
	    vptd_now(of.d, &time))
		abort();
	if (vptd_events(of.d, VPTD_EVENT_ERROR))
		printf("# errors: %" PRIu64 "\n", vptd_events(of.d, VPTD_EVENT_ERROR));
	vptd_free(of.d);
	return cycles + time.cycles;
}

/* Use a decoder for each stretch from PSB to PSB, which continues to the end of the next PSB+. */
static size_t in_parts(const struct trace *t, struct insns *insns)
{
	size_t from = vptd_find_psb(t->stream, t->len), next, parts = 0;
	uint64_t cycles = 0;

	for (; from < t->len; from = next, parts++) {
		next = from + 1 + vptd_find_psb(t->stream + from + 1, t->len - from - 1);
		cycles = decode(t, from, next + vptd_psb_size(t->stream + next, t->len - next),
				cycles, insns);
	}
	return parts;
}

static bool same_parts(const struct insns *whole, const struct insns *parts)
{
	size_t i;

	for (i = 0; i < whole->n && i < parts->n; i++) {
		const struct vptd_time *a = &whole->at[i].time, *b = &parts->at[i].time;

		if (whole->at[i].ip == parts->at[i].ip && !memcmp(a, b, sizeof(*a)))
			continue;
		printf("# in parts instruction %zu is %#" PRIx64 " at %" PRIu64 " (%" PRIu64
		       " to %" PRIu64 ", %" PRIu64 "), and %#" PRIx64 " at %" PRIu64 " (%" PRIu64
		       " to %" PRIu64 ", %" PRIu64 ") in the whole\n",
		       i, parts->at[i].ip, b->tsc, b->lo, b->hi, b->cycles, whole->at[i].ip, a->tsc,
		       a->lo, a->hi, a->cycles);
		return false;
	}
	return whole->n == parts->n;
}

/* One instruction with its times by both decoders. */
struct pair {
	uint64_t ip;
	struct vptd_time ours;
	struct decode_when theirs;
};

struct tally {
	size_t n, same, inside, outside, apart, ahead, open, untrue, bounded;
	size_t waits, waits_apart; /* instructions that may be explained by the next ones */
	struct pair wait;	   /* the last of these */
	uint64_t worst;		   /* ticks between the two estimates */
};

static bool is_within(const struct vptd_time *o, const struct decode_when *w)
{
	return w->lo <= o->tsc && o->tsc <= w->until;
}

static bool is_apart(const struct vptd_time *o, const struct decode_when *w)
{
	return o->lo > w->until || o->hi < w->lo;
}

/*
 * Before libipt returns a branch whose outcome was the last one of a TNT, it reads on to the next
 * packet of the flow or of an event. The timeline then gives the branch, and what leads to the
 * event, the time of what comes next. @p is the last of such instructions, @next follows it.
 */
static bool reads_ahead(const struct pair *p, const struct pair *next)
{
	if (p->theirs.tsc <= p->ours.tsc)
		return false;
	if (p->theirs.tsc == next->theirs.tsc)
		return is_within(&next->ours, &next->theirs);
	return next->ours.hi != UINT64_MAX && p->theirs.tsc <= next->ours.hi;
}

/* Give up on the pending instructions, which were not explained. */
static void give_up(struct tally *t)
{
	const struct vptd_time *o = &t->wait.ours;
	const struct decode_when *w = &t->wait.theirs;

	if (t->waits && t->outside < 3)
		printf("# instruction %zu, %#" PRIx64 ": %" PRIu64 " from %" PRIu64 " to %" PRIu64
		       ", and the timeline has %" PRIu64 " from %" PRIu64 " to %" PRIu64 "\n",
		       t->n, t->wait.ip, o->tsc, o->lo, o->hi, w->tsc, w->lo, w->until);
	t->outside += t->waits;
	t->apart += t->waits_apart;
	t->waits = t->waits_apart = 0;
}

static void compare(struct tally *t, const struct pair *p)
{
	const struct vptd_time *o = &p->ours;
	const struct decode_when *w = &p->theirs;
	uint64_t far = o->tsc > w->tsc ? o->tsc - w->tsc : w->tsc - o->tsc;

	if (!(o->flags & VPTD_TIME_KNOWN) || !w->known)
		return;
	if (t->waits && reads_ahead(&t->wait, p)) {
		t->ahead += t->waits;
		t->waits = t->waits_apart = 0;
	}
	if (t->waits && w->tsc != t->wait.theirs.tsc)
		give_up(t);
	t->bounded += o->hi != UINT64_MAX;
	if (is_within(o, w)) {
		t->worst = far > t->worst ? far : t->worst;
		t->same += !far;
		t->inside += far != 0;
		return;
	}
	/* After an overflow the time has no upper bound until the next anchor. */
	if (o->hi == UINT64_MAX && o->lo <= w->until) {
		t->open++;
		return;
	}
	t->wait = *p;
	t->waits++;
	t->waits_apart += is_apart(o, w);
}

/* Instruction @n ran at @truth. */
static void check_truth(struct tally *t, const struct vptd_time *o, uint64_t truth)
{
	/* Allow for a truncated fraction of a tick. */
	if (!(o->flags & VPTD_TIME_KNOWN) || (o->lo <= truth && truth - (truth != 0) <= o->hi))
		return;
	if (!t->untrue++)
		printf("# instruction %zu ran at %" PRIu64 ", which is not from %" PRIu64
		       " to %" PRIu64 "\n",
		       t->n, truth, o->lo, o->hi);
}

/* Returns false if the flows differ, or their times contradict. */
static bool as_timeline(const struct trace *t, const struct insns *whole, uint64_t parts)
{
	struct tally tally = {0};
	struct pair now;
	struct decode_flow *flow;
	struct decode_item item;
	bool ok;

	if (judge_flow_open_by(t->reader, 0, DECODE_FLOW_INSNS, DECODE_FLOW_BY_LIBIPT, &flow))
		abort();
	decode_flow_keep_time(flow);
	do {
		if (decode_flow_next(flow, &item))
			abort();
		if (item.kind == DECODE_ITEM_ERROR)
			break;
		if (item.kind != DECODE_ITEM_INSN)
			continue;
		if (tally.n == whole->n || whole->at[tally.n].ip != item.ip)
			break;
		now = (struct pair){item.ip, whole->at[tally.n].time, item.when};
		tally.n++;
		compare(&tally, &now);
		if (parts)
			check_truth(&tally, &now.ours, tally.n * parts / 100);
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	give_up(&tally);
	ok = item.kind == DECODE_ITEM_END && tally.n == whole->n;
	if (!ok)
		printf("# instruction %zu of %zu differs\n", tally.n, whole->n);
	printf("%zu instructions, %zu bounded, %zu the same, %zu within the timeline's bounds, %zu "
	       "read ahead, %zu unbounded, %zu outside, at most %" PRIu64
	       " ticks; %zu contradict, %zu untrue\n",
	       tally.n, tally.bounded, tally.same, tally.inside, tally.ahead, tally.open,
	       tally.outside, tally.worst, tally.apart, tally.untrue);
	return ok && !tally.apart && !tally.untrue;
}

static bool suits(struct trace *t)
{
	const struct trace_session *session = one_piece(t->reader);

	t->stream = trace_reader_stream(t->reader, 0, &t->len);
	t->code = trace_reader_code(t->reader, 0, &t->ncode);
	t->caps = &trace_reader_info(t->reader)->caps;
	if (!session)
		return false;
	t->ctl = session->ctl;
	return t->ctl & VPT_CTL_MASK(TSC_EN);
}

int main(int argc, char **argv)
{
	struct insns whole = {0}, parts = {0};
	struct trace t = {0};
	size_t nparts;
	char why[256];
	bool ok;

	if (argc < 2 || argc > 3 || trace_reader_open(argv[1], &t.reader, why, sizeof(why))) {
		fprintf(stderr, "usage: times FILE [PARTS]\n");
		return 2;
	}
	if (!suits(&t))
		return NOT_THIS;
	decode(&t, 0, t.len, 0, &whole);
	nparts = in_parts(&t, &parts);
	ok = as_timeline(&t, &whole, argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
	if (!same_parts(&whole, &parts))
		ok = false;
	printf("parts\n%zu\n", nparts);
	free(whole.at);
	free(parts.at);
	trace_reader_close(t.reader);
	return !ok;
}
