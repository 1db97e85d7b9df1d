// SPDX-License-Identifier: GPL-2.0-or-later
/* perf traces the host while a guest runs. */
#include <unistd.h>

#include "kernel.h"
#include "tests.h"
#include "vm.h"

/* Watermarks of the AUX area in bytes: for many PMIs, one for each page, or for few. */
#define PAGE 4096
#define MANY PAGE
#define FEW  (16 * PAGE)

/* Check the host's trace after a run. Returns NULL, or a description of the fault. */
static const char *check_host(struct host_trace *trace)
{
	size_t bad, before = trace->size;

	/*
	 * A trace that is still on reaches the watermark. Frequent reads keep the AUX area from
	 * filling.
	 */
	for (int i = 0; i < 1000; i++) {
		getppid();
		if (i % 10 == 0)
			host_trace_read(trace);
	}
	if (trace->size <= before)
		return wrong("the host's trace has ended, after %zu bytes", before);
	host_trace_close(trace);
	if (trace->dropped)
		return wrong("the host's trace is too long for the test");
	bad = bad_packets(trace->bytes, trace->size);
	if (bad)
		return wrong("%zu bad packets in the host's trace of %zu bytes", bad, trace->size);
	return NULL;
}

/* Run the list of operations, and read the host's trace at each mark. */
static const char *run(struct vm *vm, struct host_trace *trace)
{
	int why;

	vm_start(vm);
	do {
		why = vm_run(vm);
		host_trace_read(trace);
	} while (why == VM_MARK);
	return why == VM_END ? NULL : vm_exit_text(vm, why);
}

/* A1: the host traces, and the guest does not. */
const char *test_host_traces(void)
{
	struct host_trace trace;
	const char *what;
	struct vm vm;
	int i;

	vm_open(&vm, VM_PT);
	for (i = 0; i < 20; i++) {
		vm_op(&vm, OP_EXITS, 5);
		vm_op(&vm, OP_MARK, 1);
	}
	host_trace_open(&trace, FEW);
	what = run(&vm, &trace);
	return what ? what : check_host(&trace);
}

static const char *both(unsigned int rounds, size_t watermark)
{
	struct host_trace trace;
	const char *what;
	uint64_t mask;
	struct vm vm;
	size_t bad;

	vm_open(&vm, VM_PT | VM_IRQCHIP);
	vm_take_pmis(&vm);
	vm_trace(&vm, CTL_TRACE);
	for (unsigned int i = 0; i < rounds; i++) {
		vm_op(&vm, OP_EXITS, 5);
		vm_op(&vm, OP_MARK, 1);
	}
	vm_stop(&vm);
	host_trace_open(&trace, watermark);
	what = run(&vm, &trace);
	if (what)
		return what;
	if (!vm_get_msr(&vm, VPT_MSR_OUTPUT_MASK_PTRS, &mask))
		return wrong("KVM_GET_MSRS");
	/* A guest without ToPA causes no PMIs, so that these would be the host's. */
	if (vm_guest_word(&vm, guest_nmis))
		return wrong("the guest has got %llu PMIs",
			     (unsigned long long)vm_guest_word(&vm, guest_nmis));
	bad = bad_packets(vm.memory + VM_OUTPUT, mask >> 32);
	if (bad)
		return wrong("%zu bad packets in the guest's trace of %llu bytes", bad,
			     (unsigned long long)mask >> 32);
	return check_host(&trace);
}

/* A1: host and guest each have a trace of their own. */
const char *test_both_trace(void)
{
	return both(20, FEW);
}

/* A2: a PMI for each page of the host's trace. Some PMIs occur while KVM switches PT's MSRs. */
const char *test_nmi_window(void)
{
	return both(300, MANY);
}
