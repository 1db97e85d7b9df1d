// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Returns to other places than their last call. There are coroutines on two stacks, a jump out of
 * nested calls, CALL/POP, and RET as a jump. Each return must be sent in full (33.4.2.2).
 */
#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("returns that match no call: stack switches, long jumps, RET as a jump");

#define COROUTINE_STACK 8192u
#define ROUNDS		120

/* Save the callee-saved registers and RSP in *from, and continue where `to` was saved. */
void switch_stack(uint64_t *from, uint64_t to);
/* Return its own second return address, which CALL/POP takes off the stack. */
uint64_t call_pop(void);
/* Jump to each address by PUSH and RET. Returns the number of jumps. */
uint64_t ret_chain(uint64_t rounds);
/* Like setjmp() and longjmp(). */
uint64_t mark(uint64_t *buf) __attribute__((returns_twice));
void jump_to_mark(const uint64_t *buf, uint64_t value);

__asm__(".pushsection .text\n"
	".globl switch_stack, call_pop, ret_chain, mark, jump_to_mark\n"
	"switch_stack:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	"call_pop:\n"
	"	call 1f\n"
	"1:	pop %rax\n"
	"	ret\n"
	"ret_chain:\n"
	"	xor %eax, %eax\n"
	"2:	lea 3f(%rip), %rcx\n"
	"	push %rcx\n"
	"	ret\n"
	"	ud2\n"
	"3:	inc %rax\n"
	"	cmp %rdi, %rax\n"
	"	jne 2b\n"
	"	ret\n"
	"mark:\n"
	"	mov (%rsp), %rax\n"
	"	mov %rax, (%rdi)\n"
	"	lea 8(%rsp), %rax\n"
	"	mov %rax, 8(%rdi)\n"
	"	mov %rbx, 16(%rdi)\n	mov %rbp, 24(%rdi)\n"
	"	mov %r12, 32(%rdi)\n	mov %r13, 40(%rdi)\n"
	"	mov %r14, 48(%rdi)\n	mov %r15, 56(%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"jump_to_mark:\n"
	"	mov 16(%rdi), %rbx\n	mov 24(%rdi), %rbp\n"
	"	mov 32(%rdi), %r12\n	mov 40(%rdi), %r13\n"
	"	mov 48(%rdi), %r14\n	mov 56(%rdi), %r15\n"
	"	mov 8(%rdi), %rsp\n"
	"	mov %rsi, %rax\n"
	"	jmp *(%rdi)\n"
	".popsection\n");

static uint64_t main_rsp, coroutine_rsp;
static uint64_t coroutine_turns, coroutine_sum;
static uint64_t mark_buf[8];

static noinline uint64_t triangle(uint64_t n)
{
	return n ? n + triangle(n - 1) : 0;
}

static void coroutine(void)
{
	for (;;) {
		coroutine_turns++;
		coroutine_sum += triangle(coroutine_turns % 7);
		switch_stack(&coroutine_rsp, main_rsp);
	}
}

static void start_coroutine(void *stack)
{
	uint64_t *top = (uint64_t *)((uint8_t *)stack + COROUTINE_STACK);

	/*
	 * The frame that switch_stack() pops: six registers and the return address. The ABI wants
	 * RSP + 8 to be 16-byte aligned at the function's entry.
	 */
	*--top = 0;
	*--top = 0;
	*--top = (uintptr_t)coroutine;
	top -= 6;
	coroutine_rsp = (uintptr_t)top;
}

static noinline void leave_from(uint64_t depth)
{
	if (!depth)
		jump_to_mark(mark_buf, 1);
	else
		leave_from(depth - 1);
	barrier();
}

static struct {
	uint64_t jumps, popped, chained;
} result;

static void work(void)
{
	/* In memory, so that the second return from mark() finds the value. */
	static volatile uint64_t depth;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		switch_stack(&main_rsp, coroutine_rsp);

	depth = 0;
	if (mark(mark_buf))
		result.jumps++;
	if (++depth <= 90)
		leave_from(depth);

	result.popped = call_pop();
	result.chained = ret_chain(150);
}

void payload(void)
{
	struct trace t;

	start_coroutine(page_alloc(COROUTINE_STACK));
	trace_simple(&t, work);
	report_equal(coroutine_turns, ROUNDS, "coroutine turns");
	report_equal(coroutine_sum, 953 /* 17 times seven, plus 1 */, "the coroutine's sum");
	report_equal(result.jumps, 90, "jumps out of nested calls");
	report_equal(result.popped, (uintptr_t)call_pop + 5, "CALL/POP finds its address");
	report_equal(result.chained, 150, "RET as a jump");
	if (t.on)
		report(t.scan.count[VPT_PKT_TIP] > 2 * ROUNDS + 150,
		       "mismatched returns are sent as TIP");
}
