// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IP filtering (33.2.5.3): the payload enters and leaves a range in every way, and checks the exact
 * flow of each. The first is table 33-2.
 */
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "pt/ways.h"

PAYLOAD("IP filter: ways into a range and out of it");

static unsigned int faults;

static void on_ud(struct trap_frame *f)
{
	faults++;
	f->rip += 2;
}

static struct trace t;

static void one(void (*fn)(void), const void *first, const void *last,
		const struct guest_flow *want, size_t count, const char *what)
{
	guest_drv_range(&t.drv, 0, VPT_ADDR_FILTER, first, last);
	trace_run(&t, TRACE_ALL, fn);
	guest_flow_report(t.buf, t.bytes, want, count, what);
}

#define ONE(name, what, ...)                                                              \
	do {                                                                              \
		const struct guest_flow want[] = {__VA_ARGS__};                           \
		one(run_##name, name##_base, name##_limit, want, ARRAY_SIZE(want), what); \
	} while (0)

static void filtered(void)
{
	ONE(shape, "table 33-2", FLOW_PGE(shape_base), FLOW_TNT(0), FLOW_PGD(shape_out));
	/* A conditional branch leaves no IP (33.4.2.5). */
	ONE(cond, "conditional branches", FLOW_PGE(cond_base), FLOW_TNT(0),
	    FLOW_PGD(GUEST_FLOW_NO_IP), FLOW_PGE(cond_back), FLOW_PGD(GUEST_FLOW_NO_IP));
	ONE(call, "calls and returns", FLOW_PGE(call_base), FLOW_PGD(call_out),
	    FLOW_PGE(call_returned), FLOW_PGD(call_after));
	ONE(jump, "indirect jumps", FLOW_PGE(jump_base), FLOW_PGD(jump_out));
	ONE(fall, "falling through the end", FLOW_PGE(fall_base), FLOW_PGD(fall_after));
	ONE(into, "falling into the range", FLOW_PGE(into_head), FLOW_TNT(1), FLOW_TNT(0),
	    FLOW_PGD(GUEST_FLOW_ANY));
	ONE(fault, "an exception", FLOW_PGE(fault_base), FLOW_FUP(fault_at),
	    FLOW_PGD(trap_stubs[VEC_UD]), FLOW_PGE(fault_resume), FLOW_PGD(GUEST_FLOW_ANY));
}

/* Two ranges: the way from one to the other has only the branch's own packets. */
static void two_ranges(void)
{
	if (!guest_drv_range(&t.drv, 1, VPT_ADDR_FILTER, two_inner, two_inner_limit)) {
		report_skip("this processor has one address range");
		return;
	}
	ONE(two, "two ranges", FLOW_PGE(two_base), FLOW_TNT(1), FLOW_PGD(GUEST_FLOW_ANY));
	guest_drv_range(&t.drv, 1, VPT_ADDR_UNUSED, NULL, NULL);
}

static void work(void)
{
	run_shape();
	run_cond();
	run_call();
	run_jump();
	run_fall();
	run_into();
	run_fault();
	run_two();
}

#define TURNS 40

static void many(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++)
		work();
}

static void unfiltered(void)
{
	trace_run(&t, TRACE_ALL, many);
	trace_report(&t);
	/* A wrong branch would have reached another UD2. */
	report_equal(faults, TURNS, "every way was taken");
}

void payload(void)
{
	idt_hook(VEC_UD, on_ud);
	trace_init(&t, TRACE_BUFFER);
	if (!t.on || !vpt_caps_ranges(&t.drv.caps)) {
		unfiltered();
		if (t.on)
			report_skip("this processor has no IP filter");
		return;
	}
	filtered();
	two_ranges();

	guest_drv_range(&t.drv, 0, VPT_ADDR_FILTER, shape_base, shape_limit);
	trace_run(&t, TRACE_ALL, many);
	report_equal(t.scan.count[VPT_PKT_TIP_PGE], TURNS, "table 33-2, many times");
	report_equal(t.scan.count[VPT_PKT_TIP_PGD], TURNS, "and left as often");

	/* The whole guest: no filter in effect. */
	guest_drv_range(&t.drv, 0, VPT_ADDR_FILTER, NULL, (const void *)0x3fffffff);
	trace_run(&t, TRACE_ALL, many);
	trace_report(&t);
	report_equal(t.scan.count[VPT_PKT_TIP_PGE], 1, "a range around everything");
}
