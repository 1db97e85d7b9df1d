// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HLT, MONITOR and MWAIT, and WAITPKG's kind of them: what is waited for, and the C-states
 * that PT is told of. There are no caches that could watch a line, and nobody but this
 * processor who stores: a store between MONITOR and MWAIT is found by what it changed.
 */
#include "core/devices.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/irq.h"
#include "core/wait.h"

#include <string.h>

#include "core/transfer.h"

#define LINE	      VPT_WAIT_LINE
#define CSTATE_C1     0x00u
#define CSTATE_C6     0x20u /* the deepest that there is */
#define CSTATE_C0_1   0xf1u
#define CSTATE_C0_2   0xf2u
#define CR4_TSD	      (1ull << 2)
#define HINT_C0	      0xf0u
#define FL_ARITHMETIC (VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF | VPT_FL_OF)

static enum vpt_done fault(struct vpt_exception *e, struct vpt_exception what)
{
	*e = what;
	return VPT_DONE_FAULT;
}

static enum vpt_done retire(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_vcpu_set_rip(v, v->regs->rip + insn->len);
	return VPT_DONE_RETIRED;
}

static bool cpuid_bit(const struct vpt_vcpu *v, uint32_t leaf, unsigned int bit)
{
	const struct vpt_cpuid_entry *e = vpt_cpuid_find(v->vm->cpuid, v->vm->cpuid_count, leaf, 0);

	return e && e->ecx >> bit & 1;
}

/* What the line at `address` holds now. */
static bool look_at_line(struct vpt_vcpu *v, uint8_t *to)
{
	const void *at = vpt_mem_at(&v->vm->mem, v->wait.line, LINE);

	if (at)
		memcpy(to, at, LINE);
	return at;
}

static enum vpt_done monitor(struct vpt_vcpu *v, const struct vpt_insn *insn,
			     struct vpt_exception *e)
{
	struct vpt_page page;
	uint64_t address;

	if (!vpt_operand_line(v, insn, &address, e))
		return VPT_DONE_FAULT;
	vpt_put_bit(&v->wait.flags, VPT_WAIT_ARMED,
		    vpt_walk_page(&v->vm->mem, &v->paging, address, VPT_WALK_READ, &page));
	v->wait.line = page.gpa & ~(uint64_t)(LINE - 1);
	if (v->wait.flags & VPT_WAIT_ARMED && !look_at_line(v, v->wait.copy))
		v->wait.flags &= ~VPT_WAIT_ARMED;
	return retire(v, insn);
}

/* Armed by MONITOR and not stored to since? Either way it is over with. */
static bool disarm(struct vpt_vcpu *v)
{
	bool armed = v->wait.flags & VPT_WAIT_ARMED;
	uint8_t now[LINE];

	v->wait.flags &= ~VPT_WAIT_ARMED;
	return armed && look_at_line(v, now) && !memcmp(now, v->wait.copy, LINE);
}

static uint8_t resolve(uint8_t hints)
{
	return hints >= CSTATE_C6 ? CSTATE_C6 : hints;
}

static void halt(struct vpt_vcpu *v, uint8_t cstate)
{
	v->pending |= VPT_VCPU_HALTED;
	v->wait.cstate = cstate;
	v->wait.flags &= ~VPT_WAIT_INSTRUCTION;
	v->wait.flags &= ~(VPT_WAIT_TIMED | VPT_WAIT_ANY_IRQ | VPT_WAIT_OS_LIMIT);
}

void vpt_wait_hlt(struct vpt_vcpu *v)
{
	halt(v, CSTATE_C1);
}

static enum vpt_done hlt(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	if (v->cpl)
		return VPT_DONE_NATIVE;
	vpt_wait_hlt(v);
	return retire(v, insn);
}

/* ECX[0]: interrupts end it even where RFLAGS.IF holds them back. */
static enum vpt_done mwait(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint8_t hints = (uint8_t)v->regs->rax;
	uint32_t ext = (uint32_t)v->regs->rcx;

	if (ext & ~1u)
		return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
	if (disarm(v) && (hints & HINT_C0) != HINT_C0) {
		halt(v, resolve(hints));
		v->wait.flags |= VPT_WAIT_INSTRUCTION;
		vpt_put_bit(&v->wait.flags, VPT_WAIT_ANY_IRQ, ext & 1);
		v->wait.hints = hints;
		v->wait.ext = (uint8_t)ext;
	}
	return retire(v, insn);
}

/* The system's limit on how long a program may wait, if that comes first. */
static void limit(struct vpt_vcpu *v, uint64_t now, uint64_t control)
{
	uint64_t most = control & 0xfffffffcu;

	if (!most || v->wait.deadline - now <= most)
		return;
	v->wait.deadline = now + most;
	v->wait.flags |= VPT_WAIT_OS_LIMIT;
}

/* UMWAIT and TPAUSE, until the TSC is EDX:EAX; the operand asks for C0.1 or C0.2. */
static enum vpt_done pause_until(struct vpt_vcpu *v, const struct vpt_insn *insn, bool monitored,
				 struct vpt_exception *e)
{
	uint64_t state = 0, control = 0, now = vpt_time_read(&v->ev->time, v->ev->retired);
	uint64_t deadline = (uint32_t)v->regs->rax | v->regs->rdx << 32;

	if (!vpt_insn_register(v->insns, insn, v->regs, &state))
		return VPT_DONE_NATIVE;
	if ((v->cpl && v->s.cr4 & CR4_TSD) || (uint32_t)state & ~1u)
		return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
	(void)v->engine->get_msr(v->ev, VPT_MSR_UMWAIT_CONTROL, &control);
	v->regs->rflags &= ~(uint64_t)FL_ARITHMETIC;
	if ((!monitored || disarm(v)) && deadline > now) {
		halt(v, state & 1 || control & 1 ? CSTATE_C0_1 : CSTATE_C0_2);
		v->wait.flags |= VPT_WAIT_INSTRUCTION | VPT_WAIT_TIMED | VPT_WAIT_ANY_IRQ;
		v->wait.hints = 0;
		v->wait.ext = state & 1;
		v->wait.deadline = deadline;
		limit(v, now, control);
	}
	return retire(v, insn);
}

enum vpt_done vpt_emulate_wait(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e)
{
	bool user = insn->cls != VPT_INSN_MONITOR && insn->cls != VPT_INSN_MWAIT;

	if (insn->cls == VPT_INSN_HLT)
		return hlt(v, insn);
	/* A host's processor executes them. */
	if (!(v->engine->can & VPT_ENGINE_NEAR))
		return VPT_DONE_NATIVE;
	if (!cpuid_bit(v, user ? 7 : 1, user ? 5 : 3) || (!user && v->cpl))
		return fault(e, vpt_fault_plain(VPT_VEC_UD));
	switch (insn->cls) {
	case VPT_INSN_MONITOR:
		if ((uint32_t)v->regs->rcx)
			return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
		return monitor(v, insn, e);
	case VPT_INSN_UMONITOR:
		return monitor(v, insn, e);
	case VPT_INSN_MWAIT:
		return mwait(v, insn, e);
	default:
		return pause_until(v, insn, insn->cls == VPT_INSN_UMWAIT, e);
	}
}

void vpt_wait_tell(struct vpt_vcpu *v, uint64_t ip, uint64_t next)
{
	const struct vpt_event event = {
		.kind = VPT_EV_SLEEP,
		.flags = v->wait.flags & VPT_WAIT_INSTRUCTION ? VPT_EVF_MWAIT : 0,
		.cstate = v->wait.cstate,
		.ext = v->wait.ext,
		.from = ip,
		.to = next,
		.value = v->wait.hints,
	};

	v->wait.flags |= VPT_WAIT_TOLD;
	vpt_tracer_event(&v->tracer, &event, v->cpl);
}

void vpt_wait_end(struct vpt_vcpu *v, enum vpt_wake why)
{
	const struct vpt_event event = {
		.kind = VPT_EV_WAKE,
		.cstate = v->wait.cstate,
		.deepest = v->wait.cstate,
		.wake = (uint8_t)why,
		.from = v->regs->rip,
		.to = v->regs->rip,
	};

	if (!(v->pending & VPT_VCPU_HALTED))
		return;
	v->pending &= ~VPT_VCPU_HALTED;
	if (why == VPT_WAKE_TIMER && v->wait.flags & VPT_WAIT_OS_LIMIT) {
		v->regs->rflags |= VPT_FL_CF;
		v->ev->regs_dirty = true;
	}
	if (v->wait.flags & VPT_WAIT_TOLD)
		vpt_tracer_event(&v->tracer, &event, v->cpl);
	v->wait.flags &= ~VPT_WAIT_TOLD;
}

/* Instructions until the deadline, had they run. */
static uint64_t until_deadline(const struct vpt_vcpu *v)
{
	const struct vpt_time *t = &v->ev->time;
	uint64_t now = vpt_time_read(t, v->ev->retired), tsc = vpt_time_tsc(t, v->ev->retired);
	uint64_t left = v->wait.deadline - now;

	if (v->wait.deadline <= now)
		return 0;
	if (tsc + left < tsc)
		return UINT64_MAX;
	return vpt_time_reach(t, tsc + left) - v->ev->retired;
}

bool vpt_wait_look(struct vpt_vcpu *v)
{
	uint64_t left, next;

	if (v->wait.flags & VPT_WAIT_ANY_IRQ && vpt_irq_pending(v)) {
		vpt_wait_end(v, VPT_WAKE_INTERRUPT);
		return true;
	}
	if (!(v->wait.flags & VPT_WAIT_TIMED))
		return false;
	left = until_deadline(v);
	next = vpt_irq_next(v);
	if (left > next)
		return false;
	if (left)
		vpt_devices_idle(v, left);
	vpt_wait_end(v, VPT_WAKE_TIMER);
	return true;
}

void vpt_wait_save(const struct vpt_vcpu *v, struct vpt_wait_state *state)
{
	const struct vpt_wait *w = &v->wait;

	*state = (struct vpt_wait_state){
		.line = w->line,
		.deadline = w->deadline,
		.cstate = w->cstate,
		.hints = w->hints,
		.ext = w->ext,
		.flags = (uint8_t)w->flags,
	};
	memcpy(state->copy, w->copy, sizeof(w->copy));
}

bool vpt_wait_load(struct vpt_vcpu *v, const struct vpt_wait_state *state)
{
	struct vpt_wait *w = &v->wait;

	if (state->reserved || state->flags & ~VPT_WAIT_FLAGS || state->line % LINE)
		return false;
	*w = (struct vpt_wait){
		.line = state->line,
		.deadline = state->deadline,
		.cstate = state->cstate,
		.hints = state->hints,
		.ext = state->ext,
		.flags = state->flags,
	};
	memcpy(w->copy, state->copy, sizeof(w->copy));
	return true;
}
