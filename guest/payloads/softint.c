// SPDX-License-Identifier: GPL-2.0-or-later
/* INT n and INT3, also nested: FUP with the instruction's own IP (table 33-23). */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("INT n and INT3 through the IDT, nested");

#define VEC_ADD	 0x40
#define VEC_MUL	 0x80
#define VEC_NEST 0xff
#define ROUNDS	 60

static unsigned int nested, breakpoints;
static bool nested_with_if;

static void on_add(struct trap_frame *f)
{
	f->rax += f->rcx;
}

static void on_mul(struct trap_frame *f)
{
	f->rax *= f->rcx;
}

/* Raise a nested interrupt until RAX is 0. */
static void on_nest(struct trap_frame *f)
{
	nested++;
	nested_with_if |= !!(read_rflags() & RFLAGS_IF);
	if (f->rax)
		__asm__ volatile("int $0xff" : : "a"(f->rax - 1) : "memory");
}

static void on_bp(struct trap_frame *f)
{
	(void)f;
	breakpoints++;
}

static noinline uint64_t add(uint64_t a, uint64_t b)
{
	__asm__ volatile("int $0x40" : "+a"(a) : "c"(b) : "memory");
	return a;
}

static noinline uint64_t mul(uint64_t a, uint64_t b)
{
	__asm__ volatile("int $0x80" : "+a"(a) : "c"(b) : "memory");
	return a;
}

static uint64_t value;

static void work(void)
{
	uint64_t i;

	value = 1;
	for (i = 0; i < ROUNDS; i++) {
		value = add(value, i);
		value = mul(value, 3) % 1000003;
		if (i % 8 == 0)
			__asm__ volatile("int3");
		if (i % 16 == 0) /* the two-byte form */
			__asm__ volatile(".byte 0xcd, 0x03");
	}
	__asm__ volatile("int $0xff" : : "a"(5) : "memory");
}

static uint64_t expected(void)
{
	uint64_t v = 1, i;

	for (i = 0; i < ROUNDS; i++)
		v = (v + i) * 3 % 1000003;
	return v;
}

void payload(void)
{
	struct trace t;

	idt_hook(VEC_ADD, on_add);
	idt_hook(VEC_MUL, on_mul);
	idt_hook(VEC_NEST, on_nest);
	idt_hook(VEC_BP, on_bp);
	trace_simple(&t, work);
	report_equal(value, expected(), "computed by INT n");
	report_equal(nested, 6, "nested INT n");
	report(!nested_with_if, "an interrupt gate clears IF");
	report_equal(breakpoints, 8 + 4, "INT3, both forms");
	if (t.on)
		report(t.scan.count[VPT_PKT_FUP] >= 2 * ROUNDS + 18, "a FUP for each");
}
