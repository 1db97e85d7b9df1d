// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM: execute one instruction at a time.
 *
 * KVM_GUESTDBG_SINGLESTEP alone is not exact. On hosts where exceptions do not exit, the
 * instructions of the handler run unseen. If KVM sets TF only at certain times, an emulated
 * instruction loses TF. If ring 3 runs without KVM's debug state, #DB goes to the guest.
 *
 * So each step sets TF again, with an empty IDTR. Any delivery becomes a triple fault, which
 * changes no guest memory. Its cause is the #DB of the step or the exception of the instruction.
 */
#include "engine/kvm.h"

#include <string.h>

#define DR7_FIXED  0x400ull
#define DR6_CAUSES 0xfull
#define DR6_BS	   (1ull << 14)
#define VECTOR_DB  1

/* Enable single steps, or breakpoints at watched instructions, or neither. */
static int set_debug(struct engine_kvm_vcpu *v, bool stepping)
{
	struct kvm_guest_debug debug = {0};
	unsigned int i;

	if (stepping) {
		debug.control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
		/* An interrupt of KVM's local APIC would make its handler's first instruction the step. */
		if (v->vm->pins)
			debug.control |= KVM_GUESTDBG_BLOCKIRQ;
	} else if (v->watches) {
		debug.control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP;
		debug.arch.debugreg[7] = DR7_FIXED;
		for (i = 0; i < v->watches; i++) {
			debug.arch.debugreg[i] = v->watch[i];
			debug.arch.debugreg[7] |= 1ull << (2 * i);
		}
	}
	return ioctl(v->fd, KVM_SET_GUEST_DEBUG, &debug) ? -errno : 0;
}

int engine_kvm_watch(struct engine_vcpu *vcpu, const uint64_t *ips, size_t count)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);

	if (count > sizeof(v->watch) / sizeof(v->watch[0]))
		return -E2BIG;
	memcpy(v->watch, ips, count * sizeof(*ips));
	v->watches = (unsigned int)count;
	return v->state & ENGINE_KVM_STEPPING ? 0 : set_debug(v, false);
}

bool engine_kvm_watched(const struct engine_kvm_vcpu *v)
{
	unsigned int i;

	for (i = 0; i < v->watches; i++)
		if (v->watch[i] == v->base.regs->rip)
			return true;
	return false;
}

static int save_msrs(struct engine_kvm_vcpu *v)
{
	int n = ioctl(v->fd, KVM_GET_MSRS, &v->msrs);

	if (n < 0)
		return -errno;
	/* KVM stops at the first missing MSR. Keep those before it. */
	v->msrs.head.nmsrs = (uint32_t)n;
	return 0;
}

static int step_begin(struct engine_kvm_vcpu *v)
{
	int error = engine_kvm_get_dr(&v->base, 6, &v->dr6);

	if (!error)
		error = set_debug(v, true);
	if (!error && v->vm->probe.shutdown_resets)
		error = save_msrs(v);
	if (error)
		return error;
	engine_kvm_hide_idt(v);
	v->state |= ENGINE_KVM_STEPPING;
	return 0;
}

int engine_kvm_step_end(struct engine_kvm_vcpu *v)
{
	int error = set_debug(v, false);

	if (!error)
		error = engine_kvm_set_dr(&v->base, 6, v->dr6);
	v->state &= ~ENGINE_KVM_STEPPING;
	v->base.state |= ENGINE_REGS_DIRTY;
	if (!engine_kvm_assists(v->vm))
		engine_kvm_show_idt(v);
	return error;
}

/*
 * Swap DR6 around an instruction that reads it. Our steps set DR6.BS, which the guest must not see.
 */
static int swap_dr6(struct engine_kvm_vcpu *v, bool before)
{
	v->state &= ~ENGINE_KVM_STEPPING;
	if (before)
		return engine_kvm_set_dr(&v->base, 6, v->dr6);
	return engine_kvm_get_dr(&v->base, 6, &v->dr6);
}

/* Restore the state on hosts that reset the vCPU on a triple fault. */
static int restore(struct engine_kvm_vcpu *v)
{
	struct kvm_sync_regs *s = &v->run->s.regs;

	s->regs = v->before;
	s->sregs = v->sbefore;
	v->base.state |= ENGINE_REGS_DIRTY;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	if (!v->vm->probe.shutdown_resets)
		return 0;
	if (ioctl(v->fd, KVM_SET_MSRS, &v->msrs) != (int)v->msrs.head.nmsrs)
		return -EIO;
	return set_debug(v, true);
}

/* Note a breakpoint of the guest. DR6 has its number, besides the bits of the steps. */
static void note_breakpoint(struct engine_kvm_vcpu *v)
{
	struct kvm_debugregs dr;

	if (!ioctl(v->fd, KVM_GET_DEBUGREGS, &dr))
		v->dr6 = (v->dr6 & ~DR6_CAUSES) | (dr.dr6 & DR6_CAUSES);
}

static void on_shutdown(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	const struct kvm_vcpu_events *events = &v->run->s.regs.events;
	unsigned int ring = v->run->s.regs.sregs.ss.dpl == 3;
	const struct engine_probe *probe = &v->vm->probe;
	int error;

	if (probe->fault == ENGINE_FAULT_WAY_EVENT) {
		if (events->exception.nr == VECTOR_DB && probe->step[ring] == ENGINE_STEP_SHUTDOWN)
			exit->kind = ENGINE_EXIT_NONE;
		else
			engine_kvm_classify_shutdown(v, exit);
		if (exit->kind == ENGINE_EXIT_FAULT && exit->fault.vector == VECTOR_DB)
			note_breakpoint(v);
		return;
	}
	error = restore(v);
	if (error)
		engine_kvm_fail(exit, -error, "cannot restore the vCPU after a fault");
	else
		engine_kvm_replay(v, exit);
}

/* Return the breakpoints that were hit and that DR7 enables, as bits of DR6. */
static uint64_t hits(const struct kvm_debug_exit_arch *debug)
{
	uint64_t met = 0;
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (debug->dr7 >> (2 * i) & 3)
			met |= debug->dr6 & 1ull << i;
	return met;
}

/*
 * Handle a DEBUG exit, which also reports the guest's own breakpoints. Execution breakpoints are
 * reported before the instruction, and data breakpoints together with the step.
 */
static void on_debug(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	const struct kvm_debug_exit_arch *debug = &v->run->debug.arch;

	exit->kind = ENGINE_EXIT_NONE;
	if (debug->exception != VECTOR_DB)
		return;
	if (!(debug->dr6 & DR6_BS) && (debug->dr6 & DR6_CAUSES)) {
		exit->kind = ENGINE_EXIT_FAULT;
		exit->fault = (struct engine_exception){.vector = VECTOR_DB};
		v->dr6 |= debug->dr6 & DR6_CAUSES;
	} else if (hits(debug)) {
		exit->kind = ENGINE_EXIT_DEBUG;
		exit->debug.dr6 = hits(debug);
	}
}

static void after(struct engine_kvm_vcpu *v, int error, struct engine_exit *exit)
{
	if (error) {
		engine_kvm_fail(exit, -error, "KVM_RUN failed");
	} else if (v->run->exit_reason == KVM_EXIT_DEBUG) {
		on_debug(v, exit);
	} else if (v->run->exit_reason == KVM_EXIT_SHUTDOWN) {
		on_shutdown(v, exit);
	} else {
		engine_kvm_translate(v, exit);
		if (engine_kvm_own_msr(v, exit))
			engine_kvm_complete(&v->base, exit);
	}
}

void engine_kvm_step_fault(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	struct x86_regs *regs = v->base.regs;

	after(v, engine_kvm_enter_fully(v), exit);
	regs->rflags = (regs->rflags & ~ENGINE_RFLAGS_TF) | v->guest_tf;
}

void engine_kvm_step(struct engine_vcpu *vcpu, const struct engine_step_hint *hint,
		     struct engine_exit *exit)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct x86_regs *regs = vcpu->regs;
	int error = v->state & ENGINE_KVM_STEPPING ? 0 : step_begin(v);

	if (!error && hint->debug_regs)
		error = swap_dr6(v, true);
	if (error) {
		engine_kvm_fail(exit, -error, "cannot single-step");
		return;
	}
	v->guest_tf = regs->rflags & ENGINE_RFLAGS_TF;
	if (v->vm->probe.fault != ENGINE_FAULT_WAY_EVENT) {
		v->before = v->run->s.regs.regs;
		v->sbefore = v->run->s.regs.sregs;
	}
	regs->rflags |= ENGINE_RFLAGS_TF;
	vcpu->state |= ENGINE_REGS_DIRTY;

	after(v, engine_kvm_enter_fully(v), exit);
	regs->rflags = (regs->rflags & ~ENGINE_RFLAGS_TF) | v->guest_tf;

	if (hint->debug_regs)
		error = swap_dr6(v, false);
	v->state |= ENGINE_KVM_STEPPING;
	if (!error && hint->msrs && v->vm->probe.shutdown_resets)
		error = save_msrs(v);
	if (error)
		engine_kvm_fail(exit, -error, "cannot read the vCPU after a step");
}
