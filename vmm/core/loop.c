// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop that runs a vCPU, and its three ways to run: by steps, freely, in batches. */
#include "core/loop.h"
#include "core/clock.h"
#include "core/exec.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/wait.h"

#define TICK_NS 100000000u

void vpt_vcpu_urge(struct vpt_vcpu *v)
{
	v->urgent = v->hurry = true;
	v->engine->interrupt(v->ev);
}

void vpt_loop_look(struct vpt_vcpu *v)
{
	struct vpt_vm *vm = v->vm;
	uint64_t now = vpt_now();
	bool urgent = v->urgent;

	v->urgent = false;

	vpt_irq_poll(v);
	vpt_tracer_look(&v->tracer);
	if (v->tracer.error) {
		vm->stop.error = v->tracer.error;
		vpt_vm_stop(vm, VPT_STOP_WRITER, "after %llu bytes of trace",
			    (unsigned long long)v->tracer.bytes);
	}
	if (v->deadline && now >= v->deadline)
		vpt_vm_stop(vm, VPT_STOP_TIMEOUT, "at %#llx", (unsigned long long)v->regs->rip);
	if (now < v->next_tick && !urgent)
		return;
	v->next_tick = now + TICK_NS;
	if (vm->hooks.tick && vm->hooks.tick(vm->hooks.opaque))
		vpt_vm_stop(vm, VPT_STOP_INTERRUPTED, "at %#llx", (unsigned long long)v->regs->rip);
}

void vpt_loop_halted(struct vpt_vcpu *v)
{
	bool listens = v->regs->rflags & VPT_FL_IF || v->wait.flags & VPT_WAIT_ANY_IRQ;

	if (vpt_wait_look(v))
		return;
	if (listens && (v->irq.pending & VPT_IRQ_TIMER_ARMED || vpt_irq_next(v) != UINT64_MAX)) {
		vpt_irq_skip_to_next(v);
		if (!vpt_vcpu_counts(v)) {
			vpt_loop_look(v);
			(void)vpt_irq_deliver(v);
		}
		return;
	}
	if (vpt_irq_pending(v) && vpt_irq_deliver(v))
		return;
	if (listens && vpt_irq_listen(v))
		return;
	vpt_vm_stop(v->vm, VPT_STOP_HALTED, "at %#llx with interrupts %s",
		    (unsigned long long)v->regs->rip, listens ? "on but none to come" : "off");
}

void vpt_vcpu_step(struct vpt_vcpu *v)
{
	if (v->way & VPT_WAY_UNTRACED)
		vpt_irq_leave_untraced(v);
	if (vpt_unlikely(v->cbr_next < v->cbr_count))
		vpt_clock_look(v);
	if (vpt_vcpu_counts(v))
		vpt_irq_advance(v);
	if (vpt_unlikely(v->hv))
		vpt_hv_look(v);
	if (vpt_unlikely(vpt_irq_pending(v)) && vpt_irq_deliver(v))
		return;
	if (vpt_unlikely(v->pending & VPT_VCPU_HALTED)) {
		vpt_loop_halted(v);
		return;
	}
	vpt_exec_one(v);
	if (v->max_insns && v->tracer.insns >= v->max_insns)
		vpt_vm_stop(v->vm, VPT_STOP_MAX_INSNS, "at %#llx",
			    (unsigned long long)v->regs->rip);
}

static uint64_t next_sync(const struct vpt_vcpu *v)
{
	return (v->ev->retired / VPT_LOOP_INSNS + 1) * VPT_LOOP_INSNS;
}

/*
 * Bring the file up to date, so that a killed run lacks no more than so many instructions. They
 * are counted from the start: the file is the same wherever a run was paused and resumed.
 */
static void sync_at_times(struct vpt_vcpu *v)
{
	if (vpt_likely(v->ev->retired < v->sync_at))
		return;
	vpt_tracer_tick(&v->tracer, v->hv ? vpt_hv_where(v) : v->regs->rip);
	vpt_tracer_sync(&v->tracer);
	vpt_tracer_limit(&v->tracer, v->regs->rip);
	v->sync_at = next_sync(v);
}

enum way {
	WAY_STEP_VMX, /* one instruction at a time, since each may be a VM exit */
	WAY_BATCH,    /* many at a time: the engine counts them and reports */
	WAY_HOST,     /* one at a time while a trace is on or if all are asked for, else freely */
};

static enum way choose_way(const struct vpt_vcpu *v)
{
	if (v->hv)
		return WAY_STEP_VMX;
	return v->engine->can & VPT_ENGINE_REPORTS ? WAY_BATCH : WAY_HOST;
}

/* Returns true if the trace file has reached its limit. The guest then stops. */
static bool is_full(struct vpt_vcpu *v, enum way way)
{
	/* In a batch vpt_tracer_limit() is called wherever the file grows. */
	if (way != WAY_BATCH)
		vpt_tracer_limit(&v->tracer, v->regs->rip);
	if (vpt_likely(!v->tracer.full))
		return false;
	vpt_vm_stop(v->vm, VPT_STOP_LIMIT, "at %#llx", (unsigned long long)v->regs->rip);
	return true;
}

/* Run a part of the guest. Returns true if it is time to look around. */
static bool run_part(struct vpt_vcpu *v, enum way way, struct vpt_loop *l)
{
	switch (way) {
	case WAY_BATCH:
		sync_at_times(v);
		return vpt_loop_batch(v, l);
	case WAY_STEP_VMX:
		sync_at_times(v);
		vpt_hv_step(v);
		break;
	case WAY_HOST:
		if (vpt_tracer_on(&v->tracer) || v->way & VPT_WAY_STEP_ALWAYS)
			vpt_vcpu_step(v);
		else
			vpt_loop_free(v);
		break;
	}
	return ++l->parts % VPT_LOOP_PARTS == 0;
}

void vpt_vcpu_loop(struct vpt_vcpu *v)
{
	const enum way way = choose_way(v);
	struct vpt_loop l = {0};

	v->next_tick = vpt_now() + TICK_NS;
	v->sync_at = next_sync(v);
	while (!v->vm->stop.kind && !is_full(v, way))
		if (vpt_unlikely(v->urgent) || run_part(v, way, &l))
			vpt_loop_look(v);
	if (v->hv)
		vpt_hv_finish(v);
	vpt_tracer_close(&v->tracer, v->hv ? vpt_hv_where(v) : v->regs->rip);
	if (v->tracer.error && v->vm->stop.kind == VPT_STOP_EXIT) {
		v->vm->stop.kind = VPT_STOP_WRITER;
		v->vm->stop.error = v->tracer.error;
	}
}
