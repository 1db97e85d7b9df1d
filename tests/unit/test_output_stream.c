// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace transport (33.2.7.3): every byte once and in order, and no cursor. */
#include "lib/outfix.h"

#define TABLE  0x10000u
#define REGION 0x40000u

/* What the endpoint was given; `opaque` is that of the memory callbacks. */
static uint8_t taken[4096];
static size_t taken_len;

static void take(void *opaque, const void *bytes, size_t len)
{
	struct guestmem *mem = opaque;

	mem->misuse |= !len || taken_len + len > sizeof(taken);
	if (!mem->misuse)
		memcpy(taken + taken_len, bytes, len);
	taken_len += len;
}

static void assert_taken(size_t count)
{
	size_t i;

	ck_assert_uint_eq(taken_len, count);
	for (i = 0; i < count; i++) {
		if (taken[i] != outfix_byte(i))
			ck_abort_msg("byte %zu of %zu is out of order", i, count);
	}
}

/* A valid ToPA configuration, which FabricEn is to keep from being used. */
static struct outfix *new_fix(void *stage, size_t size)
{
	struct outfix *fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	guestmem_ram(&fix->mem, TABLE, 4096);
	guestmem_ram(&fix->mem, REGION, 4096);
	guestmem_poke64(&fix->mem, TABLE, REGION);
	if (stage)
		vpt_output_set_stream(&fix->out, stage, size, take);
	taken_len = 0;
	return fix;
}

static unsigned int start(struct outfix *fix)
{
	return outfix_start(fix, OUTFIX_TOPA | OUTFIX_FABRIC_EN, TABLE, outfix_ptrs(40, 0x7f));
}

static void assert_memory_unused(struct outfix *fix)
{
	vpt_output_sync(&fix->out, &fix->rtit);
	ck_assert_uint_eq(fix->rtit.output_base, TABLE);
	ck_assert_uint_eq(fix->rtit.output_mask_ptrs, outfix_ptrs(40, 0x7f));
	ck_assert_uint_eq(fix->mem.reads.count, 0);
	ck_assert_uint_eq(fix->mem.committed.count, 0);
	ck_assert(guestmem_intact(&fix->mem, REGION, 4096));
}

/* Row: the packets' length, against a stage of 64 bytes. */
START_TEST(in_order)
{
	uint8_t stage[64];
	struct outfix *fix = new_fix(stage, sizeof(stage));
	size_t len = (size_t)_i, n = 0;

	ck_assert_uint_eq(start(fix), VPT_OUT_OK);
	for (; n + len <= 1000; n += len) {
		ck_assert_uint_eq(outfix_put(fix, n, len), VPT_OUT_OK);
		assert_taken((n + len) / 64 * 64);
	}
	vpt_output_flush(&fix->out);
	assert_taken(n);
	vpt_output_flush(&fix->out);
	assert_taken(n);
	outfix_put(fix, n, len);
	assert_memory_unused(fix);
	vpt_output_end(&fix->out);
	assert_taken(n + len);
	ck_assert_uint_eq(outfix_put(fix, n, len), VPT_OUT_OK);
	vpt_output_end(&fix->out);
	assert_taken(n + len);
	outfix_free(fix);
	TEST_PROVES("OUT-FABRIC-WINS OUT-FABRIC-MSRS");
}
END_TEST

/* A configuration that ToPA or a single range would refuse is nobody's concern. */
START_TEST(nothing_is_checked)
{
	uint8_t stage[64];
	struct outfix *fix = new_fix(stage, sizeof(stage));

	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA | OUTFIX_FABRIC_EN, TABLE | 0x80, ~0ull),
			  0);
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_FABRIC_EN, TABLE | 0x80, 0xfull << 60), 0);
	outfix_put(fix, 0, 16);
	vpt_output_end(&fix->out);
	assert_taken(16);
	outfix_free(fix);
	TEST_PROVES("OUT-FABRIC-WINS");
}
END_TEST

/* Without FabricEn the same registers mean the table. */
START_TEST(not_without_the_bit)
{
	uint8_t stage[64];
	struct outfix *fix = new_fix(stage, sizeof(stage));

	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA, TABLE, outfix_ptrs(40, 0x7f)), 0);
	outfix_put(fix, 0, 16);
	vpt_output_end(&fix->out);
	assert_taken(0);
	ck_assert(outfix_holds(fix, REGION + 40, 0, 16));
	outfix_free(fix);
	TEST_PROVES("OUT-FABRIC-WINS");
}
END_TEST

START_TEST(dropped_without_endpoint)
{
	struct outfix *fix = new_fix(NULL, 0);
	size_t n;

	ck_assert_uint_eq(start(fix), VPT_OUT_OK);
	for (n = 0; n < 1000; n += 10)
		ck_assert_uint_eq(outfix_put(fix, n, 10), VPT_OUT_OK);
	vpt_output_flush(&fix->out);
	assert_memory_unused(fix);
	vpt_output_end(&fix->out);
	assert_taken(0);
	outfix_free(fix);
	TEST_PROVES("OUT-FABRIC-MSRS");
}
END_TEST

/* A stage whose endpoint is not there holds no bytes that were not reported. */
START_TEST(stage_without_endpoint)
{
	uint8_t stage[64];
	struct outfix *fix = new_fix(NULL, 0);

	vpt_output_set_stream(&fix->out, stage, sizeof(stage), NULL);
	ck_assert_uint_eq(start(fix), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 10), VPT_OUT_OK);
	ck_assert_uint_eq(vpt_output_unreported(&fix->out), 0);
	ck_assert_int_eq(vpt_output_resume(&fix->out, 1), VPT_E_NOSPC);
	vpt_output_flush(&fix->out);
	assert_memory_unused(fix);
	outfix_free(fix);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("output_stream");
	TCase *tc = tcase_create("stream");

	tcase_add_loop_test(tc, in_order, 1, 200);
	tcase_add_test(tc, nothing_is_checked);
	tcase_add_test(tc, not_without_the_bit);
	tcase_add_test(tc, dropped_without_endpoint);
	tcase_add_test(tc, stage_without_endpoint);
	suite_add_tcase(suite, tc);
	return suite;
}
