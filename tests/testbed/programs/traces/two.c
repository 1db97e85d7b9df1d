// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace two vCPUs that take turns on one CPU. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "machine.h"
#include "perf.h"
#include "testbed.h"
#include "traces.h"

static void *run(void *argument)
{
	struct machine *machine = argument;

	machine_start(machine);
	/* Yield to the other vCPU at each exit to userspace. */
	while (machine_step(machine))
		sched_yield();
	return NULL;
}

static void run_both(struct machine machines[2])
{
	pthread_t threads[2];

	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, &machines[i]))
			fail("pthread_create");
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

void two_vcpus(void)
{
	static const char *const names[] = {"first.pt", "second.pt"};
	struct machine machines[2];

	for (unsigned int i = 0; i < 2; i++) {
		machine_open(&machines[i], VM_PT, PLAN_ALL, 100 + 30 * i);
		machine_trace(&machines[i], CTL_BRANCHES);
	}
	bed_command(BED_ORACLE_ON, 0);
	run_both(machines);
	bed_command(BED_ORACLE_OFF, 0);
	for (unsigned int i = 0; i < 2; i++) {
		if (machines[i].plan->status & VPT_STATUS_MASK(ERROR))
			fail("a trace ends with an error");
		bed_export(names[i], machines[i].vm.memory + VM_OUTPUT,
			   machine_trace_size(&machines[i]));
		machine_close(&machines[i]);
	}
}

/*
 * Both guests have the same CR3 values, and code at different addresses. Only VMCS packets
 * distinguish the guests.
 */
void system_two(void)
{
	static const struct perf_pt_want want = {
		.config = PERF_PT_TSC | PERF_PT_NORETCOMP,
		.aux_pages = 512,
	};
	struct machine machines[2];
	struct perf_pt pt;

	for (unsigned int i = 0; i < 2; i++)
		machine_open(&machines[i], 0, PLAN_ALL, 32);
	machine_place(&machines[1], TRACES_CODE_ELSEWHERE);
	if (perf_pt_open(&pt, &want))
		fail("perf_event_open of intel_pt");
	bed_command(BED_ORACLE_ON, 0);
	if (perf_pt_enable(&pt))
		fail("PERF_EVENT_IOC_ENABLE");
	run_both(machines);
	perf_pt_disable(&pt);
	bed_command(BED_ORACLE_OFF, 0);
	perf_pt_read(&pt);
	if (pt.dropped || pt.lost || pt.truncated)
		fail("the trace is not whole");
	bed_export("host.pt", pt.bytes, pt.size);
	perf_pt_close(&pt);
	for (unsigned int i = 0; i < 2; i++)
		machine_close(&machines[i]);
}
