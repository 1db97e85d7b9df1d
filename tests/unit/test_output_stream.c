// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace transport (33.2.7.3) sends each byte once and in order, and moves no cursor. */
#include "lib/outfix.h"

#define TABLE  0x10000u
#define REGION 0x40000u

/* The bytes that the endpoint received. @opaque is that of the memory callbacks. */
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

static struct outfix *fix;
static uint8_t stage[64];

/* FabricEn overrides the valid ToPA configuration. There is no endpoint yet. */
static void setup(void)
{
	fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
	guestmem_ram(&fix->mem, TABLE, 4096);
	guestmem_ram(&fix->mem, REGION, 4096);
	guestmem_poke64(&fix->mem, TABLE, REGION);
	taken_len = 0;
}

static void teardown(void)
{
	outfix_free(fix);
}

static void connect_endpoint(void)
{
	vpt_output_set_stream(&fix->out, stage, sizeof(stage), take);
}

static unsigned int start(void)
{
	return outfix_start(fix, OUTFIX_TOPA | OUTFIX_FABRIC_EN, TABLE, outfix_ptrs(40, 0x7f));
}

static void assert_memory_unused(void)
{
	vpt_output_sync(&fix->out, &fix->rtit);
	ck_assert_uint_eq(fix->rtit.output_base, TABLE);
	ck_assert_uint_eq(fix->rtit.output_mask_ptrs, outfix_ptrs(40, 0x7f));
	ck_assert_uint_eq(fix->mem.reads.count, 0);
	ck_assert_uint_eq(fix->mem.committed.count, 0);
	ck_assert(guestmem_intact(&fix->mem, REGION, 4096));
}

/* Row: the length of the packets. The stage has 64 bytes. */
START_TEST(in_order)
{
	size_t len = (size_t)_i, n = 0;

	connect_endpoint();
	ck_assert_uint_eq(start(), VPT_OUT_OK);
	for (; n + len <= 1000; n += len) {
		ck_assert_uint_eq(outfix_put(fix, n, len), VPT_OUT_OK);
		assert_taken((n + len) / 64 * 64);
	}
	vpt_output_flush(&fix->out);
	assert_taken(n);
	vpt_output_flush(&fix->out);
	assert_taken(n);
	outfix_put(fix, n, len);
	assert_memory_unused();
	vpt_output_end(&fix->out);
	assert_taken(n + len);
	ck_assert_uint_eq(outfix_put(fix, n, len), VPT_OUT_OK);
	vpt_output_end(&fix->out);
	assert_taken(n + len);
	TEST_PROVES("OUT-FABRIC-WINS OUT-FABRIC-MSRS");
}
END_TEST

/* A configuration that ToPA or a single range would refuse is not checked. */
START_TEST(nothing_is_checked)
{
	connect_endpoint();
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA | OUTFIX_FABRIC_EN, TABLE | 0x80, ~0ull),
			  0);
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_FABRIC_EN, TABLE | 0x80, 0xfull << 60), 0);
	outfix_put(fix, 0, 16);
	vpt_output_end(&fix->out);
	assert_taken(16);
	TEST_PROVES("OUT-FABRIC-WINS");
}
END_TEST

/* Without FabricEn the same registers select the table. */
START_TEST(not_without_the_bit)
{
	connect_endpoint();
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA, TABLE, outfix_ptrs(40, 0x7f)), 0);
	outfix_put(fix, 0, 16);
	vpt_output_end(&fix->out);
	assert_taken(0);
	ck_assert(outfix_holds(fix, REGION + 40, 0, 16));
	TEST_PROVES("OUT-FABRIC-WINS");
}
END_TEST

START_TEST(dropped_without_endpoint)
{
	size_t n;

	ck_assert_uint_eq(start(), VPT_OUT_OK);
	for (n = 0; n < 1000; n += 10)
		ck_assert_uint_eq(outfix_put(fix, n, 10), VPT_OUT_OK);
	vpt_output_flush(&fix->out);
	assert_memory_unused();
	vpt_output_end(&fix->out);
	assert_taken(0);
	TEST_PROVES("OUT-FABRIC-MSRS");
}
END_TEST

/* A stage without an endpoint holds no unreported bytes. */
START_TEST(stage_without_endpoint)
{
	vpt_output_set_stream(&fix->out, stage, sizeof(stage), NULL);
	ck_assert_uint_eq(start(), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 10), VPT_OUT_OK);
	ck_assert_uint_eq(vpt_output_unreported(&fix->out), 0);
	ck_assert_int_eq(vpt_output_resume(&fix->out, 1), VPT_E_NOSPC);
	vpt_output_flush(&fix->out);
	assert_memory_unused();
}
END_TEST

TEST_SUITE("output_stream", setup, teardown)
{
	tcase_add_loop_test(tcase, in_order, 1, 200);
	TEST_ADD(tcase, nothing_is_checked, not_without_the_bit, dropped_without_endpoint,
		 stage_without_endpoint);
}
