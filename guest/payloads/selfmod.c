// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that changes: a decoder needs each page in the version that ran. Operands and branches are
 * patched in a page that is called again. A page is replaced completely, and an instruction patches
 * the next one.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("self-modifying code");

#define ROUNDS 40

typedef uint64_t code_fn(uint64_t n);

/* The code is copied to its own page and changed there. */
extern const uint8_t loop_code[], loop_add[], loop_branch[], loop_code_end[];
extern const uint8_t other_code[], other_code_end[];

/* Change its own next instruction, in place. */
uint64_t patch_ahead(uint8_t value);

__asm__(".pushsection .rodata\n"
	"loop_code:\n"
	"	xor %eax, %eax\n"
	"1:	test %rdi, %rdi\n"
	"loop_branch:\n"
	"	jz 2f\n"
	"loop_add:\n"
	"	add $1, %eax\n"
	"	dec %rdi\n"
	"	jmp 1b\n"
	"2:	ret\n"
	"loop_code_end:\n"
	"other_code:\n"
	"	lea 5(%rdi), %rax\n"
	"	test $1, %al\n"
	"	jnz 3f\n"
	"	neg %rax\n"
	"3:	ret\n"
	"other_code_end:\n"
	".popsection\n"
	".pushsection .text\n"
	".globl patch_ahead\n"
	"patch_ahead:\n"
	"	mov %dil, 4f+1(%rip)\n"
	"	jmp 4f\n"
	"4:	mov $0, %eax\n"
	"	ret\n"
	".popsection\n");

static uint8_t *page;
static bool operand_ok = true, branch_ok = true, replaced_ok = true, ahead_ok = true;

static uint64_t call(uint64_t n)
{
	code_fn *volatile fn = (code_fn *)(uintptr_t)page;

	barrier();
	return fn(n);
}

static void work(void)
{
	uint64_t i;

	for (i = 1; i <= ROUNDS; i++) {
		memcpy(page, loop_code, (size_t)(loop_code_end - loop_code));
		/* The immediate of ADD. */
		page[loop_add - loop_code + 2] = (uint8_t)i;
		operand_ok &= call(4) == 4 * i;
		/* JZ becomes NOP and RET. */
		page[loop_branch - loop_code] = 0x90;
		page[loop_branch - loop_code + 1] = 0xc3;
		branch_ok &= call(4) == 0;
		memcpy(page, other_code, (size_t)(other_code_end - other_code));
		replaced_ok &= call(i) == (i & 1 ? 0 - (i + 5) : i + 5);
		ahead_ok &= patch_ahead((uint8_t)i) == i;
	}
}

void payload(void)
{
	struct trace t;

	page = page_alloc(PAGE_SIZE);
	trace_simple(&t, work);
	report(operand_ok, "a patched operand");
	report(branch_ok, "a patched branch");
	report(replaced_ok, "a replaced page");
	report(ahead_ok, "an instruction patched just ahead");
}
