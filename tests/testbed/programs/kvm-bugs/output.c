// SPDX-License-Identifier: GPL-2.0-or-later
/* Output of a guest's trace to addresses with and without memory. */
#include "kernel.h"
#include "tests.h"
#include "vm.h"

/*
 * Run a list that traces to VM_HOLE. The trace must end with an error, without a fault in the
 * guest.
 */
static const char *trace_to_hole(struct vm *vm)
{
	struct op *status, *popcnt;
	int why;

	vm_wrmsr(vm, VPT_MSR_OUTPUT_BASE, VM_HOLE);
	vm_wrmsr(vm, VPT_MSR_OUTPUT_MASK_PTRS, 0xfff);
	vm_wrmsr(vm, VPT_MSR_CTL, CTL_TRACE);
	popcnt = vm_op(vm, OP_POPCNT, 100);
	vm_op(vm, OP_WORK, 100);
	vm_stop(vm);
	status = vm_rdmsr(vm, VPT_MSR_STATUS);
	vm_start(vm);
	do
		why = vm_run(vm);
	while (why == KVM_EXIT_MMIO && !popcnt->fault);
	if (why != VM_END)
		return vm_exit_text(vm, why);
	if (popcnt->fault)
		return wrong("POPCNT gets a fault of vector %llu",
			     (unsigned long long)popcnt->fault);
	if (!(status->result & VPT_STATUS_MASK(ERROR)))
		return wrong("STATUS is %#llx, without an error",
			     (unsigned long long)status->result);
	return NULL;
}

/* R9: an EPT violation. */
const char *test_hole(void)
{
	struct vm vm;

	vm_open(&vm, VM_PT);
	return trace_to_hole(&vm);
}

/* R9: an EPT misconfiguration, which is how KVM marks known MMIO. */
const char *test_hole_mmio(void)
{
	struct vm vm;

	vm_open(&vm, VM_PT);
	vm_op(&vm, OP_LOAD, VM_HOLE);
	return trace_to_hole(&vm);
}

/* Trace to pages that KVM has not mapped yet. No packet may be lost or damaged. */
const char *test_untouched(void)
{
	uint64_t mask, status;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT);
	vm_trace(&vm, CTL_TRACE);
	vm_op(&vm, OP_WORK, 10000);
	vm_stop(&vm);
	why = vm_run_all(&vm);
	if (why != VM_END)
		return vm_exit_text(&vm, why);
	if (!vm_get_msr(&vm, VPT_MSR_OUTPUT_MASK_PTRS, &mask) ||
	    !vm_get_msr(&vm, VPT_MSR_STATUS, &status))
		return wrong("KVM_GET_MSRS");
	if (mask >> 32 < 40000 || status & VPT_STATUS_MASK(ERROR))
		return wrong("%llu bytes, STATUS %#llx", (unsigned long long)mask >> 32,
			     (unsigned long long)status);
	if (bad_packets(vm.memory + VM_OUTPUT, mask >> 32))
		return wrong("%zu bad packets", bad_packets(vm.memory + VM_OUTPUT, mask >> 32));
	return NULL;
}
