// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run libvptdecode on streams in which the same TNT and TIP packets repeat. A program that this test
 * executes makes the packets. A decoder that gets the whole stream decodes many packets at once. Its
 * counts, edges and times must be those of a decoder that gets single bytes.
 */
#include "lib/suite.h"
#include "lib/randcode.h"

#include <stdbool.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define CODE   0x401000u
#define BLOCKS 40u
#define BLOCK  16u /* bytes */
#define STACK  64u

static uint8_t page[VPTD_PAGE];
static struct {
	uint8_t bytes[65536];
	size_t len;
	bool cyc, overflows;
	uint64_t insns;
} trace;
/* The state of the program: IP, return addresses, and outcomes that are not in a packet yet. */
static struct {
	uint64_t ip, stack[STACK];
	unsigned int depth, top, tnt;
	uint8_t pattern[24]; /* its decisions, which repeat */
	unsigned int at;
} run;

static uint64_t block(unsigned int i)
{
	return CODE + i % BLOCKS * BLOCK;
}

static void make_code(void)
{
	/* JE, JNE, JMP, CALL, JMP RAX, CALL RAX, RET */
	static const struct {
		uint8_t bytes[2], len, disp;
	} insns[] = {{{0x0f, 0x84}, 6, 4}, {{0x0f, 0x85}, 6, 4}, {{0xe9, 0}, 5, 4},
		     {{0xe8, 0}, 5, 4},	   {{0xff, 0xe0}, 2, 0}, {{0xff, 0xd0}, 2, 0},
		     {{0xc3, 0}, 1, 0},	   {{0xff, 0xe0}, 2, 0}, {{0xc3, 0}, 1, 0}};
	unsigned int i;

	memset(page, 0x90, sizeof(page));
	for (i = 0; i < BLOCKS; i++) {
		/* The last block does not fall through. */
		unsigned int k =
			i == BLOCKS - 1 ? 4 : randcode_below(sizeof(insns) / sizeof(insns[0]));
		unsigned int at = i * BLOCK + randcode_below(4), end = at + insns[k].len;
		int32_t disp = (int32_t)(block(randcode_below(BLOCKS)) - (CODE + end));

		memcpy(page + at, insns[k].bytes, insns[k].len - insns[k].disp < 2 ? 1 : 2);
		if (insns[k].disp)
			memcpy(page + end - 4, &disp, 4);
	}
}

static void put(const void *bytes, size_t len)
{
	memcpy(trace.bytes + trace.len, bytes, len);
	trace.len += len;
}

static void put_cyc(void)
{
	uint8_t byte = (uint8_t)(randcode_below(6) << 3 | 3),
		two[2] = {(uint8_t)(randcode_below(32) << 3 | 7), 0x24};

	if (!trace.cyc || !randcode_below(5))
		return;
	if (randcode_below(12))
		put(&byte, 1);
	else
		put(two, 2);
}

static void put_tnt(void)
{
	uint8_t byte = (uint8_t)(run.tnt << 1);

	if (run.tnt > 1) {
		put_cyc();
		put(&byte, 1);
	}
	run.tnt = 1;
}

static void outcome(bool taken)
{
	run.tnt = run.tnt << 1 | taken;
	if (run.tnt >= 64)
		put_tnt();
}

static void put_tip(uint64_t ip)
{
	uint8_t bytes[3] = {0x2d, (uint8_t)ip, (uint8_t)(ip >> 8)};

	put_tnt();
	put_cyc();
	put(bytes, 3);
	run.ip = ip;
}

static void put_psb(void)
{
	uint8_t tsc[8] = {0x19, (uint8_t)trace.len, (uint8_t)(trace.len >> 8)}, mtc[2] = {0x59};

	put_tnt();
	put("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16);
	put(tsc, 8);
	if (randcode_below(4))
		put("\x02\x03\x14\0", 4);
	put("\x7d", 1);
	put(&run.ip, 6);
	put("\x02\x23", 2);
	mtc[1] = (uint8_t)randcode_below(256);
	if (!randcode_below(3))
		put(mtc, 2);
	run.depth = 0;
}

/* Put an OVF. The instructions since the last packet are lost. */
static void put_overflow(void)
{
	put("\x02\xf3\x7d", 3);
	put(&run.ip, 6);
	run.tnt = 1;
	run.depth = 0;
}

static void put_cbr(void)
{
	uint8_t bytes[4] = {0x02, 0x03, (uint8_t)randcode_below(40)};

	put(bytes, 4);
}

static unsigned int decide(unsigned int n)
{
	unsigned int value = run.pattern[run.at++ % sizeof(run.pattern)];

	return (randcode_below(64) ? value : randcode_below(256)) % n;
}

static void call(uint64_t next)
{
	run.stack[run.top++ % STACK] = next;
	run.depth += run.depth < STACK;
}

static void ret(void)
{
	uint64_t to = run.depth ? run.stack[--run.top % STACK] : 0;

	run.depth -= run.depth > 0;
	if (to && decide(8)) {
		outcome(true);
		run.ip = to;
	} else {
		put_tip(block(decide(BLOCKS)));
	}
}

static uint64_t target(uint64_t next)
{
	int32_t disp;

	memcpy(&disp, page + (next - 4 - CODE), 4);
	return next + (uint64_t)(int64_t)disp;
}

/* Run an instruction. */
static void step(void)
{
	const uint8_t *insn = page + (run.ip - CODE);
	bool taken;

	trace.insns++;
	switch (*insn) {
	case 0x0f:
		taken = decide(2);
		outcome(taken);
		run.ip = taken ? target(run.ip + 6) : run.ip + 6;
		break;
	case 0xe8:
		call(run.ip + 5);
		/* fallthrough */
	case 0xe9:
		run.ip = target(run.ip + 5);
		break;
	case 0xff:
		if (insn[1] == 0xd0)
			call(run.ip + 2);
		put_tip(block(decide(BLOCKS)));
		break;
	case 0xc3:
		ret();
		break;
	default:
		run.ip++;
	}
}

/* Run until the next packet. Returns false if the program makes none for 4000 instructions. */
static bool run_on(void)
{
	const uint64_t insns = trace.insns;
	const size_t before = trace.len;

	while (trace.len == before) {
		if (trace.insns - insns == 4000)
			return false;
		step();
	}
	return true;
}

/* Returns false if the program stops making packets. */
static bool make_trace(bool cyc, bool overflows)
{
	unsigned int i;

	memset(&run, 0, sizeof(run));
	memset(&trace, 0, sizeof(trace));
	trace.cyc = cyc;
	trace.overflows = overflows;
	for (i = 0; i < sizeof(run.pattern); i++)
		run.pattern[i] = (uint8_t)randcode_below(256);
	run.ip = CODE;
	run.tnt = 1;
	put_psb();
	for (i = 0; i < 2000; i++) {
		if (!run_on())
			return false;
		if (!randcode_below(300))
			put_psb();
		if (cyc && !randcode_below(200))
			put_cbr();
		if (overflows && !randcode_below(100))
			put_overflow();
	}
	/* End with a TIP, since instructions after a last TNT are not decoded. */
	while (trace.bytes[trace.len - 3] != 0x2d) {
		if (!run_on() || i++ == 3000)
			return false;
	}
	return true;
}

struct result {
	uint64_t insns, edges, hash, times, errors;
};

struct reader {
	struct vptd_decoder *d;
	struct result r;
};

static void on_event(void *context, const struct vptd_event *event)
{
	struct reader *reader = context;
	struct vptd_time time;

	reader->r.errors += event->kind == VPTD_EVENT_ERROR;
	if (vptd_now(reader->d, &time))
		return;
	reader->r.times = (reader->r.times ^ time.lo ^ time.tsc * 3 ^ time.hi * 5 ^
			   time.cycles * 7 ^ event->offset * 11) *
			  0x9e3779b97f4a7c15ull;
}

static void on_run(void *context, const struct vptd_run *what)
{
	(void)context;
	(void)what;
}

struct way {
	bool runs, time;
	size_t piece;
	unsigned int passes;
	size_t cache;
};

static struct result decode(const struct way *way)
{
	const struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_EDGES | (way->time ? VPTD_TIME | VPTD_CTL : 0),
		/* BranchEn, TSCEn, MTCEn, CYCEn, OS, User, MTCFreq 3 */
		.ctl = 0x260eu | 3u << 14,
		.crystal_num = 7,
		.crystal_den = 3,
		.max_nonturbo = 24,
		.cache = way->cache,
	};
	const struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = way->runs ? on_run : NULL};
	struct vptd_counts *counts = vptd_counts_new();
	struct reader reader = {0};
	enum vptd_status status;
	struct vptd_edge edge;
	unsigned int pass;
	size_t i, n;

	reader.d = vptd_new(&config, &ops, &reader, &status);
	ck_assert(reader.d && counts);
	ck_assert_int_eq(vptd_page(reader.d, VPTD_ANY_SPACE, CODE, 0, page), VPTD_OK);
	for (pass = 0; pass < way->passes; pass++) {
		for (i = 0; i < trace.len; i += n) {
			n = trace.len - i < way->piece ? trace.len - i : way->piece;
			ck_assert_int_eq(vptd_push(reader.d, trace.bytes + i, n), VPTD_OK);
		}
		ck_assert_int_eq(vptd_finish(reader.d), VPTD_OK);
	}
	ck_assert_int_eq(vptd_count(reader.d, counts), VPTD_OK);
	reader.r.insns = vptd_insns(reader.d);
	reader.r.edges = vptd_counts_edges(counts);
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++)
		reader.r.hash = (reader.r.hash ^ edge.from * 31 ^ edge.to) * 0x9e3779b97f4a7c15ull +
				edge.count;
	vptd_counts_free(counts);
	vptd_free(reader.d);
	return reader.r;
}

static void compare(const struct way *way, const struct way *with)
{
	struct result a = decode(way), b = decode(with);

	ck_assert_uint_eq(a.errors, 0);
	ck_assert(trace.overflows || a.insns == trace.insns * way->passes);
	ck_assert_uint_eq(a.insns, b.insns);
	ck_assert_uint_eq(a.edges, b.edges);
	ck_assert_msg(a.hash == b.hash, "other counts of edges");
	ck_assert_msg(way->runs != with->runs || a.times == b.times, "other times");
}

START_TEST(same_as_single_bytes)
{
	unsigned int i;

	randcode_seed = ((uint64_t)_i + 1) * 0x9e3779b97f4a7c15ull;
	for (i = 0; i < 8; i++) {
		do
			make_code();
		while (!make_trace(i & 1, i & 2));
		compare(&(struct way){false, false, SIZE_MAX, 3, 0},
			&(struct way){false, false, 1, 3, 0});
		compare(&(struct way){false, true, SIZE_MAX, 3, 0},
			&(struct way){false, true, 1, 3, 0});
		compare(&(struct way){false, false, 100, 3, 1},
			&(struct way){true, false, 1, 3, 0});
	}
}
END_TEST

TEST_SUITE("libdecode_strides", NULL, NULL)
{
	tcase_add_loop_test(tcase, same_as_single_bytes, 0, 6);
}
