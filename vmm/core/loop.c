// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop that runs a vCPU, and its three ways to run: by steps, freely, in batches. */
#include "core/loop.h"
#include "core/clock.h"
#include "core/exec.h"
#include "core/hv.h"
#include "core/input.h"
#include "core/irq.h"
#include "core/switch.h"
#include "core/threads.h"
#include "core/wait.h"

#include <signal.h>

#define TICK_NS 100000000u
/* The same while the processor itself traces. A take finds PMIs, and code that has changed. */
#define TAKE_NS 10000000u

_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "core_vcpu.urged is set by a signal handler");

static uint64_t tick_ns(const struct core_vcpu *v)
{
	return tracer_takes(&v->tracer) ? TAKE_NS : TICK_NS;
}

void core_vcpu_urge(struct core_vcpu *v)
{
	v->urged = CORE_URGED_NOW;
	v->engine->interrupt(v->ev);
}

void core_loop_poll_trace(struct core_vcpu *v)
{
	struct core_vm *vm = v->vm;

	if (v->urged == CORE_URGED_NOW)
		v->urged = CORE_URGED_BEFORE;
	tracer_take(&v->tracer);
	if (!v->tracer.recorder.error)
		return;
	vm->stop.error = v->tracer.recorder.error;
	core_vm_stop(vm, TRACE_STOP_WRITER, "after %llu bytes of trace",
		     (unsigned long long)v->tracer.recorder.bytes);
}

static void tick(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	/* The guest runs in between, also if a take needs longer than a tick. */
	v->next_tick = core_now() + tick_ns(v);
	if (hooks->tick && hooks->tick(hooks->opaque))
		core_input_end(v, TRACE_STOP_INTERRUPTED);
	/* Watch the sources again, which may be others by now. */
	if (v->input.mode == CORE_INPUT_HOST)
		v->input.arrived = 1;
}

void core_loop_poll_host(struct core_vcpu *v)
{
	uint64_t now = core_now();
	const bool urgent = v->urged == CORE_URGED_NOW || v->input.arrived;

	core_loop_poll_trace(v);
	/* The first vCPU handles the machine's hooks. */
	if (v->index) {
		v->next_tick = core_now() + tick_ns(v);
		return;
	}
	if (v->deadline && now >= v->deadline)
		core_input_end(v, TRACE_STOP_TIMEOUT);
	if (now >= v->next_tick || urgent)
		tick(v);
	if (core_input_is_due(v))
		core_input_serve(v);
}

void core_loop_poll(struct core_vcpu *v)
{
	core_irq_poll(v);
	core_loop_poll_host(v);
}

void core_loop_halted(struct core_vcpu *v)
{
	bool listens = v->regs->rflags & X86_FL_IF || v->wait.flags & CORE_WAIT_ANY_IRQ;

	if (core_wait_ends(v))
		return;
	if (listens && core_input_halted(v, core_irq_next(v)))
		return;
	if (listens && (v->irq.pending & CORE_IRQ_TIMER_ARMED || core_irq_next(v) != UINT64_MAX)) {
		core_irq_skip_to_next(v);
		if (!core_vcpu_counts(v)) {
			core_loop_poll(v);
			(void)core_irq_deliver(v);
		}
		return;
	}
	if (core_irq_pending(v) && core_irq_deliver(v))
		return;
	if (core_threads_used(v)) {
		core_threads_park(v);
		core_loop_poll(v);
		return;
	}
	if (listens && core_input_can_wake(v)) {
		core_irq_skip_to_next(v);
		core_loop_poll(v);
		return;
	}
	core_vm_stop(v->vm, TRACE_STOP_HALTED, "at %#llx with interrupts %s",
		     (unsigned long long)v->regs->rip, listens ? "on but none to come" : "off");
}

void core_loop_wait(struct core_vcpu *v)
{
	if (!core_wait_ends(v))
		core_irq_skip_to_next(v);
}

void core_vcpu_step(struct core_vcpu *v)
{
	if (v->way & CORE_WAY_UNTRACED)
		core_irq_leave_untraced(v);
	if (vpt_unlikely(v->cbr_next < v->cbr_count))
		core_clock_update(v);
	if (core_vcpu_counts(v))
		core_irq_advance(v);
	if (vpt_unlikely(v->hv))
		core_hv_poll(v);
	if (vpt_unlikely(core_irq_pending(v)) && core_irq_deliver(v))
		return;
	if (vpt_unlikely(v->pending & CORE_VCPU_HALTED)) {
		core_loop_halted(v);
		return;
	}
	core_exec_one(v);
	if (v->max_insns && v->tracer.recorder.insns >= v->max_insns)
		core_vm_stop(v->vm, TRACE_STOP_MAX_INSNS, "at %#llx",
			     (unsigned long long)v->regs->rip);
}

static uint64_t next_sync(const struct core_vcpu *v)
{
	return (v->ev->retired / CORE_LOOP_INSNS + 1) * CORE_LOOP_INSNS;
}

/*
 * Bring the file up to date every CORE_LOOP_INSNS instructions, so that a killed run loses no more
 * than these. The count starts with the guest, so the file is the same wherever a run was paused
 * and resumed.
 */
static void sync_at_times(struct core_vcpu *v)
{
	if (vpt_likely(v->ev->retired < v->sync_at))
		return;
	tracer_tick(&v->tracer, v->hv ? core_hv_where(v) : v->regs->rip);
	tracer_sync(&v->tracer);
	tracer_limit(&v->tracer, v->regs->rip);
	v->sync_at = next_sync(v);
}

enum way {
	WAY_STEP_VMX, /* one instruction at a time, since each may be a VM exit */
	WAY_BATCH,    /* many at a time: the engine counts them and reports */
	/* one at a time while a trace is on or with CORE_WAY_STEP_ALWAYS, else freely */
	WAY_HOST,
};

static enum way choose_way(const struct core_vcpu *v)
{
	if (v->hv)
		return WAY_STEP_VMX;
	return v->engine->can & ENGINE_REPORTS ? WAY_BATCH : WAY_HOST;
}

/* Returns true if the trace file has reached its limit. The guest then stops. */
static bool is_full(struct core_vcpu *v, enum way way)
{
	/* In a batch, every place where the file grows calls tracer_limit(). */
	if (way != WAY_BATCH)
		tracer_limit(&v->tracer, v->regs->rip);
	if (vpt_likely(!tracer_is_full(&v->tracer)))
		return false;
	core_vm_stop(v->vm, TRACE_STOP_LIMIT, "at %#llx", (unsigned long long)v->regs->rip);
	return true;
}

bool core_loop_is_due(struct core_loop *l)
{
	return ++l->parts % CORE_LOOP_PARTS == 0;
}

/* Run a part of the guest. Returns true if the caller must call core_loop_poll(). */
static bool run_part(struct core_vcpu *v, enum way way, struct core_loop *l)
{
	/* Several vCPUs first change their engine. */
	if (vpt_unlikely(v->vm->asked) && !core_switch_stops(v->vm)) {
		v->vm->asked = false;
		v->vm->hooks.asked(v->vm->hooks.opaque);
		return false;
	}
	if (vpt_unlikely(v->pending & CORE_VCPU_ASKED)) {
		v->pending &= ~(uint32_t)CORE_VCPU_ASKED;
		v->vm->hooks.asked_vcpu(v->vm->hooks.opaque, v);
		return false;
	}
	switch (way) {
	case WAY_BATCH:
		sync_at_times(v);
		return core_loop_batch(v, l);
	case WAY_STEP_VMX:
		sync_at_times(v);
		core_hv_step(v);
		break;
	case WAY_HOST:
		if (vpt_unlikely(v->way & CORE_WAY_STEP_TO_PLAIN) && core_switch_is_plain(v))
			v->way &= ~(uint32_t)CORE_WAY_STEP_TO_PLAIN;
		if (tracer_on(&v->tracer) || v->way & CORE_WAY_STEP_ALWAYS ||
		    (v->way & CORE_WAY_STEP_TO_PLAIN && core_vcpu_long_mode(v)))
			core_vcpu_step(v);
		else
			core_loop_free(v);
		break;
	}
	return core_loop_is_due(l);
}

bool core_loop_exact(struct core_vcpu *v, struct core_loop *l)
{
	return !is_full(v, WAY_BATCH) && run_part(v, WAY_BATCH, l);
}

void core_loop_begin(struct core_vcpu *v)
{
	/* A machine that changes its engine often must tick, too. */
	if (!v->next_tick)
		v->next_tick = core_now() + tick_ns(v);
	v->sync_at = next_sync(v);
}

void core_vcpu_loop(struct core_vcpu *v)
{
	enum way way = choose_way(v);
	struct core_loop l = {0};

	core_loop_begin(v);
	while (!v->vm->stop.kind && !core_switch_leaves(v) && !is_full(v, way)) {
		if (vpt_unlikely(v->urged == CORE_URGED_NOW) || core_input_is_due(v) ||
		    run_part(v, way, &l))
			core_loop_poll(v);
		if (vpt_unlikely(v->vm->change.traced || v->vm->asked)) {
			core_switch_poll(v);
			way = choose_way(v);
		}
	}
	core_threads_notify(v);
	if (v->vm->stop.kind)
		core_loop_end(v);
}

void core_loop_end(struct core_vcpu *v)
{
	if (v->hv)
		core_hv_finish(v);
	tracer_close(&v->tracer, v->hv ? core_hv_where(v) : v->regs->rip);
	if (v->tracer.recorder.error && v->vm->stop.kind == TRACE_STOP_EXIT) {
		v->vm->stop.kind = TRACE_STOP_WRITER;
		v->vm->stop.error = v->tracer.recorder.error;
	}
}
