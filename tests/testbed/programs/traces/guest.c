// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace a guest that uses PT itself. */
#include <stdio.h>

#include "machine.h"
#include "testbed.h"
#include "traces.h"

/* x2APIC */
#define MSR_APIC_BASE	 0x1b
#define MSR_X2APIC_SVR	 0x80f
#define MSR_X2APIC_LVTPC 0x834
#define LVT_NMI		 0x400

#define TOPA_INT 4

/* Run the guest with the oracle's log on. */
static void run_logged(struct machine *machine)
{
	bed_command(BED_ORACLE_ON, 0);
	machine_run(machine);
	bed_command(BED_ORACLE_OFF, 0);
	printf("guest: %zu bytes, CTL 0x%llx, STATUS 0x%llx\n", machine_trace_size(machine),
	       (unsigned long long)machine->plan->ctl, (unsigned long long)machine->plan->status);
	if (machine->plan->ctl & VPT_CTL_MASK(TRACE_EN))
		fail("the trace does not end");
}

static void want_no_error(const struct machine *machine)
{
	if (machine->plan->status & (VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED)))
		fail("the trace ends with an error");
}

static void export(const struct machine *machine, uint64_t from)
{
	bed_export("guest.pt", machine->vm.memory + from, machine_trace_size(machine));
}

void guest_range(void)
{
	struct machine machine;

	machine_open(&machine, VM_PT, PLAN_ALL, 64);
	machine_trace(&machine, CTL_BRANCHES & ~VPT_CTL_MASK(DIS_RETC));
	run_logged(&machine);
	want_no_error(&machine);
	export(&machine, VM_OUTPUT);
	machine_close(&machine);
}

void guest_topa(void)
{
	static const struct machine_topa topa = {.regions = 64, .address = VM_REGIONS};
	struct machine machine;

	machine_open(&machine, VM_PT, PLAN_ALL, 200);
	machine_trace_topa(&machine, CTL_BRANCHES, &topa);
	run_logged(&machine);
	want_no_error(&machine);
	if (machine_trace_size(&machine) < 3 * 0x1000)
		fail("the trace is too short for the test");
	export(&machine, VM_REGIONS);
	machine_close(&machine);
}

/* Each region that fills causes an NMI. */
void guest_pmi(void)
{
	static const struct machine_topa topa = {
		.regions = 64, .address = VM_REGIONS, .entry = TOPA_INT};
	struct machine machine;
	size_t filled;

	machine_open(&machine, VM_PT | VM_IRQCHIP, PLAN_ALL, 100);
	machine_begin(&machine, MSR_APIC_BASE, 0xfee00d00);
	machine_begin(&machine, MSR_X2APIC_SVR, 0x1ff);
	machine_begin(&machine, MSR_X2APIC_LVTPC, LVT_NMI);
	machine_trace_topa(&machine, CTL_BRANCHES, &topa);
	run_logged(&machine);
	want_no_error(&machine);
	filled = machine_trace_size(&machine) / 0x1000;
	printf("guest: %zu regions, %llu NMIs\n", filled, (unsigned long long)machine.plan->nmis);
	if (filled < 3 || machine.plan->nmis != filled)
		fail("not one NMI for each region");
	export(&machine, VM_REGIONS);
	machine_close(&machine);
}

/* There is no memory at the third region: the trace ends there, and the guest continues. */
void guest_hole(void)
{
	static const struct machine_topa topa = {.regions = 64, .address = VM_MEMORY - 2 * 0x1000};
	struct machine machine;

	machine_open(&machine, VM_PT, PLAN_ALL, 100);
	machine_trace_topa(&machine, CTL_BRANCHES, &topa);
	run_logged(&machine);
	if (!(machine.plan->status & VPT_STATUS_MASK(ERROR)))
		fail("the trace continues where there is no memory");
	if (machine.outs != 100 / 16)
		fail("the guest does not continue");
	if (machine_trace_size(&machine) > 2 * 0x1000)
		fail("the trace goes beyond memory");
	export(&machine, VM_MEMORY - 2 * 0x1000);
	machine_close(&machine);
}
