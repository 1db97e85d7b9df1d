// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that is generated and changed while it runs. A buffer is compiled into repeatedly, also
 * through another mapping. An instruction spans two pages, one of which changes or is replaced. The
 * next instruction is overwritten, also by a string instruction. A loop patches itself.
 *
 * A write through the executed address needs no further action. A write through an alias needs a
 * serializing instruction (SDM vol. 3, 8.1.3), here INVLPG.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("code made, patched, aliased and remapped while it runs");

#define ROUNDS 16 /* --arg: another number */

/* Two pages in a row, and the second of them once more. */
#define STRADDLE (PAGING_FREE_VADDR + 0x10000)
#define ALIAS	 (PAGING_FREE_VADDR + 0x20000)

typedef uint64_t code_fn(uint64_t n);

static uint64_t rounds, cr3;
static uint8_t *aliased, *low, *high[2];
static uint64_t wrong_jit, wrong_alias, wrong_straddle, wrong_next, wrong_string, wrong_loop,
	wrong_push;

static uint64_t call(uint64_t vaddr, uint64_t n)
{
	code_fn *volatile fn = (code_fn *)(uintptr_t)vaddr;

	barrier();
	return fn(n);
}

static void jit(struct rng *rng)
{
	wrong_jit += !work_jit(rng);
}

/* LEA RAX, [RDI + disp32]; RET */
static const uint8_t lea_code[] = {0x48, 0x8d, 0x87, 0, 0, 0, 0, 0xc3};

/* Run from one mapping and write through the one-to-one map, and vice versa. */
static void alias(uint32_t value)
{
	memcpy(aliased, lea_code, sizeof(lea_code));
	memcpy(aliased + 3, &value, sizeof(value));
	invlpg(ALIAS);
	wrong_alias += call(ALIAS, 5) != value + 5ull;
	*(volatile uint8_t *)(ALIAS + 3) ^= 0x40;
	invlpg(ALIAS);
	wrong_alias += call((uintptr_t)aliased, 5) != (value ^ 0x40) + 5ull;
	wrong_alias += call(ALIAS, 9) != (value ^ 0x40) + 9ull;
}

/* The opcode is on one page, most of the displacement on the next. */
static void straddle(uint32_t value)
{
	uint64_t start = STRADDLE + PAGE_SIZE - 4;
	unsigned int i;

	memcpy(low + PAGE_SIZE - 4, lea_code, 3);
	low[PAGE_SIZE - 1] = (uint8_t)value;
	for (i = 0; i < 2; i++) {
		uint32_t mine = (value & 0xff) | ((value + i) & 0x7fffff) << 8;

		high[i][0] = (uint8_t)(mine >> 8);
		high[i][1] = (uint8_t)(mine >> 16);
		high[i][2] = (uint8_t)(mine >> 24);
		high[i][3] = 0xc3;
		paging_map(cr3, STRADDLE + PAGE_SIZE, high[i], PTE_WRITE);
		invlpg(STRADDLE + PAGE_SIZE);
		wrong_straddle += call(start, i) != mine + (uint64_t)i;
		/* Change the second half in place, at its executed address. */
		*(volatile uint8_t *)(STRADDLE + PAGE_SIZE) ^= 1;
		wrong_straddle += call(start, i) != (mine ^ 0x100) + (uint64_t)i;
		*(volatile uint8_t *)(STRADDLE + PAGE_SIZE - 1) ^= 2;
		wrong_straddle += call(start, i) != (mine ^ 0x102) + (uint64_t)i;
		low[PAGE_SIZE - 1] ^= 2;
	}
}

/* In .text, which is writable like all RAM. */
uint64_t patch_next(uint64_t value);
uint64_t patch_string(uint64_t value);
uint64_t patch_loop(uint64_t turns);
uint64_t patch_push(uint64_t value);

__asm__(".pushsection .text\n"
	".globl patch_next, patch_string, patch_loop, patch_push\n"
	/* Write the immediate of the next instruction, without a branch between. */
	"patch_next:\n"
	"	mov %edi, 1f+1(%rip)\n"
	"1:	mov $0, %eax\n"
	"	ret\n"
	/* A REP writes the eight bytes of code right behind it. */
	"patch_string:\n"
	"	lea 1f+2(%rip), %rax\n"
	"	push %rdi\n"
	"	mov %rsp, %rsi\n"
	"	mov %rax, %rdi\n"
	"	mov $8, %ecx\n"
	"	rep movsb\n"
	"1:	movabs $0, %rax\n"
	"	pop %rdi\n"
	"	ret\n"
	/* A loop flips an instruction between ADD and SUB, with a locked instruction. */
	"patch_loop:\n"
	"	xor %eax, %eax\n"
	"1:	add $3, %rax\n"
	"2:	lock xorb $0x28, 1b+2(%rip)\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	movb $0xc0, 1b+2(%rip)\n"
	"	ret\n"
	/* The stack is in the code here, and PUSH writes the immediate. */
	"patch_push:\n"
	"	mov %rsp, %rdx\n"
	"	lea 1f+10(%rip), %rsp\n"
	"	push %rdi\n"
	"1:	movabs $0, %rax\n"
	"	mov %rdx, %rsp\n"
	"	ret\n"
	".popsection\n");

static void in_place(uint64_t value)
{
	uint64_t turns = 1 + value % 13;

	wrong_next += patch_next(value) != (uint32_t)value;
	wrong_string += patch_string(value) != value;
	wrong_loop += patch_loop(turns) != (turns & 1 ? 3 : 0);
	wrong_push += patch_push(~value) != ~value;
}

static void work(void)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, boot->seed);
	for (i = 0; i < rounds; i++) {
		uint64_t value = rng_next(&rng);

		jit(&rng);
		alias((uint32_t)value >> 1);
		straddle((uint32_t)value >> 1);
		in_place(value);
	}
}

void payload(void)
{
	struct trace t;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	cr3 = paging_new_space();
	write_cr3(cr3);
	aliased = page_alloc(PAGE_SIZE);
	low = page_alloc(PAGE_SIZE);
	high[0] = page_alloc(PAGE_SIZE);
	high[1] = page_alloc(PAGE_SIZE);
	paging_map(cr3, ALIAS, aliased, PTE_WRITE);
	paging_map(cr3, STRADDLE, low, PTE_WRITE);
	trace_long(&t, work);
	report_equal(wrong_jit, 0, "a buffer of code written again and again");
	report_equal(wrong_alias, 0, "code written through an alias");
	report_equal(wrong_straddle, 0, "an instruction across pages, one of them another");
	report_equal(wrong_next, 0, "the next instruction patched");
	report_equal(wrong_string, 0, "code behind a REP MOVSB, written by it");
	report_equal(wrong_loop, 0, "a loop that patches its own instruction");
	report_equal(wrong_push, 0, "an instruction patched by a PUSH just before it");
}
