// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several processors, each with a clock of its own, read one timer of the machine and branch on its
 * value. What they execute then depends on when the timer's time advances. With one processor there
 * is nothing to start. --arg: reads of each processor
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/report.h"
#include "lib/start_cpu.h"
#include "pt/trace.h"

PAYLOAD("several processors read the PM timer and branch on its value");

#define PM_TIMER      0x608u
#define PM_TIMER_MASK 0xffffffu
#define READS	      300u

static unsigned int count;
static uint32_t reads = READS;
static volatile uint64_t ready, done, backwards;

static void add(volatile uint64_t *to)
{
	__asm__ volatile("lock incq %0" : "+m"(*to) : : "memory");
}

static void wait_until(volatile uint64_t *what, uint64_t value)
{
	while (*what < value)
		__asm__ volatile("pause" : : : "memory");
}

static uint32_t timer(void)
{
	return inl(PM_TIMER) & PM_TIMER_MASK;
}

/* There is no PAUSE, which would end the turn, so clocks differ by up to a turn. */
static void busy(uint32_t rounds)
{
	volatile uint32_t left = rounds;

	while (left)
		left--;
}

static void read_often(unsigned int id)
{
	uint32_t i, now, last = timer();

	for (i = 0; i < reads; i++) {
		now = timer();
		if ((now - last) & (PM_TIMER_MASK + 1) >> 1)
			add(&backwards);
		last = now;
		busy((now & 63) * (id + 1));
	}
}

static void other(unsigned int id)
{
	add(&ready);
	wait_until(&ready, count);
	read_often(id);
	add(&done);
	for (;;)
		__asm__ volatile("hlt");
}

static void work(void)
{
	unsigned int i;

	if (count > 1)
		start_cpu_apic();
	for (i = 1; i < count; i++)
		start_cpu(i, other);
	add(&ready);
	wait_until(&ready, count);
	read_often(0);
	add(&done);
	wait_until(&done, count);
	report_equal(backwards, 0, "no processor reads a timer that goes back");
}

void payload(void)
{
	struct trace t;

	count = start_cpu_count();
	if (count > START_CPU_MAX)
		count = START_CPU_MAX;
	if (boot->arg[0])
		reads = (uint32_t)boot->arg[0];
	report_note("processors: %u", count);
	trace_simple(&t, work);
}
