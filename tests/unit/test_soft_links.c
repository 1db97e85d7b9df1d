// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Units whose pages are mapped anew. The code of a loop is in two pages, or one of its instructions is. It
 * runs until it is compiled. Then the second page gets another frame, whose code must run next. A loop
 * within a page can be interrupted.
 */
#include "lib/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "engine/engine.h"
#include "lib/plain_machine.h"
#include "soft/compile.h"
#include "soft/engine.h"
#include "soft/soft.h"
#include "soft/tlb.h"

enum {
	PT_LOW = 0x4000, /* of plain_machine.c */
	SECOND = PLAIN_CODE + X86_PAGE_SIZE,
	OTHER = PLAIN_RAM - X86_PAGE_SIZE, /* the other frame */
	ROUNDS = 1000
};

struct row {
	const char *name;
	uint64_t start;		       /* offset in the first page */
	uint8_t first[16], second[16]; /* code at the start, and at the begin of the second page */
	unsigned int change; /* offset in the second page of what is another in the other frame */
	uint64_t added;	     /* to RAX in each round, by the first frame; by the other twice that */
};

static const struct row rows[] = {
	/* inc rbx; jmp second: add rax, 1; dec rcx; jnz first; hlt */
	{"a jump between pages",
	 0xf00,
	 {0x48, 0xff, 0xc3, 0xe9, 0xf8, 0x00, 0x00, 0x00},
	 {0x48, 0x83, 0xc0, 0x01, 0x48, 0xff, 0xc9, 0x0f, 0x85, 0xf3, 0xfe, 0xff, 0xff, 0xf4},
	 3,
	 1},
	/* inc rbx; jmp next; seven nops; add rax, 0x10000, across pages; dec rcx; jnz first; hlt */
	{"an instruction across pages",
	 0xff0,
	 {0x48, 0xff, 0xc3, 0xeb, 0x00, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x05, 0, 0},
	 {0x01, 0x00, 0x48, 0xff, 0xc9, 0x0f, 0x85, 0xe5, 0xff, 0xff, 0xff, 0xf4},
	 0,
	 0x10000},
};

static struct plain_machine machine;

static void setup(void)
{
	plain_create(&machine);
	plain_set_mode(&machine, 64);
	if (soft(machine.vcpu)->compiler)
		soft_compile_after(soft(machine.vcpu), 2);
}

static void teardown(void)
{
	plain_destroy(&machine);
}

static void put(uint64_t gpa, const void *bytes, size_t len)
{
	ck_assert(x86_mem_write(&machine.mem, gpa, bytes, len));
	soft_engine.vm_wrote(machine.vm, gpa, len);
}

/* Map the second page to a frame, and drop its translation as INVLPG does. */
static void map_second(uint64_t gpa)
{
	const uint64_t entry = gpa | 0x23;

	ck_assert(x86_mem_write(&machine.mem, PT_LOW + 8 * (SECOND >> 12), &entry, sizeof(entry)));
	soft_flush_page(soft(machine.vcpu), SECOND, 0, true);
}

/* Run the loop, and return what it adds to RAX in each round. */
static uint64_t run(const struct row *row)
{
	struct x86_regs *regs = machine.vcpu->regs;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	memset(regs, 0, sizeof(*regs));
	regs->rip = PLAIN_CODE + row->start;
	regs->rflags = X86_FL_FIXED;
	regs->rcx = ROUNDS;
	machine.vcpu->state |= ENGINE_REGS_DIRTY;
	machine.vcpu->budget = 100 * ROUNDS;
	soft_engine.run(machine.vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(regs->rbx, ROUNDS);
	return regs->rax / ROUNDS;
}

static bool is_compiled(const struct row *row)
{
	struct soft *c = soft(machine.vcpu);
	const struct soft_block *b;

	c->r[SOFT_R_RIP] = PLAIN_CODE + row->start;
	b = soft_block(c, c->mode);
	return b->link[1].inner && soft_compiler_made(c->compiler, b->uop[0].fn);
}

START_TEST(mapped_anew)
{
	const struct row *row = &rows[_i];
	uint8_t other[sizeof(row->second)];

	memcpy(other, row->second, sizeof(other));
	other[row->change] *= 2;
	put(PLAIN_CODE + row->start, row->first, sizeof(row->first));
	put(SECOND, row->second, sizeof(row->second));
	put(OTHER, other, sizeof(other));
	ck_assert_uint_eq(run(row), row->added);
	if (soft(machine.vcpu)->compiler)
		ck_assert_msg(is_compiled(row), "%s: no unit", row->name);
	map_second(OTHER);
	ck_assert_msg(run(row) == 2 * row->added, "%s: the code of the old frame ran", row->name);
	map_second(SECOND);
	ck_assert_uint_eq(run(row), row->added);
}
END_TEST

static void on_timer(int sig)
{
	(void)sig;
	soft_engine.interrupt(machine.vcpu);
}

/* A loop within a page ends when a signal handler asks for it. */
START_TEST(interrupted)
{
	/* inc rax; jnz next; jmp first: two blocks */
	static const uint8_t code[] = {0x48, 0xff, 0xc0, 0x75, 0x00, 0xeb, 0xf9};
	const struct itimerval soon = {.it_value.tv_usec = 20000};
	const struct sigaction action = {.sa_handler = on_timer};
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};
	struct x86_regs *regs = machine.vcpu->regs;

	put(PLAIN_CODE, code, sizeof(code));
	memset(regs, 0, sizeof(*regs));
	regs->rip = PLAIN_CODE;
	regs->rflags = X86_FL_FIXED;
	machine.vcpu->state |= ENGINE_REGS_DIRTY;
	machine.vcpu->budget = INT64_MAX / 4;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	soft_engine.run(machine.vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_gt(regs->rax, 1000);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_links");
	TCase *t = tcase_create("pages");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, mapped_anew, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(t, interrupted);
	suite_add_tcase(s, t);
	return s;
}
