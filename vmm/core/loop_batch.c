// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The way to run in batches: the engine runs the guest, traced or not, until a device or a limit
 * is next. It counts instructions and reports, so that a batch ends exactly there.
 */
#include "core/clock.h"
#include "core/debug.h"
#include "core/exec.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/wait.h"

/* Let the core do one instruction. A step in which none retires takes the time of one. */
static void one_exactly(struct vpt_vcpu *v)
{
	uint64_t retired = v->ev->retired;

	vpt_exec_one(v);
	if (v->ev->retired == retired)
		v->ev->retired++;
	vpt_tracer_limit(&v->tracer, v->regs->rip);
}

static uint64_t budget(const struct vpt_vcpu *v)
{
	uint64_t most = vpt_irq_next(v);

	if (most > VPT_LOOP_INSNS)
		most = VPT_LOOP_INSNS;
	if (v->max_insns && most > v->max_insns - v->tracer.insns)
		most = v->max_insns - v->tracer.insns;
	if (most > v->sync_at - v->ev->retired)
		most = v->sync_at - v->ev->retired;
	if (most > v->pause_at - v->ev->retired)
		most = v->pause_at - v->ev->retired;
	if (most > vpt_clock_next(v))
		most = vpt_clock_next(v);
	return most ? most : 1;
}

static void exact_exit(struct vpt_vcpu *v, struct vpt_exit *exit)
{
	switch (exit->kind) {
	case VPT_EXIT_NONE:
	case VPT_EXIT_KICK:
	case VPT_EXIT_IRQ_WINDOW:
		break;
	case VPT_EXIT_HLT:
		vpt_wait_hlt(v);
		break;
	case VPT_EXIT_CORE:
		one_exactly(v);
		break;
	case VPT_EXIT_FAULT:
		vpt_exec_fault(v, &exit->fault, v->regs->rip);
		v->ev->retired++;
		break;
	default:
		vpt_loop_exit(v, exit);
		break;
	}
}

static void run_batch(struct vpt_vcpu *v)
{
	struct vpt_exit exit;

	if (vpt_unlikely(v->cbr_next < v->cbr_count))
		vpt_clock_look(v);
	vpt_irq_advance(v);
	if (vpt_irq_pending(v) && vpt_irq_deliver(v))
		return;
	if (v->pending & VPT_VCPU_HALTED) {
		vpt_loop_halted(v);
		return;
	}
	if (vpt_unlikely(vpt_debug_armed(v))) {
		one_exactly(v);
		return;
	}
	vpt_observe(v);
	v->ev->budget = budget(v);
	if (v->shadowed & VPT_VCPU_SHADOW)
		v->ev->shadow = true;
	v->shadowed &= ~VPT_VCPU_SHADOW;
	v->engine->run(v->ev, vpt_irq_pending(v), &exit);
	vpt_vcpu_load(v);
	vpt_put_bit(&v->shadowed, VPT_VCPU_SHADOW, v->ev->shadow);
	exact_exit(v, &exit);
	if (v->max_insns && v->tracer.insns >= v->max_insns)
		vpt_vm_stop(v->vm, VPT_STOP_MAX_INSNS, "at %#llx",
			    (unsigned long long)v->regs->rip);
}

/* Call the pause hook between two instructions, when no other work is pending. */
static void pause_here(struct vpt_vcpu *v)
{
	const struct vpt_vm_hooks *hooks = &v->vm->hooks;

	v->pause_at = hooks->pause ? hooks->pause(hooks->opaque) : UINT64_MAX;
	if (v->pause_at <= v->ev->retired)
		v->pause_at = UINT64_MAX;
}

bool vpt_loop_batch(struct vpt_vcpu *v, struct vpt_loop *l)
{
	uint64_t before = v->ev->retired;

	if (before >= v->pause_at) {
		pause_here(v);
		return false;
	}
	run_batch(v);
	/* A part of a long instruction with REP retires nothing, and can take long. */
	if (v->ev->retired != before && v->ev->retired - l->looked < VPT_LOOP_INSNS &&
	    ++l->parts % VPT_LOOP_PARTS)
		return false;
	l->looked = v->ev->retired;
	return true;
}
