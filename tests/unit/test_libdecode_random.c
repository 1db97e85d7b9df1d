// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvptdecode on random packets and random code, most of which do not fit. A decoder with runs,
 * one with tracelets and one that gets the stream in pieces must count the same.
 */
#include "lib/suite.h"

#include <stdbool.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define CODE  0x401000u
#define PAGES 5u

static uint64_t seed;
static uint8_t page[PAGES][VPTD_PAGE];
static bool missing[PAGES];
static bool twins; /* two pages are one, of which only a decoder without runs is told */
static struct {
	uint8_t bytes[8192];
	size_t len;
	uint32_t model; /* of the processor, with its errata; 0: none */
} trace;

static unsigned int below(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed * 0x2545f4914f6cdd1dull >> 33) % n);
}

/* Branches of each kind, and the size of the displacement that ends them. */
static const struct {
	const char *bytes;
	uint8_t len, disp;
} insns[] = {
	{"\x90", 1, 0},
	{"\x74\x00", 2, 1},
	{"\x75\x00", 2, 1},
	{"\xeb\x00", 2, 1},
	{"\xe8\x00\x00\x00", 5, 4},
	{"\xe9\x00\x00\x00", 5, 4},
	{"\xc3", 1, 0},
	{"\xc3", 1, 0},
	{"\xff\xe0", 2, 0},
	{"\xff\xd0", 2, 0},
	{"\x0f\x05", 2, 0},
	{"\x0f\x22\xd8", 3, 0},
	{"\xcd\x80", 2, 0},
	{"\x48\xcf", 2, 0},
	{"\x0f\x30", 2, 0},
	{"\x0f\x01\xc2", 3, 0},
	{"\x48\x89\xc8", 3, 0},
	{"\x06", 1, 0},
};

static void make_code(void)
{
	unsigned int p, at;

	for (p = 0; p < PAGES; p++) {
		missing[p] = p && !below(4);
		for (at = 0; at + 5 <= VPTD_PAGE;) {
			unsigned int i = below(sizeof(insns) / sizeof(insns[0]));
			unsigned int end = at + insns[i].len;
			int32_t disp = (int32_t)(below(4) * VPTD_PAGE + below(128)) -
				       (int32_t)(p * VPTD_PAGE + end);

			memcpy(page[p] + at, insns[i].bytes, insns[i].len);
			if (insns[i].disp == 1)
				page[p][end - 1] = (uint8_t)(below(32) - 16);
			if (insns[i].disp == 4)
				memcpy(page[p] + end - 4, &disp, 4);
			at = end;
		}
		/* The last bytes are an instruction that the next page completes. */
		memset(page[p] + at, 0x0f, VPTD_PAGE - at);
	}
	twins = below(2);
	if (twins)
		memcpy(page[2], page[0], VPTD_PAGE);
}

static void put(const void *bytes, size_t len)
{
	ck_assert_uint_le(trace.len + len, sizeof(trace.bytes));
	memcpy(trace.bytes + trace.len, bytes, len);
	trace.len += len;
}

/* TIP, TIP.PGE, TIP.PGD or FUP, by opcode: IP suppressed, 2 bytes or 6. */
static void put_ip(uint8_t opcode)
{
	uint64_t ip = CODE + below(3) * VPTD_PAGE + (below(2) ? below(VPTD_PAGE) : below(64));
	unsigned int form = below(12);
	uint8_t byte = opcode | (uint8_t)((form > 3 ? 3 : form > 0) << 5);

	put(&byte, 1);
	put(&ip, form > 3 ? 6 : form > 0 ? 2 : 0);
}

static void put_tnt(void)
{
	unsigned int n = 1 + below(6);
	uint8_t byte = (uint8_t)((1u << n | below(1u << n)) << 1);

	put(&byte, 1);
}

static void put_psb(void)
{
	uint64_t ip = CODE + below(3) * VPTD_PAGE + below(64);

	put("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16);
	if (below(16)) {
		put("\x7d", 1);
		put(&ip, 6);
	}
	put("\x02\x23", 2);
}

static void put_other(void)
{
	/* PIP, MODE.Exec, MODE.TSX, OVF, TraceStop, CBR, PTW, CFE, a block of one item. */
	static const struct {
		const char *bytes;
		uint8_t len;
	} packets[] = {
		{"\x02\x43\x00\x10\0\0\0\0", 8},
		{"\x99\x01", 2},
		{"\x99\x05", 2},
		{"\x99\x21", 2},
		{"\x99\x22", 2},
		{"\x02\xf3", 2},
		{"\x02\x83", 2},
		{"\x02\x03\x14\0", 4},
		{"\x02\xb2\1\2\3\4\5\6\7\x8", 10},
		{"\x02\x13\x81\x0e", 4},
		{"\x02\x63\x04\x04\1\2\3\4\5\6\7\x8\x02\xb3", 14},
		{"\x02\x82", 2},
	};
	unsigned int i = below(sizeof(packets) / sizeof(packets[0]));

	put(packets[i].bytes, packets[i].len);
}

/* TSC, TMA, MTC, CYC and CBR, with payloads that are near each other or wild. */
static void put_time(void)
{
	uint8_t p[8] = {0x19, (uint8_t)below(256), (uint8_t)below(256), (uint8_t)below(2)};

	switch (below(8)) {
	case 0:
		memset(p + 4, below(16) ? 0 : 0xff, 4);
		put(p, 8);
		break;
	case 1:
		put("\x02\x73", 2);
		put(p + 1, 2);
		put("\0", 1);
		put(p + 2, 2);
		trace.bytes[trace.len - 1] &= 1;
		break;
	case 2:
	case 3:
		p[0] = 0x59;
		put(p, 2);
		break;
	case 4:
		p[2] = (uint8_t)below(40);
		put("\x02\x03", 2);
		put(p + 2, 1);
		put("\0", 1);
		break;
	case 5:
		if (!below(8)) {
			put("\xff\xff\xff\xff\xff\xff\xfe", 7);
			break;
		}
		/* fallthrough */
	default:
		p[0] = (uint8_t)(p[1] << 3 | 3);
		put(p, 1);
	}
}

static void make_trace(void)
{
	static const uint8_t ips[] = {0x0d, 0x0d, 0x0d, 0x11, 0x01, 0x1d};
	/* Broadwell, Skylake, Goldmont, Skylake of servers, Alder Lake */
	static const uint8_t models[] = {0, 0, 0x3d, 0x5e, 0x5e, 0x5c, 0x55, 0x97};
	bool wild = !below(3);
	unsigned int i;

	trace.model = models[below(sizeof(models))];
	trace.len = 0;
	put_psb();
	for (i = below(160); i; i--) {
		if (!below(8))
			put_psb();
		if (!below(3))
			put_time();
		if (below(3) && !wild)
			put_tnt();
		else if (below(3))
			put_ip(ips[wild ? below(sizeof(ips)) : 0]);
		else
			put_other();
	}
}

struct result {
	uint64_t insns, events[VPTD_EVENT_COUNT], edges, hash;
};

static uint64_t circles;

/* Of the decoder at hand, if it has time: its times, in a hash. */
static struct vptd_decoder *timed;
static uint64_t times;

static void take_time(void)
{
	struct vptd_time time;

	if (!timed)
		return;
	ck_assert_int_eq(vptd_now(timed, &time), VPTD_OK);
	ck_assert(time.lo <= time.tsc && time.tsc <= time.hi);
	times = (times ^ time.lo ^ time.tsc * 3 ^ time.hi * 5 ^ time.cycles * 7) *
			0x9e3779b97f4a7c15ull +
		time.ratio;
}

static void on_event(void *context, const struct vptd_event *event)
{
	(void)context;
	take_time();
	circles += event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_LOOP;
}

static void on_run(void *context, const struct vptd_run *run)
{
	take_time();
	*(uint64_t *)context += run->count;
}

static void decode(bool runs, bool time, size_t piece, struct result *r)
{
	const struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_EDGES | (time ? VPTD_TIME | VPTD_CTL : 0),
		/* BranchEn, TSCEn, MTCEn, CYCEn, OS, User, MTCFreq 3 or 10, CycThresh 0 or 4 */
		.ctl = 0x260eu | (trace.len & 1 ? 3u << 14 : 10u << 14 | 4u << 19),
		.family = 6,
		.model = trace.model,
		.crystal_num = 7,
		.crystal_den = 3,
		.max_nonturbo = 24,
	};
	const struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = runs ? on_run : NULL};
	struct vptd_counts *counts = vptd_counts_new();
	enum vptd_status status;
	uint64_t ran = 0;
	struct vptd_decoder *d = vptd_new(&config, &ops, &ran, &status);
	struct vptd_edge edge;
	size_t i, n;

	ck_assert(d && counts);
	timed = time ? d : NULL;
	times = 0;
	memset(r, 0, sizeof(*r));
	for (i = 0; i < PAGES; i++) {
		uint64_t key = twins && !runs && i == 2 ? 0 : i;

		if (!missing[i])
			ck_assert_int_eq(
				vptd_page(d, VPTD_ANY_SPACE, CODE + i * VPTD_PAGE, key, page[i]),
				VPTD_OK);
	}
	for (i = 0; i < trace.len; i += n) {
		n = trace.len - i < piece ? trace.len - i : piece;
		ck_assert_int_eq(vptd_push(d, trace.bytes + i, n), VPTD_OK);
	}
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_int_eq(vptd_count(d, counts), VPTD_OK);
	r->insns = vptd_insns(d);
	ck_assert(!runs || ran == r->insns);
	for (i = 0; i < VPTD_EVENT_COUNT; i++)
		r->events[i] = vptd_events(d, (enum vptd_event_kind)i);
	r->edges = vptd_counts_edges(counts);
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++)
		r->hash = (r->hash ^ edge.from * 31 ^ edge.to) * 0x9e3779b97f4a7c15ull + edge.count;
	vptd_counts_free(counts);
	vptd_free(d);
}

START_TEST(same_counts)
{
	struct result runs, whole, pieces;
	uint64_t ran = 0, with_time;
	unsigned int i;

	seed = ((uint64_t)_i + 1) * 0x9e3779b97f4a7c15ull;
	make_code();
	for (i = 0; i < 60; i++) {
		make_trace();
		circles = 0;
		decode(false, false, trace.len, &whole);
		decode(false, false, 1 + below(9), &pieces);
		ck_assert_msg(!memcmp(&whole, &pieces, sizeof(whole)), "trace %u in pieces", i);
		decode(false, true, trace.len, &pieces);
		ck_assert_msg(!memcmp(&whole, &pieces, sizeof(whole)), "trace %u with time", i);
		decode(true, true, trace.len, &runs);
		with_time = times;
		decode(true, true, 1 + below(9), &pieces);
		ck_assert_msg(!memcmp(&runs, &pieces, sizeof(runs)) && times == with_time,
			      "trace %u with time in pieces", i);
		decode(true, false, trace.len, &runs);
		/* A circle of branches is noticed after different numbers of rounds. */
		ck_assert_msg(circles || !memcmp(&whole, &runs, sizeof(whole)),
			      "trace %u with runs: %lu instructions, not %lu", i,
			      (unsigned long)runs.insns, (unsigned long)whole.insns);
		ran += whole.insns;
	}
	ck_assert_uint_gt(ran, 60);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("libdecode_random");
	TCase *t = tcase_create("random");

	tcase_add_loop_test(t, same_counts, 0, 20);
	suite_add_tcase(s, t);
	return s;
}
