// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time of a trace that has TSC packets and neither MTC nor CYC (docs/adr/0016-time.md). The first
 * packet after an RDTSC follows a TSC packet, also if the RDTSC was not traced.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("RDTSC: its time is in a trace that has no other time");

#define READS	  20
#define CALLS	  10
#define TIMED	  (TRACE_ALL | VPT_CTL_MASK(TSC_EN))
#define OS_ONLY	  (VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(TSC_EN))
#define USER_ONLY (VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(TSC_EN))

static uint64_t tsc[READS + 1];
static uint64_t reads; /* in each call of the kernel */

static noinline void nothing(void)
{
	barrier();
}

static void (*volatile call)(void) = nothing;

static void calls(void)
{
	unsigned int i;

	for (i = 0; i < READS; i++)
		call();
}

static void reads_and_calls(void)
{
	unsigned int i;

	for (i = 0; i < READS; i++) {
		tsc[i] = rdtsc();
		call();
	}
	tsc[i] = ~0ull;
}

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	uint64_t i;

	for (i = 0; i < reads; i++)
		(void)rdtsc();
	return a + b;
}

USER_TEXT static uint64_t user_calls(uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum = user_syscall(sum, 1);
	return sum;
}

USER_TEXT static uint64_t user_reads(uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++) {
		(void)rdtsc();
		sum = user_syscall(sum, 1);
	}
	return sum;
}

/* CLI raises #GP in ring 3. */
USER_TEXT static uint64_t user_faults(uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		(void)rdtsc();
		cli();
	}
	return 0;
}

static void on_gp(struct trap_frame *f)
{
	f->rip++;
}

static void run_user_faults(void)
{
	(void)ring3_call(user_faults, CALLS);
}

static void run_user_calls(void)
{
	(void)ring3_call(user_calls, CALLS);
}

static void run_user_reads(void)
{
	(void)ring3_call(user_reads, CALLS);
}

static uint32_t count(struct trace *t, uint64_t ctl, void (*fn)(void))
{
	trace_run(t, ctl, fn);
	return t->scan.count[VPT_PKT_TSC];
}

/* Returns true if a TSC packet has a time between each reading and the next. */
static bool each_is_there(const struct trace *t)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0;
	unsigned int next = 0;

	while (vpt_packet_read(&parser, t->buf + at, t->bytes - at, &packet) == VPT_OK) {
		at += packet.size;
		if (packet.kind != VPT_PKT_TSC)
			continue;
		if (next < READS && packet.value > tsc[next] && packet.value < tsc[next + 1])
			next++;
	}
	return next == READS;
}

static void by_cpl(struct trace *t)
{
	uint32_t base;

	ring3_init(on_syscall);
	base = count(t, USER_ONLY, run_user_calls);
	reads = 3;
	report_equal(count(t, USER_ONLY, run_user_calls), base + CALLS,
		     "RDTSC in ring 0: one TSC packet at each entry of ring 3");
	reads = 0;
	base = count(t, OS_ONLY, run_user_calls);
	report_equal(count(t, OS_ONLY, run_user_reads), base + CALLS,
		     "RDTSC in ring 3: one TSC packet at each entry of ring 0");
	idt_hook(VEC_GP, on_gp);
	report_equal(count(t, OS_ONLY, run_user_faults), base + CALLS,
		     "and at each entry by an exception");
}

void payload(void)
{
	struct trace t;
	uint32_t base;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t))
		return;
	base = count(&t, TIMED, calls);
	report(base, "TSC packets are sent");
	report_equal(count(&t, TIMED, reads_and_calls), base + READS, "one more for each RDTSC");
	report(each_is_there(&t), "each between its RDTSC and the next");
	report_equal(count(&t, TRACE_ALL, reads_and_calls), 0, "none without TSCEn");
	if (vpt_caps_has(&t.drv.caps, VPT_CAP_MTC)) {
		base = count(&t, TIMED | VPT_CTL_MASK(MTC_EN), calls);
		report_equal(count(&t, TIMED | VPT_CTL_MASK(MTC_EN), reads_and_calls), base,
			     "none more with MTC, which has the time");
	}
	if (boot->flags & VPT_BOOT_RING3)
		by_cpl(&t);
}
