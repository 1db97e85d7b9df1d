// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a machine to its end: by the loop of one vCPU, by turns or by threads, on one engine or on two. */
#include "core/run.h"

#include "core/loop.h"
#include "core/switch.h"
#include "core/threads.h"
#include "core/turns.h"

static void run_some(struct core_vm *vm)
{
	if (vm->cpus == 1)
		core_vcpu_loop(vm->vcpu);
	else if (vm->engine->can & ENGINE_COUNTS)
		core_turns_loop(vm);
	else
		(void)core_threads_loop(vm);
}

void core_vm_run(struct core_vm *vm)
{
	unsigned int i;

	for (;;) {
		if (vm->cpus > 1 && core_switch_is_due(vm)) {
			core_switch_change(vm);
			if (vm->stop.kind)
				break;
		}
		run_some(vm);
		if (vm->stop.kind)
			return;
	}
	for (i = 0; i < vm->cpus; i++)
		core_loop_end(vm->cpu[i]);
}
