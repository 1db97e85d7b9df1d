// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timer interrupts in a computation that would reveal a lost or changed state. They hit flags, the
 * middle of a REP, and places where STI and MOV SS delay interrupts. Then the timer wakes loops of
 * HLT.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("timer interrupts in a busy computation, and HLT loops that they wake");

#define VEC_TIMER 0x61u
#define TIMER(n)  (VEC_TIMER << 24 | (uint32_t)(n))
#define ROUNDS	  40 /* --arg: another number */
#define SEEDS	  8
#define HALTS	  40
#define SHADOWS	  24

static uint64_t rounds, ticks, busy_ticks, disturbed, in_rep, bad_rep;
static uint64_t want[SEEDS];
static bool busy;
static uint64_t last_rip;

/* Set the timer with an odd distance, so that the interrupts move through the code. */
static void on_timer(struct trap_frame *f)
{
	bool consistent = true;

	ticks++;
	last_rip = f->rip;
	if (digest_in_rep(f, &consistent)) {
		in_rep++;
		bad_rep += !consistent;
	}
	if (!busy)
		return;
	busy_ticks++;
	outl(VPT_PORT_TIMER, TIMER(37 + ticks * 29 % 601));
}

static noinline void compute(void)
{
	uint64_t i;

	busy = true;
	sti();
	outl(VPT_PORT_TIMER, TIMER(50));
	for (i = 0; i < rounds; i++)
		disturbed += digest(i % SEEDS) != want[i % SEEDS];
	busy = false;
	outl(VPT_PORT_TIMER, 0);
	cli();
}

static uint64_t halts, wrong_wake;
extern const uint8_t after_hlt[];

/* The timer is due at once, just before HLT, or much later, and ends the HLT. */
static noinline void halt(unsigned int distance)
{
	uint64_t before = ticks;

	outl(VPT_PORT_TIMER, TIMER(distance));
	__asm__ volatile("sti\n"
			 "hlt\n"
			 ".globl after_hlt\n"
			 "after_hlt: cli"
			 :
			 :
			 : "memory");
	halts++;
	wrong_wake += ticks != before + 1 || last_rip != (uintptr_t)after_hlt;
}

static uint64_t shadows, wrong_shadow;

/* An interrupt that is due before STI comes one instruction after it at the earliest. */
static noinline void shadow(void)
{
	uint64_t before = ticks, in_time;

	outl(VPT_PORT_TIMER, TIMER(1));
	__asm__ volatile("nop; nop; nop; nop\n"
			 "sti\n"
			 "mov %1, %0\n"
			 "nop\n"
			 "cli"
			 : "=&r"(in_time)
			 : "m"(ticks)
			 : "memory");
	shadows++;
	wrong_shadow += in_time != before;
}

static uint64_t idle_halts;

/* Wait in an idle loop for a number of interrupts. */
static noinline void idle(unsigned int count)
{
	uint64_t until = ticks + count;

	busy = true;
	outl(VPT_PORT_TIMER, TIMER(3));
	while (ticks < until) {
		sti_hlt();
		cli();
		idle_halts++;
	}
	busy = false;
	outl(VPT_PORT_TIMER, 0);
}

static void work(void)
{
	unsigned int i;

	compute();
	for (i = 1; i <= HALTS; i++)
		halt(i < HALTS / 2 ? i : i * i);
	for (i = 0; i < SHADOWS; i++)
		shadow();
	idle(HALTS);
	/* The pending interrupt has been withdrawn. */
	sti();
	__asm__ volatile("nop; nop");
	cli();
}

void payload(void)
{
	struct trace t;
	unsigned int i;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	for (i = 0; i < SEEDS; i++)
		want[i] = digest(i);
	idt_hook(VEC_TIMER, on_timer);
	trace_long(&t, work);
	report_equal(disturbed, 0, "interrupts did not disturb the computation");
	report(busy_ticks >= HALTS, "they came, again and again");
	report_equal(bad_rep, 0, "REP MOVSB interrupted: RSI, RDI and RCX say how far it got");
	report_equal(wrong_wake, 0, "HLT ends with the interrupt, which returns past it");
	report_equal(wrong_shadow, 0, "STI holds it off for one instruction");
	report(idle_halts >= HALTS / 2 && idle_halts <= HALTS, "an idle loop woke each time");
}
