// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debug registers (SDM vol. 3, 17.2). Breakpoints on instructions are faults and need RF to
 * continue; breakpoints on data are traps. Several hit at once, with TF, in the middle of a REP,
 * and in ring 3. DR7.GD is tried too.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("breakpoints on instructions and data, by the debug registers");

#define ROUNDS 10 /* --arg: another number */

/* DR7: breakpoint n, enabled; what it is for; its size. */
#define DR7_EXEC(n)	     (2ull << 2 * (n))
#define DR7_DATA(n, rw, len) (2ull << 2 * (n) | (uint64_t)((rw) | (len) << 2) << (16 + 4 * (n)))
#define DR7_GD		     (1ull << 13)
#define DR7_NONE	     0x400ull
#define RW_WRITE	     1
#define RW_ANY		     3
#define LEN_1		     0
#define LEN_2		     1
#define LEN_8		     2
#define LEN_4		     3
#define DR6_NONE	     0xffff0ff0ull
#define DR6_BD		     (1ull << 13)
#define DR6_BS		     (1ull << 14)

static struct {
	uint64_t dr6, rip, rcx;
	bool rf, user;
} hits[64];
static unsigned int count;

/* A fault would recur at the instruction; RF lets it pass once. */
static void on_db(struct trap_frame *f)
{
	uint64_t dr6 = read_dr6();

	if (count < ARRAY_SIZE(hits)) {
		hits[count].dr6 = dr6 ^ DR6_NONE;
		hits[count].rip = f->rip;
		hits[count].rcx = f->rcx;
		hits[count].rf = f->rflags & RFLAGS_RF;
		hits[count].user = f->cs & 3;
	}
	count++;
	write_dr6(DR6_NONE);
	f->rflags |= RFLAGS_RF;
	if ((dr6 ^ DR6_NONE) & DR6_BS)
		f->rflags &= ~(uint64_t)RFLAGS_TF;
}

static void begin(uint64_t dr7)
{
	count = 0;
	write_dr6(DR6_NONE);
	write_dr7(DR7_NONE | dr7);
}

static void end(void)
{
	write_dr7(DR7_NONE);
}

static bool hit(unsigned int n, uint64_t dr6, const void *rip)
{
	return n < count && hits[n].dr6 == dr6 && hits[n].rip == (uintptr_t)rip;
}

static uint64_t wrong_exec, wrong_data, wrong_rep, wrong_step, wrong_user, wrong_gd, rounds;

/* Labels in each routine: the breakpoint, and the instruction behind it. */
uint64_t loop_routine(uint64_t turns);
extern const uint8_t loop_body[], loop_branch[];
void access_routine(volatile uint8_t *at);
extern const uint8_t after_w1[], after_r1[], after_w8[], after_rmw[], after_push[];
void rep_routine(void *to, uint64_t n);
extern const uint8_t rep_insn[], rep_end[];
uint64_t step_routine(uint64_t *at);
extern const uint8_t step_store[], step_after[];
uint64_t user_routine(uint64_t n);
extern const uint8_t user_break[];

__asm__(".pushsection .text\n"
	".globl loop_body, loop_branch\n"
	"loop_routine:\n"
	"	xor %eax, %eax\n"
	"loop_body:\n"
	"	inc %rax\n"
	"	cmp %rdi, %rax\n"
	"loop_branch:\n"
	"	jne loop_body\n"
	"	ret\n"

	".globl after_w1, after_r1, after_w8, after_rmw, after_push\n"
	"access_routine:\n"
	"	movb $1, (%rdi)\n"
	"after_w1:\n"
	"	mov (%rdi), %al\n"
	"after_r1:\n"
	"	mov %rdi, -4(%rdi)\n"
	"after_w8:\n"
	"	lock addl $1, (%rdi)\n"
	"after_rmw:\n"
	"	movb $1, 4(%rdi)\n" /* beside it */
	"	movb $1, -1(%rdi)\n"
	"	mov %rsp, %rdx\n"
	"	lea 8(%rdi), %rsp\n"
	"	push %rdx\n"
	"after_push:\n"
	"	mov %rdx, %rsp\n"
	"	ret\n"

	".globl rep_insn, rep_end\n"
	"rep_routine:\n"
	"	mov %rsi, %rcx\n"
	"rep_insn:\n"
	"	rep stosb\n"
	"rep_end:\n"
	"	ret\n"

	".globl step_store, step_after\n"
	"step_routine:\n"
	"	pushfq\n"
	"	orq $0x100, (%rsp)\n"
	"	popfq\n"
	"step_store:\n"
	"	mov %rdi, (%rdi)\n"
	"step_after:\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".popsection\n"

	".pushsection .user.text, \"ax\"\n"
	".globl user_routine, user_break\n"
	"user_routine:\n"
	"	xor %eax, %eax\n"
	"1:	lea 3(%rax), %rax\n"
	"user_break:\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	".popsection\n");

static noinline void on_instructions(void)
{
	uint64_t result;

	write_dr0((uintptr_t)loop_body);
	write_dr3((uintptr_t)loop_branch);
	begin(DR7_EXEC(0) | DR7_EXEC(3));
	result = loop_routine(4);
	end();
	wrong_exec += result != 4 || count != 8;
	wrong_exec += !hit(0, 1, loop_body) || !hit(1, 8, loop_branch) || !hit(6, 1, loop_body);
	/* The frame of an instruction breakpoint does not have RF. */
	wrong_exec += hits[0].rf;
}

static uint64_t cell[8] __attribute__((aligned(64)));

static noinline void on_data(void)
{
	volatile uint8_t *at = (volatile uint8_t *)(cell + 2);

	write_dr1((uintptr_t)at);
	begin(DR7_DATA(1, RW_WRITE, LEN_4));
	access_routine(at);
	end();
	wrong_data += count != 4 || !hit(0, 2, after_w1) || !hit(1, 2, after_w8) ||
		      !hit(2, 2, after_rmw) || !hit(3, 2, after_push);

	/* The same place twice, for reading as well. */
	write_dr2((uintptr_t)at);
	begin(DR7_DATA(1, RW_WRITE, LEN_1) | DR7_DATA(2, RW_ANY, LEN_2));
	access_routine(at);
	end();
	wrong_data += count != 5 || !hit(0, 2 | 4, after_w1) || !hit(1, 4, after_r1) ||
		      !hit(2, 2 | 4, after_w8);

	/* DR6 may report a disabled breakpoint, which must not raise #DB. */
	begin(0);
	access_routine(at);
	wrong_data += count != 0;
}

/*
 * #DB comes after the iteration that touched the byte, or a few later: a processor that stores many
 * bytes at a time may report late. RCX shows the progress.
 */
static noinline void in_rep(void)
{
	uint64_t seen, last;

	write_dr0((uintptr_t)cell + 17);
	write_dr1((uintptr_t)cell + 40);
	begin(DR7_DATA(0, RW_WRITE, LEN_1) | DR7_DATA(1, RW_WRITE, LEN_8));
	rep_routine(cell, 41);
	end();
	seen = hits[0].dr6 | (count > 1 ? hits[1].dr6 : 0);
	last = count - 1;
	wrong_rep += !count || count > 2 || seen != 3 || hits[0].rcx > 41 - 18 ||
		     hits[0].rip != (uintptr_t)(hits[0].rcx ? rep_insn : rep_end) ||
		     !hit((unsigned int)last, hits[last].dr6, rep_end);
}

/* TF and a data breakpoint at once: one #DB that reports both. */
static noinline void with_step(void)
{
	write_dr0((uintptr_t)cell);
	begin(DR7_DATA(0, RW_WRITE, LEN_8));
	wrong_step += step_routine(cell) != (uintptr_t)cell;
	end();
	wrong_step += count != 1 || !hit(0, 1 | DR6_BS, step_after);
	/*
	 * A single step that reaches an instruction breakpoint: first the trap, with or without the
	 * breakpoint in DR6, then the fault.
	 */
	write_dr0((uintptr_t)step_after);
	begin(DR7_EXEC(0));
	wrong_step += step_routine(cell) != (uintptr_t)cell;
	end();
	wrong_step += !count || count > 2 || !(hits[0].dr6 & DR6_BS) ||
		      hits[0].rip != (uintptr_t)step_after;
}

static noinline void in_ring3(void)
{
	write_dr0((uintptr_t)user_break);
	begin(DR7_EXEC(0));
	wrong_user += ring3_call(user_routine, 5) != 15;
	end();
	wrong_user += count != 5 || !hits[0].user || !hit(4, 1, user_break);
}

/* Any access to a debug register faults, and GD is clear in the handler. */
static noinline void general_detect(void)
{
	extern const uint8_t gd_insn[];

	begin(DR7_GD);
	__asm__ volatile(".globl gd_insn\n"
			 "gd_insn: mov %0, %%dr0"
			 :
			 : "r"(0ull)
			 : "memory");
	wrong_gd += count != 1 || !hit(0, DR6_BD, gd_insn) || read_dr7() & DR7_GD;
	end();
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		on_instructions();
		on_data();
		in_rep();
		with_step();
		in_ring3();
		general_detect();
	}
}

void payload(void)
{
	struct trace t;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	ring3_init(NULL);
	idt_hook(VEC_DB, on_db);
	trace_long(&t, work);
	report_equal(wrong_exec, 0, "instructions: before them, RF clear");
	report_equal(wrong_data, 0, "data: after the access, and only if they overlap");
	report_equal(wrong_rep, 0, "in the middle of a REP");
	report_equal(wrong_step, 0, "together with a single step");
	report_equal(wrong_user, 0, "in ring 3");
	report_equal(wrong_gd, 0, "general detect");
}
