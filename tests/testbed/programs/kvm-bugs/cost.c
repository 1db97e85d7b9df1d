// SPDX-License-Identifier: GPL-2.0-or-later
/* What the switch costs. */
#include <stdio.h>

#include "kernel.h"
#include "tests.h"
#include "vm.h"

#define ROUNDS 100

/* R20: accesses to PT's MSRs for a VM-Enter and a VM-Exit of a guest that traces. */
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

/* With perf's driver as it is. There were 34. */
const char *test_cost(void)
{
	return accesses_within(13 * ROUNDS);
}

/* With a driver that tells: one switch for all rounds. */
const char *test_resident(void)
{
	return accesses_within(13);
}
