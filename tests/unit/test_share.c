// SPDX-License-Identifier: GPL-2.0-or-later
/* What of a trace is whose: instructions, time, entries and exits by address space. */
#include "decode/share.h"
#include "lib/suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* h: host; a, b: guests. */
static const struct trace_space spaces[] = {
	{.id = 0x1000, .cr3 = 0x3000, .vmcs = TRACE_SPACE_ANY_VMCS, .name = "h"},
	{.id = 0x2000, .cr3 = 0x3000, .vmcs = 0x7000, .flags = TRACE_SPACE_NON_ROOT, .name = "a"},
	{.id = 0x3000, .cr3 = 0x3000, .vmcs = 0x8000, .flags = TRACE_SPACE_NON_ROOT, .name = "b"},
};

START_TEST(shares)
{
	struct decode_item in_host = {.kind = DECODE_ITEM_BLOCK, .insns = 5, .space = &spaces[0]};
	struct decode_item in_guest = {.kind = DECODE_ITEM_BLOCK, .insns = 7, .space = &spaces[1]};
	struct decode_item to = {
		.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_PAGING, .has_tsc = true};
	const struct {
		const struct trace_space *space;
		uint64_t tsc;
	} went[] = {
		{&spaces[0], 5000}, {&spaces[1], 5600}, {&spaces[0], 5900},
		{&spaces[1], 6000}, {&spaces[2], 6050}, {&spaces[0], 6100},
	};
	const struct decode_space_share *at;
	struct decode_shares all = {0};
	size_t i;

	decode_shares_begin(&all);
	for (i = 0; i < COUNT(went); i++) {
		to.space = went[i].space;
		to.tsc = went[i].tsc;
		ck_assert(decode_shares_item(&all, &to));
		if (to.space == &spaces[0])
			ck_assert(decode_shares_item(&all, &in_host));
		else if (to.space == &spaces[1])
			ck_assert(decode_shares_item(&all, &in_guest));
	}
	to = (struct decode_item){
		.kind = DECODE_ITEM_EVENT, .event = DECODE_FLOW_DISABLED, .vm_entry = true};
	ck_assert(decode_shares_item(&all, &to));
	decode_shares_sort(&all);
	ck_assert_uint_eq(all.spaces.n, 3);
	at = all.spaces.at;
	ck_assert_str_eq(at[0].space.name, "h");
	ck_assert_uint_eq(at[0].insns, 15);
	ck_assert_uint_eq(at[0].blocks, 3);
	ck_assert_uint_eq(at[0].entries, 1);
	ck_assert_uint_eq(at[0].exits, 0);
	/* 5000 to 5600, 5900 to 6000. */
	ck_assert_uint_eq(at[0].time, 700);
	ck_assert_str_eq(at[1].space.name, "a");
	ck_assert_uint_eq(at[1].insns, 14);
	ck_assert_uint_eq(at[1].entries, 2);
	ck_assert_uint_eq(at[1].exits, 1);
	ck_assert_uint_eq(at[1].time, 350);
	ck_assert_str_eq(at[2].space.name, "b");
	ck_assert_uint_eq(at[2].exits, 1);
	ck_assert_uint_eq(at[2].time, 50);
	ck_assert_uint_eq(all.time, 1100);
	decode_shares_free(&all);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("share");
	TCase *tc = tcase_create("share");

	tcase_add_test(tc, shares);
	suite_add_tcase(suite, tc);
	return suite;
}
