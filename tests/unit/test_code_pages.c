// SPDX-License-Identifier: GPL-2.0-or-later
/* When a page of code, or a mapping of one, must be recorded. */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "pt/code_pages.h"

static struct tracer_code_pages *pages;
static uint8_t page[4096];
static uint64_t ids, id;

static void setup(void)
{
	pages = tracer_code_pages_create();
	ck_assert_ptr_nonnull(pages);
	memset(page, 0x90, sizeof(page));
	ids = 0;
}

static void teardown(void)
{
	tracer_code_pages_destroy(pages);
}

/* As the tracer does it; `id` is the content's. */
static int note(uint64_t cr3, uint64_t vaddr, uint64_t gpa, size_t offset, size_t len)
{
	int news = tracer_code_pages_note(pages, cr3, vaddr, gpa, page, offset, len, &id);

	if (news == TRACER_CODE_CHANGED) {
		id = ++ids;
		tracer_code_pages_number(pages, id);
	}
	return news;
}

START_TEST(first_time_only)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 5, 5), TRACER_CODE_KNOWN);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 4095, 1), TRACER_CODE_KNOWN);
}
END_TEST

/* The same frame elsewhere is a mapping more, and no content. */
START_TEST(per_address_space_page_and_frame)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
	ck_assert_int_eq(note(0x2000, 0x400000, 0x400000, 0, 5), TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, 1);
	ck_assert_int_eq(note(0x1000, 0x401000, 0x400000, 0, 5), TRACER_CODE_MAPPED);
	/* Mapped to another frame: recorded, though the bytes are the same. */
	ck_assert_int_eq(note(0x1000, 0x400000, 0x500000, 0, 5), TRACER_CODE_CHANGED);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x500000, 0, 5), TRACER_CODE_KNOWN);
	ck_assert_int_eq(note(0x2000, 0x400000, 0x400000, 0, 5), TRACER_CODE_KNOWN);
}
END_TEST

/* A byte that changed counts when it runs, not before; then the whole page does. */
START_TEST(changed_bytes_count_when_they_run)
{
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
	page[10] = 0xcc;
	page[20] = 0xcc;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 5, 5), TRACER_CODE_KNOWN);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 10, 1), TRACER_CODE_CHANGED);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 20, 1), TRACER_CODE_KNOWN);
	/* The old version has the bytes that run, but not all that ran since. */
	page[10] = 0x90;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 8, 3), TRACER_CODE_CHANGED);
	ck_assert_uint_eq(id, 3);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 20, 1), TRACER_CODE_KNOWN);
	/* Back to a version that there was: the mapping changes, and nothing else. */
	page[20] = 0x90;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 20, 1), TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, 1);
	/* The other address keeps the version that ran there until other bytes run. */
	page[10] = 0xcc;
	page[20] = 0xcc;
	ck_assert_int_eq(note(0x2000, 0x400000, 0x400000, 10, 1), TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, 2);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 11, 1), TRACER_CODE_KNOWN);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 10, 1), TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, 2);
}
END_TEST

START_TEST(many_pages)
{
	uint64_t i;

	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(i % 7 << 12, i << 12, i << 12, 0, 1), TRACER_CODE_CHANGED);
	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(i % 7 << 12, i << 12, i << 12, 0, 1), TRACER_CODE_KNOWN);
	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(0x9000, i << 12, i << 12, 0, 1), TRACER_CODE_MAPPED);
	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(note(0x9000, i << 12, i << 12, 0, 1), TRACER_CODE_KNOWN);
}
END_TEST

/* Old versions are looked for, but not for ever. */
START_TEST(versions)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		page[1] = (uint8_t)i;
		ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
		ck_assert_int_eq(tracer_code_pages_forgot(pages), i >= TRACER_CODE_VERSIONS);
	}
	page[1] = 195;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_MAPPED);
	page[1] = 10;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
}
END_TEST

/* A table that is full is emptied: what runs is recorded again, and memory is bounded. */
START_TEST(mappings_are_bounded)
{
	struct tracer_code_map *maps;
	size_t count;
	uint64_t i;

	for (i = 0; i < TRACER_CODE_MAPS; i++)
		ck_assert_int_eq(note(0x1000, i << 12, 0x5000, 0, 5),
				 i ? TRACER_CODE_MAPPED : TRACER_CODE_CHANGED);
	ck_assert_int_eq(note(0x1000, 0, 0x5000, 0, 5), TRACER_CODE_KNOWN);
	ck_assert(!tracer_code_pages_forgot(pages));
	ck_assert_int_eq(note(0x1000, i << 12, 0x5000, 0, 5), TRACER_CODE_MAPPED);
	ck_assert(tracer_code_pages_forgot(pages));
	ck_assert(!tracer_code_pages_forgot(pages));
	ck_assert_int_eq(note(0x1000, i << 12, 0x5000, 0, 5), TRACER_CODE_KNOWN);
	ck_assert_int_eq(note(0x1000, 0, 0x5000, 0, 5), TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, 1);
	for (i = 0; i < 3 * TRACER_CODE_MAPS; i++) {
		(void)note(i / 3, i << 12, 0x5000, 0, 5);
		ck_assert_uint_eq(id, 1);
	}
	ck_assert_int_eq(tracer_code_pages_maps(pages, &maps, &count), 0);
	ck_assert_uint_le(count, TRACER_CODE_MAPS);
	free(maps);
}
END_TEST

/* The places of a frame, as tracer_code_pages_places() lists them. */
static uint64_t places, of_places; /* their number, and the sum of their addresses and CR3s */
static uint64_t to_note;	   /* the frame that note_place() notes; 0: none */

static void note_place(void *opaque, uint64_t cr3, uint64_t vaddr)
{
	(void)opaque;
	places++;
	of_places += cr3 + vaddr;
	if (to_note)
		(void)note(cr3, vaddr, to_note, 0, sizeof(page));
}

static uint64_t count_places(uint64_t gpa)
{
	places = of_places = 0;
	tracer_code_pages_places(pages, gpa, note_place, NULL);
	return places;
}

/* Places move between frames, while the table grows. A frame has exactly those that it has now. */
START_TEST(places_of_a_frame)
{
	const uint64_t many = 3000;
	uint64_t i;

	ck_assert_uint_eq(count_places(0x5000), 0);
	for (i = 0; i < many; i++)
		(void)note(0x1000, i << 12, 0x5000, 0, 1);
	ck_assert_uint_eq(count_places(0x5000), many);
	for (i = 0; i < many; i += 3)
		(void)note(0x1000, i << 12, 0x6000, 0, 1);
	ck_assert_uint_eq(count_places(0x5000), many - many / 3);
	ck_assert_uint_eq(count_places(0x6000), many / 3);
	for (i = 0; i < many; i++)
		(void)note(0x1000, i << 12, 0x6000, 0, 1);
	ck_assert_uint_eq(count_places(0x5000), 0);
	ck_assert_uint_eq(count_places(0x6000), many);
	ck_assert_uint_eq(of_places, many * 0x1000 + (many * (many - 1) / 2 << 12));
	/* The callback notes the change at each place. */
	page[0] = 0xcc;
	to_note = 0x6000;
	ck_assert_uint_eq(count_places(0x6000), many);
	to_note = 0;
	for (i = 0; i < many; i++)
		ck_assert_int_eq(note(0x1000, i << 12, 0x6000, 0, 1), TRACER_CODE_KNOWN);
}
END_TEST

/* With few versions a change back is a new content. Emptied tables have no places. */
START_TEST(versions_to_keep)
{
	uint64_t i;

	tracer_code_pages_keep(pages, 2);
	for (i = 0; i < 4; i++) {
		page[0] = (uint8_t)i;
		ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
	}
	page[0] = 2;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_MAPPED);
	page[0] = 1;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 5), TRACER_CODE_CHANGED);
	ck_assert_uint_eq(count_places(0x400000), 1);
	ck_assert_uint_eq(tracer_code_pages_emptied(pages), 0);
	for (i = 0; i < TRACER_CODE_MAPS; i++)
		(void)note(0x2000, i << 12, 0x5000, 0, 5);
	ck_assert_uint_eq(tracer_code_pages_emptied(pages), 1);
	ck_assert_uint_eq(count_places(0x400000), 0);
}
END_TEST

static int count_contents(void *opaque, const struct tracer_code_content *content,
			  const uint8_t *bytes)
{
	(void)content;
	(void)bytes;
	++*(size_t *)opaque;
	return 0;
}

/* The range in which a content differs from that before. */
START_TEST(base_of_a_change)
{
	uint64_t base;
	size_t from, to;

	tracer_code_pages_keep(pages, 2);
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 4096), TRACER_CODE_CHANGED);
	ck_assert(!tracer_code_pages_base(pages, &base, &from, &to));
	page[0] = 1;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 4096), TRACER_CODE_CHANGED);
	ck_assert(tracer_code_pages_base(pages, &base, &from, &to));
	ck_assert_uint_eq(base, 1);
	ck_assert_uint_eq(from, 0);
	ck_assert_uint_eq(to, 1);
	page[7] = page[4095] = 2;
	ck_assert_int_eq(note(0x1000, 0x400000, 0x400000, 0, 4096), TRACER_CODE_CHANGED);
	ck_assert(tracer_code_pages_base(pages, &base, &from, &to));
	ck_assert_uint_eq(base, 2);
	ck_assert_uint_eq(from, 7);
	ck_assert_uint_eq(to, 4096);
	/* Another frame has no content before. */
	ck_assert_int_eq(note(0x1000, 0x401000, 0x401000, 0, 4096), TRACER_CODE_CHANGED);
	ck_assert(!tracer_code_pages_base(pages, &base, &from, &to));
}
END_TEST

/* The file has the version of a page that ran last at a place. */
START_TEST(content_at_a_place)
{
	unsigned int i;

	ck_assert_ptr_null(tracer_code_pages_at(pages, 0x1000, 0x400000));
	page[9] = 1;
	(void)note(0x1000, 0x400000, 0x800000, 9, 1);
	page[9] = 2;
	(void)note(0x2000, 0x400000, 0x800000, 9, 1);
	ck_assert_uint_eq(tracer_code_pages_at(pages, 0x1000, 0x400000)[9], 1);
	ck_assert_uint_eq(tracer_code_pages_at(pages, 0x2000, 0x400000)[9], 2);
	ck_assert_ptr_null(tracer_code_pages_at(pages, 0x1000, 0x401000));
	/* Other versions take the entry of the first. */
	for (i = 3; i < 3 + TRACER_CODE_VERSIONS; i++) {
		page[9] = (uint8_t)i;
		(void)note(0x2000, 0x400000, 0x800000, 9, 1);
	}
	ck_assert_ptr_null(tracer_code_pages_at(pages, 0x1000, 0x400000));
	ck_assert_uint_eq(tracer_code_pages_at(pages, 0x2000, 0x400000)[9], i - 1);
}
END_TEST

/* Of one frame 8 versions are kept, and all together a number of contents. */
START_TEST(contents_are_bounded)
{
	size_t count = 0;
	uint64_t i;

	for (i = 0; i < 1000; i++) {
		memcpy(page, &i, sizeof(i));
		ck_assert_int_eq(note(0x1000, 0x400000, 1ull << 40, 0, 8), TRACER_CODE_CHANGED);
	}
	ck_assert_int_eq(tracer_code_pages_contents(pages, count_contents, &count), 0);
	ck_assert_uint_eq(count, TRACER_CODE_VERSIONS);
	(void)tracer_code_pages_forgot(pages);
	for (; i < 1000 + TRACER_CODE_CONTENTS - TRACER_CODE_VERSIONS + 5; i++) {
		memcpy(page, &i, sizeof(i));
		ck_assert_int_eq(note(0x1000, i << 12, i << 12, 0, 8), TRACER_CODE_CHANGED);
		ck_assert_uint_eq(id, i + 1);
		ck_assert_int_eq(tracer_code_pages_forgot(pages),
				 i == 1000 + TRACER_CODE_CONTENTS - TRACER_CODE_VERSIONS);
		ck_assert_int_eq(note(0x1000, i << 12, i << 12, 0, 8), TRACER_CODE_KNOWN);
	}
	count = 0;
	ck_assert_int_eq(tracer_code_pages_contents(pages, count_contents, &count), 0);
	ck_assert_uint_eq(count, 5);
}
END_TEST

TEST_SUITE("code_pages", setup, teardown)
{
	TEST_ADD(tcase, first_time_only, per_address_space_page_and_frame,
		 changed_bytes_count_when_they_run, many_pages, versions, mappings_are_bounded,
		 contents_are_bounded, places_of_a_frame, versions_to_keep, base_of_a_change,
		 content_at_a_place);
}
