// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace the CPU with perf while a guest runs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "machine.h"
#include "perf.h"
#include "testbed.h"
#include "traces.h"

#define CPU_INSNS 8000000u

static void open_host(struct perf_pt *pt, const struct perf_pt_want *want)
{
	int error = perf_pt_open(pt, want);

	if (error)
		fail("perf_event_open of intel_pt: %s", strerror(-error));
}

static void begin(const struct perf_pt *pt)
{
	bed_command(BED_ORACLE_ON, 0);
	if (perf_pt_enable(pt))
		fail("PERF_EVENT_IOC_ENABLE");
}

static void end(struct perf_pt *pt, const char *name)
{
	perf_pt_disable(pt);
	bed_command(BED_ORACLE_OFF, 0);
	perf_pt_read(pt);
	printf("perf: %zu bytes, %u records, %u truncated, %u lost\n", pt->size, pt->aux_records,
	       pt->truncated, pt->lost);
	if (pt->dropped || pt->lost)
		fail("the host's trace is too long for the test");
	bed_export(name, pt->bytes, pt->size);
}

static const struct perf_pt_want all = {
	.config = PERF_PT_TSC | PERF_PT_NORETCOMP,
	.aux_pages = 256,
};

/* Run a guest that does not trace, and read perf's trace at each exit to userspace. */
static void run_guest(struct perf_pt *pt, uint64_t what, uint64_t rounds)
{
	struct machine machine;

	machine_open(&machine, 0, what, rounds);
	machine_start(&machine);
	begin(pt);
	while (machine_step(&machine))
		perf_pt_read(pt);
	end(pt, "host.pt");
	machine_close(&machine);
}

void trace_host(void)
{
	struct perf_pt pt;

	open_host(&pt, &all);
	run_guest(&pt, PLAN_ALL, 64);
	if (pt.truncated)
		fail("the host's trace is truncated");
	perf_pt_close(&pt);
}

/* The same, with images of the guest's and the machine's memory before the guest is closed. */
void trace_memory(void)
{
	struct machine machine;
	struct perf_pt pt;

	open_host(&pt, &all);
	machine_open(&machine, 0, PLAN_ALL, 64);
	machine_start(&machine);
	begin(&pt);
	while (machine_step(&machine))
		perf_pt_read(&pt);
	end(&pt, "host.pt");
	if (pt.truncated)
		fail("the host's trace is truncated");
	bed_export("guest.ram", machine.vm.memory, VM_MEMORY);
	bed_memory("machine.ram");
	machine_close(&machine);
	perf_pt_close(&pt);
}

/* The buffer is read before it is full. */
void pmi_host(void)
{
	static const struct perf_pt_want want = {
		.config = PERF_PT_TSC | PERF_PT_NORETCOMP,
		.aux_pages = 64,
		.watermark = 0x1000,
	};
	struct perf_pt pt;

	open_host(&pt, &want);
	/* Most of the trace is the guest's, so that most PMIs interrupt the guest. */
	run_guest(&pt, PLAN_BRANCHES | PLAN_USER | PLAN_OUT, 400);
	if (pt.aux_records < 10 || pt.truncated)
		fail("no PMIs, or the buffer was not read in time");
	perf_pt_close(&pt);
}

/* The buffer is full before it is read: perf stops, and reports it. */
void pmi_host_full(void)
{
	static const struct perf_pt_want want = {
		.config = PERF_PT_TSC | PERF_PT_NORETCOMP,
		.aux_pages = 4,
	};
	struct perf_pt pt;

	open_host(&pt, &want);
	run_guest(&pt, PLAN_ALL, 64);
	if (!pt.truncated)
		fail("the buffer is large enough for all");
	perf_pt_close(&pt);
}

void trace_cpu(void)
{
	static const struct perf_pt_want large = {
		.config = PERF_PT_TSC | PERF_PT_NORETCOMP,
		.aux_pages = 1024,
	};
	const struct timespec pause = {.tv_nsec = 100000};
	struct perf_pt pt;
	uint64_t start;

	open_host(&pt, &large);
	begin(&pt);
	/* An instruction of the machine is a tick. */
	start = __builtin_ia32_rdtsc();
	while (__builtin_ia32_rdtsc() - start < CPU_INSNS)
		nanosleep(&pause, NULL);
	end(&pt, result_file);
	if (pt.truncated)
		fail("the host's trace is truncated");
	perf_pt_close(&pt);
}

void trace_both(void)
{
	struct machine machine;
	struct perf_pt pt;

	machine_open(&machine, VM_PT, PLAN_ALL, 64);
	machine_trace(&machine, CTL_BRANCHES);
	open_host(&pt, &all);
	machine_start(&machine);
	begin(&pt);
	while (machine_step(&machine))
		perf_pt_read(&pt);
	end(&pt, "host.pt");
	if (pt.truncated || machine.plan->status & VPT_STATUS_MASK(ERROR))
		fail("one of the traces is not whole");
	bed_export("guest.pt", machine.vm.memory + VM_OUTPUT, machine_trace_size(&machine));
	perf_pt_close(&pt);
	machine_close(&machine);
}
