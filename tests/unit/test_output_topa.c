// SPDX-License-Identifier: GPL-2.0-or-later
/* ToPA output (33.2.7.2): the walk through the tables, its events and its errors. */
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

static struct outfix *fix;

static void set_entry(uint64_t table, unsigned int index, uint64_t entry)
{
	guestmem_poke64(&fix->mem, table + 8 * index, entry);
}

/* Set entries 0 and 1 of TABLE. */
static void set_entries(uint64_t first, uint64_t second)
{
	set_entry(TABLE, 0, first);
	set_entry(TABLE, 1, second);
}

/* Make the output. Two pages are for tables. Around each of two regions of a page there is RAM. */
static void make(enum guestmem_map map, uint32_t ecx)
{
	fix = outfix_new(map, ecx);
	guestmem_ram(&fix->mem, TABLE, 0x2000);
	guestmem_ram(&fix->mem, REGION - 0x1000, 0x3000);
	guestmem_ram(&fix->mem, OTHER_REGION - 0x1000, 0x3000);
}

static void setup(void)
{
	make(GUESTMEM_MAP_WHOLE, OUTFIX_MANY_ENTRIES);
}

static void teardown(void)
{
	outfix_free(fix);
}

/* Replace the output of setup(). */
static void remake(enum guestmem_map map, uint32_t ecx)
{
	teardown();
	make(map, ecx);
}

static uint64_t ptrs(unsigned int index, uint64_t offset)
{
	return outfix_ptrs(offset, index << 7 | 0x7f);
}

static unsigned int start(uint64_t table, unsigned int index, uint64_t offset)
{
	return outfix_start(fix, OUTFIX_TOPA, table, ptrs(index, offset));
}

/*
 * Move the cursor to an entry of TABLE. Start there, or fill the region of the entry before it. The
 * entry before entry 0 is in OTHER_TABLE, which ends with an END entry that points to TABLE.
 */
static unsigned int enter(unsigned int index, bool filling)
{
	unsigned int events;

	if (!filling)
		return start(TABLE, index, 0);
	if (index) {
		set_entry(TABLE, index - 1, region(OTHER_REGION, 0, 0));
		events = start(TABLE, index - 1, 4095);
	} else {
		set_entry(OTHER_TABLE, 0, region(OTHER_REGION, 0, 0));
		set_entry(OTHER_TABLE, 1, end_to(TABLE));
		events = start(OTHER_TABLE, 0, 4095);
	}
	ck_assert_uint_eq(events, VPT_OUT_OK);
	return outfix_put(fix, 0, 1);
}

/* Move the cursor to an entry in both ways. Check the error (or none), and that it stays there. */
static void expect(uint32_t ecx, unsigned int index, uint64_t entry, enum vpt_output_error err)
{
	int filling;

	for (filling = 0; filling < 2; filling++) {
		remake(GUESTMEM_MAP_WHOLE, ecx);
		set_entry(TABLE, index, entry);
		if (!err) {
			if (entry & END)
				set_entry(entry & ~(uint64_t)0xfff, 0, region(REGION, 0, 0));
			ck_assert_uint_eq(enter(index, filling), VPT_OUT_OK);
			ck_assert_int_eq(fix->out.why, VPT_OUT_ERR_NONE);
			continue;
		}
		outfix_assert_error(fix, enter(index, filling), err, TABLE, ptrs(index, 0));
		ck_assert(guestmem_intact(&fix->mem, REGION, 4096));
		ck_assert_uint_eq(fix->mem.committed.count, filling);
	}
}

/* Reserved bits of an entry (table 33-3). */
static const unsigned int reserved_bits[] = {1, 3, 5, 10, 11};

START_TEST(reserved_bit)
{
	uint64_t bit = 1u << reserved_bits[_i];

	expect(OUTFIX_MANY_ENTRIES, 0, region(REGION, 0, 0) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	expect(OUTFIX_MANY_ENTRIES, 3, region(REGION, 0, 0) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	expect(OUTFIX_MANY_ENTRIES, 3, end_to(OTHER_TABLE) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	expect(OUTFIX_ONE_ENTRY, 1, end_to(TABLE) | bit, VPT_OUT_ERR_ENTRY_RESERVED);
	TEST_PROVES("TOPA-RESERVED TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: an address bit at or above MAXPHYADDR, which is reserved. */
START_TEST(address_width)
{
	enum vpt_output_error err = VPT_OUT_ERR_ADDRESS_WIDTH;
	uint64_t bit = 1ull << _i;

	expect(OUTFIX_MANY_ENTRIES, 0, region(REGION | bit, 0, 0), err);
	expect(OUTFIX_MANY_ENTRIES, 2, region(REGION | bit, 0, 0), err);
	expect(OUTFIX_MANY_ENTRIES, 2, end_to(OTHER_TABLE | bit), err);
	TEST_PROVES("TOPA-MAXPHYADDR TOPA-ERROR-CURSOR");
}
END_TEST

/* Bits below MAXPHYADDR are part of the address. */
START_TEST(address_below_width)
{
	uint64_t bit = 1ull << _i;

	remake(GUESTMEM_MAP_NONE, OUTFIX_MANY_ENTRIES);
	guestmem_ram(&fix->mem, bit, 16);
	set_entry(TABLE, 0, region(bit, 0, 0));
	ck_assert_uint_eq(start(TABLE, 0, 0), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert(outfix_holds(fix, bit, 0, 16));
	TEST_PROVES("TOPA-MAXPHYADDR TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: Size. Set each address bit below the size, and then the first bit above. */
START_TEST(region_alignment)
{
	unsigned int size = (unsigned int)_i, bit;

	for (bit = 12; bit < 12 + size; bit++)
		expect(OUTFIX_MANY_ENTRIES, 1, region(1ull << bit, size, 0),
		       VPT_OUT_ERR_REGION_UNALIGNED);
	expect(OUTFIX_MANY_ENTRIES, 1, region(1ull << (12 + size), size, 0), VPT_OUT_ERR_NONE);
	TEST_PROVES("TOPA-REGION-ALIGN TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: Size. The offset must be below the number of bytes. */
START_TEST(region_size)
{
	uint64_t size = 4096ull << _i, base = 1u << 30, next = 1u << 29;

	guestmem_ram(&fix->mem, base + size - 1, 1);
	guestmem_ram(&fix->mem, next, 1);
	set_entry(TABLE, 4, region(base, (unsigned int)_i, 0));
	set_entry(TABLE, 5, region(next, 0, 0));

	outfix_assert_error(fix, start(TABLE, 4, size), VPT_OUT_ERR_OFFSET_PAST_REGION, TABLE,
			    ptrs(4, size));
	ck_assert_uint_eq(start(TABLE, 4, 0xffffffffu), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_OFFSET_PAST_REGION);

	ck_assert_uint_eq(start(TABLE, 4, size - 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(4, size - 1));
	ck_assert_uint_eq(outfix_put(fix, 0, 2), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(5, 1));
	ck_assert(outfix_holds(fix, base + size - 1, 0, 1));
	ck_assert(outfix_holds(fix, next, 1, 1));
	TEST_PROVES("TOPA-SIZE TOPA-OFFSET TOPA-ADVANCE");
}
END_TEST

/* Row: a bit of the base. WRMSR cannot set bits below 7; the output refuses them anyway. */
START_TEST(table_alignment)
{
	uint64_t base = TABLE | 1u << _i;

	set_entry(base, 0, region(REGION, 0, 0));
	if (_i >= 12) {
		ck_assert_uint_eq(start(base, 0, 7), VPT_OUT_OK);
	} else {
		ck_assert_uint_eq(start(base, 0, 7), VPT_OUT_ERROR);
		outfix_assert_dead(fix, VPT_OUT_ERR_TABLE_UNALIGNED);
		ck_assert_uint_eq(fix->mem.reads.count, 0);
	}
	outfix_assert_cursor(fix, base, ptrs(0, 7));
	TEST_PROVES("TOPA-TABLE-ALIGN");
}
END_TEST

/* With one output entry, an index above 1 (which only WRMSR can set) selects no region either. */
START_TEST(one_entry_high_index)
{
	remake(GUESTMEM_MAP_WHOLE, OUTFIX_ONE_ENTRY);
	set_entry(TABLE, 0, end_to(TABLE));
	ck_assert_uint_eq(start(TABLE, 0, 0), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_END_FIRST);
	set_entry(TABLE, 2, region(REGION, 0, 0));
	ck_assert_uint_eq(start(TABLE, 2, 0), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_SINGLE_NO_END);
	TEST_PROVES("TOPA-END-FIRST TOPA-SINGLE-NOEND");
}
END_TEST

/* Entries with errors. If there are several errors, the first check of the manual's order wins. */
static const struct {
	uint32_t ecx;
	unsigned int index;
	uint64_t entry;
	enum vpt_output_error err;
} checks[] = {
	{OUTFIX_MANY_ENTRIES, 0, OTHER_TABLE | END, VPT_OUT_ERR_END_FIRST},
	{OUTFIX_MANY_ENTRIES, 1, OTHER_TABLE | END | STOP, VPT_OUT_ERR_END_WITH_STOP_INT},
	{OUTFIX_MANY_ENTRIES, 1, OTHER_TABLE | END | INT, VPT_OUT_ERR_END_WITH_STOP_INT},
	{OUTFIX_ONE_ENTRY, 1, TABLE | END | INT, VPT_OUT_ERR_END_WITH_STOP_INT},
	{OUTFIX_MANY_ENTRIES, 1, OTHER_TABLE | END, VPT_OUT_ERR_NONE},
	{OUTFIX_ONE_ENTRY, 1, REGION, VPT_OUT_ERR_SINGLE_NO_END},
	{OUTFIX_ONE_ENTRY, 1, OTHER_TABLE | END, VPT_OUT_ERR_SINGLE_END_BASE},
	{OUTFIX_ONE_ENTRY, 1, END, VPT_OUT_ERR_SINGLE_END_BASE},
	{OUTFIX_ONE_ENTRY, 1, TABLE | END, VPT_OUT_ERR_NONE},
	{OUTFIX_MANY_ENTRIES, 1, REGION, VPT_OUT_ERR_NONE},
	{OUTFIX_MANY_ENTRIES, 0, 1ull << 60 | 0xc2a | END | STOP, VPT_OUT_ERR_ENTRY_RESERVED},
	{OUTFIX_MANY_ENTRIES, 0, 1ull << 60 | END | STOP, VPT_OUT_ERR_ADDRESS_WIDTH},
	{OUTFIX_MANY_ENTRIES, 0, END | STOP, VPT_OUT_ERR_END_FIRST},
	{OUTFIX_ONE_ENTRY, 1, END | STOP, VPT_OUT_ERR_END_WITH_STOP_INT},
	{OUTFIX_ONE_ENTRY, 1, 1ull << 39 | 0x1000 | 15 << 6, VPT_OUT_ERR_ADDRESS_WIDTH},
	{OUTFIX_ONE_ENTRY, 1, 0x1000 | 15 << 6, VPT_OUT_ERR_SINGLE_NO_END},
};

START_TEST(entry_checks)
{
	expect(checks[_i].ecx, checks[_i].index, checks[_i].entry, checks[_i].err);
	TEST_PROVES("TOPA-RESERVED TOPA-MAXPHYADDR TOPA-END-FIRST TOPA-END-STOPINT "
		    "TOPA-SINGLE-BASE TOPA-SINGLE-NOEND TOPA-ERROR-CURSOR");
}
END_TEST

/* The entry is checked before the offset of the MSR. */
START_TEST(offset_error_comes_last)
{
	set_entry(TABLE, 0, region(0x1000, 1, 0));
	outfix_assert_error(fix, start(TABLE, 0, 99999), VPT_OUT_ERR_REGION_UNALIGNED, TABLE,
			    ptrs(0, 99999));
	TEST_PROVES("TOPA-OFFSET TOPA-ERROR-CURSOR");
}
END_TEST

/* Cursors that select an entry outside of readable memory. */
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

START_TEST(table_outside_memory)
{
	/* RAM beyond MAXPHYADDR and at a base from which the index wraps must not be read. */
	guestmem_ram(&fix->mem, 1ull << OUTFIX_WIDTH, 4096);
	guestmem_ram(&fix->mem, 0xfffffffffffff000u, 4096);
	set_entry(TABLE, 0, region(REGION, 0, 0));
	set_entry(1ull << OUTFIX_WIDTH, 0, region(REGION, 0, 0));
	set_entry(0xfffffffffffff000u, 0, region(REGION, 0, 0));
	outfix_assert_error(fix, start(absent[_i].base, absent[_i].index, 5),
			    VPT_OUT_ERR_TABLE_REFUSED, absent[_i].base, ptrs(absent[_i].index, 5));
	TEST_PROVES("TOPA-TABLE-MEMORY");
}
END_TEST

/* The END entry points outside of memory, or the table reaches the end of its memory. */
START_TEST(table_runs_out)
{
	set_entry(TABLE, 1, end_to(0x77000));
	outfix_assert_error(fix, enter(1, true), VPT_OUT_ERR_TABLE_REFUSED, 0x77000, ptrs(0, 0));

	outfix_assert_error(fix, enter(0x2000 / 8, true), VPT_OUT_ERR_TABLE_REFUSED, TABLE,
			    ptrs(0x2000 / 8, 0));
	TEST_PROVES("TOPA-TABLE-MEMORY TOPA-ERROR-CURSOR");
}
END_TEST

/* A table may be in read-only memory, but a region may not. */
START_TEST(read_only_memory)
{
	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	guestmem_rom(&fix->mem, 0x90000, 4096);
	set_entry(0x90000, 0, region(REGION, 0, 0));
	set_entry(0x90000, 1, region(0x90000, 0, 0));
	ck_assert_uint_eq(start(0x90000, 0, 4090), VPT_OUT_OK);
	outfix_assert_error(fix, outfix_put(fix, 0, 16), VPT_OUT_ERR_REGION_REFUSED, 0x90000,
			    ptrs(1, 0));
	ck_assert(outfix_holds(fix, REGION + 4090, 0, 6));
	ck_assert(guestmem_intact(&fix->mem, 0x90010, 4080));
	ck_assert_uint_eq(fix->mem.committed.count, 6);
	TEST_PROVES("TOPA-TABLE-MEMORY OUT-REGION-MEMORY");
}
END_TEST

/* Row: how memory is mapped. A hole in the middle of a region. */
START_TEST(hole_in_region)
{
	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	guestmem_ram(&fix->mem, 0x80000, 4096);
	guestmem_ram(&fix->mem, 0x82000, 8192);
	set_entry(TABLE, 0, region(0x80000, 2, 0));
	ck_assert_uint_eq(start(TABLE, 0, 4000), VPT_OUT_OK);
	outfix_assert_error(fix, outfix_put(fix, 0, 200), VPT_OUT_ERR_REGION_REFUSED, TABLE,
			    ptrs(0, 4096));
	ck_assert(outfix_holds(fix, 0x80000 + 4000, 0, 96));
	ck_assert(guestmem_intact(&fix->mem, 0x82000, 8192));
	TEST_PROVES("OUT-REGION-MEMORY");
}
END_TEST

/* Row: how memory is mapped. One put fills parts of three regions of two tables. */
START_TEST(unified_buffer)
{
	size_t i;

	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	guestmem_ram(&fix->mem, 0x90000, 8192);
	set_entry(TABLE, 6, region(REGION, 0, 0));
	set_entry(TABLE, 7, region(OTHER_REGION, 0, 0));
	set_entry(TABLE, 8, end_to(OTHER_TABLE));
	set_entry(OTHER_TABLE, 0, region(0x90000, 1, 0));
	ck_assert_uint_eq(start(TABLE, 6, 4096 - 10), VPT_OUT_OK);
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
	TEST_PROVES("TOPA-ADVANCE TOPA-END OUT-FILL-EAGER OUT-CURSOR-EXACT");
}
END_TEST

/* Row: Size of the END entry. */
START_TEST(end_size_is_ignored)
{
	expect(OUTFIX_MANY_ENTRIES, 1, end_to(OTHER_TABLE) | (uint64_t)_i << 6, VPT_OUT_ERR_NONE);
	expect(OUTFIX_ONE_ENTRY, 1, end_to(TABLE) | (uint64_t)_i << 6, VPT_OUT_ERR_NONE);
	TEST_PROVES("TOPA-END-SIZE");
}
END_TEST

/* A start on an END entry follows the entry and ignores the offset of the MSR. */
START_TEST(start_on_end)
{
	set_entry(TABLE, 1, end_to(OTHER_TABLE));
	set_entry(OTHER_TABLE, 0, region(REGION, 0, 0));
	ck_assert_uint_eq(start(TABLE, 1, 0xfffff), VPT_OUT_OK);
	outfix_assert_cursor(fix, OTHER_TABLE, ptrs(0, 0));
	TEST_PROVES("TOPA-END TOPA-CURSOR-LOAD");
}
END_TEST

/* The MSRs alone make the cursor: all bits of the index, whatever the lower mask is. */
START_TEST(start_loads_cursor)
{
	uint32_t index = 0x1555555;
	uint64_t at = TABLE + 8ull * index;

	guestmem_ram(&fix->mem, at, 8);
	guestmem_poke64(&fix->mem, at, region(REGION, 0, 0));
	ck_assert_uint_eq(outfix_start(fix, OUTFIX_TOPA, TABLE, outfix_ptrs(1000, index << 7)), 0);
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(fix->mem.reads.gpa[0], at);
	outfix_assert_cursor(fix, TABLE, ptrs(index, 1000));
	outfix_put(fix, 0, 16);
	ck_assert(outfix_holds(fix, REGION + 1000, 0, 16));
	outfix_assert_cursor(fix, TABLE, ptrs(index, 1016));
	TEST_PROVES("TOPA-CURSOR-LOAD OUT-CURSOR-EXACT");
}
END_TEST

/* The longest table wraps to entry 0, and the entry is read again. */
START_TEST(longest_table)
{
	uint64_t table = 0x20000000, last = table + 0x0ffffff8;

	guestmem_ram(&fix->mem, table, 8);
	guestmem_ram(&fix->mem, last, 8);
	guestmem_poke64(&fix->mem, table, region(OTHER_REGION, 0, 0));
	guestmem_poke64(&fix->mem, last, region(REGION, 0, 0));
	ck_assert_uint_eq(start(table, 0x1ffffff, 4094), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_OK);
	outfix_assert_cursor(fix, table, ptrs(0x1ffffff, 4095));
	ck_assert_uint_eq(outfix_put(fix, 1, 3), VPT_OUT_OK);
	outfix_assert_cursor(fix, table, ptrs(0, 2));
	ck_assert(outfix_holds(fix, OTHER_REGION, 2, 2));

	guestmem_poke64(&fix->mem, table, end_to(table));
	ck_assert_uint_eq(start(table, 0x1ffffff, 4095), VPT_OUT_OK);
	outfix_assert_error(fix, outfix_put(fix, 0, 1), VPT_OUT_ERR_END_FIRST, table, ptrs(0, 0));
	TEST_PROVES("TOPA-TABLE-WRAP");
}
END_TEST

/* Events when a region with these flags is full, and whether the output stops. */
static const struct {
	uint32_t ecx;
	unsigned int flags, events;
	bool stops;
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
	size_t before, len;

	remake(GUESTMEM_MAP_WHOLE, filled[_i].ecx);
	set_entries(region(REGION, 0, filled[_i].flags), end_to(TABLE));
	for (before = 1; before <= 16; before++) {
		for (len = before; len <= 16; len++) {
			uint64_t rest = len - before;

			ck_assert_uint_eq(start(TABLE, 0, 4096 - before), VPT_OUT_OK);
			ck_assert_uint_eq(outfix_put(fix, len, before - 1), VPT_OUT_OK);
			ck_assert_uint_eq(start(TABLE, 0, 4096 - before), VPT_OUT_OK);
			ck_assert_uint_eq(outfix_put(fix, len, len), filled[_i].events);
			ck_assert(outfix_holds(fix, REGION + 4096 - before, len, before));
			ck_assert_int_eq(fix->out.stopped, filled[_i].stops);
			if (filled[_i].stops) {
				outfix_assert_cursor(fix, TABLE, ptrs(0, 4096));
				outfix_assert_dead(fix, VPT_OUT_ERR_NONE);
			} else {
				outfix_assert_cursor(fix, TABLE, ptrs(0, rest));
				ck_assert(outfix_holds(fix, REGION, len + before, rest));
			}
		}
	}
	/* The cursor after STOP is an error unless software changes it. */
	ck_assert_uint_eq(start(TABLE, 0, 4096), VPT_OUT_ERROR);
	outfix_assert_dead(fix, VPT_OUT_ERR_OFFSET_PAST_REGION);
	TEST_PROVES("TOPA-STOP TOPA-INT OUT-FILL-EAGER");
}
END_TEST

/* INT is reported on each pass over an INT region, and at no other time. */
START_TEST(int_on_each_pass)
{
	size_t n;

	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	set_entries(region(REGION, 0, INT), region(OTHER_REGION, 0, 0));
	set_entry(TABLE, 2, end_to(TABLE));
	ck_assert_uint_eq(start(TABLE, 0, 0), VPT_OUT_OK);
	for (n = 16; n <= 10 * 4096; n += 16)
		ck_assert_uint_eq(outfix_put(fix, n, 16),
				  n % 8192 == 4096 ? VPT_OUT_INT : VPT_OUT_OK);
	TEST_PROVES("TOPA-INT TOPA-END");
}
END_TEST

/* INT of a full region is reported even if the next entry is an error. */
START_TEST(int_and_error)
{
	set_entries(region(REGION, 0, INT), 2);
	ck_assert_uint_eq(start(TABLE, 0, 4000), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 96), VPT_OUT_INT | VPT_OUT_ERROR);
	outfix_assert_cursor(fix, TABLE, ptrs(1, 0));
	outfix_assert_dead(fix, VPT_OUT_ERR_ENTRY_RESERVED);
	TEST_PROVES("TOPA-INT TOPA-ERROR-CURSOR");
}
END_TEST

/* Row: how memory is mapped. The early PMI of a processor with one output entry. */
START_TEST(one_entry_int)
{
	uint64_t due = 4096 - VPT_TOPA_PMI_MARGIN;
	size_t n;

	remake((enum guestmem_map)_i, OUTFIX_ONE_ENTRY);
	set_entries(region(REGION, 0, INT), end_to(TABLE));
	/* Fill the region three times, byte by byte. */
	ck_assert_uint_eq(start(TABLE, 0, 0), VPT_OUT_OK);
	for (n = 1; n <= 3 * 4096; n++)
		ck_assert_uint_eq(outfix_put(fix, n, 1),
				  n % 4096 == due ? VPT_OUT_INT : VPT_OUT_OK);
	/* Cross the point of the PMI, then the point and the end of the region. */
	ck_assert_uint_eq(start(TABLE, 0, due - 5), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_INT);
	outfix_assert_cursor(fix, TABLE, ptrs(0, due + 11));
	ck_assert_uint_eq(outfix_put(fix, 16, 1000), VPT_OUT_OK);
	ck_assert_uint_eq(start(TABLE, 0, due - 1), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 700), VPT_OUT_INT);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 699 - VPT_TOPA_PMI_MARGIN));
	TEST_PROVES("TOPA-SINGLE-PMI");
}
END_TEST

/* A start inside the margin reports INT at once, and once in that pass. */
START_TEST(one_entry_int_at_start)
{
	uint64_t due = 4096 - VPT_TOPA_PMI_MARGIN;

	remake(GUESTMEM_MAP_WHOLE, OUTFIX_ONE_ENTRY);
	set_entries(region(REGION, 0, INT | STOP), end_to(TABLE));
	ck_assert_uint_eq(start(TABLE, 0, due - 1), VPT_OUT_OK);
	ck_assert_uint_eq(start(TABLE, 0, due), VPT_OUT_INT);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert_uint_eq(start(TABLE, 0, 4095), VPT_OUT_INT);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_STOP);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 4096));
	/* A region without INT reports none. */
	set_entry(TABLE, 0, region(REGION, 0, 0));
	ck_assert_uint_eq(start(TABLE, 0, 4095), VPT_OUT_OK);
	TEST_PROVES("TOPA-SINGLE-PMI");
}
END_TEST

/* With several output entries a start near the end of a region reports no INT. */
START_TEST(no_early_int_with_many_entries)
{
	set_entries(region(REGION, 0, INT), end_to(TABLE));
	ck_assert_uint_eq(start(TABLE, 0, 4095 - 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_INT);
	TEST_PROVES("TOPA-INT TOPA-SINGLE-PMI");
}
END_TEST

/* A driver changes entries between two runs. The second run reads the entries again. */
START_TEST(table_changed_between_runs)
{
	set_entries(region(REGION, 0, STOP | INT), end_to(TABLE));
	start(TABLE, 0, 4090);
	outfix_put(fix, 0, 3);
	vpt_output_sync(&fix->out, &fix->rtit);
	vpt_output_end(&fix->out);
	ck_assert_uint_eq(fix->rtit.output_mask_ptrs, ptrs(0, 4093));

	set_entry(TABLE, 0, region(OTHER_REGION, 0, 0));
	ck_assert_uint_eq(vpt_output_start(&fix->out, &fix->rtit), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 3, 5), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(0, 2));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, REGION + 4090, 0, 3));
	ck_assert(guestmem_intact(&fix->mem, REGION + 4093, 3));
	ck_assert(outfix_holds(fix, OTHER_REGION + 4093, 3, 3));
	ck_assert(outfix_holds(fix, OTHER_REGION, 6, 2));
	TEST_PROVES("TOPA-CURSOR-LOAD");
}
END_TEST

/* Row: how memory is mapped. Each entry is read once, when the cursor reaches it. */
START_TEST(table_changed_while_tracing)
{
	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	set_entries(region(REGION, 0, 0), 2);
	start(TABLE, 0, 4000);
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	/* The current entry was read already. The next entry was not. */
	set_entry(TABLE, 0, region(OTHER_REGION, 0, STOP));
	ck_assert_uint_eq(outfix_put(fix, 0, 90), VPT_OUT_OK);
	set_entry(TABLE, 1, region(OTHER_REGION, 0, 0));
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(outfix_put(fix, 90, 6), VPT_OUT_OK);
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	set_entry(TABLE, 1, 2);
	ck_assert_uint_eq(outfix_put(fix, 96, 4), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(1, 4));
	vpt_output_end(&fix->out);
	ck_assert(outfix_holds(fix, REGION + 4000, 0, 96));
	ck_assert(outfix_holds(fix, OTHER_REGION, 96, 4));
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	ck_assert_uint_eq(fix->mem.reads.gpa[0], TABLE);
	ck_assert_uint_eq(fix->mem.reads.gpa[1], TABLE + 8);
	TEST_PROVES("TOPA-FETCH");
}
END_TEST

/* A guest changes an entry with every read. */
static void flip_entry(struct guestmem *mem, uint64_t gpa)
{
	uint64_t entry = mem->reads.count % 2 ? region(REGION, 0, 0) : region(0x1000, 15, STOP);

	guestmem_poke64(mem, gpa, entry);
}

START_TEST(entry_is_judged_from_one_read)
{
	fix->mem.on_read = flip_entry;
	ck_assert_uint_eq(start(TABLE, 0, 0), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 4095), VPT_OUT_OK);
	ck_assert(outfix_holds(fix, REGION, 0, 4095));
	ck_assert_uint_eq(fix->mem.reads.count, 1);
	ck_assert_uint_eq(outfix_put(fix, 0, 1), VPT_OUT_ERROR);
	ck_assert_uint_eq(fix->mem.reads.count, 2);
	outfix_assert_dead(fix, VPT_OUT_ERR_REGION_UNALIGNED);
	TEST_PROVES("TOPA-FETCH");
}
END_TEST

/* Row: how memory is mapped. A region covers its own table, so the trace writes its entries. */
START_TEST(table_inside_region)
{
	uint8_t raw[16];

	remake((enum guestmem_map)_i, OUTFIX_MANY_ENTRIES);
	set_entry(TABLE, 511, region(TABLE, 0, 0));
	guestmem_ram(&fix->mem, TABLE + 0x2000, 4096);
	vpt_memset(raw, 0, sizeof(raw));
	raw[1] = 0x90; /* OTHER_REGION + 0x1000, then a reserved bit */
	raw[2] = 0x04;
	raw[8] = 2;
	set_entry(TABLE, 510, region(TABLE + 0x1000, 0, 0));
	ck_assert_uint_eq(start(TABLE, 510, 0), VPT_OUT_OK);
	ck_assert_uint_eq(vpt_output_put(&fix->out, raw, 16), VPT_OUT_OK);
	ck_assert_uint_eq(outfix_put(fix, 0, 4080), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(511, 0));
	ck_assert_uint_eq(outfix_put(fix, 0, 4096), VPT_OUT_OK);
	outfix_assert_cursor(fix, TABLE, ptrs(512, 0));
	outfix_assert_error(fix, outfix_put(fix, 0, 4096), VPT_OUT_ERR_ENTRY_RESERVED, TABLE,
			    ptrs(513, 0));
	ck_assert(outfix_holds(fix, OTHER_REGION + 0x1000, 0, 4096));
	ck_assert(outfix_holds(fix, TABLE, 0, 4096));
	TEST_PROVES("TOPA-FETCH TOPA-ADVANCE");
}
END_TEST

TEST_SUITE("output_topa", setup, teardown)
{
	tcase_add_loop_test(tcase, reserved_bit, 0, 5);
	tcase_add_loop_test(tcase, address_width, OUTFIX_WIDTH, 64);
	tcase_add_loop_test(tcase, address_below_width, 20, OUTFIX_WIDTH);
	TEST_LOOP(tcase, 16, region_alignment, region_size, end_size_is_ignored);
	tcase_add_loop_test(tcase, table_alignment, 0, 13);
	TEST_ROWS(tcase, entry_checks, checks);
	TEST_ROWS(tcase, table_outside_memory, absent);
	TEST_LOOP(tcase, GUESTMEM_MAP_MODES, read_only_memory, hole_in_region, unified_buffer,
		  table_changed_while_tracing, table_inside_region, int_on_each_pass,
		  one_entry_int);
	TEST_ROWS(tcase, region_filled, filled);
	TEST_ADD(tcase, one_entry_high_index, offset_error_comes_last, table_runs_out, start_on_end,
		 start_loads_cursor, longest_table, table_changed_between_runs,
		 entry_is_judged_from_one_read, int_and_error, one_entry_int_at_start,
		 no_early_int_with_many_entries);
}
