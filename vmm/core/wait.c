// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HLT, MONITOR, MWAIT and WAITPKG: the conditions of a wakeup, and the C-states in PT's packets. No
 * cache watches the monitored line. A store after MONITOR is detected by changed bytes.
 */
#include "core/devices.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/irq.h"
#include "core/wait.h"

#include <string.h>

#include "core/transfer.h"

#define LINE	      CORE_WAIT_LINE
#define CSTATE_C1     0x00u
#define CSTATE_C6     0x20u /* the deepest C-state */
#define CSTATE_C0_1   0xf1u
#define CSTATE_C0_2   0xf2u
#define CR4_TSD	      (1ull << 2)
#define HINT_C0	      0xf0u
#define FL_ARITHMETIC (X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF)

static enum core_done fault(struct engine_exception *e, struct engine_exception what)
{
	*e = what;
	return CORE_DONE_FAULT;
}

static enum core_done retire(struct core_vcpu *v, const struct core_insn *insn)
{
	v->regs->rflags &= ~X86_FL_RF;
	core_vcpu_set_rip(v, v->regs->rip + insn->len);
	return CORE_DONE_RETIRED;
}

static bool cpuid_bit(const struct core_vcpu *v, uint32_t leaf, unsigned int bit)
{
	const struct engine_cpuid_entry *e =
		core_cpuid_find(v->vm->cpuid, v->vm->cpuid_count, leaf, 0);

	return e && e->ecx >> bit & 1;
}

/* Copy the current content of the monitored line. Returns false if it is not RAM. */
static bool check_line(const struct core_vcpu *v, uint8_t *to)
{
	const void *at = x86_mem_at(&v->vm->mem, v->wait.line, LINE);

	if (at)
		memcpy(to, at, LINE);
	return at;
}

static enum core_done monitor(struct core_vcpu *v, const struct core_insn *insn,
			      struct engine_exception *e)
{
	struct x86_page page;
	uint64_t address;

	if (!core_operand_line(v, insn, &address, e))
		return CORE_DONE_FAULT;
	core_put_bit(&v->wait.flags, CORE_WAIT_ARMED,
		     x86_walk_page(&v->vm->mem, &v->paging, address, X86_WALK_READ, &page));
	v->wait.line = page.gpa & ~(uint64_t)(LINE - 1);
	if (v->wait.flags & CORE_WAIT_ARMED && !check_line(v, v->wait.copy))
		v->wait.flags &= ~CORE_WAIT_ARMED;
	return retire(v, insn);
}

static bool is_line_same(const struct core_vcpu *v)
{
	uint8_t now[LINE];

	return check_line(v, now) && !memcmp(now, v->wait.copy, LINE);
}

/* Disarm the monitor. Returns true if it was armed and the line has not changed since. */
static bool disarm(struct core_vcpu *v)
{
	bool armed = v->wait.flags & CORE_WAIT_ARMED;
	v->wait.flags &= ~CORE_WAIT_ARMED;
	return armed && is_line_same(v);
}

static uint8_t resolve(uint8_t hints)
{
	return hints >= CSTATE_C6 ? CSTATE_C6 : hints;
}

static void halt(struct core_vcpu *v, uint8_t cstate)
{
	v->pending |= CORE_VCPU_HALTED;
	v->wait.cstate = cstate;
	v->wait.flags &= ~(CORE_WAIT_INSTRUCTION | CORE_WAIT_MONITORED);
	v->wait.flags &= ~(CORE_WAIT_TIMED | CORE_WAIT_ANY_IRQ | CORE_WAIT_OS_LIMIT);
}

void core_wait_hlt(struct core_vcpu *v)
{
	halt(v, CSTATE_C1);
}

static enum core_done hlt(struct core_vcpu *v, const struct core_insn *insn)
{
	if (v->cpl)
		return CORE_DONE_NATIVE;
	core_wait_hlt(v);
	return retire(v, insn);
}

/* Execute MWAIT. With ECX[0], masked interrupts end the wait, too. */
static enum core_done mwait(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e)
{
	uint8_t hints = (uint8_t)v->regs->rax;
	uint32_t ext = (uint32_t)v->regs->rcx;

	if (ext & ~1u)
		return fault(e, core_fault_code(X86_VEC_GP, 0));
	if (disarm(v) && (hints & HINT_C0) != HINT_C0) {
		halt(v, resolve(hints));
		v->wait.flags |= CORE_WAIT_INSTRUCTION | CORE_WAIT_MONITORED;
		core_put_bit(&v->wait.flags, CORE_WAIT_ANY_IRQ, ext & 1);
		v->wait.hints = hints;
		v->wait.ext = (uint8_t)ext;
	}
	return retire(v, insn);
}

/* Apply the OS's limit of a wait (IA32_UMWAIT_CONTROL) if it is before the deadline. */
static void limit(struct core_vcpu *v, uint64_t now, uint64_t control)
{
	uint64_t most = control & 0xfffffffcu;

	if (!most || v->wait.deadline - now <= most)
		return;
	v->wait.deadline = now + most;
	v->wait.flags |= CORE_WAIT_OS_LIMIT;
}

/* Execute UMWAIT or TPAUSE: wait until the TSC is EDX:EAX. The operand selects C0.1 or C0.2. */
static enum core_done pause_until(struct core_vcpu *v, const struct core_insn *insn, bool monitored,
				  struct engine_exception *e)
{
	uint64_t state = 0, control = 0, now = engine_time_read(&v->ev->time, v->ev->retired);
	uint64_t deadline = (uint32_t)v->regs->rax | v->regs->rdx << 32;

	if (!core_insn_register(v->insns, insn, v->regs, &state))
		return CORE_DONE_NATIVE;
	if ((v->cpl && v->s.cr4 & CR4_TSD) || (uint32_t)state & ~1u)
		return fault(e, core_fault_code(X86_VEC_GP, 0));
	(void)v->engine->get_msr(v->ev, X86_MSR_UMWAIT_CONTROL, &control);
	v->regs->rflags &= ~(uint64_t)FL_ARITHMETIC;
	if ((!monitored || disarm(v)) && deadline > now) {
		halt(v, state & 1 || control & 1 ? CSTATE_C0_1 : CSTATE_C0_2);
		v->wait.flags |= CORE_WAIT_INSTRUCTION | CORE_WAIT_TIMED | CORE_WAIT_ANY_IRQ;
		core_put_bit(&v->wait.flags, CORE_WAIT_MONITORED, monitored);
		v->wait.hints = 0;
		v->wait.ext = state & 1;
		v->wait.deadline = deadline;
		limit(v, now, control);
	}
	return retire(v, insn);
}

enum core_done core_emulate_wait(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e)
{
	bool user = insn->cls != CORE_INSN_MONITOR && insn->cls != CORE_INSN_MWAIT;

	if (insn->cls == CORE_INSN_HLT)
		return hlt(v, insn);
	/* With KVM, the host's processor executes these instructions. */
	if (!(v->engine->can & ENGINE_NEAR))
		return CORE_DONE_NATIVE;
	if (!cpuid_bit(v, user ? 7 : 1, user ? 5 : 3) || (!user && v->cpl))
		return fault(e, core_fault_plain(X86_VEC_UD));
	switch (insn->cls) {
	case CORE_INSN_MONITOR:
		if ((uint32_t)v->regs->rcx)
			return fault(e, core_fault_code(X86_VEC_GP, 0));
		return monitor(v, insn, e);
	case CORE_INSN_UMONITOR:
		return monitor(v, insn, e);
	case CORE_INSN_MWAIT:
		return mwait(v, insn, e);
	default:
		return pause_until(v, insn, insn->cls == CORE_INSN_UMWAIT, e);
	}
}

void core_wait_describe(struct core_vcpu *v, struct vpt_event *event)
{
	event->kind = VPT_EV_SLEEP;
	event->flags = v->wait.flags & CORE_WAIT_INSTRUCTION ? VPT_EVF_MWAIT : 0;
	event->cstate = v->wait.cstate;
	event->ext = v->wait.ext;
	event->value = v->wait.hints;
	v->wait.flags |= CORE_WAIT_TOLD;
}

void core_wait_end(struct core_vcpu *v, enum vpt_wake why)
{
	const struct vpt_event event = {
		.kind = VPT_EV_WAKE,
		.cstate = v->wait.cstate,
		.deepest = v->wait.cstate,
		.wake = (uint8_t)why,
		.from = v->regs->rip,
		.to = v->regs->rip,
	};

	if (!(v->pending & CORE_VCPU_HALTED))
		return;
	v->pending &= ~CORE_VCPU_HALTED;
	if (why == VPT_WAKE_TIMER && v->wait.flags & CORE_WAIT_OS_LIMIT) {
		v->regs->rflags |= X86_FL_CF;
		v->ev->state |= ENGINE_REGS_DIRTY;
	}
	if (v->wait.flags & CORE_WAIT_TOLD)
		tracer_event(&v->tracer, &event, v->cpl);
	v->wait.flags &= ~CORE_WAIT_TOLD;
}

/* Returns the number of core clocks until the deadline. */
static uint64_t until_deadline(const struct core_vcpu *v)
{
	const struct engine_time *t = &v->ev->time;
	uint64_t now = engine_time_read(t, v->ev->retired),
		 tsc = engine_time_tsc(t, v->ev->retired);
	uint64_t left = v->wait.deadline - now;

	if (v->wait.deadline <= now)
		return 0;
	if (tsc + left < tsc)
		return UINT64_MAX;
	return engine_time_reach(t, tsc + left) - v->ev->retired;
}

bool core_wait_ends(struct core_vcpu *v)
{
	uint64_t left, next;

	if (v->wait.flags & CORE_WAIT_ANY_IRQ && core_irq_pending(v)) {
		core_wait_end(v, VPT_WAKE_INTERRUPT);
		return true;
	}
	/* With one processor nothing stores while it waits. */
	if (v->vm->cpus > 1 && v->wait.flags & CORE_WAIT_MONITORED && !is_line_same(v)) {
		core_wait_end(v, VPT_WAKE_STORE);
		return true;
	}
	if (!(v->wait.flags & CORE_WAIT_TIMED))
		return false;
	left = until_deadline(v);
	next = core_irq_next(v);
	if (left > next)
		return false;
	if (left)
		core_devices_idle(v, left);
	core_wait_end(v, VPT_WAKE_TIMER);
	return true;
}

bool core_wait_is_over(const struct core_vcpu *v)
{
	if (v->wait.flags & CORE_WAIT_ANY_IRQ && core_irq_pending(v))
		return true;
	if (v->wait.flags & CORE_WAIT_MONITORED && !is_line_same(v))
		return true;
	return core_irq_can_deliver(v);
}

uint64_t core_wait_clocks(const struct core_vcpu *v)
{
	const bool listens = v->regs->rflags & X86_FL_IF || v->wait.flags & CORE_WAIT_ANY_IRQ;
	const uint64_t timer = listens ? core_irq_wakeup(v) : UINT64_MAX;
	const uint64_t left = v->wait.flags & CORE_WAIT_TIMED ? until_deadline(v) : UINT64_MAX;

	return timer < left ? timer : left;
}

void core_wait_save(const struct core_vcpu *v, struct core_wait_state *state)
{
	const struct core_wait *w = &v->wait;

	*state = (struct core_wait_state){
		.line = w->line,
		.deadline = w->deadline,
		.cstate = w->cstate,
		.hints = w->hints,
		.ext = w->ext,
		.flags = (uint8_t)w->flags,
	};
	memcpy(state->copy, w->copy, sizeof(w->copy));
}

bool core_wait_load(struct core_vcpu *v, const struct core_wait_state *state)
{
	struct core_wait *w = &v->wait;

	if (state->reserved || state->flags & ~CORE_WAIT_FLAGS || state->line % LINE)
		return false;
	*w = (struct core_wait){
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
