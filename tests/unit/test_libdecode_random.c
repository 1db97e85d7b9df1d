// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run libvptdecode on random packets and random code, which mostly do not match. A decoder with runs,
 * one with tracelets and one that gets the stream in pieces must count the same.
 */
#include "lib/suite.h"
#include "lib/randcode.h"

#include <stdbool.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define CODE  0x401000u
#define PAGES 5u

static uint8_t page[PAGES][VPTD_PAGE];
static bool missing[PAGES];
static bool
	twins; /* two pages are equal, and only decoders without runs get the same key for both */
static struct {
	uint8_t bytes[8192];
	size_t len;
	uint32_t model; /* of the processor, for its errata; 0: none */
} trace;

static void make_code(void)
{
	randcode_fill(page, missing, PAGES);
	twins = randcode_below(2);
	if (twins)
		memcpy(page[2], page[0], VPTD_PAGE);
}

static void put(const void *bytes, size_t len)
{
	ck_assert_uint_le(trace.len + len, sizeof(trace.bytes));
	memcpy(trace.bytes + trace.len, bytes, len);
	trace.len += len;
}

/* Put a TIP, TIP.PGE, TIP.PGD or FUP, by opcode, with an IP of 0, 2 or 6 bytes. */
static void put_ip(uint8_t opcode)
{
	uint64_t ip = CODE + randcode_below(3) * VPTD_PAGE +
		      (randcode_below(2) ? randcode_below(VPTD_PAGE) : randcode_below(64));
	unsigned int form = randcode_below(12);
	uint8_t byte = opcode | (uint8_t)((form > 3 ? 3 : form > 0) << 5);

	put(&byte, 1);
	put(&ip, form > 3 ? 6 : form > 0 ? 2 : 0);
}

static void put_tnt(void)
{
	unsigned int n = 1 + randcode_below(6);
	uint8_t byte = (uint8_t)((1u << n | randcode_below(1u << n)) << 1);

	put(&byte, 1);
}

static void put_psb(void)
{
	uint64_t ip = CODE + randcode_below(3) * VPTD_PAGE + randcode_below(64);

	put("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16);
	if (randcode_below(16)) {
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
	unsigned int i = randcode_below(sizeof(packets) / sizeof(packets[0]));

	put(packets[i].bytes, packets[i].len);
}

/* Put a TSC, TMA, MTC, CYC or CBR. Payloads are plausible or random. */
static void put_time(void)
{
	uint8_t p[8] = {0x19, (uint8_t)randcode_below(256), (uint8_t)randcode_below(256),
			(uint8_t)randcode_below(2)};

	switch (randcode_below(8)) {
	case 0:
		memset(p + 4, randcode_below(16) ? 0 : 0xff, 4);
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
		p[2] = (uint8_t)randcode_below(40);
		put("\x02\x03", 2);
		put(p + 2, 1);
		put("\0", 1);
		break;
	case 5:
		if (!randcode_below(8)) {
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
	bool wild = !randcode_below(3);
	unsigned int i;

	trace.model = models[randcode_below(sizeof(models))];
	trace.len = 0;
	put_psb();
	for (i = randcode_below(160); i; i--) {
		if (!randcode_below(8))
			put_psb();
		if (!randcode_below(3))
			put_time();
		if (randcode_below(3) && !wild)
			put_tnt();
		else if (randcode_below(3))
			put_ip(ips[wild ? randcode_below(sizeof(ips)) : 0]);
		else
			put_other();
	}
}

struct result {
	uint64_t insns, events[VPTD_EVENT_COUNT], edges, hash;
};

static uint64_t circles;

/* The current decoder, if it has time, and a hash of its times. */
static struct vptd_decoder *timed;
static uint64_t times;

static void hash_time(void)
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
	hash_time();
	circles += event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_LOOP;
}

static void on_run(void *context, const struct vptd_run *run)
{
	hash_time();
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

	randcode_seed = ((uint64_t)_i + 1) * 0x9e3779b97f4a7c15ull;
	make_code();
	for (i = 0; i < 60; i++) {
		make_trace();
		circles = 0;
		decode(false, false, trace.len, &whole);
		decode(false, false, 1 + randcode_below(9), &pieces);
		ck_assert_msg(!memcmp(&whole, &pieces, sizeof(whole)), "trace %u in pieces", i);
		decode(false, true, trace.len, &pieces);
		ck_assert_msg(!memcmp(&whole, &pieces, sizeof(whole)), "trace %u with time", i);
		decode(true, true, trace.len, &runs);
		with_time = times;
		decode(true, true, 1 + randcode_below(9), &pieces);
		ck_assert_msg(!memcmp(&runs, &pieces, sizeof(runs)) && times == with_time,
			      "trace %u with time in pieces", i);
		decode(true, false, trace.len, &runs);
		/* Decoders notice an endless loop after different numbers of iterations. */
		ck_assert_msg(circles || !memcmp(&whole, &runs, sizeof(whole)),
			      "trace %u with runs: %lu instructions, not %lu", i,
			      (unsigned long)runs.insns, (unsigned long)whole.insns);
		ran += whole.insns;
	}
	ck_assert_uint_gt(ran, 60);
}
END_TEST

TEST_SUITE("libdecode_random", NULL, NULL)
{
	tcase_add_loop_test(tcase, same_counts, 0, 20);
}
