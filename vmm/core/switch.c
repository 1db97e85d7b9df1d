// SPDX-License-Identifier: GPL-2.0-or-later
/* Move a running vCPU from one engine to another. */
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

/*
 * The instructions without a trace after which the free engine runs the guest again. A guest that
 * owns PT may end its trace at each of its context switches.
 */
#define QUIET_INSNS 200000u

/* The state of a vCPU on its way from one engine to another. */
struct moving {
	void *bytes;
	size_t count;
	uint64_t devices; /* the devices' time, ns */
};

bool core_switch_is_plain(const struct core_vcpu *v)
{
	return !v->shadowed && !v->debug_pending && !v->wait.flags &&
	       !(v->ev->state & ENGINE_SHADOW);
}

uint64_t core_switch_hold(struct core_vcpu *v)
{
	uint64_t ns;

	/* The first advance starts the devices. */
	core_devices_advance(v);
	ns = core_devices_time(v);
	if (!core_vcpu_counts(v) && v->way & CORE_WAY_UNTRACED)
		core_irq_leave_untraced(v);
	return ns;
}

/* Hold the time, and take the state. */
static int leave(struct core_vcpu *v, struct moving *m)
{
	m->devices = core_switch_hold(v);
	m->count = v->engine->save(v->ev, NULL, 0);
	if (!m->count)
		return -EAGAIN;
	m->bytes = malloc(m->count);
	if (!m->bytes)
		return -ENOMEM;
	return v->engine->save(v->ev, m->bytes, m->count) == m->count ? 0 : -EAGAIN;
}

/* Convert what the core counts in the units of the engine. */
static void adapt(struct core_vcpu *v, const struct moving *m)
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
	v->pending &= ~(uint32_t)CORE_VCPU_KICK_ARMED;
	if (v->ev->state & ENGINE_SHADOW)
		v->shadowed |= CORE_VCPU_SHADOW;
	tracer_move(&v->tracer, v->engine, v->ev,
		    flags | (counts ? TRACER_CONFIG_CALLER_SYNCS : 0));
	core_devices_set_time(v, m->devices);
	if (v->watches && v->engine->watch)
		(void)v->engine->watch(v->ev, v->watch, v->watches);
}

/* Exchange the engines. A signal handler must never see half of the change. */
static void exchange(struct core_vcpu *v)
{
	struct core_vm_switch *change = &v->vm->change;
	const struct engine *engine = v->engine;
	struct engine_vm *machine = v->vm->machine;
	struct engine_vcpu *ev = v->ev;
	sigset_t all, before;

	change->ev->bus = ev->bus;
	core_put_bit(&change->ev->state, ENGINE_BRANCHES, ev->state & ENGINE_BRANCHES);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	v->engine = v->vm->engine = change->other;
	v->vm->machine = change->machine;
	v->ev = change->ev;
	v->regs = v->ev->regs;
	sigprocmask(SIG_SETMASK, &before, NULL);
	change->other = engine;
	change->machine = machine;
	change->ev = ev;
	change->count++;
}

int core_switch(struct core_vm *vm)
{
	const struct core_vm_switch *change = &vm->change;
	struct core_vcpu *v = vm->vcpu;
	struct moving m = {0};
	int error = leave(v, &m);

	if (!error)
		error = change->other->load(change->ev, m.bytes, m.count);
	if (!error)
		error = change->other->vm_forget(change->machine);
	if (!error) {
		exchange(v);
		/* Each engine has a count of branches of its own. */
		core_perfmon_skip(v);
		core_vcpu_load(v);
		adapt(v, &m);
	}
	free(m.bytes);
	return error;
}

static void change(struct core_vcpu *v)
{
	const struct engine *to = v->vm->change.other;
	const bool back = to == v->vm->change.free;
	const int error = core_switch(v->vm);
	const bool later = error == -EAGAIN || (error == -ENOTSUP && back);

	/* The software CPU resumes for some time, because each attempt takes time. */
	if (later && back)
		v->vm->change.traced_at = v->ev->retired;
	if (!error || later)
		return;
	v->vm->stop.error = -error;
	core_vm_stop(v->vm, TRACE_STOP_HOST, "the change to engine %s failed (%s) at %#llx",
		     to->name, strerror(-error), (unsigned long long)v->regs->rip);
}

void core_switch_poll(struct core_vcpu *v)
{
	struct core_vm_switch *s = &v->vm->change;

	if (tracer_on(&v->tracer)) {
		s->traced_at = v->ev->retired;
		if (v->engine != s->traced)
			change(v);
	} else if (v->engine != s->free && v->ev->retired - s->traced_at >= QUIET_INSNS &&
		   core_switch_is_plain(v)) {
		change(v);
	}
}
