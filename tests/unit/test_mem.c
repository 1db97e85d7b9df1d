// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses to guest RAM, and the page walk in each paging mode. */
#include "lib/suite.h"

#include <string.h>

#include "x86/mem.h"
#include "x86/x86.h"

enum { RAM = 8 << 20, PML5 = 0x1000, PML4 = 0x2000, PDPT = 0x3000, PD = 0x4000, PT = 0x5000 };

#define P   1ull
#define W   2ull
#define U   4ull
#define A   0x20ull
#define D   0x40ull
#define PS  0x80ull
#define NX  (1ull << 63)
#define PWU (P | W | U)

static struct x86_mem mem;
static struct x86_paging paging;
static struct x86_page page; /* of the last walk() */

/* Walk the tables for an access. Returns false if the access faults. */
static bool walk(uint64_t address, unsigned int access)
{
	page = (struct x86_page){0};
	return x86_walk_page(&mem, &paging, address, access, &page);
}

#define EXPECT_GPA(address, access, gpa_)          \
	do {                                       \
		ck_assert(walk(address, access));  \
		ck_assert_uint_eq(page.gpa, gpa_); \
	} while (0)
#define EXPECT_FAULT(address, access, error_)          \
	do {                                           \
		ck_assert(!walk(address, access));     \
		ck_assert_uint_eq(page.error, error_); \
	} while (0)

static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
	paging = (struct x86_paging){
		.cr0 = X86_CR0_PG | X86_CR0_WP | X86_CR0_PE,
		.cr3 = PML4,
		.cr4 = X86_CR4_PAE,
		.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE,
		.max_phy_addr = 39,
	};
}

static void teardown(void)
{
	x86_mem_destroy(&mem);
}

static void entry(uint64_t table, unsigned int index, uint64_t value)
{
	ck_assert(x86_mem_write(&mem, table + 8 * index, &value, 8));
}

static uint64_t read_entry(uint64_t table, unsigned int index)
{
	uint64_t value;

	ck_assert(x86_mem_read(&mem, table + 8 * index, &value, 8));
	return value;
}

/* Map a 4 KiB page at 0x7000, with these bits in the upper entries and in the PTE. */
static void map_4k(uint64_t upper, uint64_t bits)
{
	entry(PML4, 0, PDPT | upper);
	entry(PDPT, 0, PD | upper);
	entry(PD, 0, PT | upper);
	entry(PT, 7, 0x123000 | bits);
}

static const struct {
	uint64_t gpa, len;
	bool ok;
} bounds[] = {
	{0, 1, true},	    {RAM - 1, 1, true},	 {RAM - 1, 2, false}, {RAM, 0, true},
	{RAM, 1, false},    {RAM + 1, 0, false}, {0, RAM, true},      {0, RAM + 1ull, false},
	{1, RAM, false},    {~0ull, 1, false},	 {~0ull, 2, false},   {1ull << 63, 16, false},
	{16, ~0ull, false},
};

START_TEST(access_stays_in_ram)
{
	uint64_t gpa = bounds[_i].gpa, len = bounds[_i].len;

	ck_assert(!!x86_mem_at(&mem, gpa, len) == bounds[_i].ok);
	if (len <= 16) {
		uint8_t bytes[16] = {0};

		ck_assert(x86_mem_write(&mem, gpa, bytes, (size_t)len) == bounds[_i].ok);
		ck_assert(x86_mem_read(&mem, gpa, bytes, (size_t)len) == bounds[_i].ok);
	}
}
END_TEST

/* The places of addresses in RAM of 5 GiB, of 3 GiB and of 3 GiB and a page. No byte is accessed. */
START_TEST(two_parts)
{
	static const uint64_t g = 1ull << 30, none = ~0ull;
	static const struct {
		uint64_t bytes, gpa, len, at;
	} row[] = {
		{5 * g, 0, 3 * g, 0},
		{5 * g, 0, 3 * g + 1, none},
		{5 * g, 3 * g - 1, 1, 3 * g - 1},
		{5 * g, 3 * g - 1, 2, none},
		{5 * g, 3 * g, 1, none},
		{5 * g, 4 * g - 1, 1, none},
		{5 * g, 4 * g - 1, 2, none},
		{5 * g, 4 * g, 2 * g, 3 * g},
		{5 * g, 4 * g, 2 * g + 1, none},
		{5 * g, 6 * g - 8, 8, 5 * g - 8},
		{5 * g, 6 * g - 8, 9, none},
		{5 * g, 6 * g, 1, none},
		{5 * g, ~0ull, 1, none},
		{5 * g, ~0ull - 7, 16, none},
		{3 * g, 3 * g - 1, 1, 3 * g - 1},
		{3 * g, 3 * g, 1, none},
		{3 * g, 4 * g, 1, none},
		{3 * g + 4096, 4 * g, 4096, 3 * g},
		{3 * g + 4096, 4 * g, 4097, none},
		{g, g - 1, 1, g - 1},
		{g, g, 1, none},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct x86_mem m = {(uint8_t *)4096, row[i].bytes};
		const uint8_t *at = x86_mem_at(&m, row[i].gpa, row[i].len);
		uint64_t offset;

		ck_assert_msg((uintptr_t)at == (row[i].at == none ? 0 : row[i].at + 4096),
			      "row %zu: %p", i, (const void *)at);
		if (row[i].at == none)
			continue;
		ck_assert_uint_ge(x86_mem_room(&m, row[i].gpa, &offset), row[i].len);
		ck_assert_uint_eq(offset, row[i].at);
		ck_assert_uint_eq(x86_mem_gpa(offset), row[i].gpa);
	}
	ck_assert_uint_eq(x86_mem_low(&(struct x86_mem){.bytes = g}), g);
	ck_assert_uint_eq(x86_mem_low(&(struct x86_mem){.bytes = 5 * g}), 3 * g);
}
END_TEST

START_TEST(create_refuses_odd_sizes)
{
	struct x86_mem other;

	ck_assert_int_ne(x86_mem_create(&other, 0), 0);
	ck_assert_int_ne(x86_mem_create(&other, 4097), 0);
	ck_assert_int_ne(x86_mem_create(&other, ~0ull & ~4095ull), 0);
}
END_TEST

/* Access rights of a page by the bits of its PTE. The upper entries allow everything. */
static const struct {
	const char *name;
	uint64_t pte;
	uint8_t cpl;
	unsigned int access;
	uint64_t cr4;
	bool no_wp, ac;
	uint32_t error; /* ~0: allowed */
} rights[] = {
	{"user reads user", P | U, 3, X86_WALK_READ, 0, false, false, ~0u},
	{"user writes user", PWU, 3, X86_WALK_WRITE, 0, false, false, ~0u},
	{"user writes read-only", P | U, 3, X86_WALK_WRITE, 0, false, false, 7},
	{"user reads supervisor", P | W, 3, X86_WALK_READ, 0, false, false, 5},
	{"user fetches", P | U, 3, X86_WALK_FETCH, 0, false, false, ~0u},
	{"user fetches NX", P | U | NX, 3, X86_WALK_FETCH, 0, false, false, 0x15},
	{"not present", U, 3, X86_WALK_READ, 0, false, false, 4},
	{"not present, write", 0, 0, X86_WALK_WRITE, 0, false, false, 2},
	{"not present, fetch", 0, 0, X86_WALK_FETCH, 0, false, false, 0x10},
	{"kernel reads supervisor", P, 0, X86_WALK_READ, 0, false, false, ~0u},
	{"kernel writes read-only", P, 0, X86_WALK_WRITE, 0, false, false, 3},
	{"kernel writes read-only, WP off", P, 0, X86_WALK_WRITE, 0, true, false, ~0u},
	{"user writes read-only, WP off", P | U, 3, X86_WALK_WRITE, 0, true, false, 7},
	{"kernel reads user", P | U, 0, X86_WALK_READ, 0, false, false, ~0u},
	{"kernel reads user, SMAP", P | U, 0, X86_WALK_READ, X86_CR4_SMAP, false, false, 1},
	{"kernel reads user, SMAP and AC", P | U, 0, X86_WALK_READ, X86_CR4_SMAP, false, true, ~0u},
	{"implicit access ignores AC", P | U, 0, X86_WALK_SYSTEM, X86_CR4_SMAP, false, true, 1},
	{"implicit access ignores CPL", P, 3, X86_WALK_SYSTEM, 0, false, false, ~0u},
	{"kernel fetches user", P | U, 0, X86_WALK_FETCH, 0, false, false, ~0u},
	{"kernel fetches user, SMEP", P | U, 0, X86_WALK_FETCH, X86_CR4_SMEP, false, false, 0x11},
	{"kernel fetches NX", P | NX, 0, X86_WALK_FETCH, 0, false, false, 0x11},
	{"address above MAXPHYADDR", P | U | 1ull << 39, 3, X86_WALK_READ, 0, false, false, 0xd},
};

START_TEST(rights_are_those_of_the_processor)
{
	uint32_t error = ~0u;
	uint64_t gpa;
	bool ok;

	map_4k(PWU, rights[_i].pte);
	paging.cpl = rights[_i].cpl;
	paging.cr4 |= rights[_i].cr4;
	paging.rflags = rights[_i].ac ? X86_FL_AC : 0;
	if (rights[_i].no_wp)
		paging.cr0 &= ~X86_CR0_WP;
	ok = x86_walk(&mem, &paging, 0x7abc, rights[_i].access, &gpa, &error);
	ck_assert_msg(error == rights[_i].error, "%s: %#x", rights[_i].name, error);
	ck_assert_msg(ok ? error == ~0u && gpa == 0x123abc : error != ~0u, "%s", rights[_i].name);
}
END_TEST

START_TEST(upper_levels_restrict)
{
	map_4k(P | W, PWU);
	paging.cpl = 3;
	EXPECT_FAULT(0x7000, X86_WALK_READ, 5);
	map_4k(P | U, PWU);
	EXPECT_FAULT(0x7000, X86_WALK_WRITE, 7);
	map_4k(PWU, PWU);
	entry(PD, 0, PT | PWU | NX);
	EXPECT_FAULT(0x7000, X86_WALK_FETCH, 0x15);
}
END_TEST

START_TEST(accessed_and_dirty_bits)
{
	map_4k(PWU, PWU);
	ck_assert(walk(0x7000, X86_WALK_READ));
	ck_assert_uint_eq(read_entry(PML4, 0), PDPT | PWU | A);
	ck_assert_uint_eq(read_entry(PD, 0), PT | PWU | A);
	ck_assert_uint_eq(read_entry(PT, 7), 0x123000 | PWU | A);
	ck_assert(walk(0x7000, X86_WALK_WRITE));
	ck_assert_uint_eq(read_entry(PD, 0), PT | PWU | A);
	ck_assert_uint_eq(read_entry(PT, 7), 0x123000 | PWU | A | D);
}
END_TEST

START_TEST(a_fault_marks_nothing)
{
	map_4k(PWU, P | U);
	paging.cpl = 3;
	ck_assert(!walk(0x7000, X86_WALK_WRITE));
	ck_assert_uint_eq(read_entry(PML4, 0), PDPT | PWU);
	ck_assert_uint_eq(read_entry(PT, 7), 0x123000 | P | U);
}
END_TEST

START_TEST(large_pages)
{
	entry(PML4, 0, PDPT | PWU);
	entry(PDPT, 0, PD | PWU);
	entry(PD, 1, 0x600000 | PWU | PS);
	EXPECT_GPA(0x3abcde, X86_WALK_WRITE, 0x7abcde);
	ck_assert_uint_eq(read_entry(PD, 1), 0x600000 | PWU | PS | A | D);
	entry(PDPT, 1, 0x40000000 | PWU | PS);
	EXPECT_GPA(0x7fedcba9, X86_WALK_READ, 0x7fedcba9);
}
END_TEST

/* Reserved bits of large pages, PS in a PML4E, and NX without EFER.NXE. */
START_TEST(reserved_bits_fault)
{
	entry(PML4, 0, PDPT | PWU);
	entry(PDPT, 0, PD | PWU);
	entry(PD, 0, 0x2000 | PWU | PS);
	EXPECT_FAULT(0, X86_WALK_READ, 9);
	entry(PD, 0, 0x1000 | PWU | PS); /* PAT is not reserved */
	ck_assert(walk(0, X86_WALK_READ));
	entry(PML4, 0, PDPT | PWU | PS);
	EXPECT_FAULT(0, X86_WALK_READ, 9);
	map_4k(PWU, PWU | NX);
	paging.efer &= ~X86_EFER_NXE;
	EXPECT_FAULT(0x7000, X86_WALK_READ, 9);
}
END_TEST

START_TEST(five_levels)
{
	map_4k(PWU, PWU);
	entry(PML5, 1, PML4 | PWU);
	paging.cr3 = PML5;
	paging.cr4 |= X86_CR4_LA57;
	EXPECT_GPA((1ull << 48) + 0x7004, X86_WALK_READ, 0x123004);
	ck_assert(!walk(0x7004, X86_WALK_READ));
}
END_TEST

/* A table outside of RAM is not read: the walk faults. */
START_TEST(tables_outside_ram)
{
	paging.cr3 = 1ull << 38;
	ck_assert(!walk(0x7000, X86_WALK_READ));
	paging.cr3 = PML4;
	entry(PML4, 0, ((1ull << 39) - 4096) | PWU);
	EXPECT_FAULT(0x7000, X86_WALK_WRITE, 2);
}
END_TEST

START_TEST(no_paging)
{
	paging.cr0 &= ~X86_CR0_PG;
	EXPECT_GPA(0x1234, X86_WALK_WRITE, 0x1234);
}
END_TEST

/* The other paging modes: the address and size of the page, or the error code. */
enum format { TWO, TWO_PSE, PAE, LONG };

static void put32(uint64_t table, unsigned int index, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	ck_assert(x86_mem_write(&mem, table + 4 * index, &low, 4));
}

static void use_format(enum format format)
{
	if (format == LONG)
		return;
	paging.efer = format == PAE ? X86_EFER_NXE : 0;
	paging.cr4 = format == PAE ? X86_CR4_PAE : format == TWO_PSE ? X86_CR4_PSE : 0;
	paging.cr3 = format == PAE ? PDPT + 0x20 : PD;
}

/* 0x40c07abc: PDPTE 1, PD entry 6 of PAE or 259 of two levels, PT entry 7. */
#define ADDRESS 0x40c07abcull

static const struct {
	const char *name;
	enum format format;
	uint64_t pdpte, pde, pte;
	uint8_t cpl;
	unsigned int access;
	uint64_t cr4;
	uint64_t gpa;	/* 0: a fault */
	uint32_t error; /* or the size of the page */
} formats[] = {
	{"4 KiB", TWO, 0, PT | PWU, 0x123000 | PWU, 3, X86_WALK_WRITE, 0, 0x123abc, 4096},
	{"bit 7 without PSE", TWO, 0, PT | PWU | PS, 0x123000 | PWU, 3, 0, 0, 0x123abc, 4096},
	{"4 KiB, PSE", TWO_PSE, 0, PT | PWU, 0x123000 | PWU, 3, 0, 0, 0x123abc, 4096},
	{"4 MiB", TWO_PSE, 0, 0x1400000 | PWU | PS, 0, 3, 0, 0, 0x1407abc, 4 << 20},
	{"4 MiB, PAT", TWO_PSE, 0, 0x1401000 | PWU | PS, 0, 3, 0, 0, 0x1407abc, 4 << 20},
	{"4 MiB, PSE-36", TWO_PSE, 0, 0x140a000 | PWU | PS, 0, 3, 0, 0, 0x501407abcull, 4 << 20},
	{"4 MiB above MAXPHYADDR", TWO_PSE, 0, 0x1500000 | PWU | PS, 0, 0, 0, 0, 0, 9},
	{"4 MiB, bit 21", TWO_PSE, 0, 0x1600000 | PWU | PS, 0, 3, X86_WALK_WRITE, 0, 0, 15},
	{"no PDE", TWO, 0, W | U, 0, 0, X86_WALK_WRITE, 0, 0, 2},
	{"no PTE", TWO, 0, PT | PWU, W | U, 3, 0, 0, 0, 4},
	{"PDE of the supervisor", TWO, 0, PT | P | W, 0x123000 | PWU, 3, 0, 0, 0, 5},
	{"PDE read-only", TWO, 0, PT | P | U, 0x123000 | PWU, 3, X86_WALK_WRITE, 0, 0, 7},
	{"no I/D in the error code without NX", TWO, 0, PT | P | U, 0, 3, X86_WALK_FETCH, 0, 0, 4},
	{"SMEP", TWO, 0, PT | PWU, 0x123000 | PWU, 0, X86_WALK_FETCH, X86_CR4_SMEP, 0, 0x11},
	{"SMAP", TWO, 0, PT | PWU, 0x123000 | PWU, 0, 0, X86_CR4_SMAP, 0, 1},
	{"PAE 4 KiB", PAE, PD | P, PT | PWU, 0x123000 | PWU, 3, 0, 0, 0x123abc, 4096},
	{"PAE 4 KiB above 4 GiB", PAE, PD | P, PT | PWU, 0x7f00123000ull | PWU, 3, 0, 0,
	 0x7f00123abcull, 4096},
	{"PAE 2 MiB", PAE, PD | P, 0x600000 | PWU | PS, 0, 3, X86_WALK_WRITE, 0, 0x607abc, 2 << 20},
	{"PAE 2 MiB, bit 13", PAE, PD | P, 0x602000 | PWU | PS, 0, 3, 0, 0, 0, 13},
	{"PAE NX", PAE, PD | P, PT | PWU, 0x123000 | PWU | NX, 3, X86_WALK_FETCH, 0, 0, 0x15},
	{"PAE bit 52", PAE, PD | P, PT | PWU, 0x123000 | PWU | 1ull << 52, 3, 0, 0, 0, 13},
	{"PAE bit 62 of a PDE", PAE, PD | P, PT | PWU | 1ull << 62, 0, 0, 0, 0, 0, 9},
	{"no PDPTE", PAE, PD, PT | PWU, 0x123000 | PWU, 3, 0, 0, 0, 4},
	{"PDPTE with W", PAE, PD | P | W, PT | PWU, 0x123000 | PWU, 0, 0, 0, 0, 9},
	{"PDPTE above MAXPHYADDR", PAE, PD | P | 1ull << 39, PT | PWU, 0, 0, 0, 0, 0, 9},
	{"4 levels, bit 52 is free", LONG, PD | PWU, PT | PWU | 1ull << 52, 0x123000 | PWU, 3, 0, 0,
	 0x123abc, 4096},
};

static void write_tables(int i)
{
	if (formats[i].format == TWO || formats[i].format == TWO_PSE) {
		put32(PD, 0x103, formats[i].pde);
		put32(PT, 7, formats[i].pte);
		return;
	}
	entry(PML4, 0, PDPT | PWU);
	entry(formats[i].format == PAE ? PDPT + 0x20 : PDPT, 1, formats[i].pdpte);
	entry(PD, 6, formats[i].pde);
	entry(PT, 7, formats[i].pte);
}

START_TEST(every_format)
{
	bool ok;

	use_format(formats[_i].format);
	write_tables(_i);
	paging.cpl = formats[_i].cpl;
	paging.cr4 |= formats[_i].cr4;
	ok = walk(ADDRESS, formats[_i].access);
	ck_assert_msg(ok == !!formats[_i].gpa, "%s: %#x", formats[_i].name, page.error);
	if (ok) {
		ck_assert_msg(page.gpa == formats[_i].gpa, "%s: %#llx", formats[_i].name,
			      (unsigned long long)page.gpa);
		ck_assert_uint_eq(page.bytes, formats[_i].error);
	} else {
		ck_assert_msg(page.error == formats[_i].error, "%s: %#x", formats[_i].name,
			      page.error);
	}
}
END_TEST

/* Setting a bit in a 4-byte entry does not change the entry beside it. */
START_TEST(accessed_and_dirty_bits_of_two_levels)
{
	use_format(TWO);
	put32(PD, 0x103, PT | PWU);
	put32(PT, 7, 0x123000 | PWU);
	ck_assert(walk(ADDRESS, X86_WALK_READ));
	ck_assert_uint_eq(read_entry(PD + 4, 0x81), PT | PWU | A);
	ck_assert_uint_eq(read_entry(PT + 4, 3), 0x123000 | PWU | A);
	ck_assert(walk(ADDRESS, X86_WALK_WRITE));
	ck_assert_uint_eq(read_entry(PD + 4, 0x81), PT | PWU | A);
	ck_assert_uint_eq(read_entry(PT + 4, 3), 0x123000 | PWU | A | D);
}
END_TEST

/* PDPTEs of PAE paging have no accessed bit; bit 5 is reserved. */
START_TEST(a_pdpte_is_left_as_it_is)
{
	use_format(PAE);
	entry(PDPT + 0x20, 1, PD | P);
	entry(PD, 6, 0x600000 | PWU | PS);
	ck_assert(walk(ADDRESS, X86_WALK_WRITE));
	ck_assert_uint_eq(read_entry(PDPT + 0x20, 1), PD | P);
	ck_assert_uint_eq(read_entry(PD, 6), 0x600000 | PWU | PS | A | D);
}
END_TEST

/* Linear addresses have 32 bits outside of long mode. */
START_TEST(linear_addresses_wrap)
{
	use_format(TWO_PSE);
	put32(PD, 0, 0x400000 | PWU | PS);
	EXPECT_GPA(0x100000010ull, X86_WALK_READ, 0x400010);
	paging.cr0 &= ~X86_CR0_PG;
	EXPECT_GPA(0x100000010ull, X86_WALK_READ, 0x10);
	ck_assert(page.writable);
}
END_TEST

/* @writable: a later write at the same privilege level needs no walk. */
static const struct {
	uint64_t pte;
	uint8_t cpl;
	unsigned int access;
	bool no_wp, writable;
} writable[] = {
	{PWU, 3, X86_WALK_READ, false, false}, /* not dirty */
	{PWU, 3, X86_WALK_WRITE, false, true},	     {PWU | D, 3, X86_WALK_READ, false, true},
	{PWU | D, 3, X86_WALK_FETCH, false, true},   {P | U | D, 3, X86_WALK_READ, false, false},
	{P | U | D, 0, X86_WALK_READ, false, false}, {P | U | D, 0, X86_WALK_READ, true, true},
	{P | U | D, 3, X86_WALK_READ, true, false},
};

START_TEST(writes_without_a_walk)
{
	map_4k(PWU, writable[_i].pte);
	paging.cpl = writable[_i].cpl;
	if (writable[_i].no_wp)
		paging.cr0 &= ~X86_CR0_WP;
	ck_assert(walk(0x7000, writable[_i].access));
	ck_assert(page.writable == writable[_i].writable);
	ck_assert(page.user);
	ck_assert_uint_eq(page.bytes, 4096);
}
END_TEST

TEST_SUITE("mem", setup, teardown)
{
	TEST_ROWS(tcase, access_stays_in_ram, bounds);
	TEST_ADD(tcase, two_parts, create_refuses_odd_sizes, upper_levels_restrict,
		 accessed_and_dirty_bits, a_fault_marks_nothing, large_pages, reserved_bits_fault,
		 five_levels, tables_outside_ram, no_paging, accessed_and_dirty_bits_of_two_levels,
		 a_pdpte_is_left_as_it_is, linear_addresses_wrap);
	TEST_ROWS(tcase, rights_are_those_of_the_processor, rights);
	TEST_ROWS(tcase, every_format, formats);
	TEST_ROWS(tcase, writes_without_a_walk, writable);
}
