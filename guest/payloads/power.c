// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sleep states (33.2.3): HLT, MWAIT, UMWAIT and TPAUSE, if the processor has them, their wake-up
 * events, and their packets.
 */
#include "lib/cpu.h"
#include "lib/fixup.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("power: HLT, MWAIT, TPAUSE and what ends them");

#define VEC_TIMER	   0x61u
#define TIMER(n)	   (VEC_TIMER << 24 | (uint32_t)(n))
#define MSR_UMWAIT_CONTROL 0xe1u
#define HALTS		   12
#define MWAITS		   8
#define PAUSES		   5
#define FAR		   400
#define RFLAGS_CF	   1u

static uint64_t ticks, wrong;
static uint64_t line[16] __attribute__((aligned(64)));
static bool has_mwait, has_waitpkg;

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
}

static void halts(void)
{
	unsigned int i;

	for (i = 1; i <= HALTS; i++) {
		uint64_t before = ticks;

		outl(VPT_PORT_TIMER, TIMER(i * i * 7));
		while (ticks == before) {
			sti_hlt();
			cli();
		}
		wrong += ticks != before + 1;
	}
}

static inline void monitor(const void *at)
{
	__asm__ volatile("monitor" : : "a"(at), "c"(0), "d"(0) : "memory");
}

static inline void mwait(uint32_t hints, uint32_t ext)
{
	__asm__ volatile("mwait" : : "a"(hints), "c"(ext) : "memory");
}

static inline void sti_mwait(uint32_t hints)
{
	__asm__ volatile("sti; mwait" : : "a"(hints), "c"(0) : "memory");
	cli();
}

/* Enter each state, and end it by an interrupt. */
static void mwait_until_interrupt(void)
{
	static const uint8_t hints[MWAITS] = {0x00, 0x01, 0x10, 0x20, 0x21, 0x33, 0x60, 0xe0};
	unsigned int i;

	for (i = 0; i < MWAITS; i++) {
		uint64_t before = ticks;

		outl(VPT_PORT_TIMER, TIMER(FAR));
		monitor(line);
		sti_mwait(hints[i]);
		wrong += ticks != before + 1;
	}
}

/* MWAIT does not sleep: a store occurred before, no monitor is armed, or C0 is requested. */
static void mwait_at_once(void)
{
	uint64_t before = ticks;

	outl(VPT_PORT_TIMER, TIMER(100 * FAR));
	monitor(line);
	line[3]++;
	barrier();
	sti_mwait(0x20);
	sti_mwait(0x20);
	monitor(line);
	sti_mwait(0xf0);
	wrong += ticks != before;
	outl(VPT_PORT_TIMER, 0);
}

/* A masked interrupt still ends the sleep, and is delivered later. */
static void mwait_masked(void)
{
	uint64_t before = ticks;

	outl(VPT_PORT_TIMER, TIMER(FAR));
	monitor(line);
	mwait(0x20, 1);
	wrong += ticks != before;
	sti();
	__asm__ volatile("nop; nop");
	cli();
	wrong += ticks != before + 1;
}

static bool tpause(uint32_t state, uint64_t deadline)
{
	uint64_t flags;

	__asm__ volatile("stc; tpause %1; pushfq; popq %0"
			 : "=r"(flags)
			 : "r"(state), "a"((uint32_t)deadline), "d"((uint32_t)(deadline >> 32))
			 : "memory", "cc");
	return flags & RFLAGS_CF;
}

static bool umwait(uint32_t state, uint64_t deadline)
{
	uint64_t flags;

	__asm__ volatile("umonitor %4; stc; umwait %1; pushfq; popq %0"
			 : "=r"(flags)
			 : "r"(state), "a"((uint32_t)deadline), "d"((uint32_t)(deadline >> 32)),
			   "r"(line)
			 : "memory", "cc");
	return flags & RFLAGS_CF;
}

static void pauses(void)
{
	unsigned int i;

	for (i = 0; i < PAUSES; i++) {
		uint64_t until = rdtsc() + 1000 * i;

		wrong += tpause(i % 2, until);
		wrong += rdtsc() < until;
		until = rdtsc() + 1000 * i;
		wrong += umwait(i % 2, until);
		wrong += rdtsc() < until;
	}
}

/* The system's limit expires first, and CF reports it. */
static void pauses_limited(void)
{
	uint64_t begun = rdtsc();

	wrmsr(MSR_UMWAIT_CONTROL, 4000);
	wrong += !tpause(0, begun + 1000000);
	wrong += rdtsc() < begun + 4000 || rdtsc() > begun + 100000;
	wrong += tpause(1, rdtsc() + 500);
	wrmsr(MSR_UMWAIT_CONTROL, 0);
}

/* An interrupt ends the sleep before its time. */
static void pause_interrupted(void)
{
	uint64_t before = ticks, begun = rdtsc();

	outl(VPT_PORT_TIMER, TIMER(FAR));
	wrong += tpause(0, begun + 100000000);
	wrong += rdtsc() > begun + 10000000 || ticks != before;
	sti();
	__asm__ volatile("nop; nop");
	cli();
	wrong += ticks != before + 1;
}

static void work(void)
{
	halts();
	if (has_mwait) {
		mwait_until_interrupt();
		mwait_at_once();
		mwait_masked();
	}
	if (has_waitpkg) {
		pauses();
		pauses_limited();
		pause_interrupted();
	}
}

static bool mwait_faults(uint32_t ext)
{
	uint64_t faulted = 1;

	__asm__ volatile("1: mwait\n\tmov $0, %0\n2:\n" FIXUP(1b, 2b)
			 : "+r"(faulted)
			 : "a"(0xf0), "c"(ext)
			 : "memory");
	return faulted;
}

static bool monitor_faults(const void *at, uint32_t ext)
{
	uint64_t faulted = 1;

	__asm__ volatile("1: monitor\n\tmov $0, %0\n2:\n" FIXUP(1b, 2b)
			 : "+r"(faulted)
			 : "a"(at), "c"(ext), "d"(0)
			 : "memory");
	return faulted;
}

static bool tpause_faults(uint32_t state)
{
	uint64_t faulted = 1;

	__asm__ volatile("1: tpause %1\n\tmov $0, %0\n2:\n" FIXUP(1b, 2b)
			 : "+r"(faulted)
			 : "r"(state), "a"(0), "d"(0)
			 : "memory", "cc");
	return faulted;
}

static void check_faults(void)
{
	const void *not_canonical = (const void *)0x8000000000000000u;

	if (has_mwait) {
		struct cpuid_regs r = cpuid(5, 0);

		report(r.eax == 64 && r.ebx == 64 && (r.ecx & 3) == 3, "CPUID.05H: lines of 64");
		report(mwait_faults(2) && !mwait_faults(0) && !mwait_faults(1),
		       "#GP: MWAIT with an extension that does not exist");
		report(monitor_faults(line, 1) && monitor_faults(not_canonical, 0) &&
			       !monitor_faults(line, 0),
		       "#GP: MONITOR with an extension, of no address");
	}
	if (has_waitpkg) {
		report(tpause_faults(2) && !tpause_faults(0) && !tpause_faults(1),
		       "#GP: TPAUSE of a state that does not exist");
		report(!wrmsr_safe(MSR_UMWAIT_CONTROL, 2) &&
			       !wrmsr_safe(MSR_UMWAIT_CONTROL, 1ull << 32),
		       "#GP: reserved bits of IA32_UMWAIT_CONTROL");
	}
}

/* Check the packets of sleeps deeper than C0.1, by state and by wake-up event. */
static void check_packets(const struct trace *t, bool power)
{
	const uint64_t umwaits = has_waitpkg ? 2 * (PAUSES / 2) + 2 : 0;
	const uint64_t mwaits = (has_mwait ? MWAITS + 1 : 0) + umwaits, sleeps = HALTS + mwaits;

	report(t->scan.count[VPT_PKT_CBR] >= sleeps && t->scan.count[VPT_PKT_TSC] >= sleeps,
	       "TSC and CBR on each wake");
	report_equal(t->scan.count[VPT_PKT_MWAIT], power ? mwaits : 0, "MWAIT packets");
	report_equal(t->scan.count[VPT_PKT_PWRE], power ? sleeps : 0, "PWRE packets");
	report_equal(t->scan.count[VPT_PKT_EXSTOP], power ? sleeps : 0, "EXSTOP packets");
	report_equal(t->scan.count[VPT_PKT_PWRX], power ? sleeps : 0, "PWRX packets");
}

void payload(void)
{
	const uint64_t timed = TRACE_ALL | VPT_CTL_MASK(TSC_EN);
	struct trace t;

	idt_hook(VEC_TIMER, on_timer);
	has_mwait = cpu_has(CPU_MONITOR);
	has_waitpkg = cpu_has(CPU_WAITPKG);
	trace_init(&t, TRACE_BUFFER);
	trace_run(&t, timed, work);
	report_equal(wrong, 0, "each sleep ends as it must");
	if (t.on) {
		trace_report(&t);
		check_packets(&t, false);
	}
	check_faults();
	if (!t.on || !vpt_caps_has(&t.drv.caps, VPT_CAP_PWR_EVT))
		return;
	trace_run(&t, timed | VPT_CTL_MASK(PWR_EVT_EN), work);
	trace_report(&t);
	check_packets(&t, true);
	trace_run(&t, (timed & ~VPT_CTL_MASK(BRANCH_EN)) | VPT_CTL_MASK(PWR_EVT_EN), work);
	check_packets(&t, true);
	report_equal(wrong, 0, "and again");
}
