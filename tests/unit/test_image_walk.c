// SPDX-License-Identifier: GPL-2.0-or-later
/* Page walks over an image of memory, one row for each shape of the tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/walk.h"
#include "lib/suite.h"

#define PAGES 16u
#define ROOM  (PAGES * IMAGE_PAGE_BYTES)

/* Bits of entries. */
#define P    1ull
#define RWU  7ull
#define PS   0x80ull
#define PAT2 0x1000ull /* of a large page */
#define XD   (1ull << 63)

#define HIGH4 0xffff800000000000ull
#define HIGH5 0xff00000000000000ull

struct entry {
	uint32_t table, index;
	uint64_t value;
};

struct row {
	const char *name;
	enum image_paging paging;
	uint64_t root, address;
	struct entry entries[6];
	enum image_walk_result result;
	uint64_t physical;
	unsigned int reads; /* entries that the walk reads */
};

struct memory {
	uint8_t bytes[ROOM];
	unsigned int reads;
};

static bool read_memory(void *context, uint64_t address, void *to, size_t len)
{
	struct memory *m = context;

	m->reads++;
	if (address > ROOM || len > ROOM - address)
		return false;
	memcpy(to, m->bytes + address, len);
	return true;
}

/* clang-format off */
static const struct row rows[] = {
	{"flat", IMAGE_FLAT, 0, 0x1234, {{0}}, IMAGE_MAPPED, 0x1234, 0},
	{"flat, above 4 GiB", IMAGE_FLAT, 0, 1ull << 32, {{0}}, IMAGE_NOT_CANONICAL, 0, 0},

	/* CR3 has a PCID. */
	{"4 levels, 4 KiB", IMAGE_LEVELS4, 0x1fff, 0x0000123456789abc,
	 {{0x1000, 0x24, 0x2000 | RWU}, {0x2000, 0xd1, 0x3000 | RWU}, {0x3000, 0xb3, 0x4000 | RWU},
	  {0x4000, 0x189, 0x000f00000abcd000 | RWU}}, IMAGE_MAPPED, 0x000f00000abcdabc, 4},
	{"4 levels, 2 MiB, with PAT", IMAGE_LEVELS4, 0x1000, 0x212345,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU},
	  {0x3000, 1, 0x40000000 | PAT2 | PS | RWU}}, IMAGE_MAPPED, 0x40012345, 3},
	{"4 levels, 2 MiB, a low bit", IMAGE_LEVELS4, 0x1000, 0x212345,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU}, {0x3000, 1, 0x40002000 | PS | RWU}},
	 IMAGE_RESERVED, 0, 3},
	{"4 levels, 1 GiB", IMAGE_LEVELS4, 0x1000, HIGH4 + 0x40000000 + 0x12345678,
	 {{0x1000, 0x100, 0x2000 | RWU}, {0x2000, 1, 0x7c0000000 | PS | RWU}}, IMAGE_MAPPED,
	 0x7d2345678, 2},
	{"4 levels, 1 GiB, a low bit", IMAGE_LEVELS4, 0x1000, 0x40000000,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 1, 0x7c0200000 | PS | RWU}}, IMAGE_RESERVED, 0, 2},
	{"4 levels, PS in a PML4E", IMAGE_LEVELS4, 0x1000, 0, {{0x1000, 0, 0x2000 | PS | RWU}},
	 IMAGE_RESERVED, 0, 1},
	{"4 levels, not canonical", IMAGE_LEVELS4, 0x1000, 1ull << 47, {{0}}, IMAGE_NOT_CANONICAL,
	 0, 0},
	{"4 levels, not present at once", IMAGE_LEVELS4, 0x1000, 0, {{0}}, IMAGE_NOT_PRESENT, 0, 1},
	{"4 levels, not present at the end", IMAGE_LEVELS4, 0x1000, 0,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU}, {0x3000, 0, 0x4000 | RWU},
	  {0x4000, 0, 0x5000 | (RWU & ~P)}}, IMAGE_NOT_PRESENT, 0, 4},
	{"4 levels, XD in an upper entry", IMAGE_LEVELS4, 0x1000, 0,
	 {{0x1000, 0, 0x2000 | RWU | XD}, {0x2000, 0, 0x3000 | RWU}, {0x3000, 0, PS | RWU}},
	 IMAGE_NO_EXECUTE, 0, 1},
	{"4 levels, CR3 is outside", IMAGE_LEVELS4, 0x4000000, 0, {{0}}, IMAGE_OUTSIDE, 0, 1},
	{"4 levels, CR3 has all bits", IMAGE_LEVELS4, ~0ull, 0, {{0}}, IMAGE_OUTSIDE, 0, 1},
	{"4 levels, a table is outside", IMAGE_LEVELS4, 0x1000, 0,
	 {{0x1000, 0, 0x000ffffffffff000 | RWU}}, IMAGE_OUTSIDE, 0, 2},
	{"4 levels, a table that is its own page", IMAGE_LEVELS4, 0x1000, 0,
	 {{0x1000, 0, 0x1000 | RWU}}, IMAGE_MAPPED, 0x1000, 4},
	{"4 levels, two tables that point to each other", IMAGE_LEVELS4, 0x1000, 0x123,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, 0x1000 | RWU}}, IMAGE_MAPPED, 0x1123, 4},

	{"5 levels, 4 KiB", IMAGE_LEVELS5, 0x1000, HIGH5 + 0x5678,
	 {{0x1000, 0x100, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU}, {0x3000, 0, 0x4000 | RWU},
	  {0x4000, 0, 0x5000 | RWU}, {0x5000, 5, 0x123000 | RWU}}, IMAGE_MAPPED, 0x123678, 5},
	{"5 levels, not canonical", IMAGE_LEVELS5, 0x1000, 1ull << 56, {{0}}, IMAGE_NOT_CANONICAL,
	 0, 0},
	{"5 levels, PS in a PML5E", IMAGE_LEVELS5, 0x1000, 0, {{0x1000, 0, 0x2000 | PS | RWU}},
	 IMAGE_RESERVED, 0, 1},
	{"5 levels, a table that is its own page", IMAGE_LEVELS5, 0x1000, 0,
	 {{0x1000, 0, 0x1000 | RWU}}, IMAGE_MAPPED, 0x1000, 5},

	{"PAE, 4 KiB, CR3 in the middle of a page", IMAGE_PAE, 0x1020, 0xc0201234,
	 {{0x1020, 3, 0x2000 | P}, {0x2000, 1, 0x3000 | RWU}, {0x3000, 1, 0xfedcba000 | RWU}},
	 IMAGE_MAPPED, 0xfedcba234, 3},
	{"PAE, 2 MiB", IMAGE_PAE, 0x1000, 0x40212345,
	 {{0x1000, 1, 0x2000 | P}, {0x2000, 1, 0x1ffe00000 | PS | RWU}}, IMAGE_MAPPED, 0x1ffe12345,
	 2},
	{"PAE, rights in a PDPTE", IMAGE_PAE, 0x1000, 0, {{0x1000, 0, 0x2000 | RWU}},
	 IMAGE_RESERVED, 0, 1},
	{"PAE, bits 62:52", IMAGE_PAE, 0x1000, 0,
	 {{0x1000, 0, 0x2000 | P}, {0x2000, 0, 1ull << 52 | 0x3000 | RWU}}, IMAGE_RESERVED, 0, 2},
	{"PAE, XD", IMAGE_PAE, 0x1000, 0, {{0x1000, 0, 0x2000 | P}, {0x2000, 0, XD | PS | RWU}},
	 IMAGE_NO_EXECUTE, 0, 2},
	{"PAE, above 4 GiB", IMAGE_PAE, 0x1000, 1ull << 32, {{0}}, IMAGE_NOT_CANONICAL, 0, 0},

	/* PWT and PCD */
	{"32 bits, 4 KiB", IMAGE_LEGACY, 0x1018, 0xffc01234,
	 {{0x1000, 0x3ff, 0x2000 | RWU}, {0x2000, 1, 0xabcde000 | RWU}}, IMAGE_MAPPED, 0xabcde234,
	 2},
	{"32 bits, 4 MiB", IMAGE_LEGACY, 0x1000, 0x00712345, {{0x1000, 1, 0x80000000 | PS | RWU}},
	 IMAGE_MAPPED, 0x80312345, 1},
	{"32 bits, 4 MiB, PSE-36", IMAGE_LEGACY, 0x1000, 0x00712345,
	 {{0x1000, 1, 0x801fe000 | PS | RWU}}, IMAGE_MAPPED, 0xff80312345, 1},
	{"32 bits, 4 MiB, bit 21", IMAGE_LEGACY, 0x1000, 0x00712345,
	 {{0x1000, 1, 0x80200000 | PS | RWU}}, IMAGE_RESERVED, 0, 1},
	{"32 bits, not present", IMAGE_LEGACY, 0x1000, 0, {{0x1000, 0, 0x2000}}, IMAGE_NOT_PRESENT,
	 0, 1},
	{"32 bits, a directory that is its own table", IMAGE_LEGACY, 0x1000, 0xffffffff,
	 {{0x1000, 0x3ff, 0x1000 | RWU}}, IMAGE_MAPPED, 0x1fff, 2},

	{"EPT, 4 KiB, no user bit, XD is no bit of it", IMAGE_EPT4, 0x105e, 0x1234,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU}, {0x3000, 0, 0x4000 | RWU},
	  {0x4000, 1, XD | 0x9000 | 0x30 | RWU}}, IMAGE_MAPPED, 0x9234, 4},
	{"EPT, present by execute alone", IMAGE_EPT4, 0x105e, 0x40000123,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 1, 0x80000000 | PS | 0x30 | 4}}, IMAGE_MAPPED,
	 0x80000123, 2},
	{"EPT, 5 levels", IMAGE_EPT5, 0x1066, 1ull << 48 | 0x123,
	 {{0x1000, 1, 0x2000 | RWU}, {0x2000, 0, 0x3000 | RWU},
	  {0x3000, 0, 0x40000000 | PS | 0x30 | RWU}}, IMAGE_MAPPED, 0x40000123, 3},
	{"EPT, not present", IMAGE_EPT4, 0x1000, 0, {{0x1000, 0, 0x2000 | PS}}, IMAGE_NOT_PRESENT,
	 0, 1},
	{"EPT, writable but not readable", IMAGE_EPT4, 0x1000, 0, {{0x1000, 0, 0x2000 | 2}},
	 IMAGE_RESERVED, 0, 1},
	{"EPT, a bit of a table's entry", IMAGE_EPT4, 0x1000, 0, {{0x1000, 0, 0x2000 | 8 | RWU}},
	 IMAGE_RESERVED, 0, 1},
	{"EPT, memory type 7", IMAGE_EPT4, 0x1000, 0,
	 {{0x1000, 0, 0x2000 | RWU}, {0x2000, 0, PS | 0x38 | RWU}}, IMAGE_RESERVED, 0, 2},
	{"EPT, above 48 bits", IMAGE_EPT4, 0x1000, 1ull << 48, {{0}}, IMAGE_NOT_CANONICAL, 0, 0},
};
/* clang-format on */

static void fill(struct memory *m, const struct row *row)
{
	unsigned int bytes = row->paging == IMAGE_LEGACY ? 4 : 8;
	size_t i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < sizeof(row->entries) / sizeof(row->entries[0]); i++) {
		const struct entry *e = &row->entries[i];

		if (e->table)
			memcpy(m->bytes + e->table + (size_t)bytes * e->index, &e->value, bytes);
	}
}

START_TEST(shapes)
{
	static struct memory memory;
	const struct image_memory reader = {read_memory, &memory};
	const struct row *row = &rows[_i];
	const uint64_t untouched = 0x5555555555555555;
	uint64_t physical = untouched;
	enum image_walk_result result;

	fill(&memory, row);
	result = image_walk(&reader, row->paging, row->root, row->address, &physical);
	ck_assert_msg(result == row->result, "%s: result %d", row->name, (int)result);
	ck_assert_msg(physical == (result == IMAGE_MAPPED ? row->physical : untouched),
		      "%s: physical 0x%" PRIx64, row->name, physical);
	ck_assert_msg(memory.reads == row->reads, "%s: %u entries read", row->name, memory.reads);
}
END_TEST

/* Tables of random bytes: a walk reads at most five entries, and its result is valid. */
START_TEST(random_tables)
{
	static struct memory memory;
	const struct image_memory reader = {read_memory, &memory};
	uint64_t state = (uint64_t)_i * 0x9e3779b97f4a7c15ull + 1, physical;
	unsigned int seen = 0;
	size_t i;
	int k;

	for (i = 0; i < ROOM; i += 8) {
		uint64_t entry;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		entry = (state >> 20 & (ROOM - 1)) | (state >> 60) | P;
		memcpy(memory.bytes + i, &entry, sizeof(entry));
	}
	for (k = 0; k < 20000; k++) {
		enum image_walk_result result;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		memory.reads = 0;
		physical = 0;
		result = image_walk(&reader, (enum image_paging)(k % IMAGE_PAGINGS), state >> 13,
				    (uint64_t)((int64_t)state >> (k % 64)), &physical);
		ck_assert_uint_le(memory.reads, 5);
		ck_assert(result <= IMAGE_NOT_CANONICAL && physical < 1ull << 52);
		seen |= 1u << result;
	}
	/* Other results need bits that these entries rarely have. */
	ck_assert(seen & 1u << IMAGE_MAPPED && seen & 1u << IMAGE_OUTSIDE);
}
END_TEST

TEST_SUITE("image_walk", NULL, NULL)
{
	TEST_ROWS(tcase, shapes, rows);
	tcase_add_loop_test(tcase, random_tables, 0, 8);
}
