// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Units whose pages are mapped anew. The code of a loop is in two pages, or one of its instructions is. It
 * runs until it is compiled. Then the second page gets another frame, whose code must run next. A loop
 * within a page can be interrupted. An inner loop, of which the outer loop's unit has a copy, is patched.
 * Three loops call a function.
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
#include "soft/system.h"
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

/* Run the loop at rip, and return what it adds to RAX in each round. */
static uint64_t run_at(uint64_t rip)
{
	struct x86_regs *regs = machine.vcpu->regs;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};

	memset(regs, 0, sizeof(*regs));
	regs->rip = rip;
	regs->rflags = X86_FL_FIXED;
	regs->rsp = PLAIN_STACK;
	regs->rcx = ROUNDS;
	machine.vcpu->state |= ENGINE_REGS_DIRTY;
	machine.vcpu->budget = 100 * ROUNDS;
	soft_engine.run(machine.vcpu, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	return regs->rax / ROUNDS;
}

static uint64_t run(const struct row *row)
{
	const uint64_t added = run_at(PLAIN_CODE + row->start);

	ck_assert_uint_eq(machine.vcpu->regs->rbx, ROUNDS);
	return added;
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

enum { CALLERS = 3, CALLER_BYTES = 16, FUNCTION = 0x800 };

/* The loops and, at FUNCTION, what they call: add rax, 1; ret */
static void put_callers(void)
{
	static const uint8_t function[] = {0x48, 0x83, 0xc0, 0x01, 0xc3};
	/* call FUNCTION; dec rcx; jnz; hlt */
	uint8_t code[] = {0xe8, 0, 0, 0, 0, 0x48, 0xff, 0xc9, 0x75, 0xf6, 0xf4};
	unsigned int i;

	for (i = 0; i < CALLERS; i++) {
		const int32_t distance = (int32_t)(FUNCTION - i * CALLER_BYTES - 5);

		memcpy(code + 1, &distance, sizeof(distance));
		put(PLAIN_CODE + i * CALLER_BYTES, code, sizeof(code));
	}
	put(PLAIN_CODE + FUNCTION, function, sizeof(function));
}

static uint64_t run_caller(unsigned int caller)
{
	return run_at(PLAIN_CODE + caller * CALLER_BYTES);
}

static const struct soft_block *block_at(uint64_t offset)
{
	struct soft *c = soft(machine.vcpu);

	c->r[SOFT_R_RIP] = PLAIN_CODE + offset;
	return soft_block(c, c->mode);
}

/* Return how many of the targets of the function's RET are in units. */
static unsigned int returns(void)
{
	const struct soft_block *b = block_at(FUNCTION);
	unsigned int i, inner = 0;

	for (i = 0; i < SOFT_LINKS; i++)
		inner += b->link[i].inner != 0;
	return inner;
}

/* The unit of a loop has a copy of an inner loop, whose own unit was made before. */
START_TEST(inner_loop)
{
	/* mov edx, 8; jmp inner: add rax, 1; dec edx; jnz inner; dec rcx; jnz first; hlt */
	static const uint8_t code[] = {0xba, 0x08, 0,	 0,    0,    0xeb, 0x00,
				       0x48, 0x83, 0xc0, 0x01, 0xff, 0xca, 0x75,
				       0xf8, 0x48, 0xff, 0xc9, 0x75, 0xec, 0xf4};
	const uint8_t two = 2;

	put(PLAIN_CODE, code, sizeof(code));
	ck_assert_uint_eq(run_caller(0), 8);
	if (soft(machine.vcpu)->compiler)
		ck_assert_msg(block_at(7)->copied[0], "no unit has a copy of the inner loop");
	put(PLAIN_CODE + 10, &two, sizeof(two));
	ck_assert_uint_eq(run_caller(0), 16);
}
END_TEST

/* A unit is made again with a target that its RET did not have. */
START_TEST(stray_returns)
{
	unsigned int i;

	put_callers();
	for (i = 0; i < CALLERS; i++) {
		ck_assert_uint_eq(run_caller(i), 1);
		ck_assert_uint_eq(run_caller(i), 1);
		if (soft(machine.vcpu)->compiler)
			ck_assert_uint_eq(returns(), i + 1);
	}
}
END_TEST

static void flush_page(struct soft *c)
{
	soft_flush_page(c, SECOND, 0, true);
}

static void flush_pcid(struct soft *c)
{
	soft_flush_pcid(c, 0);
}

static void (*const flushes[])(struct soft *c) = {flush_page, flush_pcid, soft_flush_local,
						  soft_flush_tlb};

/* A loop that adds up a word of the second page, which has the one value in its frame and the other in OTHER. */
static void put_sum(uint64_t first, uint64_t other)
{
	/* add rax, [abs SECOND]; dec rcx; jnz first; hlt */
	static const uint8_t code[] = {
		0x48, 0x03, 0x04, 0x25, SECOND & 0xff, SECOND >> 8 & 0xff, SECOND >> 16, 0, 0x48,
		0xff, 0xc9, 0x75, 0xf3, 0xf4};

	put(PLAIN_CODE, code, sizeof(code));
	put(SECOND, &first, sizeof(first));
	put(OTHER, &other, sizeof(other));
	map_second(SECOND);
}

/* Map the second page to OTHER, without a flush. */
static void map_other(void)
{
	const uint64_t entry = OTHER | 0x23;

	ck_assert(x86_mem_write(&machine.mem, PT_LOW + 8 * (SECOND >> 12), &entry, sizeof(entry)));
}

/* A page of data gets another frame. Compiled code does not use the old one after a flush. */
START_TEST(data_mapped_anew)
{
	put_sum(3, 5);
	ck_assert_uint_eq(run_caller(0), 3);
	if (soft(machine.vcpu)->compiler)
		ck_assert(soft_compiler_made(soft(machine.vcpu)->compiler, block_at(0)->uop[0].fn));
	map_other();
	flushes[_i](soft(machine.vcpu));
	ck_assert_uint_eq(run_caller(0), 5);
}
END_TEST

static void enter_pcid(unsigned int pcid)
{
	struct soft *c = soft(machine.vcpu);

	c->s.cr3 = (c->s.cr3 & ~0xfffull) | pcid;
	c->paging.cr3 = c->s.cr3;
	soft_enter_space(c);
}

/* Each address space has its own translation, without a flush between them. */
START_TEST(data_of_spaces)
{
	struct soft *c = soft(machine.vcpu);

	c->s.cr4 |= SOFT_CR4_PCIDE;
	soft_derive(c);
	enter_pcid(1);
	put_sum(3, 5);
	ck_assert_uint_eq(run_caller(0), 3);
	map_other();
	enter_pcid(2);
	ck_assert_uint_eq(run_caller(0), 5);
	enter_pcid(1);
	ck_assert_uint_eq(run_caller(0), 3);
	enter_pcid(2);
	ck_assert_uint_eq(run_caller(0), 5);
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
	tcase_add_test(t, inner_loop);
	tcase_add_loop_test(t, data_mapped_anew, 0, sizeof(flushes) / sizeof(flushes[0]));
	tcase_add_test(t, data_of_spaces);
	tcase_add_test(t, stray_returns);
	suite_add_tcase(s, t);
	return s;
}
