// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * External interrupts during a computation. The handler sets the timer again, so that interrupts
 * occur at every kind of instruction. A stretch with IF clear delays one.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("external interrupts from the timer port while computing");

#define VEC_TIMER 0x60u
#define TICKS	  150
#define TIMER(n)  (VEC_TIMER << 24 | (uint32_t)(n))
/* Enough iterations for all ticks, even where they are late. */
#define ROUNDS_MAX 200000u

static volatile unsigned int ticks;
static bool frame_had_tf, frame_lacked_if;

static void on_timer(struct trap_frame *f)
{
	ticks++;
	frame_had_tf |= !!(f->rflags & RFLAGS_TF);
	frame_lacked_if |= !(f->rflags & RFLAGS_IF);
	/* Odd distances move the interrupts through the code. */
	if (ticks < TICKS)
		outl(VPT_PORT_TIMER, TIMER(31 + ticks * 7 % 160));
}

static noinline uint32_t mix(uint32_t v, uint32_t i)
{
	v ^= i;
	v = (v << 5 | v >> 27) * 0x9e3779b1u;
	return v & 1 ? v : ~v;
}

static noinline uint32_t collatz(uint32_t n)
{
	uint32_t steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

static uint32_t value, longest;
static bool held_back, came_after_sti;

static void compute(void)
{
	uint32_t i, steps;

	value = longest = 0;
	for (i = 1; i < 30; i++) {
		value = mix(value, i);
		steps = collatz(i);
		if (steps > longest)
			longest = steps;
	}
}

static void work(void)
{
	unsigned int round = 0, before;

	sti();
	outl(VPT_PORT_TIMER, TIMER(100));
	do {
		compute();
	} while (ticks < TICKS && ++round < ROUNDS_MAX);
	cli();

	before = ticks;
	outl(VPT_PORT_TIMER, TIMER(5));
	compute();
	held_back = ticks == before;
	sti();
	for (round = 0; ticks == before && round < ROUNDS_MAX; round++)
		compute();
	cli();
	came_after_sti = ticks == before + 1;
}

void payload(void)
{
	uint32_t want_value, want_longest;
	struct trace t;

	compute();
	want_value = value;
	want_longest = longest;
	idt_hook(VEC_TIMER, on_timer);
	trace_simple(&t, work);
	report_equal(ticks, TICKS + 1, "every interrupt came");
	report_equal(value, want_value, "interrupts did not disturb the result");
	report_equal(longest, want_longest, "nor the other one");
	report(held_back, "IF clear holds an interrupt back");
	report(came_after_sti, "which comes once IF is set");
	report(!frame_lacked_if, "the interrupted code had IF set");
	report(!frame_had_tf, "and no TF");
	if (t.on)
		report(t.scan.count[VPT_PKT_FUP] > TICKS, "a FUP for each interrupt");
}
