// SPDX-License-Identifier: GPL-2.0-or-later
/* The enables, from registers and context alone. */
#include "lib/suite.h"
#include "vpt/enable.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BIT(n)		 (1ull << (n))
#define EN		 BIT(0)
#define OS		 BIT(2)
#define USER		 BIT(3)
#define CR3F		 BIT(7)
#define ADDR_CFG(n, cfg) ((uint64_t)(cfg) << (32 + 4 * (n)))

/* TriggerEn: every state of the three bits it hangs on, amid all others. */
START_TEST(trigger)
{
	bool trace_en = _i & 1, error = _i & 2, stopped = _i & 4;
	bool expected = trace_en && !error && !stopped;
	struct vpt_rtit rtit = {0};

	rtit.ctl = trace_en ? EN : 0;
	rtit.status = (error ? BIT(4) : 0) | (stopped ? BIT(5) : 0);
	ck_assert_int_eq(vpt_trigger_en(&rtit), expected);
	rtit.ctl |= ~EN;
	rtit.status |= ~(BIT(4) | BIT(5));
	ck_assert_int_eq(vpt_trigger_en(&rtit), expected);
	TEST_PROVES("EN-TRIGGER");
}
END_TEST

struct cr3 {
	uint64_t match, cr3;
	bool matches, matches_pae;
};

static const struct cr3 cr3_rows[] = {
	{0, 0, true, true},
	{0x1000, 0x1000, true, true},
	{0x1000, 0x2000, false, false},
	/* Bits 4:0 never count, bits 11:5 only under PAE paging. */
	{0x1000, 0x101f, true, true},
	{0x1000, 0x1001, true, true},
	{0x1000, 0x1020, true, false},
	{0x1000, 0x1fe0, true, false},
	{0x1fe0, 0x1000, true, false},
	{0x1fe0, 0x1fff, true, true},
	{0x1800, 0x1000, true, false},
	/* The lowest and highest bits that always count. */
	{0x1000, 0, false, false},
	{BIT(63) | 0x1000, 0x1000, false, false},
	{0x1000, BIT(63) | 0x1000, false, false},
	{BIT(52), 0, false, false},
	{~0x1full, ~0ull, true, true},
	{~0x1full, ~0xfffull, true, false},
};

START_TEST(cr3_match)
{
	const struct cr3 *row = &cr3_rows[_i];
	struct vpt_rtit rtit = {.cr3_match = row->match};
	struct vpt_context ctx = {.cr3 = row->cr3};

	ck_assert_int_eq(vpt_cr3_matches(&rtit, &ctx), row->matches);
	ctx.pae = true;
	ck_assert_int_eq(vpt_cr3_matches(&rtit, &ctx), row->matches_pae);
	TEST_PROVES("EN-CR3-WIDTH");
}
END_TEST

/* ContextEn: all combinations of OS, User, CR3Filter, CPL, match and enclave. */
START_TEST(context)
{
	bool os = _i & 1, user = _i & 2, filter = _i & 4, match = _i & 8, enclave = _i & 16;
	unsigned int cpl = (unsigned int)_i >> 5;
	bool privilege = cpl == 0 ? os : user;
	struct vpt_rtit rtit = {.cr3_match = 0x1000};
	struct vpt_context ctx = {.cr3 = match ? 0x1000 : 0x2000, .cpl = (uint8_t)cpl};

	ctx.production_enclave = enclave;
	rtit.ctl = (os ? OS : 0) | (user ? USER : 0) | (filter ? CR3F : 0);
	ck_assert_int_eq(vpt_context_en(&rtit, &ctx), privilege && !enclave && (!filter || match));
	TEST_PROVES("EN-CPL EN-CR3 EN-ENCLAVE");
}
END_TEST

/* PAE widens the compare inside ContextEn as well. */
START_TEST(context_pae)
{
	struct vpt_rtit rtit = {.ctl = OS | CR3F, .cr3_match = 0x1020};
	struct vpt_context ctx = {.cr3 = 0x1040};

	ck_assert(vpt_context_en(&rtit, &ctx));
	ctx.pae = true;
	ck_assert(!vpt_context_en(&rtit, &ctx));
	ctx.cr3 = 0x1020;
	ck_assert(vpt_context_en(&rtit, &ctx));
	TEST_PROVES("EN-CR3 EN-CR3-WIDTH");
}
END_TEST

/* One range, in each of the four places, and the IPs about its ends. */

struct range {
	uint64_t base, limit, ip;
	bool inside;
};

static const struct range range_rows[] = {
	{0x1000, 0x1fff, 0x0fff, false},
	{0x1000, 0x1fff, 0x1000, true},
	{0x1000, 0x1fff, 0x1001, true},
	{0x1000, 0x1fff, 0x1ffe, true},
	{0x1000, 0x1fff, 0x1fff, true},
	{0x1000, 0x1fff, 0x2000, false},
	{0x1000, 0x1000, 0x1000, true},
	{0x1000, 0x1000, 0x1001, false},
	{0x1000, 0x1000, 0x0fff, false},
	/* A limit below the base holds nothing. */
	{0x2000, 0x1000, 0x1000, false},
	{0x2000, 0x1000, 0x1800, false},
	{0x2000, 0x1000, 0x2000, false},
	{0, 0, 0, true},
	{0, 0, 1, false},
	{0, ~0ull, 0x1234, true},
	{0, ~0ull, ~0ull, true},
	/* Addresses are numbers without a sign. */
	{0xffff800000000000, ~0ull, 0xffffffff81000000, true},
	{0xffff800000000000, ~0ull, 0x00007fffffffffff, false},
	{0x00007fffffffffff, 0xffff800000000000, 0xffff800000000000, true},
	{0xffff800000000000, 0x00007fffffffffff, 0, false},
};

static struct vpt_rtit with_range(unsigned int n, enum vpt_addr_cfg cfg, uint64_t base,
				  uint64_t limit)
{
	struct vpt_rtit rtit = {.ctl = EN | ADDR_CFG(n, cfg)};

	rtit.addr[2 * n] = base;
	rtit.addr[2 * n + 1] = limit;
	return rtit;
}

START_TEST(range)
{
	const struct range *row = &range_rows[_i];
	unsigned int n;

	for (n = 0; n < 4; n++) {
		struct vpt_rtit rtit = with_range(n, VPT_ADDR_FILTER, row->base, row->limit);

		ck_assert(vpt_range_configured(&rtit, VPT_ADDR_FILTER));
		ck_assert(!vpt_range_configured(&rtit, VPT_ADDR_STOP));
		ck_assert_int_eq(vpt_range_hit(&rtit, VPT_ADDR_FILTER, row->ip), row->inside);
		ck_assert(!vpt_range_hit(&rtit, VPT_ADDR_STOP, row->ip));
		ck_assert_int_eq(vpt_filter_en(&rtit, row->ip), row->inside);

		/* A TraceStop range lets everything through. */
		rtit = with_range(n, VPT_ADDR_STOP, row->base, row->limit);
		ck_assert(!vpt_range_configured(&rtit, VPT_ADDR_FILTER));
		ck_assert(vpt_range_configured(&rtit, VPT_ADDR_STOP));
		ck_assert(!vpt_range_hit(&rtit, VPT_ADDR_FILTER, row->ip));
		ck_assert_int_eq(vpt_range_hit(&rtit, VPT_ADDR_STOP, row->ip), row->inside);
		ck_assert(vpt_filter_en(&rtit, row->ip));
	}
	TEST_PROVES("EN-RANGE-INCLUSIVE EN-FILTER CTL-ADDRCFG");
}
END_TEST

/* Four ranges side by side, each used or not in every way: 3^4 settings. */
START_TEST(four_ranges)
{
	struct vpt_rtit rtit = {.ctl = EN};
	unsigned int cfg[4], n, rest = (unsigned int)_i;
	bool filters = false;

	for (n = 0; n < 4; n++) {
		cfg[n] = rest % 3;
		rest /= 3;
		rtit.ctl |= ADDR_CFG(n, cfg[n]);
		rtit.addr[2 * n] = 0x1000 * (n + 1);
		rtit.addr[2 * n + 1] = 0x1000 * (n + 1) + 0xfff;
		filters |= cfg[n] == 1;
	}
	ck_assert_int_eq(vpt_range_configured(&rtit, VPT_ADDR_FILTER), filters);
	for (n = 0; n < 4; n++) {
		uint64_t ip = 0x1000 * (n + 1) + 0x800;

		ck_assert_int_eq(vpt_range_hit(&rtit, VPT_ADDR_FILTER, ip), cfg[n] == 1);
		ck_assert_int_eq(vpt_range_hit(&rtit, VPT_ADDR_STOP, ip), cfg[n] == 2);
		ck_assert_int_eq(vpt_filter_en(&rtit, ip), !filters || cfg[n] == 1);
	}
	ck_assert_int_eq(vpt_filter_en(&rtit, 0x9000), !filters);
	TEST_PROVES("EN-FILTER CTL-ADDRCFG");
}
END_TEST

/* Ranges may overlap and nest; a TraceStop range inside doesn't shrink a filter. */
START_TEST(overlap)
{
	struct vpt_rtit rtit = with_range(0, VPT_ADDR_FILTER, 0x1000, 0x3fff);

	rtit.ctl |= ADDR_CFG(1, VPT_ADDR_FILTER) | ADDR_CFG(2, VPT_ADDR_STOP);
	rtit.addr[2] = 0x2000;
	rtit.addr[3] = 0x4fff;
	rtit.addr[4] = 0x2000;
	rtit.addr[5] = 0x2fff;
	ck_assert(vpt_filter_en(&rtit, 0x1800));
	ck_assert(vpt_filter_en(&rtit, 0x2800));
	ck_assert(vpt_filter_en(&rtit, 0x4800));
	ck_assert(!vpt_filter_en(&rtit, 0x5000));
	ck_assert(vpt_range_hit(&rtit, VPT_ADDR_STOP, 0x2800));
	ck_assert(!vpt_range_hit(&rtit, VPT_ADDR_STOP, 0x4800));
	TEST_PROVES("EN-FILTER");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("enable");
	TCase *tcase = tcase_create("trigger and context");

	tcase_add_loop_test(tcase, trigger, 0, 8);
	tcase_add_loop_test(tcase, cr3_match, 0, COUNT(cr3_rows));
	tcase_add_loop_test(tcase, context, 0, 4 << 5);
	tcase_add_test(tcase, context_pae);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("filter");
	tcase_add_loop_test(tcase, range, 0, COUNT(range_rows));
	tcase_add_loop_test(tcase, four_ranges, 0, 81);
	tcase_add_test(tcase, overlap);
	suite_add_tcase(suite, tcase);
	return suite;
}
