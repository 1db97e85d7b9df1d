// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several processors: start-up, locks, one clock, code that another processor changes, IPIs that
 * wake HLT, MONITOR, and an INIT in the middle of a program. With one processor there is nothing to
 * start. --arg: number of changes of the code; whether a processor prints; how often they share again
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "lib/start_cpu.h"
#include "pt/trace.h"

PAYLOAD("several processors: start-up, locks, clocks, changed code, IPIs");

#define ROUNDS	 200u
#define REST	 100000u
#define PATCHES	 20u
#define VEC_WAKE 0x61u
#define MOV_EAX	 0xb8u
#define RET	 0xc3u

static unsigned int count;
static uint32_t patches = PATCHES;
static volatile uint32_t lock;
static volatile uint64_t guarded, last_tsc, backwards, added, ready, wrong, woken, stored, passed;
static volatile uint64_t phase;
static volatile bool released;
static volatile uint64_t line[8] __attribute__((aligned(64)));
/* A function that returns a number, which the first processor changes. */
static uint8_t patched[64] __attribute__((aligned(64)));

static void spin(void)
{
	__asm__ volatile("pause" : : : "memory");
}

static void add(volatile uint64_t *to)
{
	__asm__ volatile("lock incq %0" : "+m"(*to) : : "memory");
}

static void take_lock(void)
{
	uint32_t was = 1;

	for (;;) {
		__asm__ volatile("xchgl %0, %1" : "+r"(was), "+m"(lock) : : "memory");
		if (!was)
			return;
		while (lock)
			spin();
		was = 1;
	}
}

static void release_lock(void)
{
	barrier();
	lock = 0;
}

static void wait_until(volatile uint64_t *what, uint64_t value)
{
	while (*what < value)
		spin();
}

/* A number that is only right if the lock works, and a clock that all processors read in turn. */
static noinline void share(void)
{
	unsigned int i;
	uint64_t now;

	for (i = 0; i < ROUNDS; i++) {
		take_lock();
		guarded++;
		now = rdtsc();
		if (now < last_tsc)
			backwards++;
		last_tsc = now;
		release_lock();
		add(&added);
	}
}

/* Compute for some time between two uses of the lock. */
static void share_again(void)
{
	uint64_t i, n;

	for (i = 0; i < boot->arg[2]; i++) {
		for (n = 0; n < REST; n++)
			barrier();
		share();
	}
}

static uint32_t call_patched(void)
{
	return ((uint32_t(*)(void))(uintptr_t)patched)();
}

/* The number, and then RET, as an 8-byte store. */
static void patch(uint32_t number)
{
	*(volatile uint64_t *)patched = MOV_EAX | (uint64_t)number << 8 | (uint64_t)RET << 40;
	(void)cpuid(0, 0);
}

static void follow_patches(void)
{
	uint32_t i;

	for (i = 1; i <= patches; i++) {
		wait_until(&phase, i);
		(void)cpuid(0, 0);
		if (call_patched() != i)
			add(&wrong);
		add(&passed);
	}
}

static void on_wake(struct trap_frame *frame)
{
	(void)frame;
	add(&woken);
	start_cpu_eoi();
}

static bool monitors(void)
{
	return cpu_has(CPU_MONITOR);
}

/* Sleep until the first processor stores. */
static void watch_line(void)
{
	while (!line[0]) {
		__asm__ volatile("monitor" : : "a"(line), "c"(0), "d"(0) : "memory");
		if (!line[0])
			__asm__ volatile("mwait" : : "a"(0), "c"(0) : "memory");
	}
	add(&stored);
}

static void other(unsigned int id)
{
	(void)id;
	add(&ready);
	wait_until(&ready, count);
	/* The console is this processor's own until the end of the run. */
	while (boot->arg[1])
		printk("another processor prints\n");
	share();
	share_again();
	follow_patches();
	add(&ready);
	while (!released) {
		sti_hlt();
		cli();
	}
	/* The last IPI may be on its way. */
	sti();
	wait_until(&woken, 1 + 2 * (uint64_t)(count - 1));
	cli();
	if (monitors())
		watch_line();
	add(&ready);
	/* The first processor ends this by an INIT, or by the end of the run. */
	wait_until(&stored, UINT64_MAX);
}

static void after_init(unsigned int id)
{
	add(&stored);
	(void)id;
	for (;;)
		__asm__ volatile("hlt");
}

static void run_first(void)
{
	uint32_t i;

	add(&ready);
	wait_until(&ready, count);
	share();
	share_again();
	wait_until(&added, (uint64_t)count * ROUNDS * (1 + boot->arg[2]));
	report_equal(guarded, (uint64_t)count * ROUNDS * (1 + boot->arg[2]),
		     "the lock guards its number");
	report_equal(backwards, 0, "no processor reads a clock that is behind");
	for (i = 1; i <= patches; i++) {
		patch(i);
		phase = i;
		wait_until(&passed, (uint64_t)i * (count - 1));
	}
	report_equal(wrong, 0, "each processor executes the changed code");
}

static void wake_others(void)
{
	uint64_t others = count - 1, before = stored;

	wait_until(&ready, 2 * count - 1);
	start_cpu_send(1, VEC_WAKE);
	wait_until(&woken, 1);
	start_cpu_send(0, START_CPU_OTHERS | VEC_WAKE);
	wait_until(&woken, 1 + others);
	released = true;
	start_cpu_send(0, START_CPU_OTHERS | VEC_WAKE);
	wait_until(&woken, 1 + 2 * others);
	report_equal(woken, 1 + 2 * others, "IPIs to one processor and to all others");
	line[0] = 1;
	wait_until(&ready, 3 * count - 2);
	report_equal(stored - before, monitors() ? others : 0, "a store ends MWAIT");
	before = stored;
	start_cpu(1, after_init);
	wait_until(&stored, before + 1);
	report(true, "INIT and start-up of a processor that runs");
}

static void work(void)
{
	unsigned int i;

	patch(7);
	report_equal(call_patched(), 7, "code that this processor changes");
	if (count == 1)
		return;
	idt_hook(VEC_WAKE, on_wake);
	start_cpu_apic();
	for (i = 1; i < count; i++)
		start_cpu(i, other);
	report(true, "all processors have started");
	run_first();
	wake_others();
}

/* A guest that owns PT traces its first processor. */
void payload(void)
{
	struct trace t;

	count = start_cpu_count();
	if (count > START_CPU_MAX)
		count = START_CPU_MAX;
	if (boot->arg[0])
		patches = (uint32_t)boot->arg[0];
	report_note("processors: %u", count);
	trace_simple(&t, work);
}
