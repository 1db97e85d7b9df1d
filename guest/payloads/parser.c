// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A parser with three planted bugs, the example of docs/fuzzing.md. It parses the file of --initrd, or
 * a text of its own. An exception leads to crashed(), which ends the guest with status 1.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/parser.h"

PAYLOAD("a parser with planted bugs, for fuzzers");

static const char own[] = "a=1; b=(a+2)*7 # comment\n\"text\"; c=@b/3@\n";

/* The text; vpt fuzz-server writes it here. */
uint8_t parser_input[PARSER_INPUT];

noinline void parser_crashed(struct trap_frame *frame);
noinline void parser_done(uint64_t result);

noinline void parser_crashed(struct trap_frame *frame)
{
	report(false, "exception %u at %#lx", (unsigned int)frame->vector,
	       (unsigned long)frame->rip);
	guest_exit(REPORT_FAIL);
}

noinline void parser_done(uint64_t result)
{
	report(result != 0, "the text was parsed: %#lx", (unsigned long)result);
}

static size_t len;

static void run(void)
{
	parser_done(parser_parse(parser_input, len, (uint8_t *)PAGING_FREE_VADDR));
}

void payload(void)
{
	const void *text = boot->initrd ? (const void *)boot->initrd : own;
	struct trace t;

	len = boot->initrd ? boot->initrd_bytes : sizeof(own) - 1;
	if (len > sizeof(parser_input))
		len = sizeof(parser_input);
	memcpy(parser_input, text, len);
	paging_map(read_cr3(), PAGING_FREE_VADDR, page_alloc(PAGE_SIZE), PTE_WRITE);
	idt_hook(VEC_DE, parser_crashed);
	idt_hook(VEC_PF, parser_crashed);
	idt_hook(VEC_GP, parser_crashed);
	trace_simple(&t, run);
	idt_hook(VEC_DE, NULL);
	idt_hook(VEC_PF, NULL);
	idt_hook(VEC_GP, NULL);
}
