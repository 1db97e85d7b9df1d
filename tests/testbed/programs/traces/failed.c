// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace VM entries that fail while the host traces. */
#include <stdio.h>
#include <sys/ioctl.h>

#include "machine.h"
#include "perf.h"
#include "testbed.h"
#include "traces.h"

static const struct perf_pt_want all = {.config = PERF_PT_NORETCOMP, .aux_pages = 256};

static void begin(struct perf_pt *pt)
{
	if (perf_pt_open(pt, &all))
		fail("perf_event_open of intel_pt");
	bed_command(BED_ORACLE_ON, 0);
	if (perf_pt_enable(pt))
		fail("PERF_EVENT_IOC_ENABLE");
}

static void end(struct perf_pt *pt)
{
	perf_pt_disable(pt);
	bed_command(BED_ORACLE_OFF, 0);
	perf_pt_read(pt);
	if (pt->dropped || pt->truncated || pt->lost)
		fail("the host's trace is not whole");
	bed_export("host.pt", pt->bytes, pt->size);
	perf_pt_close(pt);
}

static void want_failure(struct machine *machine)
{
	int why = vm_run(&machine->vm);

	if (why != KVM_EXIT_FAIL_ENTRY)
		fail("not a failed entry: %s", vm_exit_text(&machine->vm, why));
	printf("failed: %s\n", vm_exit_text(&machine->vm, why));
}

/* With an unusable TR the guest state is invalid, so the failed VM entry is a VM exit. */
static void set_tr(struct machine *machine, bool usable)
{
	struct kvm_sregs sregs;

	if (ioctl(machine->vm.vcpu, KVM_GET_SREGS, &sregs))
		fail("KVM_GET_SREGS");
	sregs.tr.unusable = !usable;
	sregs.tr.present = usable;
	if (ioctl(machine->vm.vcpu, KVM_SET_SREGS, &sregs))
		fail("KVM_SET_SREGS");
}

/* Entries that fail late, between entries that succeed, while host and guest trace. */
void failed_late(void)
{
	struct machine machine;
	struct perf_pt pt;

	machine_open(&machine, VM_PT, PLAN_ALL, 64);
	machine_trace(&machine, CTL_BRANCHES);
	machine_start(&machine);
	begin(&pt);
	while (machine_step(&machine)) {
		set_tr(&machine, false);
		want_failure(&machine);
		set_tr(&machine, true);
		perf_pt_read(&pt);
	}
	end(&pt);
	if (machine.outs < 3 || machine.plan->status & VPT_STATUS_MASK(ERROR))
		fail("the guest does not continue");
	bed_export("guest.pt", machine.vm.memory + VM_OUTPUT, machine_trace_size(&machine));
	machine_close(&machine);
}

/*
 * Entries that fail early: KVM without the series enters with TraceEn set and "load
 * IA32_RTIT_CTL".
 */
void failed_early(void)
{
	struct machine machine;
	struct perf_pt pt;

	machine_open(&machine, VM_PT, PLAN_ALL, 64);
	machine_start(&machine);
	begin(&pt);
	want_failure(&machine);
	end(&pt);
	/* Entries succeed without perf. */
	machine_run(&machine);
	machine_close(&machine);
}
