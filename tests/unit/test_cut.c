// SPDX-License-Identifier: GPL-2.0-or-later
/* The edges of a part of a flow: by clocks, by times, and within items. */
#include <stdio.h>
#include <string.h>

#include "decode/cut.h"
#include "lib/suite.h"

#define NEVER DECODE_CUT_NEVER

static void timed(struct decode_cutter *c, uint64_t clock, uint64_t tsc)
{
	const struct decode_item item = {
		.kind = DECODE_ITEM_BLOCK, .insns = 10, .when = {.known = true, .tsc = tsc}};

	decode_cutter_time(c, clock, &item);
}

START_TEST(clocks)
{
	const struct decode_window window = {10, 20, 0, NEVER};
	struct decode_cutter c;

	decode_cutter_begin(&c, &window);
	ck_assert(!decode_window_is_timed(&window));
	ck_assert(!decode_cutter_has(&c, 9) && decode_cutter_has(&c, 10));
	ck_assert(decode_cutter_has(&c, 19) && !decode_cutter_has(&c, 20));
	ck_assert_uint_eq(decode_cutter_room(&c, 0, 100), 10);
	ck_assert_uint_eq(decode_cutter_room(&c, 0, 10), 10);
	ck_assert_uint_eq(decode_cutter_room(&c, 15, 100), 5);
	ck_assert_uint_eq(decode_cutter_room(&c, 20, 100), 100);
	decode_cutter_begin(&c, NULL);
	ck_assert(decode_cutter_has(&c, 0) && decode_cutter_has(&c, NEVER - 1));
	ck_assert_uint_eq(decode_cutter_room(&c, 7, 1ull << 60), 1ull << 60);
}
END_TEST

/* Times count from the first known time, and an edge is the item that reaches it. */
START_TEST(times)
{
	const struct decode_window window = {NEVER, NEVER, 50, 80};
	struct decode_cutter c;

	ck_assert(decode_window_is_timed(&window));
	decode_cutter_begin(&c, &window);
	timed(&c, 0, 1000);
	timed(&c, 10, 1049);
	ck_assert_uint_eq(c.cut.from, NEVER);
	timed(&c, 20, 1050);
	ck_assert_uint_eq(c.cut.from, 20);
	timed(&c, 30, 1079);
	ck_assert_uint_eq(c.cut.until, NEVER);
	timed(&c, 40, 1090);
	timed(&c, 50, 1099);
	ck_assert_uint_eq(c.cut.from, 20);
	ck_assert_uint_eq(c.cut.until, 40);
}
END_TEST

/* A vCPU without the mark of --from has no part, whatever the time of --until is. */
START_TEST(no_beginning)
{
	const struct decode_window window = {NEVER, NEVER, 0, 80};
	struct decode_cutter c;

	decode_cutter_begin(&c, &window);
	timed(&c, 0, 1000);
	timed(&c, 10, 1040);
	ck_assert_uint_eq(c.cut.from, NEVER);
	ck_assert(!decode_cutter_has(&c, 10));
	timed(&c, 20, 1080);
	ck_assert_uint_eq(c.cut.until, 20);
}
END_TEST

struct taken {
	char text[128];
};

static int take(void *context, uint64_t clock, struct decode_item *piece)
{
	struct taken *t = context;
	const bool parts = piece->kind == DECODE_ITEM_PARTS;
	size_t at = strlen(t->text);

	ck_assert(!parts || piece->insns == 1);
	snprintf(t->text + at, sizeof(t->text) - at, "%d:%u%s%s ", (int)clock,
		 parts ? piece->parts->insns : piece->insns, piece->rest ? "r" : "",
		 (parts ? piece->parts->class : piece->class) == DECODE_INSN_CALL ? "c" : "");
	return clock == 66 ? -1 : 0;
}

static const char *split(uint64_t from, uint64_t until, uint64_t clock, struct decode_item *item,
			 struct taken *t, int status)
{
	const struct decode_window window = {from, until, 0, NEVER};
	struct decode_cutter c;

	t->text[0] = 0;
	decode_cutter_begin(&c, &window);
	ck_assert_int_eq(decode_cutter_split(&c, clock, item, take, t), status);
	return t->text;
}

START_TEST(blocks)
{
	struct decode_item item = {
		.kind = DECODE_ITEM_BLOCK, .insns = 9, .class = DECODE_INSN_CALL};
	struct taken t;

	ck_assert_uint_eq(decode_cut_insns(&item), 9);
	ck_assert_str_eq(split(0, NEVER, 5, &item, &t, 0), "5:9c ");
	ck_assert_str_eq(split(5, 14, 5, &item, &t, 0), "5:9c ");
	ck_assert_str_eq(split(6, NEVER, 5, &item, &t, 0), "5:1 6:8rc ");
	ck_assert_str_eq(split(7, 13, 5, &item, &t, 0), "5:2 7:6r 13:1rc ");
	ck_assert_str_eq(split(66, 68, 65, &item, &t, -1), "65:1 66:2r ");
}
END_TEST

START_TEST(parts)
{
	const struct decode_part part[] = {
		{.insns = 4, .class = DECODE_INSN_CALL}, {.insns = 3}, {.insns = 2}};
	struct decode_item item = {.kind = DECODE_ITEM_PARTS, .insns = 3, .parts = part};
	struct decode_item event = {.kind = DECODE_ITEM_EVENT, .insns = 7};
	struct taken t;

	ck_assert_uint_eq(decode_cut_insns(&item), 9);
	ck_assert_uint_eq(decode_cut_insns(&event), 0);
	ck_assert_str_eq(split(2, 6, 0, &item, &t, 0), "0:2 2:2c 4:2 6:1 7:2 ");
	ck_assert_str_eq(split(4, NEVER, 0, &item, &t, 0), "0:4c 4:3 7:2 ");
	ck_assert_str_eq(split(66, NEVER, 64, &item, &t, -1), "64:2 66:2c ");
}
END_TEST

TEST_SUITE("cut", NULL, NULL)
{
	TEST_ADD(tcase, clocks, times, no_beginning, blocks, parts);
}
