// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the two address spaces. */
#include "twin.h"

#include "mem.h"
#include "page_alloc.h"
#include "paging.h"

/* Position-independent code, each copied to its own page. */
extern const uint8_t twin_code_0[], twin_code_0_end[], twin_code_1[], twin_code_1_end[];

__asm__(".pushsection .rodata\n"
	/* n + (n - 1) + ... + 1 by a loop */
	"twin_code_0:\n"
	"	xor %eax, %eax\n"
	"1:	test %rdi, %rdi\n"
	"	jz 2f\n"
	"	add %rdi, %rax\n"
	"	dec %rdi\n"
	"	jmp 1b\n"
	"2:	ret\n"
	"twin_code_0_end:\n"
	/* 3 * n, and 1 more if n is odd, by calls and branches */
	"twin_code_1:\n"
	"	call 3f\n"
	"	test $1, %edi\n"
	"	jz 2f\n"
	"	inc %rax\n"
	"2:	ret\n"
	"3:	lea (%rdi,%rdi,2), %rax\n"
	"	ret\n"
	"twin_code_1_end:\n"
	".popsection\n");

static void add_code(uint64_t cr3, const uint8_t *start, const uint8_t *end)
{
	void *page = page_alloc(PAGE_SIZE);

	memcpy(page, start, (size_t)(end - start));
	paging_map(cr3, PAGING_FREE_VADDR, page, 0);
}

void twin_init(struct twin *twin)
{
	twin->cr3[0] = paging_new_space();
	twin->cr3[1] = paging_new_space();
	add_code(twin->cr3[0], twin_code_0, twin_code_0_end);
	add_code(twin->cr3[1], twin_code_1, twin_code_1_end);
}
