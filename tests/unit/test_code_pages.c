// SPDX-License-Identifier: GPL-2.0-or-later
/* When a page of code must be recorded. */
#include "lib/suite.h"

#include <string.h>

#include "pt/code_pages.h"

static struct vpt_code_pages *pages;
static uint8_t page[4096];

static void setup(void)
{
	pages = vpt_code_pages_create();
	ck_assert_ptr_nonnull(pages);
	memset(page, 0x90, sizeof(page));
}

static void teardown(void)
{
	vpt_code_pages_destroy(pages);
}

static int note(uint64_t cr3, uint64_t vaddr, uint64_t gpa, size_t offset, size_t len)
{
	return vpt_code_pages_note(pages, cr3, vaddr, gpa, page, offset, len);
}

START_TEST(first_time_only)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), 1);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 5, 5), 0);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 4095, 1), 0);
}
END_TEST

START_TEST(per_address_space_page_and_frame)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), 1);
	ck_assert_int_eq(note(0x2000, 0x400000, 0x400000, 0, 5), 1);
	ck_assert_int_eq(note(0x1000, 0x401000, 0x400000, 0, 5), 1);
	/* Mapped to another frame: recorded, though the bytes are the same. */
	ck_assert_int_eq(note(0x1000, 0x400000, 0x500000, 0, 5), 1);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x500000, 0, 5), 0);
	ck_assert_int_eq(note(0x2000, 0x400000, 0x400000, 0, 5), 0);
}
END_TEST

/* A byte that changed counts when it runs, not before; then the whole page does. */
START_TEST(changed_bytes_count_when_they_run)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), 1);
	page[10] = 0xcc;
	page[20] = 0xcc;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 5, 5), 0);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 10, 1), 1);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 20, 1), 0);
	page[10] = 0x90;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 8, 3), 1);
}
END_TEST

START_TEST(many_pages)
{
	uint64_t i;

	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(i % 7 << 12, i << 12, i << 12, 0, 1), 1);
	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(i % 7 << 12, i << 12, i << 12, 0, 1), 0);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("code_pages");
	TCase *tc = tcase_create("code_pages");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, first_time_only);
	tcase_add_test(tc, per_address_space_page_and_frame);
	tcase_add_test(tc, changed_bytes_count_when_they_run);
	tcase_add_test(tc, many_pages);
	suite_add_tcase(suite, tc);
	return suite;
}
