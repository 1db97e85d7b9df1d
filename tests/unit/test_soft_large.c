// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Large pages in the software CPU's second-level TLB (SDM vol. 3, 4.10). One walk serves the whole
 * page, and each invalidation drops the whole page. Walks show in accessed and dirty bits.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/beside.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define LARGE_OLD 0x400000ull
#define LARGE_NEW 0x600000ull
#define SIZE	  0x200000ull
#define TABLE	  0x40000ull /* of pages of 4 KiB */
#define PD	  0x41000ull /* for the second GiB and, twice, for further ones */
#define VA	  ((uint64_t)BESIDE_WINDOW)
#define FAR	  ((1ull << 30) + 4 * SIZE) /* not in the same entries of the first level as VA */
#define PDE	  (BESIDE_PD + 8 * (VA >> 21 & 511))
#define ACCESSED  0x20ull
#define DIRTY	  0x40ull
#define GLOBAL	  0x100ull
#define KEEP	  (1ull << 63)
#define CR4	  (X86_CR4_PAE | X86_CR4_OSFXSR | 1u << 7 | 1u << 17) /* PGE, PCIDE */
#define BASE	  (BESIDE_PML4 | 5ull)
#define ENTRIES	  512u /* of whole pages of one size */

#define MOV_CR3 "\x0f\x22\xd8"
#define INVLPG	"\x0f\x01\x3f"	       /* invlpg [rdi] */
#define INVPCID "\x66\x0f\x38\x82\x06" /* invpcid rax, [rsi] */
#define LOAD	"\x48\x8b\x07"	       /* mov rax, [rdi] */
#define STORE	"\x48\x89\x07"	       /* mov [rdi], rax */
#define ADD	"\x48\x01\x07"	       /* add [rdi], rax */
#define NOTHING "\x90"

static uint64_t load_from(uint64_t va)
{
	beside_step_with(LOAD, 3, 0, va);
	return beside_vcpu->regs->rax;
}

/* Each page of RAM has its address. */
static void set_up(void)
{
	struct x86_sregs s;
	uint64_t gpa;

	for (gpa = LARGE_OLD; gpa < BESIDE_RAM; gpa += X86_PAGE_SIZE)
		beside_put64(gpa, gpa);
	s = beside_sregs();
	s.cr3 = BASE;
	s.cr4 = CR4;
	beside_set_sregs(&s);
}

static const struct row {
	const char *text;
	uint64_t global;
	const char *code;
	unsigned int bytes;
	uint64_t rax, pcid, address; /* an INVPCID has the last two in its descriptor */
	bool keeps;
} rows[] = {
#define INSN(code) code, sizeof(code) - 1
	{"nothing", 0, INSN(NOTHING), 0, 0, 0, true},
	{"INVLPG, the first part", 0, INSN(INVLPG), 0, 0, VA, false},
	{"INVLPG, a part without access", 0, INSN(INVLPG), 0, 0, VA + 0x123456, false},
	{"INVLPG, the last byte", 0, INSN(INVLPG), 0, 0, VA + SIZE - 1, false},
	{"INVLPG, global", GLOBAL, INSN(INVLPG), 0, 0, VA + 0x5000, false},
	{"INVLPG, the page before", 0, INSN(INVLPG), 0, 0, VA - 1, true},
	{"INVLPG, the page after", 0, INSN(INVLPG), 0, 0, VA + SIZE, true},
	{"MOV CR3", 0, INSN(MOV_CR3), BASE, 0, 0, false},
	{"MOV CR3, global", GLOBAL, INSN(MOV_CR3), BASE, 0, 0, true},
	{"MOV CR3, bit 63", 0, INSN(MOV_CR3), BASE | KEEP, 0, 0, true},
	{"MOV CR3, another PCID", 0, INSN(MOV_CR3), BESIDE_PML4 | 6, 0, 0, true},
	{"INVPCID 0", 0, INSN(INVPCID), 0, 5, VA + 0x1ff000, false},
	{"INVPCID 0, another PCID", 0, INSN(INVPCID), 0, 6, VA, true},
	{"INVPCID 0, global", GLOBAL, INSN(INVPCID), 0, 5, VA, true},
	{"INVPCID 1", 0, INSN(INVPCID), 1, 5, 0, false},
	{"INVPCID 1, another PCID", 0, INSN(INVPCID), 1, 6, 0, true},
	{"INVPCID 1, global", GLOBAL, INSN(INVPCID), 1, 5, 0, true},
	{"INVPCID 2, global", GLOBAL, INSN(INVPCID), 2, 0, 0, false},
	{"INVPCID 3", 0, INSN(INVPCID), 3, 0, 0, false},
	{"INVPCID 3, global", GLOBAL, INSN(INVPCID), 3, 0, 0, true},
};

/* All parts have one fate, also those that the first level has, and those without an access. */
START_TEST(invalidation)
{
	const struct row *r = &rows[_i / 2];
	const uint64_t descriptor[2] = {r->pcid, r->address};
	uint64_t at;

	set_up();
	beside_put64(PDE, LARGE_OLD | 0x83 | r->global);
	for (at = 0; at < SIZE / 2; at += 0x3000)
		ck_assert_uint_eq(load_from(VA + at), LARGE_OLD + at);
	beside_put64(PDE, LARGE_NEW | 0x83 | r->global);
	beside_put(BESIDE_DATA, descriptor, sizeof(descriptor));
	beside_step_with(r->code, r->bytes, r->rax, r->address);
	if (_i & 1)
		beside_reload();
	beside_step_with(MOV_CR3, 3, BASE | KEEP, 0);
	for (at = 0; at < SIZE; at += 0x1000)
		ck_assert_msg(load_from(VA + at) == (r->keeps ? LARGE_OLD : LARGE_NEW) + at,
			      "%s, %#lx", r->text, at);
}
END_TEST

/* Another PCID has the page only if it is global. */
START_TEST(other_pcid)
{
	const uint64_t global = _i ? GLOBAL : 0;

	set_up();
	beside_put64(PDE, LARGE_OLD | 0x83 | global);
	ck_assert_uint_eq(load_from(VA), LARGE_OLD);
	beside_put64(PDE, LARGE_NEW | 0x83 | global);
	beside_step_with(MOV_CR3, 3, BESIDE_PML4 | 6 | KEEP, 0);
	ck_assert_uint_eq(load_from(VA + 0x1000), (_i ? LARGE_OLD : LARGE_NEW) + 0x1000);
	beside_step_with(MOV_CR3, 3, BASE | KEEP, 0);
	ck_assert_uint_eq(load_from(VA + 0x2000), LARGE_OLD + 0x2000);
}
END_TEST

/* Map four large pages and write to all their parts, which are more than the first level lists. */
static void fill_first_level(uint64_t gpa)
{
	uint64_t i;

	beside_put64(BESIDE_PDPT + 8, PD | 3);
	for (i = 0; i < 4; i++)
		beside_put64(PD + 32 + 8 * i, gpa | 0x83);
	for (i = 0; i < 2048; i++)
		beside_step_with(STORE, 3, gpa + i % 512 * 0x1000, FAR + i * 0x1000);
}

/* A flush also empties a first level that has more pages than it lists. */
START_TEST(many_pages)
{
	uint64_t i;

	set_up();
	fill_first_level(LARGE_OLD);
	for (i = 0; i < 4; i++)
		beside_put64(PD + 32 + 8 * i, LARGE_NEW | 0x83);
	ck_assert_uint_eq(load_from(FAR), LARGE_OLD);
	beside_step_with(MOV_CR3, 3, BASE, 0);
	for (i = 0; i < 2048; i++)
		ck_assert_uint_eq(load_from(FAR + i * 0x1000), LARGE_NEW + i % 512 * 0x1000);
}
END_TEST

/* The first access sets the accessed bit, and the first write the dirty bit. No other access does. */
START_TEST(one_walk)
{
	static const char *const writes[] = {STORE, ADD};

	set_up();
	beside_put64(PDE, LARGE_OLD | 0x83);
	load_from(VA);
	load_from(VA + 0x7000);
	ck_assert_uint_eq(beside_get64(PDE), LARGE_OLD | 0x83 | ACCESSED);
	beside_put64(PDE, LARGE_OLD | 0x83);
	load_from(VA + 0x1000);
	ck_assert_uint_eq(beside_get64(PDE), LARGE_OLD | 0x83);
	/* The first level can read this page, but not write it. */
	beside_step_with(writes[_i], 3, 1, VA + 0x7000);
	ck_assert_uint_eq(beside_get64(PDE), LARGE_OLD | 0x83 | ACCESSED | DIRTY);
	beside_put64(PDE, LARGE_OLD | 0x83);
	beside_step_with(writes[_i], 3, 1, VA);
	beside_step_with(writes[_i], 3, 1, VA + 0x8008);
	ck_assert_uint_eq(beside_get64(PDE), LARGE_OLD | 0x83);
	ck_assert_uint_eq(beside_get64(LARGE_OLD + 0x8008), 1);
}
END_TEST

/* A write that needs a walk finds another page. From then on all parts are there. */
START_TEST(write_moves)
{
	set_up();
	beside_put64(PDE, LARGE_OLD | 0x83);
	ck_assert_uint_eq(load_from(VA), LARGE_OLD);
	ck_assert_uint_eq(load_from(VA + 0x5000), LARGE_OLD + 0x5000);
	beside_put64(PDE, LARGE_NEW | 0x83);
	beside_step_with(STORE, 3, 7, VA + 0x5000);
	ck_assert_uint_eq(beside_get64(LARGE_NEW + 0x5000), 7);
	ck_assert_uint_eq(load_from(VA), LARGE_NEW);
}
END_TEST

/* A write to a large page with code takes the slow path, and executes the new code. */
START_TEST(code)
{
	/* An entry of the first level beyond the number that is listed. */
	const uint64_t va = VA + 3 * SIZE + 0x3000;
	const struct engine_step_hint hint = {0};
	struct engine_exit exit;
	unsigned int n;

	set_up();
	beside_put64(PDE + 24, LARGE_OLD | 0x83 | DIRTY);
	if (_i)
		fill_first_level(LARGE_NEW);
	for (n = 1; n < 4; n++) {
		beside_step_with(STORE, 3, n << 8 | 0xb0, va); /* mov al, n */
		*beside_vcpu->regs = (struct x86_regs){.rip = va, .rflags = X86_FL_FIXED};
		beside_vcpu->state |= ENGINE_REGS_DIRTY;
		beside_engine->step(beside_vcpu, &hint, &exit);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
		ck_assert_uint_eq(beside_vcpu->regs->rax, n);
	}
}
END_TEST

/*
 * Pages of 4 KiB and a large page translate the same addresses, because the guest does not
 * invalidate. A snapshot, which drops the first level, changes nothing.
 */
START_TEST(sizes)
{
	uint64_t seen[2], n;

	for (n = 0; n < 2; n++) {
		set_up();
		beside_step_with(INVPCID, 5, 3, 0);
		beside_put64(TABLE, LARGE_OLD | 3);
		beside_put64(TABLE + 8, (LARGE_OLD + 0x1000) | 3);
		beside_put64(PDE, _i & 1 ? LARGE_NEW | 0x83 : TABLE | 3);
		load_from(VA);
		beside_put64(PDE, _i & 1 ? TABLE | 3 : LARGE_NEW | 0x83);
		/* A store needs a walk, and a load of another part too if the page is small. */
		if (_i & 2)
			beside_step_with(STORE, 3, LARGE_OLD + 1, VA + 0x1000);
		else
			load_from(VA + 0x1000);
		if (n)
			beside_reload();
		seen[n] = load_from(VA);
		beside_step_with(INVLPG, 3, 0, VA + 0x1000);
		beside_step_with(INVLPG, 3, 0, VA);
		ck_assert_uint_eq(load_from(VA), _i & 1 ? LARGE_OLD : LARGE_NEW);
	}
	ck_assert_uint_eq(seen[0], seen[1]);
}
END_TEST

/* More pages than there are entries. The oldest make room, and leave the first level. */
START_TEST(capacity)
{
	/* The accesses have different entries in the first level. */
	const uint64_t first = 1ull << 30, pages = ENTRIES + 100;
	uint64_t i, moved = 0;

	set_up();
	beside_put64(BESIDE_PDPT + 8, PD | 3);
	beside_put64(BESIDE_PDPT + 16, (PD + 0x1000) | 3);
	for (i = 0; i < 1024; i++)
		beside_put64(PD + 8 * i, LARGE_OLD | 0x83);
	for (i = 0; i < pages; i++)
		ck_assert_uint_eq(load_from(first + i * SIZE + i % 512 * 0x1000),
				  LARGE_OLD + i % 512 * 0x1000);
	for (i = 0; i < 1024; i++)
		beside_put64(PD + 8 * i, LARGE_NEW | 0x83);
	for (i = pages; i-- > pages - ENTRIES / 4;)
		ck_assert_uint_eq(load_from(first + i * SIZE), LARGE_OLD);
	for (i = 0; i < ENTRIES / 4; i++)
		moved += load_from(first + i * SIZE + i * 0x1000) == LARGE_NEW + i * 0x1000;
	ck_assert_uint_eq(moved, 100);
}
END_TEST

/* A page of 1 GiB is only partly RAM, so each 4 KiB has an entry. INVLPG drops all of them. */
START_TEST(partly_ram)
{
	const uint64_t first = 1ull << 30;
	uint64_t at;

	set_up();
	beside_put64(BESIDE_PDPT + 8, 0x83);
	ck_assert_uint_eq(load_from(first + LARGE_OLD), LARGE_OLD);
	beside_put64(BESIDE_PDPT + 8, 0x83);
	for (at = 0; at < 0x8000; at += 0x1000)
		ck_assert_uint_eq(load_from(first + LARGE_OLD + at), LARGE_OLD + at);
	ck_assert_uint_eq(beside_get64(BESIDE_PDPT + 8), 0x83 | ACCESSED);
	beside_put64(BESIDE_PDPT + 8, PD | 3);
	beside_put64(PD + 8 * (LARGE_OLD >> 21), LARGE_NEW | 0x83);
	if (_i)
		beside_reload();
	for (at = 0; at < 0x8000; at += 0x1000)
		ck_assert_uint_eq(load_from(first + LARGE_OLD + at), LARGE_OLD + at);
	beside_step_with(INVLPG, 3, 0, first + (1ull << 30) - 1);
	for (at = 0; at < 0x8000; at += 0x1000)
		ck_assert_uint_eq(load_from(first + LARGE_OLD + at), LARGE_NEW + at);
}
END_TEST

/* The entry of a whole page in a snapshot is aligned, and all of its page is RAM. */
static const struct change {
	uint64_t key, word; /* changed bits */
	int error;
} changes[] = {
	{0, 0, 0},
	{0, 1u << 3, 0},
	{0x1000, 0, -EINVAL},
	{0, 0x1000, -EINVAL},
	{0, 1u << 5, -EINVAL},	       /* 4 KiB */
	{0, 1u << 6, -EINVAL},	       /* 1 GiB */
	{0, 1u << 10, -EINVAL},	       /* a reserved bit */
	{0, 1ull << 23, -EINVAL},      /* after the end of RAM */
	{0x1000, 1u << 9 | 0x1000, 0}, /* a part of the page, as older snapshots have it */
};

START_TEST(snapshot)
{
	const struct change *c = &changes[_i];
	size_t bytes, at;
	uint64_t entry[2];
	uint8_t *state;

	set_up();
	beside_put64(PDE, LARGE_OLD | 0x83);
	load_from(VA);
	bytes = beside_engine->save(beside_vcpu, NULL, 0);
	state = malloc(bytes);
	ck_assert_ptr_nonnull(state);
	ck_assert_uint_eq(beside_engine->save(beside_vcpu, state, bytes), bytes);
	for (at = bytes - 16;; at -= 16) {
		memcpy(entry, state + at, 16);
		if (entry[0] == (VA | 5))
			break;
	}
	entry[0] ^= c->key;
	entry[1] ^= c->word;
	memcpy(state + at, entry, 16);
	ck_assert_int_eq(beside_engine->load(beside_vcpu, state, bytes), c->error);
	beside_put64(PDE, LARGE_NEW | 0x83);
	if (!c->error) {
		ck_assert_uint_eq(load_from(VA + 0x1000), LARGE_OLD + 0x1000);
		beside_step_with(INVLPG, 3, 0, VA + 0x9000);
		ck_assert_uint_eq(load_from(VA + 0x1000), LARGE_NEW + 0x1000);
	}
	free(state);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_large");
	TCase *tc = tcase_create("large");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, invalidation, 0, 2 * ROWS(rows));
	tcase_add_loop_test(tc, one_walk, 0, 2);
	tcase_add_test(tc, write_moves);
	tcase_add_loop_test(tc, code, 0, 2);
	tcase_add_loop_test(tc, other_pcid, 0, 2);
	tcase_add_test(tc, many_pages);
	tcase_add_loop_test(tc, sizes, 0, 4);
	tcase_add_test(tc, capacity);
	tcase_add_loop_test(tc, partly_ram, 0, 2);
	tcase_add_loop_test(tc, snapshot, 0, ROWS(changes));
	suite_add_tcase(s, tc);
	return s;
}
