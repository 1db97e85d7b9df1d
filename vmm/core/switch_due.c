// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides when a machine changes its engine. One vCPU changes in its loop. Several vCPUs first leave
 * their loops, each at a place where its state can be saved. They also do so for a snapshot.
 */
#include "core/switch.h"

#include <errno.h>
#include <string.h>

#include "core/irq.h"
#include "core/threads.h"
#include "core/vcpu.h"

/*
 * The instructions without a trace after which the free engine runs the guest again. A guest that
 * owns PT may end its trace at each of its context switches.
 */
#define QUIET_INSNS 200000u
/* The time that a vCPU goes on if its state cannot be saved where it is. */
#define RETRY_NS 50000u

static void change(struct core_vm *vm)
{
	const struct engine *to = vm->change.other;
	const bool back = to == vm->change.free;
	const int error = core_switch(vm);
	const bool later = error == -EAGAIN || (error == -ENOTSUP && back);

	/* The software CPU resumes for some time, because each attempt takes time. */
	if (later || !error)
		vm->change.traced_at = core_vm_retired(vm);
	if (!error || later)
		return;
	vm->stop.error = -error;
	core_vm_stop(vm, TRACE_STOP_HOST, "the change to engine %s failed (%s) at %#llx", to->name,
		     strerror(-error), (unsigned long long)vm->current->regs->rip);
}

static bool any_traced(const struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		if (tracer_on(&vm->cpu[i]->tracer))
			return true;
	return false;
}

static bool all_plain(const struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		if (!core_switch_is_plain(vm->cpu[i]))
			return false;
	return true;
}

bool core_switch_stops(const struct core_vm *vm)
{
	return vm->cpus > 1 && !(vm->engine->can & ENGINE_COUNTS) && vm->engine->save;
}

bool core_switch_is_due(struct core_vm *vm)
{
	struct core_vm_switch *s = &vm->change;
	const bool on = s->traced && any_traced(vm);

	if (vm->engine != s->traced)
		return on || s->due || (vm->asked && core_switch_stops(vm));
	if (on)
		s->traced_at = core_vm_retired(vm);
	return (s->due || core_vm_retired(vm) - s->traced_at >= QUIET_INSNS) && !on &&
	       all_plain(vm);
}

void core_switch_poll(struct core_vcpu *v)
{
	struct core_vm *vm = v->vm;

	if (vm->cpus == 1) {
		if (core_switch_is_due(vm))
			change(vm);
	} else if (!vm->change.due && core_switch_stops(vm) &&
		   (vm->asked || tracer_on(&v->tracer))) {
		core_switch_ask(v);
	}
}

void core_switch_ask(struct core_vcpu *v)
{
	v->vm->change.due = v;
	core_threads_notify(v);
}

bool core_switch_leaves(struct core_vcpu *v)
{
	if (vpt_likely(!v->vm->change.due))
		return false;
	if ((v->vm->change.traced || core_switch_is_plain(v)) && v->engine->save(v->ev, NULL, 0))
		return true;
	v->next_tick = core_now() + RETRY_NS;
	v->pending &= ~(uint32_t)CORE_VCPU_KICK_ARMED;
	return false;
}

void core_switch_change(struct core_vm *vm)
{
	struct core_vcpu *by = vm->change.due;

	vm->change.due = NULL;
	if (vm->change.traced) {
		change(vm);
		if (vm->engine != vm->change.traced || vm->stop.kind)
			return;
	}
	/* A trace begins before the next instruction of the vCPU that has asked for it. */
	if (by)
		vm->current = by;
	if (vm->asked) {
		vm->asked = false;
		vm->hooks.asked(vm->hooks.opaque);
	}
}
