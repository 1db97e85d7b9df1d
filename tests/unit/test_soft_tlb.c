// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The software CPU's TLB and its PCIDs (SDM vol. 3, 4.10). A page is used, and its mapping is
 * changed. A row says whether the old translation is still in use after an instruction.
 */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "lib/beside.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define TABLE	  0x40000ull /* the page table of the window */
#define OLD	  0x50000ull
#define NEW	  0x60000ull
#define LARGE_OLD 0x400000ull
#define LARGE_NEW 0x200000ull
/* A second set of tables, whose window is always NEW. */
#define PML4  0x41000ull
#define PDPT  0x42000ull
#define PD    0x43000ull
#define OTHER 0x44000ull

#define AT     0x5000ull /* the page in the window */
#define GLOBAL (1ull << 8)
#define KEEP   (1ull << 63)
#define PCIDE  (1ull << 17)
#define PGE    (1ull << 7)
#define TSD    (1ull << 2)
#define CR4    (X86_CR4_PAE | X86_CR4_OSFXSR | PGE | PCIDE)
#define CR0    (0x80010031ull)

#define MOV_CR0 "\x0f\x22\xc0"
#define MOV_CR3 "\x0f\x22\xd8"
#define MOV_CR4 "\x0f\x22\xe0"
#define INVLPG	"\x0f\x01\x3f"	       /* invlpg [rdi] */
#define INVPCID "\x66\x0f\x38\x82\x06" /* invpcid rax, [rsi] */
#define LOAD	"\x48\x8b\x07"	       /* mov rax, [rdi] */
#define STORE	"\x48\x89\x07"	       /* mov [rdi], rax */
#define NOTHING "\x90"

enum kind { SMALL, LARGE };

static const struct row {
	const char *text;
	uint64_t global;
	enum kind kind;
	const char *code;
	unsigned int bytes;
	uint64_t rax, pcid, address; /* an INVPCID has the last two in its descriptor */
	bool keeps;
} rows[] = {
#define INSN(code) code, sizeof(code) - 1
/* The page is in use under PCID 5, and BASE is its CR3. */
#define BASE (BESIDE_PML4 | 5)
#define VA   (BESIDE_WINDOW + AT)
	{"nothing", 0, SMALL, INSN(NOTHING), 0, 0, 0, true},
	{"nothing, large", 0, LARGE, INSN(NOTHING), 0, 0, 0, true},
	{"MOV CR3", 0, SMALL, INSN(MOV_CR3), BASE, 0, 0, false},
	{"MOV CR3, global", GLOBAL, SMALL, INSN(MOV_CR3), BASE, 0, 0, true},
	{"MOV CR3, bit 63", 0, SMALL, INSN(MOV_CR3), BASE | KEEP, 0, 0, true},
	{"MOV CR3, bit 63, other tables", 0, SMALL, INSN(MOV_CR3), PML4 | 5 | KEEP, 0, 0, true},
	{"MOV CR3, another PCID", 0, SMALL, INSN(MOV_CR3), BESIDE_PML4 | 6, 0, 0, true},
	{"MOV CR3, PCID 0", 0, SMALL, INSN(MOV_CR3), BESIDE_PML4, 0, 0, true},
	{"INVLPG", 0, SMALL, INSN(INVLPG), 0, 0, VA, false},
	{"INVLPG, global", GLOBAL, SMALL, INSN(INVLPG), 0, 0, VA, false},
	{"INVLPG, another page", 0, SMALL, INSN(INVLPG), 0, 0, VA + 0x1000, true},
	{"INVLPG, another part of a large page", 0, LARGE, INSN(INVLPG), 0, 0, BESIDE_WINDOW,
	 false},
	{"INVLPG, behind a large page", 0, LARGE, INSN(INVLPG), 0, 0, BESIDE_NOWHERE, true},
	{"INVPCID 0", 0, SMALL, INSN(INVPCID), 0, 5, VA, false},
	{"INVPCID 0, global", GLOBAL, SMALL, INSN(INVPCID), 0, 5, VA, true},
	{"INVPCID 0, another PCID", 0, SMALL, INSN(INVPCID), 0, 6, VA, true},
	{"INVPCID 0, another page", 0, SMALL, INSN(INVPCID), 0, 5, VA - 0x1000, true},
	{"INVPCID 0, large", 0, LARGE, INSN(INVPCID), 0, 5, BESIDE_WINDOW, false},
	{"INVPCID 1", 0, SMALL, INSN(INVPCID), 1, 5, 0, false},
	{"INVPCID 1, global", GLOBAL, SMALL, INSN(INVPCID), 1, 5, 0, true},
	{"INVPCID 1, another PCID", 0, SMALL, INSN(INVPCID), 1, 6, 0, true},
	{"INVPCID 2", 0, SMALL, INSN(INVPCID), 2, 0, 0, false},
	{"INVPCID 2, global", GLOBAL, SMALL, INSN(INVPCID), 2, 0, 0, false},
	{"INVPCID 3", 0, SMALL, INSN(INVPCID), 3, 0, 0, false},
	{"INVPCID 3, global", GLOBAL, SMALL, INSN(INVPCID), 3, 0, 0, true},
	{"CR4.PGE", GLOBAL, SMALL, INSN(MOV_CR4), CR4 & ~PGE, 0, 0, false},
	{"CR4.PCIDE", GLOBAL, SMALL, INSN(MOV_CR4), CR4 & ~PCIDE, 0, 0, false},
	{"CR4.TSD", 0, SMALL, INSN(MOV_CR4), CR4 | TSD, 0, 0, true},
	{"CR0.TS", 0, SMALL, INSN(MOV_CR0), CR0 | X86_CR0_TS, 0, 0, true},
	{"a page 256 pages on", 0, SMALL, INSN(LOAD), 0, 0, VA + 0x100000, true},
	{"a page fault of this page", 0, SMALL, INSN(STORE), 0, 0, VA, false},
};

static uint64_t entry_at(uint64_t table, uint64_t va)
{
	return table + 8 * (va >> 12 & 511);
}

static void map(const struct row *r, bool changed)
{
	/* The old page is read-only, so that a store faults. */
	uint64_t page = changed ? NEW | 7 : OLD | 5;

	if (r->kind == LARGE) {
		beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21),
			     (changed ? LARGE_NEW : LARGE_OLD) | 0x87);
		return;
	}
	beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21), TABLE | 7);
	beside_put64(entry_at(TABLE, VA), page | r->global);
}

/* Code that is data too: mov eax, `value`; ret. */
static void put_code(uint64_t gpa, unsigned int value)
{
	const uint8_t code[8] = {0xb8, (uint8_t)value, 0, 0, 0, 0xc3};

	beside_put(gpa, code, sizeof(code));
}

static void set_up(const struct row *r)
{
	struct x86_sregs s;

	put_code(OLD, 1);
	put_code(NEW, 2);
	put_code(LARGE_OLD + AT, 1);
	put_code(LARGE_NEW + AT, 2);
	beside_put64(entry_at(TABLE, VA + 0x100000), 0x70000 | 7);
	beside_put64(PML4, PDPT | 7);
	beside_put64(PDPT, PD | 7);
	beside_put64(PD, 0x87);
	beside_put64(PD + 8 * (BESIDE_WINDOW >> 21), OTHER | 7);
	beside_put64(entry_at(OTHER, VA), NEW | 7);
	map(r, false);
	s = beside_sregs();
	s.cr3 = BASE;
	s.cr4 = CR4;
	beside_set_sregs(&s);
}

/* Return 1 if the page is the old one, or 2. */
static uint64_t use(bool fetch)
{
	const struct engine_step_hint hint = {0};
	struct engine_exit exit;

	if (!fetch) {
		beside_step_with(LOAD, 3, 0, VA);
		return beside_vcpu->regs->rax >> 8 & 0xff;
	}
	beside_vcpu->regs->rip = VA;
	beside_vcpu->regs->rax = 0;
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	beside_engine->step(beside_vcpu, &hint, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	return beside_vcpu->regs->rax;
}

static void check_row(const struct row *r, bool fetch, bool snapshot)
{
	uint64_t descriptor[2] = {r->pcid, r->address};

	set_up(r);
	ck_assert_uint_eq(use(fetch), 1);
	map(r, true);
	/* A store to the old page faults, because no entry allows it and the new walk neither. */
	if (r->bytes == 3 && !memcmp(r->code, STORE, 3))
		beside_put64(entry_at(TABLE, VA), 0);
	beside_put(BESIDE_DATA, descriptor, sizeof(descriptor));
	beside_step_with(r->code, r->bytes, r->rax, r->address);
	map(r, true);
	if (snapshot)
		beside_reload();
	if (beside_sregs().cr4 & PCIDE)
		beside_step_with(MOV_CR3, 3, BASE | KEEP, 0);
	ck_assert_msg(use(fetch) == (r->keeps ? 1 : 2), "%s, %s, %s", r->text,
		      fetch ? "fetch" : "load", snapshot ? "snapshot" : "no snapshot");
}

START_TEST(invalidation)
{
	check_row(&rows[_i / 4], _i & 1, _i & 2);
}
END_TEST

/* The links of one address space never lead to the code of another. */
START_TEST(links)
{
	static const char code[] = "\x0f\x22\xdb"     /* mov cr3, rbx */
				   "\x48\x87\xcb"     /* xchg rbx, rcx */
				   "\xff\xd7"	      /* call rdi */
				   "\x4e\x8d\x04\x80" /* lea r8, [rax + r8 * 4] */
				   "\xff\xce"	      /* dec esi */
				   "\x75\xf0"	      /* jnz mov */
				   "\xf4";
	const struct engine_step_hint hint = {0};
	struct engine_exit exit;

	set_up(&rows[0]);
	*beside_vcpu->regs = (struct x86_regs){.rbx = BASE | KEEP,
					       .rcx = PML4 | 6 | KEEP,
					       .rdi = VA,
					       .rsi = 20,
					       .rsp = BESIDE_STACK,
					       .rflags = X86_FL_FIXED};
	exit = beside_run(code, sizeof(code) - 1, 1000);
	/* The caller steps each MOV to CR3. */
	while (exit.kind == ENGINE_EXIT_CORE) {
		beside_engine->step(beside_vcpu, &hint, &exit);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
		beside_vcpu->budget = 1000;
		beside_engine->run(beside_vcpu, false, &exit);
	}
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->regs->r8, 0x6666666666);
}
END_TEST

/* More address spaces than first-level TLBs, and more pages than the second level has. */
START_TEST(capacity)
{
	unsigned int i;

	set_up(&rows[0]);
	for (i = 0; i < 64; i++) {
		beside_step_with(MOV_CR3, 3, (i & 1 ? PML4 : BESIDE_PML4) | (i % 12 + 5) | KEEP, 0);
		ck_assert_uint_eq(use(i & 2), i & 1 ? 2 : 1);
	}
	beside_step_with(MOV_CR3, 3, BASE, 0);
	for (i = 0; i < 512; i++)
		beside_put64(TABLE + 8 * i, (i & 1 ? NEW : OLD) | 7);
	for (i = 0; i < 512 * 20; i++) {
		if (i % 512 == 0)
			beside_step_with(MOV_CR3, 3, BESIDE_PML4 | (i / 512 + 100) | KEEP, 0);
		beside_step_with(LOAD, 3, 0, BESIDE_WINDOW + (i % 512 << 12));
		ck_assert_uint_eq(beside_vcpu->regs->rax >> 8 & 0xff, i & 1 ? 2 : 1);
	}
	/* The entries of the first PCID have made room, so the accessed bits are set again. */
	for (i = 0; i < 512; i++)
		beside_put64(TABLE + 8 * i, NEW | 7);
	beside_step_with(MOV_CR3, 3, BESIDE_PML4 | 100 | KEEP, 0);
	for (i = 0; i < 512; i++) {
		beside_step_with(LOAD, 3, 0, BESIDE_WINDOW + (i << 12));
		ck_assert_uint_eq(beside_vcpu->regs->rax >> 8 & 0xff, 2);
	}
}
END_TEST

/* The core decodes by the page tables, so its step executes what they lead to. */
START_TEST(core_steps_by_tables)
{
	static const uint8_t first[] = {0xb0, 1}, second[] = {0xb0, 2}; /* mov al, n */
	const struct engine_step_hint hint = {.by_tables = _i == 1};
	struct engine_exit exit;
	unsigned int n;

	beside_put(OLD, first, sizeof(first));
	beside_put(NEW, second, sizeof(second));
	beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21), TABLE | 7);
	for (n = 0; n < 2; n++) {
		beside_put64(TABLE + 8 * (AT >> 12), (n ? NEW : OLD) | 7);
		*beside_vcpu->regs = (struct x86_regs){.rip = VA, .rflags = X86_FL_FIXED};
		beside_vcpu->state |= ENGINE_REGS_DIRTY;
		beside_engine->step(beside_vcpu, &hint, &exit);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
		ck_assert_uint_eq(beside_vcpu->regs->rax, n && hint.by_tables ? 2 : 1);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_tlb");
	TCase *tc = tcase_create("tlb");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, invalidation, 0, 4 * ROWS(rows));
	tcase_add_test(tc, links);
	tcase_add_test(tc, capacity);
	tcase_add_loop_test(tc, core_steps_by_tables, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
