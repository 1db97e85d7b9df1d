// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run the Atom decoder of vmm/libdecode on random packets, registers and code, which mostly do not
 * match. A decoder that reports instructions, one with tracelets, and one that gets the packets in
 * pieces must report the same events at the same counters.
 */
#include "lib/suite.h"
#include "lib/randcode.h"

#include <stdbool.h>
#include <string.h>

#include "libdecode/atom.h"
#include "libdecode/tracelet.h"
#include "vpt/atom.h"

#define CODE	   0x401000u
#define PAGES	   4u
#define SESSIONS   4u
#define EVENTS_MAX 2048u

static uint8_t page[PAGES][DEC_PAGE];
static bool missing[PAGES];

struct session {
	struct vpt_atom_regs start, end;
	uint64_t start_insns, end_insns;
	enum vptd_atom_end why;
	bool has_end;
	uint8_t bytes[1024];
	size_t len;
};

static struct {
	struct session at[SESSIONS];
	unsigned int n;
	bool blind; /* the decoder gets no sessions */
	struct dec_atom_config config;
	unsigned int mode;
	uint64_t limit, resumed;
} trace;

static void make_code(void)
{
	trace.mode = randcode_below(2) ? 64 : 32;
	randcode_fill(page, missing, PAGES);
}

static uint64_t some_ip(void)
{
	return CODE + randcode_below(3) * DEC_PAGE +
	       (randcode_below(2) ? randcode_below(DEC_PAGE) : randcode_below(64));
}

static uint64_t last_ip;

static void put(struct session *s, struct vpt_atom_packet p)
{
	uint8_t bytes[VPT_ATOM_PKT_MAX];
	size_t n;

	if (VPT_ATOM_GET(CTL, CYCLE_ACC, s->start.ctl) && vpt_atom_pkt_has_cycles(p.kind, p.bits)) {
		p.has_cycles = true;
		p.cycles = randcode_below(100000);
	}
	n = vpt_atom_packet_write(bytes, &p);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(s->len + n, sizeof(s->bytes));
	memcpy(s->bytes + s->len, bytes, n);
	s->len += n;
}

static void put_lip(struct session *s, enum vpt_atom_pkt_kind kind)
{
	bool is_short = !randcode_below(12);

	/* Two packets with the same LIP are a FUP and the packet that belongs to it. */
	if (randcode_below(3))
		last_ip = some_ip() + randcode_below(3);
	put(s, (struct vpt_atom_packet){.kind = kind,
					.cnt = is_short ? VPT_ATOM_CNT_2 : VPT_ATOM_CNT_4,
					.zext = !is_short,
					.value = is_short ? last_ip & 0xffff : last_ip});
}

static void put_some(struct session *s, bool wild)
{
	static const uint8_t kinds[] = {
		VPT_ATOM_PKT_PGE, VPT_ATOM_PKT_PGD, VPT_ATOM_PKT_PGD, VPT_ATOM_PKT_BUF_OVF,
		VPT_ATOM_PKT_TIP, VPT_ATOM_PKT_TIP, VPT_ATOM_PKT_TIP, VPT_ATOM_PKT_FAR,
		VPT_ATOM_PKT_FAR, VPT_ATOM_PKT_PCC,
	};
	unsigned int n = 1 + randcode_below(6);

	switch (randcode_below(wild ? 16 : 12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_TNT,
						.bits = (uint8_t)n,
						.value = randcode_below(1u << n)});
		break;
	case 4:
		put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_PIP,
						.value = randcode_below(3) << 12,
						.flag = randcode_below(2)});
		break;
	case 5:
		put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_STS, .aux = 0x1414});
		break;
	case 6:
		put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_PSB});
		break;
	case 7:
		if (!randcode_below(4))
			put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_TRACE_STOP});
		break;
	case 8:
		if (!randcode_below(16) && s->len < sizeof(s->bytes))
			s->bytes[s->len++] = (uint8_t)randcode_below(256);
		break;
	default:
		put_lip(s, (enum vpt_atom_pkt_kind)kinds[randcode_below(sizeof(kinds))]);
		break;
	}
}

static void make_regs(struct vpt_atom_regs *regs, bool at_end)
{
	static const uint8_t ids[] = {0, 1, 2, 6, 7, 7, 7, 7};
	unsigned int i;

	vpt_atom_regs_reset(regs);
	for (i = 0; i < 4; i++)
		regs->lip[i] = CODE + randcode_below(2 * DEC_PAGE);
	regs->events = ids[randcode_below(sizeof(ids))] |
		       (uint32_t)(randcode_below(2) ? 6 : ids[randcode_below(3)]) << 3;
	regs->ctl = randcode_below(4) ? (uint32_t)VPT_ATOM_MASK(CTL, CMPRS_RET) : 0;
	if (!randcode_below(4))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CYCLE_ACC);
	regs->status = randcode_below(2);
	if (!randcode_below(at_end ? 4 : 16))
		regs->status |= (uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	regs->tnt_buff = randcode_below(2) ? 1 : 1 + randcode_below(127);
	if (randcode_below(2))
		regs->last_call_nlip = VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | some_ip();
	if (randcode_below(2))
		regs->last_lip = VPT_ATOM_MASK(LAST_LIP, VALID) | CODE >> 16;
}

static void make_session(struct session *s, uint64_t start_insns)
{
	bool wild = !randcode_below(3);
	unsigned int i;

	memset(s, 0, sizeof(*s));
	make_regs(&s->start, false);
	make_regs(&s->end, true);
	s->start_insns = start_insns;
	s->end_insns = start_insns + randcode_below(randcode_below(2) ? 40 : 400);
	s->why = (enum vptd_atom_end)randcode_below(4);
	s->has_end = randcode_below(8) > 0;
	put(s, (struct vpt_atom_packet){.kind = VPT_ATOM_PKT_PSB});
	put_lip(s, VPT_ATOM_PKT_PGE);
	for (i = randcode_below(80); i; i--)
		put_some(s, wild);
	if (!randcode_below(8))
		s->len -= randcode_below(3);
}

static void make_trace(void)
{
	uint64_t counter = randcode_below(100);
	unsigned int i;

	trace.n = 1 + randcode_below(SESSIONS);
	trace.blind = !randcode_below(8);
	trace.config.errata = (uint8_t)(randcode_below(2) ? 0 : randcode_below(256));
	trace.config.guest = randcode_below(2);
	trace.limit = randcode_below(300);
	trace.resumed = randcode_below(200);
	for (i = 0; i < trace.n; i++) {
		make_session(&trace.at[i], counter);
		counter = trace.at[i].end_insns;
	}
}

struct seen {
	struct vptd_event event;
	uint64_t insns;
};

struct result {
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_atom rtit;
	struct seen seen[EVENTS_MAX];
	size_t n;
	uint64_t hash, ran;
	bool circles;
};

static void on_event(void *context, const struct vptd_event *event)
{
	struct result *r = context;

	ck_assert_uint_lt(r->n, EVENTS_MAX);
	r->seen[r->n++] = (struct seen){*event, r->flow.insns};
	r->circles |= event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_LOOP;
}

static bool on_resumed(void *context, uint64_t *counter)
{
	struct result *r = context;

	if (r->n % 3)
		return false;
	*counter = r->flow.insns + trace.resumed;
	return true;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct result *r = context;
	unsigned int i;

	for (i = first; i < first + count; i++)
		r->hash = (r->hash ^ block->ip ^ i) * 0x9e3779b97f4a7c15ull;
	r->ran += count;
}

/* At the limit, a page and the space change. */
static void on_limit(void *context)
{
	struct result *r = context;

	if (dec_code_content(r->code, 1, page[1]) ||
	    dec_atom_use_space(&r->rtit, 5, 0x5000, trace.mode))
		ck_abort();
	r->flow.limit = UINT64_MAX;
}

static void push(struct result *r, const struct session *s, size_t piece)
{
	size_t at, n;

	for (at = 0; at < s->len; at += n) {
		n = s->len - at < piece ? s->len - at : piece;
		dec_atom_push(&r->rtit, s->bytes + at, n);
	}
}

static void decode(struct result *r, bool tracelets, size_t piece)
{
	static const struct dec_atom_ops ops = {on_event, NULL, on_resumed};
	static const struct dec_flow_ops loud = {.run = on_run, .limit = on_limit},
					 silent = {.limit = on_limit};
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->code = dec_code_new();
	ck_assert_ptr_nonnull(r->code);
	for (i = 0; i < PAGES; i++) {
		if (missing[i])
			continue;
		ck_assert_int_eq(dec_code_content(r->code, i, page[i == 1 ? 2 : i]), 0);
		ck_assert_int_eq(dec_code_map(r->code, DEC_ANY_SPACE, CODE + i * DEC_PAGE, i), 0);
	}
	dec_flow_init(&r->flow, r->code, tracelets ? &silent : &loud, r);
	if (tracelets)
		r->flow.tracelets = dec_tracelets_new(1 << 20, true);
	r->flow.limit = trace.limit;
	dec_atom_init(&r->rtit, &r->flow, &trace.config, &ops, r);
	ck_assert_int_eq(dec_atom_use_space(&r->rtit, 0, 0, trace.mode), VPTD_OK);
	for (i = 0; i < trace.n; i++) {
		const struct session *s = &trace.at[i];

		if (!trace.blind)
			dec_atom_begin(&r->rtit, &s->start, s->start_insns);
		push(r, s, piece);
		if (s->has_end && !trace.blind)
			dec_atom_end(&r->rtit, &s->end, s->end_insns, s->why);
		else
			dec_atom_finish(&r->rtit);
	}
	dec_atom_finish(&r->rtit);
	dec_tracelets_free(r->flow.tracelets);
	dec_code_free(r->code);
}

static bool same_events(const struct result *a, const struct result *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (memcmp(&a->seen[i], &b->seen[i], sizeof(a->seen[i])) != 0)
			return false;
	}
	return a->n == b->n && a->flow.insns == b->flow.insns;
}

START_TEST(same_events_and_runs)
{
	static struct result whole, other;
	uint64_t ran = 0, events = 0;
	unsigned int i;

	randcode_seed = ((uint64_t)_i + 1) * 0x9e3779b97f4a7c15ull;
	make_code();
	for (i = 0; i < 100; i++) {
		make_trace();
		decode(&whole, false, sizeof(trace.at[0].bytes));
		decode(&other, false, 1 + randcode_below(9));
		ck_assert_msg(same_events(&whole, &other) && whole.hash == other.hash,
			      "trace %u in pieces", i);
		decode(&other, true, sizeof(trace.at[0].bytes));
		/* Decoders notice an endless loop after different numbers of iterations. */
		ck_assert_msg(whole.circles || same_events(&whole, &other),
			      "trace %u with tracelets", i);
		ran += whole.ran;
		events += whole.n;
	}
	ck_assert_uint_gt(ran, 500);
	ck_assert_uint_gt(events, 1000);
}
END_TEST

TEST_SUITE("rtit_random", NULL, NULL)
{
	tcase_add_loop_test(tcase, same_events_and_runs, 0, 20);
}
