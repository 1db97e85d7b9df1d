// SPDX-License-Identifier: GPL-2.0-or-later
/* Move a running machine from one engine to another: the state and the time of its vCPUs. */
#include "core/switch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/bit.h"
#include "core/clock.h"
#include "core/devices.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "core/wait.h"

/* The state of a vCPU on its way from one engine to another. */
struct moving {
	void *bytes;
	size_t count;
};

bool core_switch_is_plain(const struct core_vcpu *v)
{
	/* The trace of a HLT is the core's. */
	return !v->shadowed && !v->debug_pending && !(v->wait.flags & ~CORE_WAIT_TOLD) &&
	       !(v->ev->state & ENGINE_SHADOW);
}

static uint64_t hold_vcpu(struct core_vcpu *v)
{
	uint64_t ns;

	/* The first advance starts the devices. */
	core_devices_advance(v);
	ns = core_devices_time(v);
	if (!core_vcpu_counts(v) && v->way & CORE_WAY_UNTRACED)
		core_irq_leave_untraced(v);
	return ns;
}

/* Let the TSC without the changes by software continue from @tsc. */
static void align(struct core_vcpu *v, uint64_t tsc)
{
	struct engine_time *t = &v->ev->time;
	const uint64_t is = engine_time_tsc(t, v->ev->retired);

	if (tsc <= is)
		return;
	core_perfmon_advance(v);
	engine_time_ratio(t, v->ev->retired, t->ticks, t->clocks, tsc - is);
	core_perfmon_skip(v);
	core_devices_advance(v);
}

/*
 * On a host's processor the time of each vCPU is read at another moment, and on the software CPU they
 * take turns. The latest is the time of all of them, so no TSC falls, and no vCPU reads a TSC that is
 * behind another's.
 */
uint64_t core_switch_hold(struct core_vm *vm)
{
	uint64_t tsc = 0, ns = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		struct core_vcpu *v = vm->cpu[i];
		const uint64_t devices = hold_vcpu(v);
		const uint64_t is = engine_time_tsc(&v->ev->time, v->ev->retired);

		ns = devices > ns ? devices : ns;
		tsc = is > tsc ? is : tsc;
	}
	for (i = 0; i < vm->cpus; i++) {
		align(vm->cpu[i], tsc);
		if (core_vcpu_counts(vm->cpu[i]) && core_devices_time(vm->cpu[i]) > ns)
			ns = core_devices_time(vm->cpu[i]);
	}
	core_devices_reach(vm->vcpu);
	return ns;
}

/* Take the state. */
static int leave(struct core_vcpu *v, struct moving *m)
{
	m->count = v->engine->save(v->ev, NULL, 0);
	if (!m->count)
		return -EAGAIN;
	m->bytes = malloc(m->count);
	if (!m->bytes)
		return -ENOMEM;
	return v->engine->save(v->ev, m->bytes, m->count) == m->count ? 0 : -EAGAIN;
}

/*
 * Give the states to the other engine. If it refuses one, the current engine still has all of them.
 */
static int give(struct core_vm *vm, struct moving *m)
{
	const struct core_vm_switch *change = &vm->change;
	unsigned int i;
	int error = 0;

	for (i = 0; !error && i < vm->cpus; i++)
		error = leave(vm->cpu[i], &m[i]);
	if (!error && change->other->vm_moment)
		change->other->vm_moment(change->machine);
	for (i = 0; !error && i < vm->cpus; i++)
		error = change->other->load(change->ev[i], m[i].bytes, m[i].count);
	return error ? error : change->other->vm_forget(change->machine);
}

int core_switch_align(struct core_vm *vm)
{
	struct moving m[DEV_PLATFORM_CPUS] = {{0}};
	uint64_t tsc = 0;
	unsigned int i;
	int error = 0;

	for (i = 0; i < vm->cpus; i++) {
		const struct engine_vcpu *ev = vm->cpu[i]->ev;
		const uint64_t is = engine_time_tsc(&ev->time, ev->retired);

		tsc = is > tsc ? is : tsc;
	}
	for (i = 0; !error && i < vm->cpus; i++) {
		align(vm->cpu[i], tsc);
		error = leave(vm->cpu[i], &m[i]);
	}
	if (!error && vm->engine->vm_moment)
		vm->engine->vm_moment(vm->machine);
	for (i = 0; !error && i < vm->cpus; i++)
		error = vm->engine->load(vm->cpu[i]->ev, m[i].bytes, m[i].count);
	for (i = 0; i < vm->cpus; i++)
		free(m[i].bytes);
	return error;
}

/* Convert what the core counts in the units of the engine. */
static void adapt(struct core_vcpu *v, uint64_t ns, uint64_t host)
{
	const uint32_t flags = v->tracer.config.flags & ~(uint32_t)TRACER_CONFIG_CALLER_SYNCS;
	const bool counts = core_vcpu_counts(v);

	if (counts)
		v->irq.timer_at = v->ev->retired + v->irq.timer_left;
	else if (v->irq.pending & CORE_IRQ_TIMER_ARMED)
		v->irq.timer_left = (uint32_t)(v->irq.timer_at - v->ev->retired);
	v->way &= CORE_WAY_STEP_ALWAYS | CORE_WAY_BREAKPOINTS;
	if (!counts)
		v->way |= CORE_WAY_RAN_FREE;
	v->pending &= ~(uint32_t)(CORE_VCPU_KICK_ARMED | CORE_VCPU_WOKEN | CORE_VCPU_YIELDS);
	v->turn_end = UINT64_MAX;
	if (v->ev->state & ENGINE_SHADOW)
		v->shadowed |= CORE_VCPU_SHADOW;
	tracer_move(&v->tracer, v->engine, v->ev,
		    flags | (counts ? TRACER_CONFIG_CALLER_SYNCS : 0));
	core_devices_set_time(v, ns, host);
	if (v->watches && v->engine->watch)
		(void)v->engine->watch(v->ev, v->watch, v->watches);
}

static void exchange_vcpu(struct core_vcpu *v)
{
	struct core_vm_switch *change = &v->vm->change;
	struct engine_vcpu *from = v->ev, *to = change->ev[v->index];

	to->bus = from->bus;
	core_put_bit(&to->state, ENGINE_BRANCHES, from->state & ENGINE_BRANCHES);
	v->engine = change->other;
	v->ev = to;
	v->regs = to->regs;
	change->ev[v->index] = from;
}

/* Exchange the engines. A signal handler must never see half of the change. */
static void exchange(struct core_vm *vm)
{
	struct core_vm_switch *change = &vm->change;
	const struct engine *engine = vm->engine;
	struct engine_vm *machine = vm->machine;
	sigset_t all, before;
	unsigned int i;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (i = 0; i < vm->cpus; i++)
		exchange_vcpu(vm->cpu[i]);
	vm->engine = change->other;
	vm->machine = change->machine;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	change->other = engine;
	change->machine = machine;
	change->count++;
}

int core_switch(struct core_vm *vm)
{
	struct moving m[DEV_PLATFORM_CPUS] = {{0}};
	const uint64_t ns = core_switch_hold(vm), host = core_now();
	unsigned int i;
	int error = give(vm, m);

	if (!error)
		exchange(vm);
	for (i = 0; i < vm->cpus; i++) {
		struct core_vcpu *v = vm->cpu[i];

		free(m[i].bytes);
		if (error)
			continue;
		/* Each engine has a count of branches of its own. */
		core_perfmon_skip(v);
		core_vcpu_load(v);
		adapt(v, ns, host);
	}
	return error;
}
