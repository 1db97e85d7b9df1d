// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a guest: at full speed while nothing is traced, one instruction at a
 * time while TriggerEn is set.
 */
#include "core/clock.h"
#include "core/debug.h"
#include "core/exec.h"
#include "core/fetch.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/msr.h"
#include "core/wait.h"

#define TICK_NS	       100000000u
#define STEPS_PER_LOOK 256u
#define INSNS_PER_LOOK (1u << 20)

void vpt_vcpu_urge(struct vpt_vcpu *v)
{
	v->urgent = v->hurry = true;
	v->engine->interrupt(v->ev);
}

/* Time limit, progress, trouble with the file. */
static void look_around(struct vpt_vcpu *v)
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

/*
 * HLT: what could wake it comes now, since nothing else is to happen before. Virtual
 * time goes on to it; on the host's clock it is waited for, a little at a time.
 */
static void wait_halted(struct vpt_vcpu *v)
{
	bool listens = v->regs->rflags & VPT_FL_IF || v->wait.flags & VPT_WAIT_ANY_IRQ;

	if (vpt_wait_look(v))
		return;
	if (listens && (v->irq.pending & VPT_IRQ_TIMER_ARMED || vpt_irq_next(v) != UINT64_MAX)) {
		vpt_irq_skip_to_next(v);
		if (!vpt_vcpu_counts(v)) {
			look_around(v);
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
		wait_halted(v);
		return;
	}
	vpt_exec_one(v);
	if (v->max_insns && v->tracer.insns >= v->max_insns)
		vpt_vm_stop(v->vm, VPT_STOP_MAX_INSNS, "at %#llx",
			    (unsigned long long)v->regs->rip);
}

static void untraced_msr(struct vpt_vcpu *v, struct vpt_exit *exit)
{
	struct vpt_retired insn = {.ip = v->regs->rip, .cpl = v->cpl};
	enum vpt_fault fault;
	struct vpt_fetched f;

	vpt_fetch(v, insn.ip, &f);
	insn.next = insn.to = insn.ip + (f.insn ? f.insn->len : 2);
	if (exit->kind == VPT_EXIT_RDMSR)
		fault = vpt_msr_read(v, exit->msr.index, exit->msr.value);
	else
		fault = vpt_msr_write(v, exit->msr.index, *exit->msr.value, &insn);
	exit->msr.gp = fault != VPT_FAULT_NONE;
}

/* An exception that this host left to us; some instructions end here as well. */
static void untraced_fault(struct vpt_vcpu *v, struct vpt_exception *e)
{
	struct vpt_fetched f;

	vpt_fetch(v, v->regs->rip, &f);
	if (f.insn && f.insn->cls == VPT_INSN_INT &&
	    (e->vector == VPT_VEC_UD || e->vector == VPT_VEC_GP))
		vpt_exec_one(v);
	else if (f.insn && f.insn->cls == VPT_INSN_PTWRITE && e->vector == VPT_VEC_UD)
		vpt_exec_one(v);
	else
		vpt_exec_fault(v, e, v->regs->rip);
}

static void untraced_exit(struct vpt_vcpu *v, struct vpt_exit *exit)
{
	switch (exit->kind) {
	case VPT_EXIT_KICK:
		v->pending &= ~VPT_VCPU_KICK_ARMED;
		vpt_irq_poll(v);
		look_around(v);
		break;
	case VPT_EXIT_IRQ_WINDOW:
		v->shadowed &= ~VPT_VCPU_SHADOW;
		vpt_irq_deliver(v);
		break;
	case VPT_EXIT_HLT:
		vpt_wait_hlt(v);
		v->shadowed &= ~VPT_VCPU_SHADOW;
		wait_halted(v);
		break;
	case VPT_EXIT_FAULT:
		untraced_fault(v, &exit->fault);
		break;
	case VPT_EXIT_SYSCALL:
	case VPT_EXIT_UNABLE:
	case VPT_EXIT_WATCH:
		vpt_exec_one(v);
		break;
	case VPT_EXIT_SHUTDOWN:
		vpt_vm_stop(v->vm, VPT_STOP_TRIPLE_FAULT, "at %#llx",
			    (unsigned long long)v->regs->rip);
		break;
	case VPT_EXIT_ERROR:
		v->vm->stop.error = exit->host.error;
		vpt_vm_stop(v->vm, VPT_STOP_HOST, "%s (%d) at %#llx", exit->host.text,
			    exit->host.error, (unsigned long long)v->regs->rip);
		break;
	default:
		break;
	}
}

static bool is_access(const struct vpt_exit *exit)
{
	return exit->kind == VPT_EXIT_IO || exit->kind == VPT_EXIT_MMIO ||
	       exit->kind == VPT_EXIT_RDMSR || exit->kind == VPT_EXIT_WRMSR;
}

static void serve_access(struct vpt_vcpu *v, struct vpt_exit *exit)
{
	if (exit->kind == VPT_EXIT_IO)
		vpt_bus_io(v, exit->io.port, exit->io.size, exit->io.in, exit->io.count,
			   exit->io.data);
	else if (exit->kind == VPT_EXIT_MMIO)
		vpt_bus_mmio(v, exit->mmio.gpa, exit->mmio.len, exit->mmio.write, exit->mmio.data);
	else
		untraced_msr(v, exit);
	v->engine->complete(v->ev, exit);
}

static void arm_kick(struct vpt_vcpu *v)
{
	uint64_t now = vpt_now();
	uint64_t until = v->next_tick > now ? v->next_tick - now : 1;

	if (v->engine->kick_after(v->ev, vpt_irq_wait(v, until)))
		vpt_vm_stop(v->vm, VPT_STOP_HOST, "no timer");
	v->pending |= VPT_VCPU_KICK_ARMED;
}

static void run_untraced(struct vpt_vcpu *v)
{
	struct vpt_exit exit;

	if (!(v->way & VPT_WAY_UNTRACED))
		vpt_irq_enter_untraced(v);
	if (v->pending & VPT_VCPU_HALTED) {
		wait_halted(v);
		return;
	}
	if (!(v->pending & VPT_VCPU_KICK_ARMED))
		arm_kick(v);
	v->pending &= ~VPT_VCPU_ARRIVED;
	vpt_clock_release(v);
	v->engine->run(v->ev, vpt_irq_pending(v), &exit);
	vpt_vcpu_load(v);
	while (is_access(&exit))
		serve_access(v, &exit);
	untraced_exit(v, &exit);
}

/* By the core, an instruction at a time. What takes none takes time nevertheless. */
static void one_exactly(struct vpt_vcpu *v)
{
	uint64_t retired = v->ev->retired;

	vpt_exec_one(v);
	if (v->ev->retired == retired)
		v->ev->retired++;
	vpt_tracer_limit(&v->tracer, v->regs->rip);
}

static uint64_t next_sync(const struct vpt_vcpu *v)
{
	return (v->ev->retired / INSNS_PER_LOOK + 1) * INSNS_PER_LOOK;
}

static uint64_t budget(const struct vpt_vcpu *v)
{
	uint64_t most = vpt_irq_next(v);

	if (most > INSNS_PER_LOOK)
		most = INSNS_PER_LOOK;
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
		untraced_exit(v, exit);
		break;
	}
}

/*
 * With an engine that counts and tells, traced or not: until the next thing that a
 * device or a limit wants, to the instruction.
 */
static void run_exactly(struct vpt_vcpu *v)
{
	struct vpt_exit exit;

	if (vpt_unlikely(v->cbr_next < v->cbr_count))
		vpt_clock_look(v);
	vpt_irq_advance(v);
	if (vpt_irq_pending(v) && vpt_irq_deliver(v))
		return;
	if (v->pending & VPT_VCPU_HALTED) {
		wait_halted(v);
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

/* Between two instructions, and nothing is under way. */
static void pause_here(struct vpt_vcpu *v)
{
	const struct vpt_vm_hooks *hooks = &v->vm->hooks;

	v->pause_at = hooks->pause ? hooks->pause(hooks->opaque) : UINT64_MAX;
	if (v->pause_at <= v->ev->retired)
		v->pause_at = UINT64_MAX;
}

/*
 * What a killed run leaves behind lacks no more than so many instructions. They are
 * counted from the start, so that the file is the same wherever a run was stopped and
 * gone on with.
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

/* Returns true if the trace file has reached its limit. The guest then stops. */
static bool is_full(struct vpt_vcpu *v)
{
	/* An engine that reports calls vpt_tracer_limit() wherever the file grows. */
	if (!(v->engine->can & VPT_ENGINE_REPORTS) || v->hv)
		vpt_tracer_limit(&v->tracer, v->regs->rip);
	if (vpt_likely(!v->tracer.full))
		return false;
	vpt_vm_stop(v->vm, VPT_STOP_LIMIT, "at %#llx", (unsigned long long)v->regs->rip);
	return true;
}

void vpt_vcpu_loop(struct vpt_vcpu *v)
{
	uint64_t looked = 0, before;
	unsigned int n = 0;

	v->next_tick = vpt_now() + TICK_NS;
	v->sync_at = next_sync(v);
	while (!v->vm->stop.kind && !is_full(v)) {
		if (vpt_unlikely(v->urgent)) {
			look_around(v);
			continue;
		}
		if (v->hv) {
			sync_at_times(v);
			vpt_hv_step(v);
			if (++n % STEPS_PER_LOOK == 0)
				look_around(v);
			continue;
		}
		if (v->engine->can & VPT_ENGINE_REPORTS) {
			sync_at_times(v);
			if (v->ev->retired >= v->pause_at) {
				pause_here(v);
				continue;
			}
			before = v->ev->retired;
			run_exactly(v);
			/* No instruction: a part of a long one with REP. */
			if (v->ev->retired != before && v->ev->retired - looked < INSNS_PER_LOOK &&
			    ++n % STEPS_PER_LOOK)
				continue;
			looked = v->ev->retired;
			look_around(v);
			continue;
		}
		if (vpt_tracer_on(&v->tracer) || v->way & VPT_WAY_STEP_ALWAYS)
			vpt_vcpu_step(v);
		else
			run_untraced(v);
		if (++n % STEPS_PER_LOOK == 0)
			look_around(v);
	}
	if (v->hv)
		vpt_hv_finish(v);
	vpt_tracer_close(&v->tracer, v->hv ? vpt_hv_where(v) : v->regs->rip);
	if (v->tracer.error && v->vm->stop.kind == VPT_STOP_EXIT) {
		v->vm->stop.kind = VPT_STOP_WRITER;
		v->vm->stop.error = v->tracer.error;
	}
}
