// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restart a machine after a reset: the vCPU and the devices are as after power-on, and RAM keeps
 * its contents. Instructions and time are counted on, so that the trace continues.
 */
#include "core/reboot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices.h"

int core_reboot_keep(struct core_reboot *r, struct core_vm *vm)
{
	struct core_vcpu *v = vm->vcpu;

	if (!vm->engine->save || v->hv)
		return -ENOTSUP;
	r->bytes = vm->engine->save(v->ev, NULL, 0);
	r->engine = malloc(r->bytes);
	if (!r->bytes || !r->engine)
		return -ENOMEM;
	(void)vm->engine->save(v->ev, r->engine, r->bytes);
	core_vcpu_save(v, &r->vcpu);
	return 0;
}

void core_reboot_free(struct core_reboot *r)
{
	free(r->engine);
	r->engine = NULL;
}

bool core_reboot_is_due(const struct core_reboot *r, const struct core_vm *vm)
{
	return r->engine && vm->stop.kind == TRACE_STOP_EXIT && vm->stop.flags & CORE_STOP_RESET;
}

/* Load the engine's state at power-on. The counts of what has passed stay. */
static int reset_engine(const struct core_reboot *r, struct core_vcpu *v)
{
	struct engine_time time = v->ev->time;
	const struct engine_random random = v->ev->random;
	const uint64_t retired = v->ev->retired;
	int error = v->engine->load(v->ev, r->engine, r->bytes);

	if (error)
		return error;
	time.offset = 0;
	v->ev->time = time;
	v->ev->random = random;
	v->ev->retired = retired;
	return 0;
}

int core_reboot(const struct core_reboot *r, struct core_vm *vm)
{
	struct core_vcpu_state state = r->vcpu;
	struct core_vcpu *v = vm->vcpu;
	int error = reset_engine(r, v);

	if (error)
		return error;
	state.steps = v->steps;
	v->pending = 0;
	v->faults = 0;
	v->ev->attention = false;
	memset(&v->irq, 0, sizeof(v->irq));
	if (!core_vcpu_restore(v, &state))
		return -EINVAL;
	core_devices_advance(v);
	v->irq.next = dev_platform_next(&vm->platform, v->index);
	memset(&vm->stop, 0, sizeof(vm->stop));
	tracer_reopen(&v->tracer);
	return 0;
}

void core_reboot_loaded(struct core_vm *vm)
{
	vm->engine->vm_wrote(vm->machine, 0, vm->mem.bytes);
}
