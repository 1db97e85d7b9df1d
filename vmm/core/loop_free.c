// SPDX-License-Identifier: GPL-2.0-or-later
/* The free way to run: the host's processor runs the guest until an exit, and nothing is traced. */
#include "core/clock.h"
#include "core/exec.h"
#include "core/fetch.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/msr.h"
#include "core/wait.h"

static void serve_msr(struct vpt_vcpu *v, struct vpt_exit *exit)
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

/*
 * Deliver an exception that the host did not deliver. INT and PTWRITE also end here on a host
 * that cannot execute them.
 */
static void deliver_fault(struct vpt_vcpu *v, struct vpt_exception *e)
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

void vpt_loop_exit(struct vpt_vcpu *v, struct vpt_exit *exit)
{
	switch (exit->kind) {
	case VPT_EXIT_KICK:
		v->pending &= ~VPT_VCPU_KICK_ARMED;
		vpt_irq_poll(v);
		vpt_loop_look(v);
		break;
	case VPT_EXIT_IRQ_WINDOW:
		v->shadowed &= ~VPT_VCPU_SHADOW;
		vpt_irq_deliver(v);
		break;
	case VPT_EXIT_HLT:
		vpt_wait_hlt(v);
		v->shadowed &= ~VPT_VCPU_SHADOW;
		vpt_loop_halted(v);
		break;
	case VPT_EXIT_FAULT:
		deliver_fault(v, &exit->fault);
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
		serve_msr(v, exit);
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

void vpt_loop_free(struct vpt_vcpu *v)
{
	struct vpt_exit exit;

	if (!(v->way & VPT_WAY_UNTRACED))
		vpt_irq_enter_untraced(v);
	if (v->pending & VPT_VCPU_HALTED) {
		vpt_loop_halted(v);
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
	vpt_loop_exit(v, &exit);
}
