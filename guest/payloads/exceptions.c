// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exceptions whose handlers fix the cause or skip the instruction, also inside another handler.
 * Each is FUP and TIP in the trace, with the faulting instruction's IP (table 33-23).
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("#DE, #UD, #PF, #GP, #BP into handlers, nested too");

#define ROUNDS 25

static volatile unsigned int seen[VEC_EXCEPTIONS];
static volatile uint64_t seen_error[VEC_EXCEPTIONS], seen_cr2;
static volatile unsigned int depth, deepest;
static uint64_t cr3;
static void *spare_page;

/* Code for the case after a skip follows each faulting instruction here. */
static void skip(struct trap_frame *f, unsigned int bytes)
{
	seen[f->vector]++;
	seen_error[f->vector] = f->error;
	f->rip += bytes;
}

static void on_de(struct trap_frame *f)
{
	skip(f, 2);
	f->rax = 77;
}

static void on_bp(struct trap_frame *f)
{
	skip(f, 0);
}

static void on_gp(struct trap_frame *f)
{
	skip(f, 3);
}

/* A #UD handler raises nested #UDs three deep, then a #DE. */
static void on_ud(struct trap_frame *f)
{
	uint32_t zero = 0, quotient = 1, high = 0;

	skip(f, 2);
	if (++depth > deepest)
		deepest = depth;
	if (depth < 3)
		__asm__ volatile("ud2");
	else
		__asm__ volatile("divl %2" : "+a"(quotient), "+d"(high) : "c"(zero) : "cc");
	depth--;
}

/* Fix the cause: the instruction then runs again. */
static void on_pf(struct trap_frame *f)
{
	seen[VEC_PF]++;
	seen_error[VEC_PF] = f->error;
	seen_cr2 = read_cr2();
	paging_map(cr3, PAGING_FREE_VADDR, spare_page, PTE_WRITE);
}

static noinline uint32_t divide(uint32_t a, uint32_t b)
{
	uint32_t high = 0;

	__asm__ volatile("divl %2" : "+a"(a), "+d"(high) : "c"(b) : "cc");
	return a;
}

static noinline void load_non_canonical(void)
{
	__asm__ volatile("movq (%0), %%rax" : : "c"(0x8000000000000000ull) : "rax", "memory");
}

static noinline uint32_t touch(volatile uint32_t *p)
{
	*p = *p + 1;
	return *p;
}

static uint32_t quotient_ok, quotient_bad, touched;

static void work(void)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		quotient_ok = divide(84, 2);
		quotient_bad = divide(84, 0);
		__asm__ volatile("ud2");
		__asm__ volatile("int3");
		load_non_canonical();
	}
	for (i = 0; i < 4; i++) {
		paging_unmap(cr3, PAGING_FREE_VADDR);
		touched += touch((volatile uint32_t *)PAGING_FREE_VADDR);
	}
}

void payload(void)
{
	struct trace t;

	cr3 = paging_new_space();
	write_cr3(cr3);
	spare_page = page_alloc(PAGE_SIZE);
	idt_hook(VEC_DE, on_de);
	idt_hook(VEC_UD, on_ud);
	idt_hook(VEC_BP, on_bp);
	idt_hook(VEC_GP, on_gp);
	idt_hook(VEC_PF, on_pf);
	trace_simple(&t, work);

	report_equal(quotient_ok, 42, "a division");
	report_equal(quotient_bad, 77, "#DE: the handler's quotient");
	report_equal(seen[VEC_DE], 2 * ROUNDS, "#DE count");
	report_equal(seen[VEC_UD], 3 * ROUNDS, "#UD count");
	report_equal(deepest, 3, "#UD nesting");
	report_equal(seen[VEC_BP], ROUNDS, "#BP count");
	report_equal(seen[VEC_GP], ROUNDS, "#GP count");
	report_equal(seen_error[VEC_GP], 0, "#GP error code");
	report_equal(seen[VEC_PF], 4, "#PF count");
	report_equal(seen_cr2, PAGING_FREE_VADDR, "#PF address");
	report_equal(touched, 1 + 2 + 3 + 4, "accesses after #PF");
	if (t.on)
		report(t.scan.count[VPT_PKT_FUP] >= 7 * ROUNDS + 4, "a FUP for each exception");
}
