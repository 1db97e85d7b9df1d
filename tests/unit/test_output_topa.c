// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of physical addresses (33.2.7.2): the walk, its events and its errors. */
#include "lib/outfix.h"

#define END  0x01u
#define INT  0x04u
#define STOP 0x10u

#define TABLE	     0x10000u
#define OTHER_TABLE  0x11000u
#define REGION	     0x40000u
#define OTHER_REGION 0x48000u

static uint64_t region(uint64_t base, unsigned int size, unsigned int flags)
{
	return base | size << 6 | flags;
}

static uint64_t end_to(uint64_t table)
{
	return table | END;
}

static void set_entry(struct outfix *fix, uint64_t table, unsigned int index, uint64_t entry)
{
	guestmem_poke64(&fix->mem, table + 8 * index, entry);
}

/* Two pages for tables, two regions of a page, and a page of RAM around each. */
static struct outfix *new_fix(enum guestmem_map map, uint32_t ecx)
{
	struct outfix *fix = outfix_new(map, ecx);

	guestmem_ram(&fix->mem, TABLE, 0x2000);
	guestmem_ram(&fix->mem, REGION - 0x1000, 0x3000);
	guestmem_ram(&fix->mem, OTHER_REGION - 0x1000, 0x3000);
	return fix;
}

static uint64_t ptrs(unsigned int index, uint64_t offset)
{
	return outfix_ptrs(offset, index << 7 | 0x7f);
}

static unsigned int start(struct outfix *fix, uint64_t table, unsigned int index, uint64_t offset)
{
	return outfix_start(fix, OUTFIX_TOPA, table, ptrs(index, offset));
}

/*
 * Bring the cursor to an entry of TABLE: by starting there, or by filling the
 * region before it, which entry 0 has at the end of another table.
 */
static unsigned int enter(struct outfix *fix, unsigned int index, bool filling)
{
	unsigned int events;

	if (!filling)
		return start(fix, TABLE, index, 0);
	if (index) {
		set_entry(fix, TABLE, index - 1, region(OTHER_REGION, 0, 0));
		events = start(fix, TABLE, index - 1, 4095);
	} else {
		set_entry(fix, OTHER_TABLE, 0, region(OTHER_REGION, 0, 0));
		set_entry(fix, OTHER_TABLE, 1, end_to(TABLE));
		events = start(fix, OTHER_TABLE, 0, 4095);
	}
	ck_assert_uint_eq(events, VPT_OUT_OK);
	return outfix_put(fix, 0, 1);
}

/* Both ways to an entry that is wrong: the error, and the cursor on the entry. */
static void expect_error(uint32_t ecx, unsigned int index, uint64_t entry,
			 enum vpt_output_error err)
{
	int filling;

	for (filling = 0; filling < 2; filling++) {
		struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, ecx);

		set_entry(fix, TABLE, index, entry);
		ck_assert_uint_eq(enter(fix, index, filling), VPT_OUT_ERROR);
		outfix_assert_cursor(fix, TABLE, ptrs(index, 0));
		outfix_assert_dead(fix, err);
		ck_assert(guestmem_intact(&fix->mem, REGION, 4096));
		ck_assert_uint_eq(fix->mem.committed.count, filling);
		outfix_free(fix);
	}
}

static void expect_fine(uint32_t ecx, unsigned int index, uint64_t entry)
{
	int filling;

	for (filling = 0; filling < 2; filling++) {
		struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, ecx);

		set_entry(fix, TABLE, index, entry);
		if (entry & END)
			set_entry(fix, entry & ~(uint64_t)0xfff, 0, region(REGION, 0, 0));
		ck_assert_uint_eq(enter(fix, index, filling), VPT_OUT_OK);
		ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_NONE);
		outfix_free(fix);
	}
}

/* The bits of an entry that table 33-3 has no use for. */
static const unsigned int reserved_bits[] = {1, 3, 5, 10, 11};

START_TEST(reserved_bit)
{
	uint64_t bit = 1u << reserved_bits[_i];

	expect_error(OUTFIX_MANY_ENTRIES, 0, region(REGION, 0, 0) | bit,
		     VPT_OUT_ERR_ENTRY_RESERVED);
	expect_error(OUTFIX_MANY_ENTRIES, 3, region(REGION, 0, 0) | bit,
		     VPT_OUT_ERR_ENTRY_RESERVED);
	expect_error(OUTFIX_MANY_ENTRIES, 3, end_to(OTHER_TABLE) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	expect_error(OUTFIX_ONE_ENTRY, 1, end_to(TABLE) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	TEST_PROVES("TOPA-RESERVED TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: an address bit at or above MAXPHYADDR. */
START_TEST(address_width)
{
	enum vpt_output_error err = VPT_OUT_ERR_ADDRESS_WIDTH;
	uint64_t bit = 1ull << _i;

	expect_error(OUTFIX_MANY_ENTRIES, 0, region(REGION | bit, 0, 0), err);
	expect_error(OUTFIX_MANY_ENTRIES, 2, region(REGION | bit, 0, 0), err);
	expect_error(OUTFIX_MANY_ENTRIES, 2, end_to(OTHER_TABLE | bit), err);
	TEST_PROVES("TOPA-MAXPHYADDR TOPA-ERROR-CURSOR");
}
END_TEST

/* Bits below MAXPHYADDR are part of the address. */
START_TEST(address_below_width)
{
	uint64_t bit = 1ull << _i;
	struct outfix *fix = new_fix(GUESTMEM_MAP_NONE, OUTFIX_MANY_ENTRIES);

	guestmem_ram(&fix->mem, bit, 16);
	set_entry(fix, TABLE, 0, region(bit, 0, 0));
	ck_assert_uint_eq(start(fix, TABLE, 0, 0), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert(outfix_holds(fix, bit, 0, 16));
	outfix_free(fix);
	TEST_PROVES("TOPA-MAXPHYADDR TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: Size. Each address bit below the size, and the first that is above. */
START_TEST(region_alignment)
{
	unsigned int size = (unsigned int)_i, bit;

	for (bit = 12; bit < 12 + size; bit++)
		expect_error(OUTFIX_MANY_ENTRIES, 1, region(1ull << bit, size, 0),
			     VPT_OUT_ERR_REGION_UNALIGNED);
	expect_fine(OUTFIX_MANY_ENTRIES, 1, region(1ull << (12 + size), size, 0));
	TEST_PROVES("TOPA-REGION-ALIGN TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: Size, its number of bytes, and what an offset is checked against. */
START_TEST(region_size)
{
	uint64_t size = 4096ull << _i, base = 1u << 30, next = 1u << 29;
	struct outfix *fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	guestmem_ram(&fix->mem, TABLE, 0x1000);
	guestmem_ram(&fix->mem, base + size - 1, 1);
	guestmem_ram(&fix->mem, next, 1);
	set_entry(fix, TABLE, 4, region(base, (unsigned int)_i, 0));
	set_entry(fix, TABLE, 5, region(next, 0, 0));

	ck_assert_uint_eq(start(fix, TABLE, 4, size), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(4, size));
	outfix_assert_dead(fix, VPT_OUT_ERR_OFFSET_PAST_REGION);
	ck_assert_uint_eq(start(fix, TABLE, 4, 0xffffffffu), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_OFFSET_PAST_REGION);

	ck_assert_uint_eq(start(fix, TABLE, 4, size - 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(4, size - 1));
	ck_assert_uint_eq(outfix_put(fix, 0, 2), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(5, 1));
	ck_assert(outfix_holds(fix, base + size - 1, 0, 1));
	ck_assert(outfix_holds(fix, next, 1, 1));
	outfix_free(fix);
	TEST_PROVES("TOPA-SIZE TOPA-OFFSET TOPA-ADVANCE");
}
END_TEST

/* Row: a bit of the base. A WRMSR sets none below bit 7, and they are refused all the same. */
START_TEST(table_alignment)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
	uint64_t base = TABLE | 1u << _i;

	set_entry(fix, base, 0, region(REGION, 0, 0));
	if (_i >= 12) {
		ck_assert_uint_eq(start(fix, base, 0, 7), VPT_OUT_OK);
	} else {
		ck_assert_uint_eq(start(fix, base, 0, 7), VPT_OUT_ERROR);
		outfix_assert_dead(fix, VPT_OUT_ERR_TABLE_UNALIGNED);
		ck_assert_uint_eq(fix->mem.reads.count, 0);
	}
	outfix_assert_cursor(fix, base, ptrs(0, 7));
	outfix_free(fix);
	TEST_PROVES("TOPA-TABLE-ALIGN");
}
END_TEST

START_TEST(end_errors)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_ONE_ENTRY);

	expect_error(OUTFIX_MANY_ENTRIES, 0, end_to(OTHER_TABLE), VPT_OUT_ERR_END_FIRST);
	expect_error(OUTFIX_MANY_ENTRIES, 1, end_to(OTHER_TABLE) | STOP,
		     VPT_OUT_ERR_END_WITH_STOP_INT);
	expect_error(OUTFIX_MANY_ENTRIES, 1, end_to(OTHER_TABLE) | INT,
		     VPT_OUT_ERR_END_WITH_STOP_INT);
	expect_error(OUTFIX_ONE_ENTRY, 1, end_to(TABLE) | INT, VPT_OUT_ERR_END_WITH_STOP_INT);
	expect_fine(OUTFIX_MANY_ENTRIES, 1, end_to(OTHER_TABLE));

	set_entry(fix, TABLE, 0, end_to(TABLE));
	ck_assert_uint_eq(start(fix, TABLE, 0, 0), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_END_FIRST);
	outfix_free(fix);
	TEST_PROVES("TOPA-END-FIRST TOPA-END-STOPINT TOPA-ERROR-CURSOR");
}
END_TEST

START_TEST(one_entry_errors)
{
	expect_error(OUTFIX_ONE_ENTRY, 1, region(REGION, 0, 0), VPT_OUT_ERR_SINGLE_NO_END);
	expect_error(OUTFIX_ONE_ENTRY, 1, end_to(OTHER_TABLE), VPT_OUT_ERR_SINGLE_END_BASE);
	expect_error(OUTFIX_ONE_ENTRY, 1, end_to(0), VPT_OUT_ERR_SINGLE_END_BASE);
	expect_fine(OUTFIX_ONE_ENTRY, 1, end_to(TABLE));
	expect_fine(OUTFIX_MANY_ENTRIES, 1, region(REGION, 0, 0));
	TEST_PROVES("TOPA-SINGLE-NOEND TOPA-SINGLE-BASE TOPA-ERROR-CURSOR");
}
END_TEST

/* An index that only a WRMSR can give is no way to a second region either. */
START_TEST(one_entry_high_index)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_ONE_ENTRY);

	set_entry(fix, TABLE, 2, region(REGION, 0, 0));
	ck_assert_uint_eq(start(fix, TABLE, 2, 0), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_SINGLE_NO_END);
	outfix_free(fix);
	TEST_PROVES("TOPA-SINGLE-NOEND");
}
END_TEST

/* Entries with several errors, and the one that is reported. */
static const struct {
	uint32_t ecx;
	unsigned int index;
	uint64_t entry;
	enum vpt_output_error err;
} several[] = {
	{OUTFIX_MANY_ENTRIES, 0, 1ull << 60 | 0xc2a | END | STOP, VPT_OUT_ERR_ENTRY_RESERVED},
	{OUTFIX_MANY_ENTRIES, 0, 1ull << 60 | END | STOP, VPT_OUT_ERR_ADDRESS_WIDTH},
	{OUTFIX_MANY_ENTRIES, 0, END | STOP, VPT_OUT_ERR_END_FIRST},
	{OUTFIX_ONE_ENTRY, 1, END | STOP, VPT_OUT_ERR_END_WITH_STOP_INT},
	{OUTFIX_ONE_ENTRY, 1, END, VPT_OUT_ERR_SINGLE_END_BASE},
	{OUTFIX_ONE_ENTRY, 1, 1ull << 39 | 0x1000 | 15 << 6, VPT_OUT_ERR_ADDRESS_WIDTH},
	{OUTFIX_ONE_ENTRY, 1, 0x1000 | 15 << 6, VPT_OUT_ERR_SINGLE_NO_END},
};

START_TEST(first_error_wins)
{
	expect_error(several[_i].ecx, several[_i].index, several[_i].entry, several[_i].err);
	TEST_PROVES("TOPA-RESERVED TOPA-MAXPHYADDR TOPA-END-FIRST TOPA-END-STOPINT "
		    "TOPA-SINGLE-BASE TOPA-SINGLE-NOEND");
}
END_TEST

/* Errors of the entry come before the offset that the MSR brought along. */
START_TEST(offset_error_comes_last)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 0, region(0x1000, 1, 0));
	ck_assert_uint_eq(start(fix, TABLE, 0, 99999), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 99999));
	outfix_assert_dead(fix, VPT_OUT_ERR_REGION_UNALIGNED);
	outfix_free(fix);
	TEST_PROVES("TOPA-OFFSET TOPA-ERROR-CURSOR");
}
END_TEST

/* Where a table can be that is not there: base, index, and the cursor then. */
static const struct {
	uint64_t base;
	unsigned int index;
} absent[] = {
	{0, 0},
	{TABLE, 0x2000 / 8},
	{TABLE, (1u << 25) - 1},
	{1ull << OUTFIX_WIDTH, 0},
	{(1ull << OUTFIX_WIDTH) - 4096, 512},
	{0xfffffffffffff000u, 512 + TABLE / 8},
	{0xfffffffffffff000u, 0},
};

START_TEST(table_not_there)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	/* Memory where nobody may look: beyond the width, and where sums wrap to. */
	guestmem_ram(&fix->mem, 1ull << OUTFIX_WIDTH, 4096);
	guestmem_ram(&fix->mem, 0xfffffffffffff000u, 4096);
	set_entry(fix, TABLE, 0, region(REGION, 0, 0));
	set_entry(fix, 1ull << OUTFIX_WIDTH, 0, region(REGION, 0, 0));
	set_entry(fix, 0xfffffffffffff000u, 0, region(REGION, 0, 0));
	ck_assert_uint_eq(start(fix, absent[_i].base, absent[_i].index, 5), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, absent[_i].base, ptrs(absent[_i].index, 5));
	outfix_assert_dead(fix, VPT_OUT_ERR_TABLE_REFUSED);
	outfix_free(fix);
	TEST_PROVES("TOPA-TABLE-MEMORY");
}
END_TEST

/* The next table is not there, or the table ends with the page's last entry. */
START_TEST(table_runs_out)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 1, end_to(0x77000));
	ck_assert_uint_eq(enter(fix, 1, true), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, 0x77000, ptrs(0, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_TABLE_REFUSED);

	ck_assert_uint_eq(enter(fix, 0x2000 / 8, true), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(0x2000 / 8, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_TABLE_REFUSED);
	outfix_free(fix);
	TEST_PROVES("TOPA-TABLE-MEMORY TOPA-ERROR-CURSOR");
}
END_TEST

/* A table may be in memory that can only be read; a region may not. */
START_TEST(read_only_memory)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);

	guestmem_rom(&fix->mem, 0x90000, 4096);
	set_entry(fix, 0x90000, 0, region(REGION, 0, 0));
	set_entry(fix, 0x90000, 1, region(0x90000, 0, 0));
	ck_assert_uint_eq(start(fix, 0x90000, 0, 4090), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, 0x90000, ptrs(1, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_REGION_REFUSED);
	ck_assert(outfix_holds(fix, REGION + 4090, 0, 6));
	ck_assert(guestmem_intact(&fix->mem, 0x90010, 4080));
	ck_assert_uint_eq(fix->mem.committed.count, 6);
	outfix_free(fix);
	TEST_PROVES("TOPA-TABLE-MEMORY OUT-REGION-MEMORY");
}
END_TEST

/* Row: how memory is mapped. A hole in a region's middle. */
START_TEST(hole_in_region)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);

	guestmem_ram(&fix->mem, 0x80000, 4096);
	guestmem_ram(&fix->mem, 0x82000, 8192);
	set_entry(fix, TABLE, 0, region(0x80000, 2, 0));
	ck_assert_uint_eq(start(fix, TABLE, 0, 4000), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 200), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 4096));
	outfix_assert_dead(fix, VPT_OUT_ERR_REGION_REFUSED);
	ck_assert(outfix_holds(fix, 0x80000 + 4000, 0, 96));
	ck_assert(guestmem_intact(&fix->mem, 0x82000, 8192));
	outfix_free(fix);
	TEST_PROVES("OUT-REGION-MEMORY");
}
END_TEST

/* Row: how memory is mapped. One put over two tables, three regions, an END. */
START_TEST(unified_buffer)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	size_t i;

	guestmem_ram(&fix->mem, 0x90000, 8192);
	set_entry(fix, TABLE, 6, region(REGION, 0, 0));
	set_entry(fix, TABLE, 7, region(OTHER_REGION, 0, 0));
	set_entry(fix, TABLE, 8, end_to(OTHER_TABLE));
	set_entry(fix, OTHER_TABLE, 0, region(0x90000, 1, 0));
	ck_assert_uint_eq(start(fix, TABLE, 6, 4096 - 10), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 10 + 4096 + 20), VPT_OUT_OK);
	outfix_assert_cursor(fix, OTHER_TABLE, ptrs(0, 20));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, REGION + 4096 - 10, 0, 10));
	ck_assert(outfix_holds(fix, OTHER_REGION, 10, 4096));
	ck_assert(outfix_holds(fix, 0x90000, 10 + 4096, 20));
	ck_assert(guestmem_intact(&fix->mem, REGION - 4096, 2 * 4096 - 10));
	ck_assert(guestmem_intact(&fix->mem, REGION + 4096, 4096));
	ck_assert(guestmem_intact(&fix->mem, OTHER_REGION - 4096, 4096));
	ck_assert(guestmem_intact(&fix->mem, OTHER_REGION + 4096, 4096));
	ck_assert(guestmem_intact(&fix->mem, 0x90000 + 20, 8192 - 20));
	ck_assert_uint_eq(fix->mem.committed.count, 10 + 4096 + 20);
	for (i = 0; i < 4096; i++)
		ck_assert_uint_eq(fix->mem.committed.gpa[10 + i], OTHER_REGION + i);
	outfix_free(fix);
	TEST_PROVES("TOPA-ADVANCE TOPA-END OUT-FILL-EAGER OUT-CURSOR-EXACT");
}
END_TEST

/* Row: Size of the END entry. */
START_TEST(end_size_is_ignored)
{
	expect_fine(OUTFIX_MANY_ENTRIES, 1, end_to(OTHER_TABLE) | (uint64_t)_i << 6);
	expect_fine(OUTFIX_ONE_ENTRY, 1, end_to(TABLE) | (uint64_t)_i << 6);
	TEST_PROVES("TOPA-END-SIZE");
}
END_TEST

/* A start on an END entry follows it; the offset in the MSR means nothing then. */
START_TEST(start_on_end)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 1, end_to(OTHER_TABLE));
	set_entry(fix, OTHER_TABLE, 0, region(REGION, 0, 0));
	ck_assert_uint_eq(start(fix, TABLE, 1, 0xfffff), VPT_OUT_OK);
	outfix_assert_cursor(fix, OTHER_TABLE, ptrs(0, 0));
	outfix_free(fix);
	TEST_PROVES("TOPA-END TOPA-CURSOR-LOAD");
}
END_TEST

/* The cursor is the MSRs' alone: all bits of the index, none of the lower mask. */
START_TEST(start_loads_cursor)
{
	struct outfix *fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
	uint32_t index = 0x1555555;
	uint64_t at = TABLE + 8ull * index;

	guestmem_ram(&fix->mem, at, 8);
	guestmem_ram(&fix->mem, REGION, 4096);
	guestmem_poke64(&fix->mem, at, region(REGION, 0, 0));
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA, TABLE, outfix_ptrs(1000, index << 7)), 0);
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(fix->mem.reads.gpa[0], at);
	outfix_assert_cursor(fix, TABLE, ptrs(index, 1000));
	outfix_put(fix, 0, 16);
	ck_assert(outfix_holds(fix, REGION + 1000, 0, 16));
	outfix_assert_cursor(fix, TABLE, ptrs(index, 1016));
	outfix_free(fix);
	TEST_PROVES("TOPA-CURSOR-LOAD OUT-CURSOR-EXACT");
}
END_TEST

/* The longest table wraps, whatever entry 0 is the second time. */
START_TEST(longest_table)
{
	struct outfix *fix = outfix_new(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
	uint64_t table = 0x20000000, last = table + 0x0ffffff8;

	guestmem_ram(&fix->mem, table, 8);
	guestmem_ram(&fix->mem, last, 8);
	guestmem_ram(&fix->mem, REGION, 4096);
	guestmem_ram(&fix->mem, OTHER_REGION, 4096);
	guestmem_poke64(&fix->mem, table, region(OTHER_REGION, 0, 0));
	guestmem_poke64(&fix->mem, last, region(REGION, 0, 0));
	ck_assert_uint_eq(start(fix, table, 0x1ffffff, 4094), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, table, ptrs(0x1ffffff, 4095));
	ck_assert_uint_eq(outfix_put(fix, 1, 3), VPT_OUT_OK);
	outfix_assert_cursor(fix, table, ptrs(0, 2));
	ck_assert(outfix_holds(fix, OTHER_REGION, 2, 2));

	guestmem_poke64(&fix->mem, table, end_to(table));
	ck_assert_uint_eq(start(fix, table, 0x1ffffff, 4095), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, table, ptrs(0, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_END_FIRST);
	outfix_free(fix);
	TEST_PROVES("TOPA-TABLE-WRAP");
}
END_TEST

/* What filling a region with these flags leads to, and where the cursor is. */
static const struct {
	uint32_t ecx;
	unsigned int flags, events;
	bool stays;
} filled[] = {
	{OUTFIX_MANY_ENTRIES, 0, VPT_OUT_OK, false},
	{OUTFIX_MANY_ENTRIES, INT, VPT_OUT_INT, false},
	{OUTFIX_MANY_ENTRIES, STOP, VPT_OUT_STOP, true},
	{OUTFIX_MANY_ENTRIES, STOP | INT, VPT_OUT_STOP | VPT_OUT_INT, true},
	{OUTFIX_ONE_ENTRY, 0, VPT_OUT_OK, false},
	{OUTFIX_ONE_ENTRY, STOP, VPT_OUT_STOP, true},
};

START_TEST(region_filled)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, filled[_i].ecx);
	size_t before, len;

	set_entry(fix, TABLE, 0, region(REGION, 0, filled[_i].flags));
	set_entry(fix, TABLE, 1, end_to(TABLE));
	for (before = 1; before <= 16; before++) {
		for (len = before; len <= 16; len++) {
			uint64_t rest = len - before;

			ck_assert_uint_eq(start(fix, TABLE, 0, 4096 - before), VPT_OUT_OK);
			ck_assert_uint_eq(outfix_put(fix, len, before - 1), VPT_OUT_OK);
			ck_assert_uint_eq(start(fix, TABLE, 0, 4096 - before), VPT_OUT_OK);
			ck_assert_uint_eq(outfix_put(fix, len, len), filled[_i].events);
			ck_assert(outfix_holds(fix, REGION + 4096 - before, len, before));
			ck_assert_int_eq(fix->out.stopped, filled[_i].stays);
			if (filled[_i].stays) {
				outfix_assert_cursor(fix, TABLE, ptrs(0, 4096));
				outfix_assert_dead(fix, VPT_OUT_ERR_NONE);
			} else {
				outfix_assert_cursor(fix, TABLE, ptrs(0, rest));
				ck_assert(outfix_holds(fix, REGION, len + before, rest));
			}
		}
	}
	/* What STOP left behind is an error if nobody repairs it. */
	ck_assert_uint_eq(start(fix, TABLE, 0, 4096), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_OFFSET_PAST_REGION);
	outfix_free(fix);
	TEST_PROVES("TOPA-STOP TOPA-INT OUT-FILL-EAGER");
}
END_TEST

/* Every pass over an INT region, however short the way, and none between. */
START_TEST(int_on_each_pass)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	size_t n;

	set_entry(fix, TABLE, 0, region(REGION, 0, INT));
	set_entry(fix, TABLE, 1, region(OTHER_REGION, 0, 0));
	set_entry(fix, TABLE, 2, end_to(TABLE));
	ck_assert_uint_eq(start(fix, TABLE, 0, 0), VPT_OUT_OK);
	for (n = 16; n <= 10 * 4096; n += 16)
		ck_assert_uint_eq(outfix_put(fix, n, 16),
				  n % 8192 == 4096 ? VPT_OUT_INT : VPT_OUT_OK);
	outfix_free(fix);
	TEST_PROVES("TOPA-INT TOPA-END");
}
END_TEST

/* INT is owed for a region that was filled even if the next entry is an error. */
START_TEST(int_and_error)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 0, region(REGION, 0, INT));
	set_entry(fix, TABLE, 1, 2);
	ck_assert_uint_eq(start(fix, TABLE, 0, 4000), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 96), VPT_OUT_INT | VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(1, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_ENTRY_RESERVED);
	outfix_free(fix);
	TEST_PROVES("TOPA-INT TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: how memory is mapped. The early PMI of a processor with one region. */
START_TEST(one_entry_int)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_ONE_ENTRY);
	uint64_t due = 4096 - VPT_TOPA_PMI_MARGIN;
	size_t n;

	set_entry(fix, TABLE, 0, region(REGION, 0, INT));
	set_entry(fix, TABLE, 1, end_to(TABLE));
	/* Byte by byte over three passes. */
	ck_assert_uint_eq(start(fix, TABLE, 0, 0), VPT_OUT_OK);
	for (n = 1; n <= 3 * 4096; n++)
		ck_assert_uint_eq(outfix_put(fix, n, 1),
				  n % 4096 == due ? VPT_OUT_INT : VPT_OUT_OK);
	/* A put that crosses the point, and one that crosses it and the end. */
	ck_assert_uint_eq(start(fix, TABLE, 0, due - 5), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_INT);
	outfix_assert_cursor(fix, TABLE, ptrs(0, due + 11));
	ck_assert_uint_eq(outfix_put(fix, 16, 1000), VPT_OUT_OK);
	ck_assert_uint_eq(start(fix, TABLE, 0, due - 1), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 700), VPT_OUT_INT);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 699 - VPT_TOPA_PMI_MARGIN));
	outfix_free(fix);
	TEST_PROVES("TOPA-SINGLE-PMI");
}
END_TEST

/* A start inside the margin: the INT comes at once, and only once in the pass. */
START_TEST(one_entry_int_at_start)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_ONE_ENTRY);
	uint64_t due = 4096 - VPT_TOPA_PMI_MARGIN;

	set_entry(fix, TABLE, 0, region(REGION, 0, INT | STOP));
	set_entry(fix, TABLE, 1, end_to(TABLE));
	ck_assert_uint_eq(start(fix, TABLE, 0, due - 1), VPT_OUT_OK);
	ck_assert_uint_eq(start(fix, TABLE, 0, due), VPT_OUT_INT);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert_uint_eq(start(fix, TABLE, 0, 4095), VPT_OUT_INT);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_STOP);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 4096));
	/* Without the bit there is nothing to report. */
	set_entry(fix, TABLE, 0, region(REGION, 0, 0));
	ck_assert_uint_eq(start(fix, TABLE, 0, 4095), VPT_OUT_OK);
	outfix_free(fix);
	TEST_PROVES("TOPA-SINGLE-PMI");
}
END_TEST

/* With several entries a start near the end is no reason for an INT. */
START_TEST(no_early_int_with_many_entries)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 0, region(REGION, 0, INT));
	set_entry(fix, TABLE, 1, end_to(TABLE));
	ck_assert_uint_eq(start(fix, TABLE, 0, 4095 - 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_INT);
	outfix_free(fix);
	TEST_PROVES("TOPA-INT TOPA-SINGLE-PMI");
}
END_TEST

/* What a driver does between two runs: the entries of the last are forgotten. */
START_TEST(table_changed_between_runs)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 0, region(REGION, 0, STOP | INT));
	set_entry(fix, TABLE, 1, end_to(TABLE));
	start(fix, TABLE, 0, 4090);
	outfix_put(fix, 0, 3);
	vpt_output_sync(&fix->out, &fix->rtit);
	vpt_output_end(&fix->out);
	ck_assert_uint_eq(fix->rtit.output_mask_ptrs, ptrs(0, 4093));

	set_entry(fix, TABLE, 0, region(OTHER_REGION, 0, 0));
	ck_assert_uint_eq(vpt_output_start(&fix->out, &fix->rtit), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 3, 5), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 2));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, REGION + 4090, 0, 3));
	ck_assert(guestmem_intact(&fix->mem, REGION + 4093, 3));
	ck_assert(outfix_holds(fix, OTHER_REGION + 4093, 3, 3));
	ck_assert(outfix_holds(fix, OTHER_REGION, 6, 2));
	outfix_free(fix);
	TEST_PROVES("TOPA-CURSOR-LOAD");
}
END_TEST

/* Row: how memory is mapped. Each entry is read when it is reached, once. */
START_TEST(table_changed_under_way)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);

	set_entry(fix, TABLE, 0, region(REGION, 0, 0));
	set_entry(fix, TABLE, 1, 2);
	start(fix, TABLE, 0, 4000);
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	/* The current entry is past, the next one is still to come. */
	set_entry(fix, TABLE, 0, region(OTHER_REGION, 0, STOP));
	ck_assert_uint_eq(outfix_put(fix, 0, 90), VPT_OUT_OK);
	set_entry(fix, TABLE, 1, region(OTHER_REGION, 0, 0));
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(outfix_put(fix, 90, 6), VPT_OUT_OK);
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	set_entry(fix, TABLE, 1, 2);
	ck_assert_uint_eq(outfix_put(fix, 96, 4), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(1, 4));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, REGION + 4000, 0, 96));
	ck_assert(outfix_holds(fix, OTHER_REGION, 96, 4));
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	ck_assert_uint_eq(fix->mem.reads.gpa[0], TABLE);
	ck_assert_uint_eq(fix->mem.reads.gpa[1], TABLE + 8);
	outfix_free(fix);
	TEST_PROVES("TOPA-FETCH");
}
END_TEST

/* A guest that has an entry change with every read. */
static void flip_entry(struct guestmem *mem, uint64_t gpa)
{
	uint64_t entry = mem->reads.count % 2 ? region(REGION, 0, 0) : region(0x1000, 15, STOP);

	guestmem_poke64(mem, gpa, entry);
}

START_TEST(entry_is_judged_from_one_read)
{
	struct outfix *fix = new_fix(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);

	fix->mem.on_read = flip_entry;
	ck_assert_uint_eq(start(fix, TABLE, 0, 0), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 4095), VPT_OUT_OK);
	ck_assert(outfix_holds(fix, REGION, 0, 4095));
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_ERROR);
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	outfix_assert_dead(fix, VPT_OUT_ERR_REGION_UNALIGNED);
	outfix_free(fix);
	TEST_PROVES("TOPA-FETCH");
}
END_TEST

/*
 * Row: how memory is mapped. A region that covers its own table: the trace writes
 * the entries that it then follows.
 */
START_TEST(table_inside_region)
{
	struct outfix *fix = new_fix((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	uint8_t raw[16];

	set_entry(fix, TABLE, 511, region(TABLE, 0, 0));
	guestmem_ram(&fix->mem, TABLE + 0x2000, 4096);
	vpt_memset(raw, 0, sizeof(raw));
	raw[1] = 0x90; /* OTHER_REGION + 0x1000, then a reserved bit */
	raw[2] = 0x04;
	raw[8] = 2;
	set_entry(fix, TABLE, 510, region(TABLE + 0x1000, 0, 0));
	ck_assert_uint_eq(start(fix, TABLE, 510, 0), VPT_OUT_OK);
	ck_assert_uint_eq(vpt_output_put(&fix->out, raw, 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 4080), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(511, 0));
	ck_assert_uint_eq(outfix_put(fix, 0, 4096), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(512, 0));
	ck_assert_uint_eq(outfix_put(fix, 0, 4096), VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(513, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_ENTRY_RESERVED);
	ck_assert(outfix_holds(fix, OTHER_REGION + 0x1000, 0, 4096));
	ck_assert(outfix_holds(fix, TABLE, 0, 4096));
	outfix_free(fix);
	TEST_PROVES("TOPA-FETCH TOPA-ADVANCE");
}
END_TEST

static void add_error_tests(Suite *suite)
{
	TCase *tc = tcase_create("errors");

	tcase_add_loop_test(tc, reserved_bit, 0, 5);
	tcase_add_loop_test(tc, address_width, OUTFIX_WIDTH, 64);
	tcase_add_loop_test(tc, address_below_width, 20, OUTFIX_WIDTH);
	tcase_add_loop_test(tc, region_alignment, 0, 16);
	tcase_add_loop_test(tc, table_alignment, 0, 13);
	tcase_add_test(tc, end_errors);
	tcase_add_test(tc, one_entry_errors);
	tcase_add_test(tc, one_entry_high_index);
	tcase_add_loop_test(tc, first_error_wins, 0, (int)(sizeof(several) / sizeof(several[0])));
	tcase_add_test(tc, offset_error_comes_last);
	tcase_add_loop_test(tc, table_not_there, 0, (int)(sizeof(absent) / sizeof(absent[0])));
	tcase_add_test(tc, table_runs_out);
	tcase_add_loop_test(tc, read_only_memory, 0, GUESTMEM_MAP_MODES);
	tcase_add_loop_test(tc, hole_in_region, 0, GUESTMEM_MAP_MODES);
	suite_add_tcase(suite, tc);
}

static void add_walk_tests(Suite *suite)
{
	TCase *tc = tcase_create("walk");

	tcase_add_loop_test(tc, region_size, 0, 16);
	tcase_add_loop_test(tc, unified_buffer, 0, GUESTMEM_MAP_MODES);
	tcase_add_loop_test(tc, end_size_is_ignored, 0, 16);
	tcase_add_test(tc, start_on_end);
	tcase_add_test(tc, start_loads_cursor);
	tcase_add_test(tc, longest_table);
	tcase_add_test(tc, table_changed_between_runs);
	tcase_add_loop_test(tc, table_changed_under_way, 0, GUESTMEM_MAP_MODES);
	tcase_add_test(tc, entry_is_judged_from_one_read);
	tcase_add_loop_test(tc, table_inside_region, 0, GUESTMEM_MAP_MODES);
	suite_add_tcase(suite, tc);
}

static void add_event_tests(Suite *suite)
{
	TCase *tc = tcase_create("events");

	tcase_add_loop_test(tc, region_filled, 0, (int)(sizeof(filled) / sizeof(filled[0])));
	tcase_add_loop_test(tc, int_on_each_pass, 0, GUESTMEM_MAP_MODES);
	tcase_add_test(tc, int_and_error);
	tcase_add_loop_test(tc, one_entry_int, 0, GUESTMEM_MAP_MODES);
	tcase_add_test(tc, one_entry_int_at_start);
	tcase_add_test(tc, no_early_int_with_many_entries);
	suite_add_tcase(suite, tc);
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("output_topa");

	add_error_tests(suite);
	add_walk_tests(suite);
	add_event_tests(suite);
	return suite;
}
