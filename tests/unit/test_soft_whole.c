// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Large pages in compiled code. A loop accesses all parts of one, most of them by the first-level entry of
 * 2 MiB. Whatever takes a right from the page, or from a part of it, takes it from this entry as well.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"
#include "lib/hostile_seen.h"
#include "soft/compile.h"
#include "soft/compile/compiler.h"
#include "soft/soft.h"
#include "soft/tlb.h"

#define OLD   0x400000ull
#define NEW   0x600000ull
#define SIZE  0x200000ull
#define PAGE  0x1000ull
#define TABLE 0x40000ull /* of pages of 4 KiB */
#define VA    ((uint64_t)BESIDE_WINDOW)
#define PDE   (BESIDE_PD + 8 * (VA >> 21 & 511))
#define USED  0x60ull /* accessed, dirty */
#define LARGE (0x83 | USED)
#define SMALL (0x03 | USED)

#define INVLPG	"\x0f\x01\x3f" /* invlpg [rdi] */
#define LOAD	"\x48\x8b\x07" /* mov rax, [rdi] */
#define MOV_CR3 "\x0f\x22\xd8"
/* 1: mov rax, [rdi]; add rcx, rax; add rdi, 4096; dec r9; jnz 1b */
#define LOADS "\x48\x8b\x07\x48\x01\xc1\x48\x81\xc7\x00\x10\x00\x00\x49\xff\xc9\x75\xee"
/* 1: mov [rdi], rsi; add rcx, rsi; the rest likewise */
#define STORES "\x48\x89\x37\x48\x01\xf1\x48\x81\xc7\x00\x10\x00\x00\x49\xff\xc9\x75\xee"
#define INSNS  5u
#define PAGES  ((unsigned int)(SIZE / PAGE))

static struct engine_exit run(const char *code, uint64_t va, uint64_t value, unsigned int pages)
{
	struct x86_regs *r = beside_vcpu->regs;
	struct engine_exit exit;

	/* All loops have the same sites. */
	if (soft(beside_vcpu)->compiler)
		soft(beside_vcpu)->compiler->sites = 0;
	*r = (struct x86_regs){
		.rsi = value, .rdi = va, .r9 = (uint64_t)pages + 1, .rflags = X86_FL_FIXED};
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	exit = beside_run(code, sizeof(LOADS) - 1, (uint64_t)pages * INSNS);
	hostile_check(beside_vcpu, &beside_mem);
	return exit;
}

/* Load from all pages, which must be those from gpa on. */
static void loads(uint64_t gpa, const char *what)
{
	uint64_t i, sum = 0;

	for (i = 0; i < SIZE; i += PAGE)
		sum += beside_get64(gpa + i);
	ck_assert_int_eq(run(LOADS, VA, 0, PAGES).kind, ENGINE_EXIT_KICK);
	ck_assert_msg(beside_vcpu->regs->rcx == sum, "%s", what);
}

static void stores(uint64_t value)
{
	ck_assert_int_eq(run(STORES, VA, value, PAGES).kind, ENGINE_EXIT_KICK);
}

static void invlpg(uint64_t va)
{
	beside_step_with(INVLPG, 3, 0, va);
}

/* Return how many entries of 4 KiB the window has in the first level. */
static unsigned int small_entries(void)
{
	const struct soft *c = soft(beside_vcpu);
	unsigned int i, n = 0;

	for (i = 0; i < SOFT_TLB_SIZE; i++)
		n += c->tlb[i].read - VA < SIZE;
	return n;
}

/* With a compiler, most accesses have found the entry of 2 MiB. */
static void check_few(void)
{
	if (soft(beside_vcpu)->compiler)
		ck_assert_uint_le(small_entries(), 16);
}

static void setup(void)
{
	uint64_t gpa;

	beside_create();
	beside_mode(64, 0);
	if (soft(beside_vcpu)->compiler)
		soft_compile_after(soft(beside_vcpu), 2);
	for (gpa = OLD; gpa < BESIDE_RAM; gpa += PAGE)
		beside_put64(gpa, gpa * 0x10001);
	beside_put64(PDE, OLD | LARGE);
}

static void teardown(void)
{
	beside_destroy();
}

START_TEST(all_parts)
{
	uint64_t i;

	loads(OLD, "loads");
	check_few();
	stores(77);
	check_few();
	loads(OLD, "after stores");
	for (i = 0; i < SIZE; i += PAGE)
		ck_assert_uint_eq(beside_get64(OLD + i), 77);
	loads(OLD, "loads of what was stored");
}
END_TEST

/* INVLPG of any part ends the whole page's entry. */
START_TEST(moves)
{
	loads(OLD, "before");
	beside_put64(PDE, NEW | LARGE);
	loads(OLD, "without a flush");
	invlpg(VA + (_i ? SIZE - 1 : 0));
	loads(NEW, "after INVLPG");
	check_few();
}
END_TEST

/* The page is split. A part without a translation must not be found in the old entry. */
START_TEST(splits)
{
	uint64_t i;

	loads(OLD, "before");
	for (i = 0; i < PAGES; i++)
		beside_put64(TABLE + 8 * i, (NEW + i * PAGE) | SMALL);
	beside_put64(PDE, TABLE | SMALL);
	invlpg(VA);
	loads(NEW, "the parts");
}
END_TEST

/* A page whose first write sets the dirty bit, or that is read-only, has no entry for writes. */
START_TEST(rights)
{
	struct engine_exit exit;

	beside_put64(PDE, OLD | 0x83);
	invlpg(VA);
	loads(OLD, "loads");
	ck_assert(!(beside_get64(PDE) & 0x40));
	stores(5);
	ck_assert(beside_get64(PDE) & 0x40);
	beside_put64(PDE, OLD | (LARGE & ~2ull));
	invlpg(VA);
	loads(OLD, "read-only");
	exit = run(STORES, VA + 0x5000, 6, 8);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_int_eq(exit.fault.vector, X86_VEC_PF);
	ck_assert_uint_eq(beside_get64(OLD + 0x5000), 5);
}
END_TEST

/* Compiled stores reach a page that can only be read yet, or at all. */
START_TEST(enters)
{
	const uint64_t flags = _i ? LARGE & ~2ull : LARGE & ~0x40ull;
	struct engine_exit exit;

	beside_put64(PDE + 8, NEW | flags);
	run(LOADS, VA + SIZE, 0, PAGES);
	exit = run(STORES, VA, 6, PAGES + 8);
	ck_assert_int_eq(exit.kind, _i ? ENGINE_EXIT_FAULT : ENGINE_EXIT_KICK);
	ck_assert_uint_eq(beside_get64(OLD + SIZE - PAGE), 6);
	ck_assert(_i ? beside_get64(NEW) != 6 : beside_get64(NEW + 7 * PAGE) == 6);
	ck_assert_uint_eq(beside_get64(PDE + 8), NEW | (_i ? flags : LARGE));
}
END_TEST

/* Only the last part's end is outside. */
START_TEST(ends)
{
	struct engine_exit exit;
	unsigned int i;

	loads(OLD, "before");
	stores(8);
	for (i = 0; i < 2; i++) {
		exit = run(i ? STORES : LOADS, VA + PAGE - 4, 9, PAGES);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
		ck_assert_int_eq(exit.fault.vector, X86_VEC_PF);
		ck_assert_uint_eq(exit.fault.cr2, VA + SIZE);
		ck_assert_uint_eq(beside_vcpu->regs->rdi, VA + SIZE - 4);
	}
	/* Pieces that cross from part to part are stored whole. */
	ck_assert_uint_eq(beside_get64(OLD + 3 * PAGE - 4), 9);
}
END_TEST

/* Code appears in a part after its page could be written. Then writes to it are seen. */
START_TEST(code)
{
	/* mov al, 1; jmp $ */
	static const uint8_t one[8] = {0xb0, 1, 0xeb, 0xfe}, two[8] = {0xb0, 2, 0xeb, 0xfe};
	struct engine_exit exit;
	uint64_t value;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		memcpy(&value, i & 1 ? two : one, sizeof(value));
		if (_i)
			invlpg(VA);
		stores(value);
		beside_vcpu->regs->rip = VA + 0x7000;
		beside_vcpu->state |= ENGINE_REGS_DIRTY;
		beside_vcpu->budget = 50;
		beside_engine->run(beside_vcpu, false, &exit);
		ck_assert_uint_eq(beside_vcpu->regs->rax & 0xff, 1 + (i & 1));
	}
}
END_TEST

/* A flush empties a first level that has more entries than it lists. */
START_TEST(many)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		beside_step_with(LOAD, 3, 0, VA + i * PAGE);
	ck_assert_uint_gt(small_entries(), SOFT_FILLED);
	beside_put64(PDE, NEW | LARGE);
	beside_step_with(MOV_CR3, 3, BESIDE_PML4, 0);
	loads(NEW, "after a flush");
}
END_TEST

/* Of a page of 1 GiB that is only partly RAM there are entries of 4 KiB. */
START_TEST(partly_ram)
{
	uint64_t i, sum = 0;

	beside_put64(BESIDE_PDPT + 8, LARGE);
	for (i = 5; i < PAGES; i++)
		sum += beside_get64(OLD + i * PAGE);
	/* The second time, the second level has them. */
	for (i = 0; i < 2; i++) {
		soft_flush_first(soft(beside_vcpu));
		run(LOADS, (1ull << 30) + OLD + 5 * PAGE, 0, PAGES - 5);
		ck_assert_uint_eq(beside_vcpu->regs->rcx, sum);
	}
}
END_TEST

static uint32_t sum32(uint64_t gpa)
{
	uint32_t sum = 0, value;
	unsigned int i;

	for (i = 0; i < 2 * PAGES; i++) {
		memcpy(&value, beside_mem.host + gpa + i * PAGE, sizeof(value));
		sum += value;
	}
	return sum;
}

/* A page of 4 MiB has two entries, and INVLPG of one half ends both. */
START_TEST(four_mib)
{
	/* 1: mov eax, [edi]; add ecx, eax; add edi, 4096; dec edx; jnz 1b */
	static const char loop[] = "\x8b\x07\x01\xc1\x81\xc7\x00\x10\x00\x00\x4a\x75\xf3";
	static const uint64_t gpa[3] = {OLD, OLD, 0};
	const uint64_t first = LARGE, va = 2 * SIZE;
	struct x86_sregs s;
	unsigned int i;

	beside_mode(32, 0);
	s = beside_sregs();
	s.cr3 = TABLE;
	s.cr4 = (s.cr4 & ~(uint64_t)X86_CR4_PAE) | X86_CR4_PSE;
	s.efer = 0;
	beside_set_sregs(&s);
	for (i = 0; i < 3; i++) {
		beside_put64(TABLE, first | (i ? first : OLD | first) << 32);
		if (i == 2)
			beside_step_with(INVLPG, 3, 0, va + SIZE);
		*beside_vcpu->regs =
			(struct x86_regs){.rdi = va, .rdx = 4 * PAGES, .rflags = X86_FL_FIXED};
		beside_run(loop, sizeof(loop) - 1, 2ull * PAGES * INSNS);
		ck_assert_msg((uint32_t)beside_vcpu->regs->rcx == sum32(gpa[i]), "%u", i);
	}
}
END_TEST

TEST_SUITE("soft_whole", setup, teardown)
{
	tcase_add_test(tcase, all_parts);
	tcase_add_loop_test(tcase, moves, 0, 2);
	tcase_add_test(tcase, splits);
	tcase_add_test(tcase, rights);
	tcase_add_test(tcase, ends);
	tcase_add_test(tcase, many);
	tcase_add_test(tcase, partly_ram);
	tcase_add_test(tcase, four_mib);
	tcase_add_loop_test(tcase, enters, 0, 2);
	tcase_add_loop_test(tcase, code, 0, 2);
}
