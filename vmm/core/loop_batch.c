// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The way to run in batches: the engine runs the guest, traced or not, to the next event of a
 * device or to a limit. The engine counts instructions and reports them, so the batch ends exactly
 * there.
 */
#include "core/clock.h"
#include "core/debug.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/input.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/wait.h"

/*
 * Let the core execute one instruction. A step without a retired instruction takes the time of one.
 */
static void one_exactly(struct core_vcpu *v)
{
	uint64_t retired = v->ev->retired;

	core_exec_one(v);
	if (v->ev->retired == retired)
		v->ev->retired++;
	tracer_limit(&v->tracer, v->regs->rip);
}

/* Returns the number of instructions until the end of the turn. */
static uint64_t turn_left(const struct core_vcpu *v)
{
	return engine_time_reach(&v->ev->time, v->turn_end) - v->ev->retired;
}

static uint64_t budget(const struct core_vcpu *v)
{
	uint64_t most = core_irq_next(v);

	if (most > CORE_LOOP_INSNS)
		most = CORE_LOOP_INSNS;
	if (v->max_insns && most > v->max_insns - v->tracer.recorder.insns)
		most = v->max_insns - v->tracer.recorder.insns;
	if (most > v->sync_at - v->ev->retired)
		most = v->sync_at - v->ev->retired;
	if (most > v->pause_at - v->ev->retired)
		most = v->pause_at - v->ev->retired;
	if (most > v->visit_at - v->ev->retired)
		most = v->visit_at - v->ev->retired;
	if (most > v->input.at - v->ev->retired)
		most = v->input.at - v->ev->retired;
	if (v->turn_end != UINT64_MAX && most > turn_left(v))
		most = turn_left(v);
	if (most > core_clock_next(v))
		most = core_clock_next(v);
	return most ? most : 1;
}

/*
 * A processor that spins waits for another one. So PAUSE takes the time to the end of the turn, or
 * to the next event of the vCPU.
 */
static void pause_turn(struct core_vcpu *v)
{
	uint64_t left = turn_left(v), next = core_irq_next(v);

	v->pending |= CORE_VCPU_YIELDS;
	if (next < left)
		left = next;
	if (left)
		core_devices_idle(v, left);
}

static void exact_exit(struct core_vcpu *v, struct engine_exit *exit)
{
	switch (exit->kind) {
	case ENGINE_EXIT_NONE:
	case ENGINE_EXIT_KICK:
	case ENGINE_EXIT_IRQ_WINDOW:
		break;
	case ENGINE_EXIT_TURN:
		v->pending |= CORE_VCPU_YIELDS;
		break;
	case ENGINE_EXIT_PAUSE:
		pause_turn(v);
		break;
	case ENGINE_EXIT_HLT:
		core_wait_hlt(v);
		break;
	case ENGINE_EXIT_CORE:
		one_exactly(v);
		break;
	case ENGINE_EXIT_WATCH:
		if (!core_loop_reached(v))
			one_exactly(v);
		break;
	case ENGINE_EXIT_FAULT:
		core_exec_fault(v, &exit->fault, v->regs->rip);
		v->ev->retired++;
		break;
	default:
		core_loop_exit(v, exit);
		break;
	}
}

static void run_batch(struct core_vcpu *v)
{
	struct engine_exit exit;

	if (vpt_unlikely(v->cbr_next < v->cbr_count))
		core_clock_update(v);
	core_irq_advance(v);
	if (vpt_unlikely(v->ev->retired >= v->input.at)) {
		(void)core_input_deliver(v);
		if (v->vm->stop.kind)
			return;
	}
	if (core_irq_pending(v) && core_irq_deliver(v))
		return;
	if (v->pending & CORE_VCPU_HALTED) {
		if (v->vm->cpus > 1)
			core_loop_wait(v);
		else
			core_loop_halted(v);
		return;
	}
	if (vpt_unlikely(core_debug_armed(v))) {
		one_exactly(v);
		return;
	}
	core_observe(v);
	core_devices_expect(v);
	v->ev->budget = budget(v);
	if (v->shadowed & CORE_VCPU_SHADOW)
		v->ev->state |= ENGINE_SHADOW;
	v->shadowed &= ~CORE_VCPU_SHADOW;
	v->engine->run(v->ev, core_irq_pending(v), &exit);
	core_vcpu_load(v);
	core_put_bit(&v->shadowed, CORE_VCPU_SHADOW, v->ev->state & ENGINE_SHADOW);
	exact_exit(v, &exit);
	if (v->max_insns && v->tracer.recorder.insns >= v->max_insns)
		core_vm_stop(v->vm, TRACE_STOP_MAX_INSNS, "at %#llx",
			     (unsigned long long)v->regs->rip);
}

/* Call the hook for an access that is watched. */
static void touched(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	if (hooks->touched)
		hooks->touched(hooks->opaque, v);
	v->ev->data_hit = 0;
}

/* Call the pause hook between two instructions, when no other work is pending. */
static void pause_here(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	v->vm->pause_at = hooks->pause ? hooks->pause(hooks->opaque) : UINT64_MAX;
	if (v->vm->pause_at <= core_vm_retired(v->vm))
		v->vm->pause_at = UINT64_MAX;
	core_vcpu_pause(v);
}

/* Call the visit hook in the same way. */
static void visit_here(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	v->visit_at = hooks->visit ? hooks->visit(hooks->opaque, v) : UINT64_MAX;
	if (v->visit_at <= v->ev->retired)
		v->visit_at = UINT64_MAX;
}

bool core_loop_batch(struct core_vcpu *v, struct core_loop *l)
{
	uint64_t before = v->ev->retired;

	if (before >= v->pause_at) {
		pause_here(v);
		return false;
	}
	if (before >= v->visit_at) {
		visit_here(v);
		return false;
	}
	run_batch(v);
	if (vpt_unlikely(v->ev->data_hit))
		touched(v);
	/* Part of a long instruction with REP retires nothing, but can take a long time. */
	if (v->ev->retired != before && v->ev->retired - l->looked < CORE_LOOP_INSNS &&
	    ++l->parts % CORE_LOOP_PARTS)
		return false;
	l->looked = v->ev->retired;
	return true;
}
