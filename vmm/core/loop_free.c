// SPDX-License-Identifier: GPL-2.0-or-later
/* The free way to run: the host's processor runs the guest until an exit. No software traces it. */
#include "core/apic.h"
#include "core/clock.h"
#include "core/devices.h"
#include "core/exec.h"
#include "core/fetch.h"
#include "core/init.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/msr.h"
#include "core/threads.h"
#include "core/wait.h"

static void serve_msr(struct core_vcpu *v, struct engine_exit *exit)
{
	struct engine_report r = {.event.from = v->regs->rip, .cpl = v->cpl};
	enum vpt_fault fault;
	struct core_fetched f;

	core_fetch(v, r.event.from, &f);
	r.next = r.event.to = r.event.from + (f.insn ? f.insn->len : 2);
	if (exit->kind == ENGINE_EXIT_RDMSR)
		fault = core_msr_read(v, exit->msr.index, exit->msr.value);
	else
		fault = core_msr_write(v, exit->msr.index, *exit->msr.value, &r);
	if (r.flags & ENGINE_REPORT_WROTE)
		tracer_report(&v->tracer, &r);
	exit->msr.gp = fault != VPT_FAULT_NONE;
}

/*
 * Deliver an exception that the host did not deliver. If the host cannot execute INT or PTWRITE,
 * the core executes the instruction.
 */
static void deliver_fault(struct core_vcpu *v, struct engine_exception *e)
{
	struct core_fetched f;

	core_fetch(v, v->regs->rip, &f);
	if (f.insn && f.insn->cls == CORE_INSN_INT &&
	    (e->vector == X86_VEC_UD || e->vector == X86_VEC_GP))
		core_exec_one(v);
	else if (f.insn && f.insn->cls == CORE_INSN_PTWRITE && e->vector == X86_VEC_UD)
		core_exec_one(v);
	else
		core_exec_fault(v, e, v->regs->rip);
}

bool core_loop_reached(struct core_vcpu *v)
{
	const struct core_vm_hooks *hooks = &v->vm->hooks;

	return hooks->reached && hooks->reached(hooks->opaque, v->regs->rip);
}

void core_loop_exit(struct core_vcpu *v, struct engine_exit *exit)
{
	switch (exit->kind) {
	case ENGINE_EXIT_KICK:
		v->pending &= ~CORE_VCPU_KICK_ARMED;
		core_irq_poll(v);
		core_loop_poll(v);
		if (v->vm->apic.host)
			core_apic_check(v);
		break;
	case ENGINE_EXIT_EOI:
		dev_platform_eoi(&v->vm->platform, exit->eoi.vector);
		core_devices_touched(v);
		break;
	case ENGINE_EXIT_IRQ_WINDOW:
		v->shadowed &= ~CORE_VCPU_SHADOW;
		core_irq_deliver(v);
		break;
	case ENGINE_EXIT_HLT:
		core_wait_hlt(v);
		v->shadowed &= ~CORE_VCPU_SHADOW;
		core_loop_halted(v);
		break;
	case ENGINE_EXIT_FAULT:
		deliver_fault(v, &exit->fault);
		break;
	case ENGINE_EXIT_WATCH:
		if (!core_loop_reached(v))
			core_exec_one(v);
		break;
	case ENGINE_EXIT_SYSCALL:
	case ENGINE_EXIT_UNABLE:
		core_exec_one(v);
		break;
	case ENGINE_EXIT_SHUTDOWN:
		core_vm_stop(v->vm, TRACE_STOP_TRIPLE_FAULT, "at %#llx",
			     (unsigned long long)v->regs->rip);
		break;
	case ENGINE_EXIT_ERROR:
		v->vm->stop.error = exit->host.error;
		core_vm_stop(v->vm, TRACE_STOP_HOST, "%s (%d) at %#llx", exit->host.text,
			     exit->host.error, (unsigned long long)v->regs->rip);
		break;
	default:
		break;
	}
}

static bool is_access(const struct engine_exit *exit)
{
	return exit->kind == ENGINE_EXIT_IO || exit->kind == ENGINE_EXIT_MMIO ||
	       exit->kind == ENGINE_EXIT_RDMSR || exit->kind == ENGINE_EXIT_WRMSR;
}

static void serve_access(struct core_vcpu *v, struct engine_exit *exit)
{
	if (exit->kind == ENGINE_EXIT_IO)
		core_bus_io(v, exit->io.port, exit->io.size, exit->io.in, exit->io.count,
			    exit->io.data);
	else if (exit->kind == ENGINE_EXIT_MMIO)
		core_bus_mmio(v, exit->mmio.gpa, exit->mmio.len, exit->mmio.write, exit->mmio.data);
	else
		serve_msr(v, exit);
	v->engine->complete(v->ev, exit);
}

static void arm_kick(struct core_vcpu *v)
{
	uint64_t now = core_now();
	uint64_t until = v->next_tick > now ? v->next_tick - now : 1;

	if (v->engine->kick_after(v->ev, core_irq_wait(v, until)))
		core_vm_stop(v->vm, TRACE_STOP_HOST, "no timer");
	v->pending |= CORE_VCPU_KICK_ARMED;
}

void core_loop_free(struct core_vcpu *v)
{
	struct engine_exit exit;
	bool want_irq;

	if (core_threads_used(v) && !core_init_poll(v)) {
		core_threads_park(v);
		core_loop_poll(v);
		return;
	}
	/* Another vCPU may have changed the time of the shared devices' next event. */
	if (core_threads_used(v) && !v->index)
		core_devices_touched(v);
	(void)core_irq_pass_nmi(v);
	/*
	 * KVM has no window for an NMI with interrupts off, and does not report IRET. The core steps
	 * in long mode only.
	 */
	if (core_irq_in_nmi(v) && core_vcpu_long_mode(v)) {
		core_vcpu_step(v);
		/* The handler may wait for another vCPU. */
		core_threads_leave(v, false);
		core_threads_enter(v);
		return;
	}
	if (!(v->way & CORE_WAY_UNTRACED))
		core_irq_enter_untraced(v);
	if (v->vm->apic.host) {
		(void)core_apic_inject(v);
		if (v->pending & CORE_VCPU_HALTED)
			core_apic_halt(v);
	} else if (v->pending & CORE_VCPU_HALTED) {
		core_loop_halted(v);
		return;
	}
	if (!(v->pending & CORE_VCPU_KICK_ARMED))
		arm_kick(v);
	v->pending &= ~CORE_VCPU_ARRIVED;
	core_clock_release(v);
	want_irq = core_irq_pending(v);
	core_threads_leave(v, want_irq);
	v->engine->run(v->ev, want_irq, &exit);
	v->exits++;
	core_threads_enter(v);
	core_vcpu_load(v);
	tracer_exited(&v->tracer);
	while (is_access(&exit))
		serve_access(v, &exit);
	core_loop_exit(v, &exit);
}
