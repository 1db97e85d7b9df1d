// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages that can be executed, by the page tables of each paging mode. */
#include "lib/suite.h"

#include <string.h>

#include "pt/sweep.h"
#include "x86/x86.h"

#define RAM    (8u << 20)
#define TABLES 0x1000u
#define P      1ull
#define US     (1ull << 2)
#define PS     (1ull << 7)
#define NX     (1ull << 63)
#define FOUND  64

static struct x86_mem mem;
static struct {
	uint64_t vaddr, gpa;
} found[FOUND];
static size_t n;
/* The block that the sweep does not want. */
static uint64_t unwanted;

static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
	n = 0;
	unwanted = 1;
}

static void teardown(void)
{
	x86_mem_destroy(&mem);
}

/* Tables themselves are pages as well: only those of code count here. */
static void note(void *opaque, uint64_t vaddr, uint64_t gpa)
{
	(void)opaque;
	if (gpa < 0x100000)
		return;
	ck_assert_uint_lt(n, FOUND);
	found[n].vaddr = vaddr;
	found[n++].gpa = gpa;
}

static void put(uint64_t gpa, uint64_t value, size_t bytes)
{
	ck_assert(x86_mem_write(&mem, gpa, &value, bytes));
}

static void code_at(uint64_t gpa)
{
	put(gpa + 0xfff, 0xc3, 1);
}

static bool wants(void *opaque, uint64_t block)
{
	(void)opaque;
	ck_assert_uint_eq(block % TRACER_SWEEP_BLOCK, 0);
	return block != unwanted;
}

static void sweep_by(const struct x86_paging *paging, uint32_t flags, const volatile int *give_up,
		     void (*page)(void *opaque, uint64_t vaddr, uint64_t gpa))
{
	const struct tracer_sweep_sink sink = {.page = page, .wants = wants};

	tracer_sweep(&mem, paging, flags, give_up, &sink);
}

static void sweep(uint64_t cr0, uint64_t cr4, uint64_t efer)
{
	const struct x86_paging paging = {
		.cr0 = cr0, .cr3 = TABLES, .cr4 = cr4, .efer = efer, .max_phy_addr = 46};

	sweep_by(&paging, 0, NULL, note);
}

static void is(size_t i, uint64_t vaddr, uint64_t gpa)
{
	ck_assert_uint_lt(i, n);
	ck_assert_uint_eq(found[i].vaddr, vaddr);
	ck_assert_uint_eq(found[i].gpa, gpa);
}

START_TEST(without_paging)
{
	code_at(0x200000);
	code_at(0x7ff000);
	sweep(X86_CR0_PE, 0, 0);
	ck_assert_uint_eq(n, 2);
	is(0, 0x200000, 0x200000);
	is(1, 0x7ff000, 0x7ff000);
	n = 0;
	unwanted = 0x200000;
	sweep(X86_CR0_PE, 0, 0);
	ck_assert_uint_eq(n, 1);
	is(0, 0x7ff000, 0x7ff000);
}
END_TEST

/* 4 KiB and 2 MiB pages, low and high addresses, NX at a page and above it. */
START_TEST(long_mode)
{
	const uint64_t lm = X86_EFER_LMA | X86_EFER_NXE;

	put(TABLES, 0x2000 | P, 8);
	put(TABLES + 8, 0x3000 | P | NX, 8);
	put(TABLES + 511 * 8, 0x2000 | P, 8);
	put(0x2000 + 510 * 8, 0x4000 | P, 8);
	put(0x3000, 0x4000 | P, 8);
	put(0x4000, 0x5000 | P, 8);
	put(0x4000 + 8, 0x400000 | P | PS, 8);
	put(0x4000 + 16, 0x40000000 | P | PS, 8); /* not RAM */
	put(0x5000 + 3 * 8, 0x100000 | P, 8);
	put(0x5000 + 4 * 8, 0x101000 | P | NX, 8);
	put(0x5000 + 5 * 8, 0x102000, 8);
	put(0x5000 + 6 * 8, 0x103000 | P, 8); /* zeros */
	code_at(0x100000);
	code_at(0x101000);
	code_at(0x102000);
	code_at(0x405000);
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PAE, lm);
	ck_assert_uint_eq(n, 4);
	is(0, 0x7f80003000, 0x100000);
	is(1, 0x7f80205000, 0x405000);
	is(2, 0xffffffff80003000, 0x100000);
	is(3, 0xffffffff80205000, 0x405000);
	/* A block that is not wanted, of a table and of a large page. */
	n = 0;
	unwanted = 0x7f80000000;
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PAE, lm);
	ck_assert_uint_eq(n, 3);
	is(0, 0x7f80205000, 0x405000);
	n = 0;
	unwanted = 0xffffffff80200000;
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PAE, lm);
	ck_assert_uint_eq(n, 3);
	is(2, 0xffffffff80003000, 0x100000);
}
END_TEST

/* The kernel's tables under page table isolation: NX at the top level, for ring 3 alone. */
START_TEST(isolated)
{
	const struct x86_paging paging = {
		.cr0 = X86_CR0_PE | X86_CR0_PG,
		.cr3 = TABLES,
		.cr4 = X86_CR4_PAE,
		.efer = X86_EFER_LMA | X86_EFER_NXE,
		.max_phy_addr = 46,
	};

	put(TABLES, 0x2000 | P | US | NX, 8);
	put(TABLES + 8, 0x2000 | P | NX, 8);
	put(0x2000, 0x3000 | P | US, 8);
	put(0x2000 + 8, 0x3000 | P | US | NX, 8);
	put(0x3000, 0x4000 | P | US, 8);
	put(0x4000, 0x100000 | P | US, 8);
	put(0x4000 + 8, 0x101000 | P | US | NX, 8);
	code_at(0x100000);
	code_at(0x101000);
	sweep_by(&paging, 0, NULL, note);
	ck_assert_uint_eq(n, 0);
	sweep_by(&paging, TRACER_SWEEP_ISOLATED, NULL, note);
	ck_assert_uint_eq(n, 1);
	is(0, 0, 0x100000);
}
END_TEST

START_TEST(lower_half)
{
	struct x86_paging paging = {.cr0 = X86_CR0_PE | X86_CR0_PG,
				    .cr3 = TABLES,
				    .cr4 = X86_CR4_PAE,
				    .efer = X86_EFER_LMA,
				    .max_phy_addr = 46};

	put(TABLES + 255 * 8, 0x2000 | P, 8);
	put(TABLES + 256 * 8, 0x2000 | P, 8);
	put(0x2000, 0x3000 | P, 8);
	put(0x3000, 0x400000 | P | PS, 8);
	code_at(0x400000);
	sweep_by(&paging, 0, NULL, note);
	ck_assert_uint_eq(n, 2);
	n = 0;
	sweep_by(&paging, TRACER_SWEEP_LOWER, NULL, note);
	ck_assert_uint_eq(n, 1);
	is(0, 0x7f8000000000, 0x400000);
	/* Without long mode, the upper half can be that of ring 3. */
	put(TABLES + 3 * 8, 0x3000 | P, 8);
	paging.efer = 0;
	n = 0;
	sweep_by(&paging, TRACER_SWEEP_LOWER, NULL, note);
	ck_assert_uint_eq(n, 1);
	is(0, 0xc0000000, 0x400000);
}
END_TEST

START_TEST(five_levels)
{
	put(TABLES + 511 * 8, 0x2000 | P, 8);
	put(0x2000 + 511 * 8, 0x3000 | P, 8);
	put(0x3000, 0x4000 | P, 8);
	put(0x4000, 0x400000 | P | PS, 8);
	code_at(0x400000);
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PAE | X86_CR4_LA57, X86_EFER_LMA);
	ck_assert_uint_eq(n, 1);
	is(0, 0xffffff8000000000, 0x400000);
}
END_TEST

START_TEST(pae)
{
	put(TABLES + 3 * 8, 0x2000 | P, 8);
	put(0x2000, 0x3000 | P, 8);
	put(0x2000 + 8, 0x200000 | P | PS, 8);
	put(0x3000, 0x100000 | P, 8);
	code_at(0x100000);
	code_at(0x201000);
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PAE, 0);
	ck_assert_uint_eq(n, 2);
	is(0, 0xc0000000, 0x100000);
	is(1, 0xc0201000, 0x201000);
}
END_TEST

START_TEST(two_levels)
{
	put(TABLES, 0x2000 | P, 4);
	put(TABLES + 4, 0x400000 | P | PS, 4);
	put(0x2000 + 4, 0x100000 | P, 4);
	code_at(0x100000);
	code_at(0x402000);
	sweep(X86_CR0_PE | X86_CR0_PG, X86_CR4_PSE, 0);
	ck_assert_uint_eq(n, 2);
	is(0, 0x1000, 0x100000);
	is(1, 0x402000, 0x402000);
}
END_TEST

static size_t calls;

static void count(void *opaque, uint64_t vaddr, uint64_t gpa)
{
	(void)opaque;
	(void)vaddr;
	(void)gpa;
	calls++;
}

/* Tables that lead to themselves, all entries, are 2^36 pages: it ends all the same. */
START_TEST(tables_without_an_end)
{
	const struct x86_paging paging = {.cr0 = X86_CR0_PE | X86_CR0_PG,
					  .cr3 = TABLES,
					  .cr4 = X86_CR4_PAE,
					  .efer = X86_EFER_LMA,
					  .max_phy_addr = 46};
	unsigned int i;

	for (i = 0; i < 512; i++)
		put(TABLES + 8 * i, TABLES | P, 8);
	sweep_by(&paging, 0, NULL, count);
	ck_assert_uint_gt(calls, 0);
	ck_assert_uint_le(calls, 4 * RAM / 4096 + 65536);
}
END_TEST

static volatile int enough;

static void count_to_ten(void *opaque, uint64_t vaddr, uint64_t gpa)
{
	count(opaque, vaddr, gpa);
	enough = calls == 10;
}

/* A guest that is to stop is not waited for. */
START_TEST(given_up)
{
	const struct x86_paging paging = {.cr0 = X86_CR0_PE};

	memset(mem.host, 0xcc, RAM);
	calls = 0;
	sweep_by(&paging, 0, &enough, count_to_ten);
	ck_assert_uint_eq(calls, 10);
	sweep_by(&paging, 0, &enough, count_to_ten);
	ck_assert_uint_eq(calls, 10);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tcase = tcase_create("sweep");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, without_paging);
	tcase_add_test(tcase, long_mode);
	tcase_add_test(tcase, isolated);
	tcase_add_test(tcase, lower_half);
	tcase_add_test(tcase, five_levels);
	tcase_add_test(tcase, pae);
	tcase_add_test(tcase, two_levels);
	tcase_add_test(tcase, tables_without_an_end);
	tcase_add_test(tcase, given_up);
	suite_add_tcase(suite, tcase);
	return suite;
}
