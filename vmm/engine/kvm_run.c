// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: run at full speed, and complete exits. */
#include "engine/kvm.h"

#include <string.h>

#include "engine/kvm_guard.h"
#include "engine/kvm_pt_abi.h"

#define VECTOR_DB 1

/* The base of an IDTR that no guest loads. No exception can be delivered through it. */
#define HIDDEN_IDT_BASE 0xfffff7fffffff000ull

void engine_kvm_fail(struct engine_exit *exit, int error, const char *text)
{
	exit->kind = ENGINE_EXIT_ERROR;
	exit->host.error = error;
	exit->host.text = text;
}

void engine_kvm_hide_idt(struct engine_kvm_vcpu *v)
{
	struct kvm_dtable *real = &v->run->s.regs.sregs.idt;

	if (!(v->state & ENGINE_KVM_IDT_HIDDEN) || real->base != HIDDEN_IDT_BASE || real->limit) {
		v->idt = *real;
		v->state |= ENGINE_KVM_IDT_HIDDEN;
		real->base = HIDDEN_IDT_BASE;
		real->limit = 0;
		v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	}
}

void engine_kvm_show_idt(struct engine_kvm_vcpu *v)
{
	if (!(v->state & ENGINE_KVM_IDT_HIDDEN))
		return;
	v->run->s.regs.sregs.idt = v->idt;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	v->state &= ~ENGINE_KVM_IDT_HIDDEN;
}

int engine_kvm_enter(struct engine_kvm_vcpu *v)
{
	int error = 0;

	if (v->base.state & ENGINE_REGS_DIRTY) {
		v->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
		v->base.state &= ~ENGINE_REGS_DIRTY;
	}
	v->inside = pthread_self();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ioctl(v->fd, KVM_RUN, 0) < 0)
		error = -errno;
	v->inside = 0;
	/* The guest may have loaded IDTR in the meantime. */
	if (v->state & ENGINE_KVM_IDT_HIDDEN)
		engine_kvm_hide_idt(v);
	return error;
}

int engine_kvm_enter_fully(struct engine_kvm_vcpu *v)
{
	int error;

	do {
		v->run->immediate_exit = 0;
		v->kicked = 0;
		error = engine_kvm_enter(v);
	} while (error == -EINTR || (!error && v->run->exit_reason == KVM_EXIT_INTR));
	return error;
}

void engine_kvm_translate(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	struct kvm_run *run = v->run;

	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		exit->kind = ENGINE_EXIT_IO;
		exit->io.port = run->io.port;
		exit->io.size = run->io.size;
		exit->io.in = run->io.direction == KVM_EXIT_IO_IN;
		exit->io.count = run->io.count;
		exit->io.data = (uint8_t *)run + run->io.data_offset;
		v->state |= ENGINE_KVM_IN_EXIT;
		break;
	case KVM_EXIT_MMIO:
		exit->kind = ENGINE_EXIT_MMIO;
		exit->mmio.gpa = run->mmio.phys_addr;
		exit->mmio.len = run->mmio.len;
		exit->mmio.write = run->mmio.is_write;
		exit->mmio.data = run->mmio.data;
		v->state |= ENGINE_KVM_IN_EXIT;
		break;
	case KVM_EXIT_X86_RDMSR:
	case KVM_EXIT_X86_WRMSR:
		exit->kind = run->exit_reason == KVM_EXIT_X86_RDMSR ? ENGINE_EXIT_RDMSR
								    : ENGINE_EXIT_WRMSR;
		exit->msr.index = run->msr.index;
		exit->msr.value = (uint64_t *)&run->msr.data;
		exit->msr.gp = false;
		v->state |= ENGINE_KVM_IN_EXIT;
		break;
	case KVM_EXIT_HLT:
		exit->kind = ENGINE_EXIT_HLT;
		break;
	case KVM_EXIT_IOAPIC_EOI:
		exit->kind = ENGINE_EXIT_EOI;
		exit->eoi.vector = run->eoi.vector;
		break;
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		exit->kind = ENGINE_EXIT_IRQ_WINDOW;
		break;
	case KVM_EXIT_SHUTDOWN:
		exit->kind = ENGINE_EXIT_SHUTDOWN;
		break;
	case KVM_EXIT_INTR:
	case KVM_EXIT_X86_PT: /* a buffer must be read: half of it is full, or a region of the guest's */
		exit->kind = ENGINE_EXIT_KICK;
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		if (run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION)
			exit->kind = ENGINE_EXIT_UNABLE;
		else
			engine_kvm_fail(exit, (int)run->internal.suberror, "KVM internal error");
		break;
	case KVM_EXIT_FAIL_ENTRY:
		engine_kvm_fail(exit, (int)run->fail_entry.hardware_entry_failure_reason,
				"the processor refused to enter the guest");
		break;
	default:
		engine_kvm_fail(exit, (int)run->exit_reason, "KVM exit of an unknown kind");
		break;
	}
}

/*
 * Detect SYSCALL on a host that does not leave ring 3 for it. RIP is then at an address that is
 * never mapped. RCX and R11 have the previous RIP and RFLAGS. If the vCPU is in ring 0, only RIP
 * must be corrected.
 */
static bool is_syscall(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	struct x86_regs *regs = v->base.regs;

	if (regs->rip != ENGINE_KVM_SYSCALL_TRAP || !engine_kvm_assists(v->vm))
		return false;
	if (v->run->s.regs.sregs.ss.dpl == 3) {
		exit->kind = ENGINE_EXIT_SYSCALL;
		regs->rip = regs->rcx - 2;
		regs->rflags = regs->r11 | 2;
	} else {
		exit->kind = ENGINE_EXIT_NONE;
		regs->rip = v->lstar;
		regs->rflags &= ~ENGINE_RFLAGS_RF;
	}
	v->base.state |= ENGINE_REGS_DIRTY;
	return true;
}

/* Convert a triple fault with a hidden IDT to the exception that caused it. */
void engine_kvm_classify_shutdown(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	const struct kvm_vcpu_events *events = &v->run->s.regs.events;
	struct x86_regs *regs = v->base.regs;

	if (!(v->state & ENGINE_KVM_IDT_HIDDEN) || is_syscall(v, exit))
		return;
	exit->kind = ENGINE_EXIT_FAULT;
	exit->fault.vector = events->exception.nr;
	exit->fault.has_error = events->exception.has_error_code;
	exit->fault.error = events->exception.error_code;
	exit->fault.cr2 = v->run->s.regs.sregs.cr2;
	regs->rflags &= ~ENGINE_RFLAGS_RF;
	v->base.state |= ENGINE_REGS_DIRTY;
	if (exit->fault.vector == VECTOR_DB && !(v->state & ENGINE_KVM_STEPPING) &&
	    engine_kvm_watched(v))
		exit->kind = ENGINE_EXIT_WATCH;
}

/* Hide LSTAR from the core if the engine uses it. */
bool engine_kvm_own_msr(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	uint64_t value;

	if (exit->kind != ENGINE_EXIT_RDMSR && exit->kind != ENGINE_EXIT_WRMSR)
		return false;
	if (exit->msr.index != X86_MSR_LSTAR || !engine_kvm_assists(v->vm))
		return false;
	if (exit->kind == ENGINE_EXIT_RDMSR) {
		*exit->msr.value = v->lstar;
		return true;
	}
	value = *exit->msr.value;
	if ((uint64_t)((int64_t)(value << 16) >> 16) != value)
		exit->msr.gp = true;
	else
		v->lstar = value;
	return true;
}

static void finish(struct engine_kvm_vcpu *v, int error, struct engine_exit *exit)
{
	if (error == -EINTR || error == -EAGAIN) {
		exit->kind = ENGINE_EXIT_NONE;
	} else if (error) {
		engine_kvm_fail(exit, -error, "KVM_RUN failed");
	} else if (v->run->exit_reason == KVM_EXIT_DEBUG) {
		exit->kind = !(v->state & ENGINE_KVM_STEPPING) && engine_kvm_watched(v)
				     ? ENGINE_EXIT_WATCH
				     : ENGINE_EXIT_NONE;
	} else {
		engine_kvm_translate(v, exit);
		if (exit->kind == ENGINE_EXIT_SHUTDOWN)
			engine_kvm_classify_shutdown(v, exit);
	}
}

/* INS raises its page fault after the access to the port, when complete() has the data. */
static bool has_raised(const struct engine_kvm_vcpu *v)
{
	const struct kvm_vcpu_events *e = &v->run->s.regs.events;

	return e->exception.injected || e->exception.pending;
}

void engine_kvm_complete(struct engine_vcpu *vcpu, struct engine_exit *exit)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct x86_regs *regs = vcpu->regs;
	int error;

	do {
		if (!(v->state & ENGINE_KVM_IN_EXIT)) {
			exit->kind = ENGINE_EXIT_NONE;
			return;
		}
		v->state &= ~ENGINE_KVM_IN_EXIT;
		if (exit->kind == ENGINE_EXIT_RDMSR || exit->kind == ENGINE_EXIT_WRMSR)
			v->run->msr.error = exit->msr.gp;
		v->run->immediate_exit = 1;
		error = engine_kvm_enter(v);
		v->run->immediate_exit = v->kicked != 0;
		if (v->state & ENGINE_KVM_STEPPING)
			regs->rflags = (regs->rflags & ~ENGINE_RFLAGS_TF) | v->guest_tf;
		finish(v, error, exit);
		if (error == -EINTR && v->state & ENGINE_KVM_STEPPING && has_raised(v))
			engine_kvm_step_fault(v, exit);
	} while (engine_kvm_own_msr(v, exit));
}

/* In this order, a kick in between ends the next run(). */
static void take_kick(struct engine_kvm_vcpu *v)
{
	__atomic_store_n(&v->kicked, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&v->run->immediate_exit, 0, __ATOMIC_RELEASE);
}

void engine_kvm_run(struct engine_vcpu *vcpu, bool want_irq, struct engine_exit *exit)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	int error = v->state & ENGINE_KVM_STEPPING ? engine_kvm_step_end(v) : 0;

	if (error) {
		engine_kvm_fail(exit, -error, "KVM_SET_GUEST_DEBUG failed");
		return;
	}
	do {
		if (v->kicked) {
			take_kick(v);
			exit->kind = ENGINE_EXIT_KICK;
			return;
		}
		v->run->request_interrupt_window = want_irq;
		engine_kvm_put_extint(v);
		if (v->vm->guard)
			engine_kvm_guard_entered(v->vm->guard);
		error = engine_kvm_enter(v);
		/* The guard interrupts the vCPU before a write. */
		if (v->vm->guard && error == -EINTR)
			take_kick(v);
		v->run->request_interrupt_window = 0;
		finish(v, error, exit);
		/* KVM returns EAGAIN after a wait for a start-up IPI. */
		if (error == -EINTR || error == -EAGAIN)
			exit->kind = ENGINE_EXIT_KICK;
		if (!engine_kvm_own_msr(v, exit))
			break;
		engine_kvm_complete(vcpu, exit);
	} while (exit->kind == ENGINE_EXIT_NONE);
}
