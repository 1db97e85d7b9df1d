// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that one address space patches, and that two run. A decoder needs the patched code in each
 * of them, also where the way to it is in the same page and was known before. As a kernel patches a
 * static branch.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("code that one address space patches, and two run");

#define ROUNDS 6
#define CALLS  200

typedef uint64_t code_fn(uint64_t n);

/* The code is copied to its own page, and changed there. */
extern const uint8_t patched_code[], patched_site[], patched_end[];

/* The site is in the second block. */
__asm__(".pushsection .rodata\n"
	"patched_code:\n"
	"	xor %eax, %eax\n"
	"	test $1, %dil\n"
	"	jz 1f\n"
	"	cmp $7, %edi\n"
	"patched_site:\n"
	"	jbe 1f\n"
	"	inc %eax\n"
	"1:	inc %eax\n"
	"	ret\n"
	"patched_end:\n"
	".popsection\n");

static uint8_t *page;
static uint64_t cr3[2];
static unsigned int wrong;

/* JBE with its distance is a NOP of two bytes in odd rounds, so it has no outcome. */
static void patch(uint64_t round)
{
	static const uint8_t nop[2] = {0x66, 0x90};

	memcpy(page + (patched_site - patched_code), round & 1 ? nop : patched_site, sizeof(nop));
}

static void call(uint64_t round)
{
	code_fn *volatile fn = (code_fn *)(uintptr_t)page;
	uint64_t i;

	for (i = 0; i < CALLS; i++) {
		barrier();
		wrong += fn(i) != (i % 2 && (round % 2 || i > 7) ? 2u : 1u);
	}
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		write_cr3(cr3[0]);
		patch(i);
		call(i);
		write_cr3(cr3[1]);
		call(i);
	}
}

void payload(void)
{
	struct trace t;

	page = page_alloc(PAGE_SIZE);
	memcpy(page, patched_code, (size_t)(patched_end - patched_code));
	cr3[0] = paging_new_space();
	cr3[1] = paging_new_space();
	trace_simple(&t, work);
	report_equal(wrong, 0, "each call ran the patched code");
}
