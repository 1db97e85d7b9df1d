// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep a machine in memory between two instructions, and return to it. */
#include "core/rewind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/snapshot.h"
#include "core/vcpu.h"
#include "core/vcpu_save.h"
#include "x86/undo.h"

/* The state of a machine besides RAM. */
struct parts {
	struct core_vcpu_state core;
	struct tracer_state tracer;
	size_t cpu_bytes, device_bytes;
	void *cpu, *devices;
};

struct core_rewind {
	struct core_vm *vm;
	struct parts kept;
	bool undoes;
};

static void drop(struct parts *p)
{
	free(p->cpu);
	free(p->devices);
}

/* Returns 0 or -ENOMEM. */
static int save(struct core_vm *vm, struct parts *p)
{
	struct core_vcpu *v = vm->vcpu;

	*p = (struct parts){.cpu_bytes = vm->engine->save(v->ev, NULL, 0),
			    .device_bytes = core_devices_saved_bytes(vm)};
	p->cpu = calloc(1, p->cpu_bytes + 1);
	p->devices = calloc(1, p->device_bytes + 1);
	if (!p->cpu || !p->devices || !p->cpu_bytes ||
	    vm->engine->save(v->ev, p->cpu, p->cpu_bytes) != p->cpu_bytes ||
	    !core_devices_save(vm, p->devices, p->device_bytes))
		return -ENOMEM;
	core_vcpu_save(v, &p->core);
	tracer_save(&v->tracer, &p->tracer);
	return 0;
}

int core_rewind_keep(struct core_vm *vm, struct core_rewind **rewind)
{
	struct core_rewind *r;
	int error;

	if (vm->cpus != 1 || vm->threads || !core_snapshot_has(vm->engine) ||
	    !(vm->engine->can & ENGINE_COUNTS) || tracer_on(&vm->vcpu->tracer))
		return -ENOTSUP;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->vm = vm;
	core_irq_advance(vm->vcpu);
	error = save(vm, &r->kept);
	if (!error)
		error = x86_undo_begin(&vm->mem);
	r->undoes = !error;
	if (error)
		core_rewind_free(r);
	else
		*rewind = r;
	return error;
}

void core_rewind_free(struct core_rewind *r)
{
	if (!r)
		return;
	if (r->undoes)
		x86_undo_end();
	drop(&r->kept);
	free(r);
}

static void changed(void *opaque, uint64_t gpa, uint64_t len)
{
	const struct core_vm *vm = opaque;

	vm->engine->vm_wrote(vm->machine, gpa, len);
}

int core_rewind(struct core_rewind *r)
{
	struct core_vm *vm = r->vm;
	struct core_vcpu *v = vm->vcpu;
	const struct parts *p = &r->kept;
	int error = x86_undo(changed, vm);

	if (!error)
		error = vm->engine->load(v->ev, p->cpu, p->cpu_bytes);
	if (error)
		return error;
	if (!core_vcpu_restore(v, &p->core) || !core_devices_load(vm, p->devices, p->device_bytes))
		return -EINVAL;
	vm->stop = (struct core_stop){.kind = TRACE_STOP_NONE};
	v->faults = 0;
	tracer_reopen(&v->tracer);
	return tracer_load(&v->tracer, &p->tracer);
}

const char *core_rewind_differs(struct core_rewind *r)
{
	const struct parts *was = &r->kept;
	const char *part = NULL;
	struct parts is;

	if (x86_undo_differs() != UINT64_MAX)
		return "RAM";
	if (save(r->vm, &is))
		part = "no memory";
	else if (is.cpu_bytes != was->cpu_bytes || memcmp(is.cpu, was->cpu, is.cpu_bytes) != 0)
		part = "the processor";
	else if (memcmp(&is.core, &was->core, sizeof(is.core)) != 0)
		part = "the core";
	else if (is.device_bytes != was->device_bytes ||
		 memcmp(is.devices, was->devices, is.device_bytes) != 0)
		part = "the devices";
	else if (memcmp(&is.tracer, &was->tracer, sizeof(is.tracer)) != 0)
		part = "the trace unit";
	drop(&is);
	return part;
}
