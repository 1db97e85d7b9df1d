// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes exceptions in words. */
#include "cli/fault_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define VECTOR_NMI 2
#define VECTOR_TS  10
#define VECTOR_GP  13

/* Bits of the error code of #PF. */
#define PF_PRESENT  1u
#define PF_WRITE    2u
#define PF_USER	    4u
#define PF_RESERVED 8u
#define PF_FETCH    16u

/* Bits of an error code that has a selector or an index. */
#define SELECTOR_IDT 2u
#define SELECTOR_LDT 4u

static const struct {
	const char *name, *meaning;
} exceptions[32] = {
	[0] = {"#DE", "divide error"},
	[1] = {"#DB", "debug exception"},
	[VECTOR_NMI] = {"NMI", "non-maskable interrupt"},
	[3] = {"#BP", "breakpoint"},
	[4] = {"#OF", "overflow"},
	[5] = {"#BR", "bound range exceeded"},
	[6] = {"#UD", "invalid opcode"},
	[7] = {"#NM", "no math coprocessor"},
	[CLI_VECTOR_DF] = {"#DF", "double fault"},
	[VECTOR_TS] = {"#TS", "invalid TSS"},
	[11] = {"#NP", "segment not present"},
	[12] = {"#SS", "stack-segment fault"},
	[VECTOR_GP] = {"#GP", "general protection"},
	[CLI_VECTOR_PF] = {"#PF", "page fault"},
	[16] = {"#MF", "x87 floating-point error"},
	[17] = {"#AC", "alignment check"},
	[18] = {"#MC", "machine check"},
	[19] = {"#XM", "SIMD floating-point exception"},
	[20] = {"#VE", "virtualization exception"},
	[21] = {"#CP", "control protection"},
};

struct text {
	char *at;
	size_t left;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(t->at, t->left, fmt, args);
	va_end(args);
	if (len < 0 || (size_t)len >= t->left)
		len = t->left ? (int)t->left - 1 : 0;
	t->at += len;
	t->left -= (size_t)len;
}

static bool is_exception(const struct trace_guest_fault *f)
{
	return !(f->flags & (TRACE_GUEST_FAULT_INTERRUPT | TRACE_GUEST_FAULT_SOFTWARE)) &&
	       f->vector < 32 && exceptions[f->vector].name;
}

const char *cli_fault_name(const struct trace_guest_fault *f)
{
	if (is_exception(f))
		return exceptions[f->vector].name;
	return f->flags & TRACE_GUEST_FAULT_SOFTWARE ? "INT n" : "interrupt";
}

static void add_page_error(struct text *t, uint32_t error)
{
	add(t, " (%s, %s mode, %s%s)",
	    error & PF_FETCH   ? "fetch"
	    : error & PF_WRITE ? "write"
			       : "read",
	    error & PF_USER ? "user" : "supervisor",
	    error & PF_PRESENT ? "not allowed by the page" : "page not present",
	    error & PF_RESERVED ? ", reserved bit set" : "");
}

/* Add the name of the IDT entry, and whether the entry exists. */
static void add_gate(struct text *t, uint32_t error, const struct trace_guest_stop *stop)
{
	/*
	 * In long mode an entry has 16 bytes. 64-bit code implies long mode; 32-bit code does not.
	 */
	const unsigned int bytes = stop->mode == 64 ? 16 : 8, vector = error >> 3 & 0xff;

	add(t, " (entry %u of the IDT", vector);
	if (vector < 32 && exceptions[vector].name)
		add(t, ", %s", exceptions[vector].name);
	if (stop->mode == 64 && vector * bytes + bytes - 1 > stop->idt_limit)
		add(t, ", which is beyond its limit %" PRIx32 "H", stop->idt_limit);
	add(t, ")");
}

static void add_error(struct text *t, const struct trace_guest_fault *f,
		      const struct trace_guest_stop *stop)
{
	add(t, ", error code %" PRIx32 "H", f->error);
	if (f->vector == CLI_VECTOR_PF)
		add_page_error(t, f->error);
	else if (f->vector < VECTOR_TS || f->vector > VECTOR_GP || !f->error)
		return;
	else if (f->error & SELECTOR_IDT)
		add_gate(t, f->error, stop);
	else
		add(t, " (selector %" PRIx32 "H of the %s)", f->error & 0xfff8,
		    f->error & SELECTOR_LDT ? "LDT" : "GDT");
}

void cli_fault_text(const struct trace_guest_fault *f, const struct trace_guest_stop *stop,
		    char *text, size_t size)
{
	struct text t = {text, size};

	if (size)
		*text = 0;
	if (is_exception(f))
		add(&t, "%s %s", exceptions[f->vector].name, exceptions[f->vector].meaning);
	else
		add(&t, "%s %u", cli_fault_name(f), f->vector);
	if (f->flags & TRACE_GUEST_FAULT_HAS_ERROR)
		add_error(&t, f, stop);
	if (f->vector == CLI_VECTOR_PF && is_exception(f))
		add(&t, ", CR2 0x%" PRIx64, f->cr2);
}
