// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SSE, AVX, SHA and x87: copies of all alignments, dot products, a search, SHA-256, shuffles, an
 * exception from MXCSR. The timer interrupts them.
 */
#include "lib/simd.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("SSE, AVX, SHA and x87 code against plain C");

#define ROUNDS	  20 /* --arg: another number */
#define VEC_TIMER 0x62u
#define VEC_XM	  19u

static uint64_t wrong_xm;

/* A division by zero sets a flag in MXCSR, and raises #XM once it is unmasked. */

static uint64_t xms;

static void on_xm(struct trap_frame *f)
{
	xms++;
	wrong_xm += f->error != 0 || !(read_mxcsr() & 4);
	f->rip = f->rcx;
}

TARGET("sse2") static void divide_by_zero(void)
{
	__asm__ volatile("xorps %%xmm0, %%xmm0\n"
			 "xorps %%xmm1, %%xmm1\n"
			 "cvtsi2ss %0, %%xmm1\n"
			 "lea 1f(%%rip), %%rcx\n"
			 "divss %%xmm0, %%xmm1\n"
			 "1:"
			 :
			 : "r"(3)
			 : "rcx", "xmm0", "xmm1");
}

static noinline void sse_exception(void)
{
	uint64_t before = xms;

	write_mxcsr(0x1f80);
	divide_by_zero();
	wrong_xm += xms != before || read_mxcsr() != 0x1f84;
	write_mxcsr(0x1f80 & ~0x200u);
	divide_by_zero();
	wrong_xm += xms != before + 1 || read_mxcsr() != ((0x1f80 & ~0x200u) | 4);
	write_mxcsr(0x1f80);
}

static uint64_t rounds, ticks;
static unsigned int wrong;

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | (uint32_t)(101 + ticks * 13 % 400));
}

static void work(void)
{
	struct rng rng;
	uint64_t i;

	rng_seed(&rng, boot->seed);
	sti();
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | 100);
	for (i = 0; i < rounds; i++) {
		wrong |= simd_wrong(&rng);
		sse_exception();
	}
	cli();
	outl(VPT_PORT_TIMER, 0);
}

void payload(void)
{
	struct trace t;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	simd_init();
	idt_hook(VEC_XM, on_xm);
	idt_hook(VEC_TIMER, on_timer);
	trace_long(&t, work);
	report(!(wrong & SIMD_WRONG_COPY), "copies");
	report(!(wrong & SIMD_WRONG_DOT), "dot products");
	report(!(wrong & SIMD_WRONG_SEARCH), "a byte found by comparing 16 and 32 at a time");
	report(!(wrong & SIMD_WRONG_SHUFFLE), "shuffles");
	report(!(wrong & SIMD_WRONG_SHA), "SHA-256");
	report_equal(wrong_xm, 0, "MXCSR and #XM");
	report(ticks > rounds, "interrupted by the timer");
	if (!(simd_have & SIMD_AVX))
		report_note("no AVX");
	if (!(simd_have & SIMD_AVX2))
		report_note("no AVX2");
	if (!(simd_have & SIMD_SHA))
		report_note("no SHA");
}
