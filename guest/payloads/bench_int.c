// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A loop of integer work for measurements. Each iteration has four chains, a multiplication, a
 * load, a store and three branches, one of which is hard to predict. --arg: millions of
 * instructions.
 */
#include "lib/guest.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("an integer loop, as long as --arg says");

#define INSNS_PER_TURN 17
#define TURNS	       2000

/* Counts what it has done in RAX; returns a sum that depends on all of it. */
uint64_t bench_loop(uint64_t turns, uint64_t *table, uint64_t *odd);

__asm__(".pushsection .text\n"
	"	.balign 16\n"
	".globl bench_loop\n"
	".type bench_loop, @function\n"
	"bench_loop:\n"
	"	xor %eax, %eax\n"
	"	mov $1, %r8d\n"
	"	xor %r9d, %r9d\n"
	"1:	imul $0x5851f42d, %r8, %r8\n"
	"	add $0x2545f491, %r8\n"
	"	mov %r8, %rcx\n"
	"	shr $40, %rcx\n"
	"	and $63, %ecx\n"
	"	add (%rsi,%rcx,8), %rax\n"
	"	rol $7, %rax\n"
	"	mov %rax, (%rsi,%rcx,8)\n"
	"	xor %r8, %rax\n"
	"	bt $33, %r8\n"
	"	jc 2f\n"
	"	add $3, %rax\n"
	"	jmp 3f\n"
	"2:	inc %r9\n"
	"	sub $5, %rax\n"
	"3:	dec %rdi\n"
	"	lea (%rax,%rdi), %rax\n"
	"	test %rdi, %rdi\n"
	"	jnz 1b\n"
	"	mov %r9, (%rdx)\n"
	"	ret\n"
	".size bench_loop, . - bench_loop\n"
	".popsection\n");

/* The same in C. */
static noinline uint64_t expected(uint64_t turns, uint64_t *table, uint64_t *odd)
{
	uint64_t sum = 0, v = 1, i;

	*odd = 0;
	while (turns) {
		v = v * 0x5851f42d + 0x2545f491;
		i = v >> 40 & 63;
		sum += table[i];
		sum = sum << 7 | sum >> 57;
		table[i] = sum;
		sum ^= v;
		if (v >> 33 & 1) {
			++*odd;
			sum -= 5;
		} else {
			sum += 3;
		}
		sum += --turns;
	}
	return sum;
}

static uint64_t turns, got, got_odd, table[2][64];

static void work(void)
{
	got = bench_loop(turns, table[0], &got_odd);
}

void payload(void)
{
	uint64_t want, want_odd;
	struct trace t;
	unsigned int i;

	turns = boot->arg[0] ? boot->arg[0] * 1000000 / INSNS_PER_TURN : TURNS;
	for (i = 0; i < 64; i++)
		table[0][i] = table[1][i] = i;
	trace_long(&t, work);
	/* A check of every iteration would take as long again. */
	if (turns <= TURNS) {
		want = expected(turns, table[1], &want_odd);
		report_equal(got, want, "the sum");
		report_equal(got_odd, want_odd, "odd ones");
	}
	report(got_odd > turns / 3 && got_odd < turns - turns / 3, "about every other one is odd");
}
