// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restart a machine after a reset: the vCPUs and the devices are as after power-on, and RAM keeps
 * its contents. Instructions and time are counted on, so that the trace continues.
 */
#include "core/reboot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices.h"

static int keep(struct core_reboot_cpu *c, struct core_vcpu *v)
{
	c->bytes = v->engine->save(v->ev, NULL, 0);
	c->engine = malloc(c->bytes);
	if (!c->bytes || !c->engine)
		return -ENOMEM;
	(void)v->engine->save(v->ev, c->engine, c->bytes);
	core_vcpu_save(v, &c->vcpu);
	return 0;
}

int core_reboot_keep(struct core_reboot *r, struct core_vm *vm)
{
	unsigned int i;
	int error = 0;

	if (!(vm->engine->can & ENGINE_COUNTS) || vm->vcpu->hv)
		return -ENOTSUP;
	for (i = 0; !error && i < vm->cpus; i++)
		error = keep(&r->cpu[i], vm->cpu[i]);
	return error;
}

void core_reboot_free(struct core_reboot *r)
{
	unsigned int i;

	for (i = 0; i < DEV_PLATFORM_CPUS; i++)
		free(r->cpu[i].engine);
	memset(r, 0, sizeof(*r));
}

bool core_reboot_is_due(const struct core_reboot *r, const struct core_vm *vm)
{
	return r->cpu[0].engine && vm->stop.kind == TRACE_STOP_EXIT &&
	       vm->stop.flags & CORE_STOP_RESET;
}

/* Load the engine's state at power-on. The counts of what has passed stay. */
static int reset_engine(const struct core_reboot_cpu *c, struct core_vcpu *v)
{
	struct engine_time time = v->ev->time;
	const struct engine_random random = v->ev->random;
	const uint64_t retired = v->ev->retired;
	int error = v->engine->load(v->ev, c->engine, c->bytes);

	if (error)
		return error;
	time.offset = 0;
	v->ev->time = time;
	v->ev->random = random;
	v->ev->retired = retired;
	return 0;
}

static int reset_cpu(const struct core_reboot_cpu *c, struct core_vcpu *v)
{
	struct core_vcpu_state state = c->vcpu;
	int error = reset_engine(c, v);

	if (error)
		return error;
	state.steps = v->steps;
	v->pending = 0;
	v->faults = 0;
	v->ev->state &= ~(uint32_t)ENGINE_ATTENTION;
	memset(&v->irq, 0, sizeof(v->irq));
	if (!core_vcpu_restore(v, &state))
		return -EINVAL;
	core_devices_advance(v);
	v->irq.next = dev_platform_next(&v->vm->platform, v->index);
	tracer_reopen(&v->tracer);
	return 0;
}

/* The first vCPU resets the devices. */
int core_reboot(const struct core_reboot *r, struct core_vm *vm)
{
	unsigned int i;
	int error = 0;

	for (i = 0; !error && i < vm->cpus; i++)
		error = reset_cpu(&r->cpu[i], vm->cpu[i]);
	if (!error)
		memset(&vm->stop, 0, sizeof(vm->stop));
	return error;
}

void core_reboot_loaded(struct core_vm *vm)
{
	core_vm_wrote_all(vm);
}
