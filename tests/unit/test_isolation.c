// SPDX-License-Identifier: GPL-2.0-or-later
/* The two top-level tables of a process with page table isolation, and tables that are no pair. */
#include "lib/suite.h"

#include <string.h>

#include "pt/isolation.h"
#include "x86/x86.h"

#define RAM    (1u << 20)
#define KERNEL 0x4000u
#define USER   0x5000u
#define NX     (1ull << 63)

static struct x86_mem mem;

static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
}

static void teardown(void)
{
	x86_mem_destroy(&mem);
}

static void put(uint64_t table, unsigned int index, uint64_t entry)
{
	ck_assert(x86_mem_write(&mem, table + 8ull * index, &entry, sizeof(entry)));
}

#define LONG   (X86_EFER_LMA | X86_EFER_NXE)
#define PAGING (X86_CR0_PE | X86_CR0_PG)

/*
 * Row: registers and entries of both tables at one index. All tables have a pair at index 0, and
 * differ in the upper half.
 */
static const struct {
	uint64_t cr0, efer;
	unsigned int index;
	uint64_t user, kernel;
	bool is_pair;
} rows[] = {
	{PAGING, LONG, 255, 0x8007, 0x8007 | NX, true},
	{PAGING, LONG, 255, 0x8027, 0x8047 | NX, true}, /* accessed; available to software */
	{PAGING, LONG, 255, 0x8003, 0x8003, true},	/* not ring 3's */
	{PAGING, LONG, 1, 0x8000, 0x9000, true},	/* not present */
	{PAGING, LONG, 256, 0x8007, 0x9007, true},	/* the upper half */
	{PAGING, LONG, 255, 0x8007, 0x9007 | NX, false},
	{PAGING, LONG, 255, 0x8007, 0x8005 | NX, false},
	{PAGING, LONG, 255, 0x8007, 0x8003 | NX, false},
	{PAGING, LONG, 255, 0x8007, 0, false},
	{PAGING, LONG, 255, 0, 0x8007 | NX, false},
	{PAGING, LONG, 255, 0x8007, 0x8007, false},
	{PAGING, X86_EFER_LMA, 255, 0x8007, 0x8007, true},
	{PAGING, X86_EFER_NXE, 255, 0x8007, 0x8007 | NX, false},
	{X86_CR0_PE, LONG, 255, 0x8007, 0x8007 | NX, false},
};

static struct x86_paging registers(uint64_t cr0, uint64_t efer)
{
	return (struct x86_paging){.cr0 = cr0, .efer = efer, .cr4 = X86_CR4_PAE};
}

START_TEST(pairs)
{
	const struct x86_paging paging = registers(rows[_i].cr0, rows[_i].efer);

	put(USER, 0, 0x6067);
	put(KERNEL, 0, 0x6047 | NX);
	put(KERNEL, 511, 0x7003);
	put(USER, rows[_i].index, rows[_i].user);
	put(KERNEL, rows[_i].index, rows[_i].kernel);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, USER | 0x801),
			  rows[_i].is_pair ? KERNEL : 0);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, KERNEL | 0x001),
			  rows[_i].is_pair ? USER : 0);
}
END_TEST

/* Tables without memory of ring 3 are no pair, and neither are tables outside of RAM. */
START_TEST(no_tables)
{
	const struct x86_paging paging = registers(PAGING, LONG);

	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, USER), 0);
	put(USER, 0, 0x6003);
	put(KERNEL, 0, 0x6003);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, USER), 0);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, RAM), 0);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, RAM + USER), 0);
	ck_assert_uint_eq(tracer_isolation_other(&mem, &paging, 0xffffffffff000), 0);
}
END_TEST

TEST_SUITE("isolation", setup, teardown)
{
	TEST_ROWS(tcase, pairs, rows);
	TEST_ADD(tcase, no_tables);
}
