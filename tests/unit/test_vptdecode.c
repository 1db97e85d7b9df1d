// SPDX-License-Identifier: GPL-2.0-or-later
/* The public interface of libvptdecode; what it decodes is tested by cases and traces. */
#include "lib/suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define CODE 0x401000u

/* A loop: INC EAX; JNZ back; then JMP RAX. */
static const uint8_t loop[] = {0xff, 0xc0, 0x75, 0xfc, 0xff, 0xe0};

/* PSB, MODE.Exec 64, FUP 401000H, PSBEND; TNT of TTN; TIP 401000H. */
static const uint8_t trace[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x99, 0x01, 0x7d, 0x00, 0x10, 0x40, 0x00, 0x00,
	0x00, 0x02, 0x23, 0x1c, 0x6d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
};
#define PSB_PLUS 27u
#define INSNS	 7u

struct seen {
	struct vptd_decoder *d;
	uint64_t runs, insns, errors, error, asked, space;
	uint64_t first;
	const uint8_t *page; /* what fetch() gives, or NULL */
};

static void on_event(void *context, const struct vptd_event *event)
{
	struct seen *seen = context;

	if (event->kind == VPTD_EVENT_ERROR) {
		seen->errors++;
		seen->error = event->value;
	}
}

static void on_run(void *context, const struct vptd_run *run)
{
	struct seen *seen = context;

	if (!seen->runs++)
		seen->first = run->ip;
	seen->insns += run->count;
}

static int on_fetch(void *context, uint64_t space, uint64_t address, uint64_t *key, uint8_t *bytes)
{
	struct seen *seen = context;

	(void)key;
	ck_assert_uint_eq(address, CODE);
	seen->asked++;
	seen->space = space;
	if (!seen->page)
		return 0;
	memcpy(bytes, seen->page, VPTD_PAGE);
	return 1;
}

static uint8_t page[VPTD_PAGE];

static struct vptd_decoder *make(struct seen *seen, uint32_t flags, bool runs, bool fetches)
{
	const struct vptd_config config = {.size = sizeof(config), .flags = flags};
	const struct vptd_ops ops = {
		.size = sizeof(ops),
		.event = on_event,
		.run = runs ? on_run : NULL,
		.fetch = fetches ? on_fetch : NULL,
	};
	enum vptd_status status = VPTD_E_LOOP;

	memset(seen, 0, sizeof(*seen));
	memset(page, 0, sizeof(page));
	memcpy(page, loop, sizeof(loop));
	seen->d = vptd_new(&config, &ops, seen, &status);
	ck_assert(seen->d && status == VPTD_OK);
	return seen->d;
}

static uint64_t decode(struct seen *seen)
{
	uint64_t before = vptd_insns(seen->d);

	ck_assert_int_eq(vptd_push(seen->d, trace, sizeof(trace)), VPTD_OK);
	ck_assert_int_eq(vptd_finish(seen->d), VPTD_OK);
	return vptd_insns(seen->d) - before;
}

START_TEST(runs_and_pieces)
{
	struct vptd_decoder *d;
	struct seen seen;
	size_t i;

	d = make(&seen, 0, true, false);
	ck_assert_int_eq(vptd_page(d, 0, CODE, 7, page), VPTD_OK);
	for (i = 0; i < sizeof(trace); i++)
		ck_assert_int_eq(vptd_push(d, trace + i, 1), VPTD_OK);
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_uint_eq(seen.insns, INSNS);
	ck_assert_uint_eq(vptd_insns(d), INSNS);
	ck_assert_uint_eq(seen.first, CODE);
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_uint_eq(vptd_events(d, VPTD_EVENT_SYNC), 0);
	vptd_free(d);
}
END_TEST

static struct {
	uint64_t at[256];
	unsigned int n;
} offsets;

static void on_offset(void *context, const struct vptd_run *run)
{
	(void)context;
	ck_assert_uint_lt(offsets.n, 256);
	offsets.at[offsets.n++] = run->offset;
}

/* Runs are reported behind the packet that was read last, however the bytes were pushed. */
START_TEST(offsets_of_runs)
{
	const struct vptd_ops ops = {.size = sizeof(ops), .run = on_offset};
	uint8_t tnts[30];
	uint64_t whole[256];
	size_t piece, i;

	memset(tnts, 0xfe, sizeof(tnts));
	memset(page, 0, sizeof(page));
	memcpy(page, loop, sizeof(loop));
	for (piece = sizeof(tnts); piece; piece = piece == 1 ? 0 : piece / 5) {
		enum vptd_status status;
		struct vptd_decoder *d = vptd_new(NULL, &ops, NULL, &status);

		ck_assert(d && status == VPTD_OK);
		offsets.n = 0;
		ck_assert_int_eq(vptd_page(d, 0, CODE, 7, page), VPTD_OK);
		ck_assert_int_eq(vptd_push(d, trace, PSB_PLUS), VPTD_OK);
		for (i = 0; i < sizeof(tnts); i += piece)
			ck_assert_int_eq(vptd_push(d, tnts + i, piece), VPTD_OK);
		ck_assert_int_eq(vptd_finish(d), VPTD_OK);
		vptd_free(d);
		ck_assert_uint_eq(offsets.n, sizeof(tnts) * 6);
		if (piece == sizeof(tnts))
			memcpy(whole, offsets.at, sizeof(whole));
		ck_assert(!memcmp(whole, offsets.at, offsets.n * sizeof(*whole)));
	}
	/* Outcomes wait while there is room for 64. */
	ck_assert_uint_eq(whole[0], PSB_PLUS + 11);
}
END_TEST

START_TEST(code_is_asked_for)
{
	struct vptd_decoder *d;
	struct seen seen;

	d = make(&seen, 0, true, true);
	ck_assert_int_eq(vptd_begin(d, 5, 64), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), 0);
	ck_assert_uint_eq(seen.error, VPTD_E_HOLE);
	ck_assert_uint_gt(seen.asked, 0);
	ck_assert_uint_eq(seen.space, 5);
	seen.page = page;
	seen.asked = seen.errors = 0;
	ck_assert_uint_eq(decode(&seen), INSNS);
	ck_assert_uint_eq(decode(&seen), INSNS);
	ck_assert_uint_eq(seen.asked, 1);
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_uint_eq(vptd_events(d, VPTD_EVENT_ERROR), 1);
	vptd_free(d);
}
END_TEST

/* A space's own page stands before that of all spaces, whichever came first. */
START_TEST(code_of_any_space)
{
	static const uint8_t other[] = {0x90, 0xff, 0xc0, 0x75, 0xfb, 0xff, 0xe0};
	struct vptd_decoder *d;
	struct seen seen;
	uint8_t own[VPTD_PAGE] = {0};

	memcpy(own, other, sizeof(other));
	d = make(&seen, 0, false, false);
	ck_assert_int_eq(vptd_page(d, VPTD_ANY_SPACE, CODE, 1, page), VPTD_OK);
	ck_assert_int_eq(vptd_begin(d, 5, 64), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS);
	ck_assert_int_eq(vptd_page(d, 5, CODE, 2, own), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS + 3);
	ck_assert_int_eq(vptd_begin(d, 6, 64), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS);
	/* The page itself changes, and comes back. */
	ck_assert_int_eq(vptd_page(d, VPTD_ANY_SPACE, CODE, 1, own), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS + 3);
	ck_assert_int_eq(vptd_page(d, VPTD_ANY_SPACE, CODE, 1, page), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS);
	ck_assert_uint_eq(seen.errors, 0);
	vptd_free(d);
}
END_TEST

/* An instruction over the end of a page is decoded once all spaces have got the second page. */
START_TEST(late_code_of_any_space)
{
	/* JMP to the NOP; then the loop, whose first instruction is in both pages. */
	static const uint8_t jmp[] = {0xe9, 0xf9, 0x0f, 0x00, 0x00};
	struct vptd_decoder *d;
	struct seen seen;
	uint8_t first[VPTD_PAGE] = {0};

	memcpy(first, jmp, sizeof(jmp));
	first[VPTD_PAGE - 2] = 0x90;
	first[VPTD_PAGE - 1] = loop[0];
	d = make(&seen, 0, _i, false);
	memcpy(page, loop + 1, sizeof(loop) - 1);
	ck_assert_int_eq(vptd_page(d, VPTD_ANY_SPACE, CODE, 1, first), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), 2);
	ck_assert_uint_eq(seen.error, VPTD_E_HOLE);
	seen.errors = 0;
	ck_assert_int_eq(vptd_page(d, VPTD_ANY_SPACE, CODE + VPTD_PAGE, 2, page), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), 2 + INSNS);
	ck_assert_uint_eq(seen.errors, 0);
	vptd_free(d);
}
END_TEST

/* Bytes over the end of a page, and a patch inside. */
START_TEST(code_in_bytes)
{
	static const uint8_t nop = 0x90;
	uint8_t bytes[VPTD_PAGE + 16] = {0};
	struct vptd_decoder *d;
	struct seen seen;

	d = make(&seen, 0, false, false);
	memcpy(bytes + 8, loop, sizeof(loop));
	ck_assert_int_eq(vptd_code(d, VPTD_ANY_SPACE, CODE - 8, bytes, sizeof(bytes)), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS);
	/* INC EAX becomes two NOPs. */
	ck_assert_int_eq(vptd_code(d, VPTD_ANY_SPACE, CODE, &nop, 1), VPTD_OK);
	ck_assert_int_eq(vptd_code(d, VPTD_ANY_SPACE, CODE + 1, &nop, 1), VPTD_OK);
	ck_assert_uint_eq(decode(&seen), INSNS + 3);
	ck_assert_uint_eq(seen.errors, 0);
	vptd_free(d);
}
END_TEST

/*
 * Code that changes between two packets is new for the second alone, even where the decoder has
 * not used the outcomes of the first, or stands at the changed instruction. @_i: with runs, and by
 * which function the code changes.
 */
START_TEST(code_changes_between_packets)
{
	/* NOP; NOP; JNZ back; JZ to the JMP; JMP RAX. */
	static const uint8_t other[] = {0x90, 0x90, 0x75, 0xfc, 0x74, 0x00, 0xff, 0xe0};
	/* The TNT of `trace`; then the JZ, which is taken, and the TIP. */
	static const uint8_t taken[] = {0x06};
	const size_t cut = PSB_PLUS + 1;
	struct vptd_decoder *d;
	uint8_t changed[VPTD_PAGE] = {0};
	struct seen seen;

	memcpy(changed, other, sizeof(other));
	d = make(&seen, 0, _i & 1, false);
	ck_assert_int_eq(vptd_page(d, 0, CODE, 1, page), VPTD_OK);
	ck_assert_int_eq(vptd_push(d, trace, cut), VPTD_OK);
	if (_i < 2)
		ck_assert_int_eq(vptd_page(d, 0, CODE, 1, changed), VPTD_OK);
	else if (_i < 4)
		ck_assert_int_eq(vptd_page(d, 0, CODE, 2, changed), VPTD_OK);
	else
		ck_assert_int_eq(vptd_code(d, 0, CODE, other, sizeof(other)), VPTD_OK);
	ck_assert_int_eq(vptd_push(d, taken, sizeof(taken)), VPTD_OK);
	ck_assert_int_eq(vptd_push(d, trace + cut, sizeof(trace) - cut), VPTD_OK);
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_uint_eq(vptd_insns(d), 8);
	ck_assert(!(_i & 1) || seen.insns == 8);
	vptd_free(d);
}
END_TEST

/* PSB, TSC 1000H, MODE.Exec 64, CBR 24, FUP 401000H, PSBEND; CYC 16, TNT of TTN; CYC 16, TIP 401000H. */
static const uint8_t timed[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
	0x82, 0x02, 0x82, 0x19, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x99, 0x01,
	0x02, 0x03, 0x18, 0x00, 0x7d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x02, 0x23,
	0x83, 0x1c, 0x83, 0x6d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
};

static struct {
	struct vptd_decoder *d;
	struct vptd_time run[8];
	unsigned int n;
} times;

static void on_timed_run(void *context, const struct vptd_run *run)
{
	(void)context;
	(void)run;
	ck_assert_uint_lt(times.n, 8);
	ck_assert_int_eq(vptd_now(times.d, &times.run[times.n++]), VPTD_OK);
}

static struct vptd_decoder *timed_decoder(void)
{
	const struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_CTL | VPTD_TIME,
		/* BranchEn, TSCEn, OS, User, CYCEn */
		.ctl = 0x240e,
		.max_nonturbo = 24,
	};
	const struct vptd_ops ops = {.size = sizeof(ops), .run = on_timed_run};
	enum vptd_status status;

	times.n = 0;
	times.d = vptd_new(&config, &ops, NULL, &status);
	ck_assert(times.d && status == VPTD_OK);
	memcpy(page, loop, sizeof(loop));
	ck_assert_int_eq(vptd_page(times.d, 0, CODE, 7, page), VPTD_OK);
	return times.d;
}

/* The time of each run, and parts that have the times of the whole. */
START_TEST(time_of_runs)
{
	struct vptd_time whole[8], now;
	uint8_t twice[2 * sizeof(timed)];
	struct vptd_decoder *d = timed_decoder();
	uint64_t before;
	unsigned int i, n;

	memcpy(twice, timed, sizeof(timed));
	memcpy(twice + sizeof(timed), timed, sizeof(timed));
	ck_assert_int_eq(vptd_now(d, &now), VPTD_OK);
	ck_assert(!now.flags && !now.cycles);
	ck_assert_int_eq(vptd_push(d, twice, sizeof(twice)), VPTD_OK);
	ck_assert_int_eq(vptd_now(d, &now), VPTD_OK);
	ck_assert(now.flags == VPTD_TIME_KNOWN && now.ratio == 24 && now.tsc == 0x1020);
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_int_eq(vptd_now(d, &now), VPTD_OK);
	ck_assert(!now.flags && now.cycles == 64);
	n = times.n;
	ck_assert_uint_eq(n, 8);
	memcpy(whole, times.run, sizeof(whole));
	ck_assert(whole[0].lo == 0x1000 && whole[0].tsc == 0x1010 && whole[0].hi == 0x1013);
	ck_assert(whole[1].lo == 0x100d && whole[1].tsc == 0x1010 && whole[1].hi == 0x1024);
	ck_assert(whole[3].lo == 0x100d && whole[3].tsc == 0x1020 && whole[3].hi == 0x1024);
	vptd_free(d);

	d = timed_decoder();
	i = (unsigned int)vptd_psb_size(timed, sizeof(timed));
	ck_assert_int_eq(vptd_push(d, twice, sizeof(timed) + i), VPTD_OK);
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_int_eq(vptd_now(d, &now), VPTD_OK);
	ck_assert_uint_eq(before = now.cycles, 32);
	ck_assert_uint_eq(times.n, n / 2);
	ck_assert(!memcmp(times.run, whole, n / 2 * sizeof(whole[0])));
	vptd_free(d);
	d = timed_decoder();
	ck_assert_int_eq(vptd_push(d, timed, sizeof(timed)), VPTD_OK);
	for (i = 0; i < times.n; i++)
		times.run[i].cycles += before;
	ck_assert_uint_eq(times.n, n / 2);
	ck_assert(!memcmp(times.run, whole + n / 2, n / 2 * sizeof(whole[0])));
	vptd_free(d);
}
END_TEST

/* A caller that was compiled when the configuration was shorter; and time without CTL. */
START_TEST(configurations)
{
	struct vptd_config config = {.size = 144, .max_nonturbo = 24};
	struct vptd_decoder *d;
	struct vptd_time time;
	enum vptd_status status;

	ck_assert_uint_eq(offsetof(struct vptd_config, crystal_num), 144);
	d = vptd_new(&config, NULL, NULL, &status);
	ck_assert(d && status == VPTD_OK);
	ck_assert_int_eq(vptd_now(d, &time), VPTD_E_ARGUMENT);
	vptd_free(d);
	config.size = sizeof(config);
	config.flags = VPTD_TIME;
	ck_assert(!vptd_new(&config, NULL, NULL, &status) && status == VPTD_E_ARGUMENT);
}
END_TEST

START_TEST(refused)
{
	struct vptd_config config = {.size = sizeof(config) + 8};
	struct vptd_ops ops = {.size = 1};
	struct vptd_counts *counts = vptd_counts_new();
	struct vptd_decoder *d;
	enum vptd_status status = VPTD_OK;
	struct seen seen;

	ck_assert(!vptd_new(&config, NULL, NULL, &status) && status == VPTD_E_ARGUMENT);
	config.size = sizeof(config);
	config.nranges = VPTD_RANGES + 1;
	status = VPTD_OK;
	ck_assert(!vptd_new(&config, NULL, NULL, &status) && status == VPTD_E_ARGUMENT);
	status = VPTD_OK;
	ck_assert(!vptd_new(NULL, &ops, NULL, &status) && status == VPTD_E_ARGUMENT);
	d = make(&seen, 0, false, false);
	ck_assert_int_eq(vptd_page(d, 0, CODE + 1, 1, page), VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_page(d, 0, CODE, 1ull << 63, page), VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_begin(d, 0, 48), VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_begin(d, VPTD_ANY_SPACE, 64), VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_count(d, counts), VPTD_E_ARGUMENT);
	ck_assert_uint_eq(vptd_events(d, VPTD_EVENT_COUNT), 0);
	vptd_free(d);
	vptd_free(NULL);
	vptd_counts_free(counts);
	vptd_counts_free(NULL);
}
END_TEST

static void edge_is(struct vptd_counts *counts, size_t i, uint64_t from, uint64_t to, uint64_t n)
{
	struct vptd_edge edge;

	ck_assert_int_eq(vptd_counts_edge(counts, i, &edge), 1);
	ck_assert_uint_eq(edge.from, from);
	ck_assert_uint_eq(edge.to, to);
	ck_assert_uint_eq(edge.page, 7);
	ck_assert_uint_eq(edge.count, n);
}

START_TEST(edges)
{
	struct vptd_counts *counts = vptd_counts_new(), *sum = vptd_counts_new();
	static uint8_t bitmap[VPTD_BITMAP];
	struct vptd_decoder *d;
	struct vptd_edge edge;
	unsigned int i, bytes = 0;
	struct seen seen;

	d = make(&seen, VPTD_EDGES, _i, false);
	ck_assert_int_eq(vptd_page(d, 0, CODE, 7, page), VPTD_OK);
	decode(&seen);
	ck_assert_int_eq(vptd_count(d, counts), VPTD_OK);
	ck_assert_uint_eq(vptd_counts_edges(counts), 3);
	edge_is(counts, 0, CODE + 2, CODE, 2);
	edge_is(counts, 1, CODE + 2, CODE + 4, 1);
	edge_is(counts, 2, CODE + 4, CODE, 1);
	ck_assert_int_eq(vptd_counts_edge(counts, 3, &edge), 0);
	/* What was moved is not there any more. */
	ck_assert_int_eq(vptd_count(d, counts), VPTD_OK);
	edge_is(counts, 0, CODE + 2, CODE, 2);
	for (i = 0; i < 200; i++)
		ck_assert_int_eq(vptd_counts_add(sum, counts), VPTD_OK);
	ck_assert_uint_eq(vptd_counts_edges(sum), 3);
	edge_is(sum, 0, CODE + 2, CODE, 400);
	ck_assert_int_eq(vptd_counts_add(sum, counts), VPTD_OK);
	edge_is(sum, 2, CODE + 4, CODE, 201);
	vptd_counts_bitmap(sum, bitmap);
	for (i = 0; i < VPTD_BITMAP; i++) {
		ck_assert(!bitmap[i] || bitmap[i] == 255 || bitmap[i] == 201);
		bytes += bitmap[i] != 0;
	}
	ck_assert_uint_eq(bytes, 3);
	vptd_free(d);
	vptd_counts_free(counts);
	vptd_counts_free(sum);
}
END_TEST

START_TEST(where_to_cut)
{
	ck_assert_uint_eq(vptd_find_psb(trace + 1, sizeof(trace) - 1), sizeof(trace) - 1);
	ck_assert_uint_eq(vptd_find_psb(trace, sizeof(trace)), 0);
	ck_assert_uint_eq(vptd_psb_size(trace, sizeof(trace)), PSB_PLUS);
	ck_assert_uint_eq(vptd_psb_size(trace, PSB_PLUS - 1), 0);
	ck_assert_uint_eq(vptd_psb_size(trace + 16, sizeof(trace) - 16), 0);
}
END_TEST

/* Without BranchEn there is no flow, and nothing is an error. */
START_TEST(no_flow)
{
	const struct vptd_config config = {.size = sizeof(config), .flags = VPTD_CTL, .ctl = 0xd};
	enum vptd_status status;
	struct vptd_decoder *d = vptd_new(&config, NULL, NULL, &status);

	ck_assert_ptr_nonnull(d);
	ck_assert_int_eq(vptd_push(d, trace, sizeof(trace)), VPTD_OK);
	ck_assert_int_eq(vptd_finish(d), VPTD_OK);
	ck_assert_uint_eq(vptd_insns(d), 0);
	ck_assert_uint_eq(vptd_events(d, VPTD_EVENT_ERROR), 0);
	vptd_free(d);
}
END_TEST

START_TEST(names)
{
	int i;

	for (i = 0; i < VPTD_EVENT_COUNT; i++)
		ck_assert_str_ne(vptd_event_text((enum vptd_event_kind)i), "?");
	for (i = 0; i <= VPTD_E_ARGUMENT; i++)
		ck_assert_str_ne(vptd_status_text((enum vptd_status)i), "?");
	ck_assert_str_eq(vptd_event_text(VPTD_EVENT_COUNT), "?");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("vptdecode");
	TCase *t = tcase_create("interface");

	tcase_add_test(t, runs_and_pieces);
	tcase_add_test(t, offsets_of_runs);
	tcase_add_test(t, code_is_asked_for);
	tcase_add_test(t, code_of_any_space);
	tcase_add_loop_test(t, late_code_of_any_space, 0, 2);
	tcase_add_test(t, code_in_bytes);
	tcase_add_loop_test(t, code_changes_between_packets, 0, 6);
	tcase_add_test(t, refused);
	tcase_add_test(t, time_of_runs);
	tcase_add_test(t, configurations);
	tcase_add_loop_test(t, edges, 0, 2);
	tcase_add_test(t, where_to_cut);
	tcase_add_test(t, no_flow);
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	return s;
}
