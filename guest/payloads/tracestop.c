// SPDX-License-Identifier: GPL-2.0-or-later
/* TraceStop ranges (33.2.5.3): the trace ends at a branch into a range. */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("TraceStop: entering a range ends the trace");

extern const char image_start[];

static unsigned int steps;

static noinline void step(void)
{
	steps++;
}

static noinline void stop_here(void)
{
	steps += 100;
}

/* Conditional branches on both sides of the stop. */
static noinline void wander(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (i % 3)
			step();
}

static void work(void)
{
	steps = 0;
	wander(600);
	stop_here();
	wander(600);
}

#define STEPS (400 + 100 + 400)

static void check_stopped(struct trace *t)
{
	const uint64_t want = VPT_STATUS_MASK(STOPPED);
	const uint64_t bits = want | VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(TRIGGER_EN);

	report_equal(t->drv.status & bits, want, "STATUS: Stopped and nothing else");
	report_equal(t->scan.count[VPT_PKT_TRACE_STOP], 1, "one TraceStop packet");
	report(t->scan.last == VPT_PKT_TRACE_STOP, "it is the last packet");
	report_equal(t->scan.count[VPT_PKT_TIP_PGD], 1, "one TIP.PGD");
	report(t->scan.tnt_bits > 600, "what came before was traced");
}

/* Stopped is still set, so setting TraceEn again starts nothing (33.2.6.2). */
static void check_resume(struct trace *t)
{
	uint64_t before = t->drv.end_mask_ptrs;

	report(guest_drv_resume(&t->drv, TRACE_ALL), "TraceEn can be set while Stopped is");
	wander(50);
	guest_drv_stop(&t->drv);
	report_equal(t->drv.end_mask_ptrs, before, "but nothing is traced");
	report(!!(t->drv.status & VPT_STATUS_MASK(STOPPED)), "and Stopped stays");

	report(wrmsr_safe(VPT_MSR_STATUS, t->drv.status & ~VPT_STATUS_MASK(STOPPED)),
	       "software clears Stopped");
	report(guest_drv_resume(&t->drv, TRACE_ALL), "TraceEn is set again");
	wander(50);
	guest_drv_stop(&t->drv);
	report(t->drv.end_mask_ptrs != before, "and the trace goes on");
	report(!(t->drv.status & VPT_STATUS_MASK(STOPPED)), "without a stop");
}

/* Code inside the range sets TraceEn (table 33-28). */
static void check_inside(struct trace *t)
{
	guest_drv_range(&t->drv, 0, VPT_ADDR_STOP, image_start, (const void *)0x3fffffff);
	trace_run(t, TRACE_ALL, work);
	report(!!(t->drv.status & VPT_STATUS_MASK(STOPPED)), "starting inside the range stops");
	report_equal(t->scan.tnt_bits, 0, "before any branch");
	report_equal(t->scan.count[VPT_PKT_TRACE_STOP], 1, "with a TraceStop packet");
}

void payload(void)
{
	struct trace t;

	trace_init(&t, TRACE_BUFFER);
	if (!t.on || !vpt_caps_ranges(&t.drv.caps)) {
		trace_run(&t, TRACE_ALL, work);
		trace_report(&t);
		report_equal(steps, STEPS, "the work was done");
		if (t.on)
			report_skip("this processor has no TraceStop ranges");
		return;
	}
	guest_drv_range(&t.drv, 0, VPT_ADDR_STOP, (const void *)(uintptr_t)stop_here,
			(const void *)(uintptr_t)stop_here);
	trace_run(&t, TRACE_ALL, work);
	report_equal(steps, STEPS, "the work was done");
	check_stopped(&t);
	check_resume(&t);
	check_inside(&t);
}
