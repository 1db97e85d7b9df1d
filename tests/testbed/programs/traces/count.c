// SPDX-License-Identifier: GPL-2.0-or-later
/* Let the machine count the accesses to PT's MSRs during VM entries and exits. */
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "perf.h"
#include "testbed.h"
#include "traces.h"

#define WORK (PLAN_EXITS | PLAN_OUT)

/* Write the counters to a file and set them to 0. */
static void counters(const char *name)
{
	bed_text(name);
	bed_command(VPT_BED_COUNTERS, 0);
}

/*
 * The guest traces from before the first exit to userspace until after the last one. The
 * counters cover the time between these exits.
 */
static void count(bool with_host)
{
	static const struct perf_pt_want all = {.config = PERF_PT_NORETCOMP, .aux_pages = 1024};
	struct machine machine;
	struct perf_pt pt;

	machine_open(&machine, VM_PT, WORK, 96);
	machine_trace(&machine, CTL_BRANCHES);
	if (with_host && perf_pt_open(&pt, &all))
		fail("perf_event_open of intel_pt");
	machine_start(&machine);
	if (!machine_step(&machine))
		fail("the guest does not get to its work");
	if (with_host && perf_pt_enable(&pt))
		fail("PERF_EVENT_IOC_ENABLE");
	counters("discarded");
	while (machine.outs < 6)
		if (!machine_step(&machine))
			fail("the guest ends too early");
	counters(result_file);
	if (with_host) {
		perf_pt_disable(&pt);
		perf_pt_close(&pt);
	}
	while (machine_step(&machine))
		;
	if (machine.plan->status & VPT_STATUS_MASK(ERROR))
		fail("the trace ends with an error");
	machine_close(&machine);
}

void count_guest(void)
{
	count(false);
}

void count_both(void)
{
	count(true);
}
