// SPDX-License-Identifier: GPL-2.0-or-later
/* Single-range output (33.2.7.1), and properties that all outputs share. */
#include "lib/outfix.h"

#define BASE 0x100000u

static struct outfix *fix;

static void setup(void)
{
	fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
}

static void teardown(void)
{
	outfix_free(fix);
}

/* Replace the output of setup(). */
static void remake(enum guestmem_map map)
{
	teardown();
	fix = outfix_new(map, OUTFIX_MANY_ENTRIES);
}

/* Start a 128-byte range at BASE at this offset. There is RAM around the range. */
static void small_range(enum guestmem_map map, uint64_t offset)
{
	remake(map);
	guestmem_ram(&fix->mem, BASE - 4096, 2 * 4096);
	ck_assert_uint_eq(outfix_start(fix, 0, BASE, outfix_ptrs(offset, 0x7f)), VPT_OUT_OK);
}

/* Bits 6:0 of the mask act as ones, even if a host restored zeros. */
START_TEST(lower_mask)
{
	small_range(GUESTMEM_MAP_WHOLE, 0);
	ck_assert_uint_eq(outfix_start(fix, 0, BASE, outfix_ptrs(127, 0)), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 2), VPT_OUT_OK);
	outfix_assert_cursor(fix, BASE, outfix_ptrs(1, 0x7f));
	ck_assert_uint_eq(outfix_start(fix, 0, BASE + 64, outfix_ptrs(0, 0)), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_BASE_UNALIGNED);
	TEST_PROVES("SR-ADDRESS");
}
END_TEST

/* Row: log2 of the size. Only the first and the last byte of the range are RAM. */
START_TEST(every_size)
{
	uint64_t size = 1ull << _i, base = size, mask = size - 1;

	guestmem_ram(&fix->mem, base, 1);
	guestmem_ram(&fix->mem, base + mask, 1);
	ck_assert_uint_eq(outfix_start(fix, 0, base, outfix_ptrs(mask, (uint32_t)mask)), 0);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, base, outfix_ptrs(0, (uint32_t)mask));
	ck_assert_uint_eq(outfix_put(fix, 1, 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, base, outfix_ptrs(1, (uint32_t)mask));
	ck_assert(outfix_holds(fix, base + mask, 0, 1));
	ck_assert(outfix_holds(fix, base, 1, 1));
	TEST_PROVES("SR-ADDRESS SR-WRAP OUT-FILL-EAGER OUT-CURSOR-EXACT");
}
END_TEST

/* Row: the mask bit that is 0 below a 1, which is an error. */
START_TEST(mask_gap)
{
	uint64_t ptrs = outfix_ptrs(5, 0xffffffffu & ~(1u << _i));

	outfix_assert_error(fix, outfix_start(fix, 0, 0, ptrs), VPT_OUT_ERR_MASK_GAP, 0, ptrs);
	/* With zeros above that bit the mask is valid and ends there. */
	ck_assert_uint_eq(outfix_start(fix, 0, 0, outfix_ptrs(5, (1u << _i) - 1)), VPT_OUT_OK);
	TEST_PROVES("SR-MASK-CONTIGUOUS");
}
END_TEST

/* Row: log2 of the size, to which the base must be aligned. */
START_TEST(base_alignment)
{
	uint64_t size = 1ull << _i, ptrs = outfix_ptrs(0, (uint32_t)(size - 1));

	ck_assert_uint_eq(outfix_start(fix, 0, 3 * size, ptrs), VPT_OUT_OK);
	outfix_assert_error(fix, outfix_start(fix, 0, size / 2, ptrs), VPT_OUT_ERR_BASE_UNALIGNED,
			    size / 2, ptrs);
	ck_assert_uint_eq(outfix_start(fix, 0, size | 0x80, ptrs),
			  size > 128 ? VPT_OUT_ERROR : VPT_OUT_OK);
	TEST_PROVES("SR-BASE-ALIGN");
}
END_TEST

/* Row: log2 of the size, which the offset must be below. */
START_TEST(offset_limit)
{
	uint64_t size = 1ull << _i;
	uint32_t mask = (uint32_t)(size - 1);

	ck_assert_uint_eq(outfix_start(fix, 0, size, outfix_ptrs(mask, mask)), VPT_OUT_OK);
	outfix_assert_error(fix, outfix_start(fix, 0, size, outfix_ptrs(size, mask)),
			    VPT_OUT_ERR_OFFSET_PAST_MASK, size, outfix_ptrs(size, mask));
	ck_assert_uint_eq(outfix_start(fix, 0, size, outfix_ptrs(0xffffffffu, mask)),
			  VPT_OUT_ERROR);
	TEST_PROVES("SR-OFFSET");
}
END_TEST

START_TEST(first_error_wins)
{
	outfix_start(fix, 0, 0x1080, outfix_ptrs(0xffffffffu, 0x1eff));
	ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_MASK_GAP);
	outfix_start(fix, 0, 0x1080, outfix_ptrs(0xffffffffu, 0x1fff));
	ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_BASE_UNALIGNED);
	outfix_start(fix, 0, 0x2000, outfix_ptrs(0xffffffffu, 0x1fff));
	ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_OFFSET_PAST_MASK);
	TEST_PROVES("SR-MASK-CONTIGUOUS SR-BASE-ALIGN");
}
END_TEST

/* A start after an error clears the error. */
START_TEST(start_clears_the_error)
{
	small_range(GUESTMEM_MAP_WHOLE, 0);
	ck_assert_uint_eq(outfix_start(fix, 0, BASE, outfix_ptrs(128, 0x7f)), VPT_OUT_ERROR);
	vpt_output_end(&fix->out);
	ck_assert_uint_eq(outfix_start(fix, 0, BASE, outfix_ptrs(127, 0x7f)), VPT_OUT_OK);
	ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_NONE);
	ck_assert_uint_eq(outfix_put(fix, 0, 4), VPT_OUT_OK);
	outfix_assert_cursor(fix, BASE, outfix_ptrs(3, 0x7f));
	TEST_PROVES("OUT-NO-ERROR");
}
END_TEST

/* Row: how memory is mapped. One put wraps around the range twice. */
START_TEST(put_longer_than_range)
{
	size_t i;

	small_range((enum guestmem_map)_i, 100);
	ck_assert_uint_eq(outfix_put(fix, 0, 300), VPT_OUT_OK);
	outfix_assert_cursor(fix, BASE, outfix_ptrs(400 % 128, 0x7f));
	vpt_output_end(&fix->out);
	/* The last 128 bytes remain, and they end before offset 16. */
	ck_assert(outfix_holds(fix, BASE + 16, 172, 112));
	ck_assert(outfix_holds(fix, BASE, 284, 16));
	ck_assert(guestmem_intact(&fix->mem, BASE - 4096, 4096));
	ck_assert(guestmem_intact(&fix->mem, BASE + 128, 4096 - 128));
	ck_assert_uint_eq(fix->mem.committed.count, 300);
	for (i = 0; i < 300; i++)
		ck_assert_uint_eq(fix->mem.committed.gpa[i], BASE + (100 + i) % 128);
	TEST_PROVES("SR-WRAP");
}
END_TEST

/* Row: how memory is mapped. The topmost range of the physical address space. */
START_TEST(top_of_address_space)
{
	uint64_t base = (1ull << 52) - 128;

	remake((enum guestmem_map)_i);
	guestmem_ram(&fix->mem, base, 128);
	outfix_start(fix, 0, base, outfix_ptrs(126, 0x7f));
	ck_assert_uint_eq(outfix_put(fix, 0, 3), VPT_OUT_OK);
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, base + 126, 0, 2));
	ck_assert(outfix_holds(fix, base, 2, 1));
	TEST_PROVES("SR-ADDRESS");
}
END_TEST

/*
 * The second page of the range is a hole, or read-only. For each put length and distance to that
 * page the bytes before the page are stored.
 */
static void refused_part(enum guestmem_map map, bool read_only)
{
	const uint64_t edge = BASE + 4096;
	size_t before, len;

	for (before = 0; before < 20; before++) {
		for (len = before + 1; len < 40; len++) {
			remake(map);
			guestmem_ram(&fix->mem, BASE, 4096);
			if (read_only)
				guestmem_rom(&fix->mem, edge, 4096);
			outfix_start(fix, 0, BASE, outfix_ptrs(4096 - before, 0x1fff));
			outfix_assert_error(fix, outfix_put(fix, 0, len),
					    VPT_OUT_ERR_REGION_REFUSED, BASE,
					    outfix_ptrs(4096, 0x1fff));
			ck_assert(outfix_holds(fix, edge - before, 0, before));
			ck_assert(guestmem_intact(&fix->mem, BASE, 4096 - before));
			ck_assert(!read_only || guestmem_intact(&fix->mem, edge, 4096));
			ck_assert_uint_eq(fix->mem.committed.count, before);
		}
	}
}

/* Row: how memory is mapped, with a hole or with read-only memory. */
START_TEST(hole_in_range)
{
	refused_part((enum guestmem_map)(_i / 2), _i % 2);
	TEST_PROVES("OUT-REGION-MEMORY");
}
END_TEST

/* Memory is requested only when a byte is to be stored there. */
START_TEST(hole_never_reached)
{
	guestmem_ram(&fix->mem, BASE, 4096);
	outfix_start(fix, 0, BASE, outfix_ptrs(4090, 0x1fff));
	ck_assert_uint_eq(outfix_put(fix, 0, 6), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 0), VPT_OUT_OK);
	outfix_assert_cursor(fix, BASE, outfix_ptrs(4096, 0x1fff));
	TEST_PROVES("OUT-REGION-MEMORY OUT-CURSOR-EXACT");
}
END_TEST

/* Row: how memory is mapped. A flush reports each byte once and keeps the cursor. */
START_TEST(flush_reports)
{
	size_t n, i;

	small_range((enum guestmem_map)_i, 0);
	for (n = 0; n < 500; n += 5) {
		outfix_put(fix, n, 5);
		outfix_assert_cursor(fix, BASE, outfix_ptrs((n + 5) % 128, 0x7f));
		vpt_output_flush(&fix->out);
		outfix_assert_cursor(fix, BASE, outfix_ptrs((n + 5) % 128, 0x7f));
		ck_assert_uint_eq(fix->mem.committed.count, n + 5);
	}
	vpt_output_flush(&fix->out);
	vpt_output_end(&fix->out);
	ck_assert_uint_eq(fix->mem.committed.count, 500);
	for (i = 0; i < 500; i++)
		ck_assert_uint_eq(fix->mem.committed.gpa[i], BASE + i % 128);
	TEST_PROVES("OUT-CURSOR-EXACT");
}
END_TEST

/* Row: how memory is mapped. Before a start and after an end nothing is stored. */
START_TEST(not_running)
{
	struct vpt_rtit rtit = {.output_base = 0x123, .output_mask_ptrs = 0x456};

	remake((enum guestmem_map)_i);
	guestmem_ram(&fix->mem, BASE, 4096);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	vpt_output_flush(&fix->out);
	vpt_output_end(&fix->out);
	outfix_start(fix, 0, BASE, outfix_ptrs(0, 0xfff));
	outfix_put(fix, 0, 16);
	vpt_output_end(&fix->out);
	ck_assert_uint_eq(fix->mem.committed.count, 16);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	vpt_output_sync(&fix->out, &rtit);
	ck_assert_uint_eq(rtit.output_base, 0x123);
	ck_assert_uint_eq(rtit.output_mask_ptrs, 0x456);
	ck_assert(guestmem_intact(&fix->mem, BASE + 16, 4096 - 16));
	TEST_PROVES("OUT-CURSOR-EXACT");
}
END_TEST

/* Row: how memory is mapped. A start without an end before it loses no byte. */
START_TEST(start_while_running)
{
	small_range((enum guestmem_map)_i, 0);
	outfix_put(fix, 0, 16);
	ck_assert_uint_eq(outfix_start(fix, 0, BASE, outfix_ptrs(64, 0x7f)), VPT_OUT_OK);
	ck_assert_uint_eq(fix->mem.committed.count, 16);
	outfix_put(fix, 16, 16);
	outfix_assert_cursor(fix, BASE, outfix_ptrs(80, 0x7f));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, BASE, 0, 16));
	ck_assert(outfix_holds(fix, BASE + 64, 16, 16));
	TEST_PROVES("OUT-CURSOR-EXACT");
}
END_TEST

/* A host without the optional callback committed(). */
START_TEST(no_committed_callback)
{
	small_range(GUESTMEM_MAP_WHOLE, 0);
	fix->mem.ops.committed = NULL;
	outfix_put(fix, 0, 130);
	vpt_output_flush(&fix->out);
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, BASE, 128, 2));
	TEST_PROVES("SR-WRAP");
}
END_TEST

/* Row: an error. */
START_TEST(error_text)
{
	enum vpt_output_error err = (enum vpt_output_error)_i;

	ck_assert_uint_gt(strlen(vpt_output_error_text(err)), 1);
	ck_assert_str_eq(vpt_output_error_text(VPT_OUT_ERR_COUNT), "?");
	ck_assert_str_eq(vpt_output_error_text((enum vpt_output_error) - 1), "?");
	TEST_PROVES("OUT-NO-ERROR");
}
END_TEST

TEST_SUITE("output_single", setup, teardown)
{
	tcase_add_loop_test(tcase, every_size, 7, 33);
	TEST_ADD(tcase, lower_mask, first_error_wins, start_clears_the_error, hole_never_reached,
		 no_committed_callback);
	tcase_add_loop_test(tcase, mask_gap, 7, 31);
	tcase_add_loop_test(tcase, base_alignment, 7, 33);
	tcase_add_loop_test(tcase, offset_limit, 7, 32);
	TEST_LOOP(tcase, GUESTMEM_MAP_MODES, put_longer_than_range, top_of_address_space,
		  flush_reports, not_running, start_while_running);
	tcase_add_loop_test(tcase, hole_in_range, 0, 2 * GUESTMEM_MAP_MODES);
	tcase_add_loop_test(tcase, error_text, 0, VPT_OUT_ERR_COUNT);
}
