// SPDX-License-Identifier: GPL-2.0-or-later
/* Count the accesses to MSRs when KVM switches PT between host and guest. */
#include <stdio.h>

#include "kernel.h"
#include "tests.h"
#include "vm.h"

#define ROUNDS 100

/*
 * R20: check that ROUNDS VM exits and entries of a guest that traces cause at most @limit
 * accesses to PT's MSRs.
 */
static const char *accesses_within(unsigned int limit)
{
	unsigned int accesses;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT);
	vm_trace(&vm, CTL_TRACE);
	vm_op(&vm, OP_EXITS, ROUNDS);
	vm_op(&vm, OP_MARK, 1);
	vm_op(&vm, OP_EXITS, ROUNDS - 1);
	vm_op(&vm, OP_MARK, 2);
	vm_stop(&vm);
	vm_start(&vm);
	why = vm_run(&vm);
	if (why != VM_MARK)
		return vm_exit_text(&vm, why);
	if (!msr_count_begin(VPT_MSR_FIRST, VPT_MSR_LAST))
		return wrong("there's no event msr in tracefs");
	why = vm_run(&vm);
	accesses = msr_count_end();
	if (why != VM_MARK)
		return vm_exit_text(&vm, why);
	printf("# %u accesses in %u rounds\n", accesses, ROUNDS);
	if (accesses > limit)
		return wrong("%u accesses in %u rounds, more than %u", accesses, ROUNDS, limit);
	return NULL;
}

/* Perf's driver is unchanged. KVM without the series makes 34 accesses in a round. */
const char *test_cost(void)
{
	return accesses_within(13 * ROUNDS);
}

/* A driver notifies KVM before it uses the MSRs: one switch for all rounds. */
const char *test_resident(void)
{
	return accesses_within(13);
}
