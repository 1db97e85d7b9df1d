// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SYSCALL, SYSENTER and their returns. The core emulates them, because a stepped SYSCALL would show
 * the debugger's TF in R11, and a stepped SYSRET would clear it. Some hosts lack one of them.
 */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

#define SYSRET_RFLAGS 0x3c7fd7ull

static enum core_done fault(struct engine_exception *e, struct engine_exception what)
{
	*e = what;
	return CORE_DONE_FAULT;
}

static uint64_t msr(struct core_vcpu *v, uint32_t index)
{
	uint64_t value = 0;

	if (v->engine->get_msr(v->ev, index, &value))
		return 0;
	return value;
}

static enum core_done syscall(struct core_vcpu *v, const struct core_insn *insn,
			      struct engine_exception *e)
{
	uint64_t star = msr(v, X86_MSR_STAR);
	uint16_t cs = (uint16_t)(star >> 32) & 0xfffc;

	if (v->bits != 64 || !(v->s.efer & X86_EFER_SCE))
		return fault(e, core_fault_plain(X86_VEC_UD));
	v->regs->rcx = v->regs->rip + insn->len;
	v->regs->r11 = v->regs->rflags & ~X86_FL_RF;
	v->regs->rflags &= ~(msr(v, X86_MSR_FMASK) | X86_FL_RF);
	v->regs->rflags |= X86_FL_FIXED;
	v->s.cs = core_flat_segment(cs, true, true, 0);
	v->s.ss = core_flat_segment((uint16_t)(cs + 8), false, false, 0);
	v->regs->rip = msr(v, X86_MSR_LSTAR);
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

static enum core_done sysret(struct core_vcpu *v, const struct core_insn *insn,
			     struct engine_exception *e)
{
	uint16_t base = (uint16_t)(msr(v, X86_MSR_STAR) >> 48);
	bool wide = insn->aux == 8;

	if (v->bits != 64 || !(v->s.efer & X86_EFER_SCE))
		return fault(e, core_fault_plain(X86_VEC_UD));
	if (v->cpl || (wide && !core_canonical(v, v->regs->rcx)))
		return fault(e, core_fault_code(X86_VEC_GP, 0));
	v->regs->rip = wide ? v->regs->rcx : (uint32_t)v->regs->rcx;
	v->regs->rflags = (v->regs->r11 & SYSRET_RFLAGS) | X86_FL_FIXED;
	v->s.cs = core_flat_segment((uint16_t)((base + (wide ? 16 : 0)) | 3), true, wide, 3);
	v->s.ss = core_flat_segment((uint16_t)((base + 8) | 3), false, false, 3);
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

/* Outside long mode the upper half of the MSR is ignored. */
static uint64_t in_mode(const struct core_vcpu *v, uint64_t value)
{
	return core_vcpu_long_mode(v) ? value : (uint32_t)value;
}

static enum core_done sysenter(struct core_vcpu *v, struct engine_exception *e)
{
	uint16_t cs = (uint16_t)msr(v, X86_MSR_SYSENTER_CS) & 0xfffc;

	if (!cs || !(v->s.cr0 & X86_CR0_PE))
		return fault(e, core_fault_code(X86_VEC_GP, 0));
	v->regs->rflags &= ~(X86_FL_VM | X86_FL_IF | X86_FL_RF);
	v->regs->rsp = in_mode(v, msr(v, X86_MSR_SYSENTER_ESP));
	v->regs->rip = in_mode(v, msr(v, X86_MSR_SYSENTER_EIP));
	v->s.cs = core_flat_segment(cs, true, core_vcpu_long_mode(v), 0);
	v->s.ss = core_flat_segment((uint16_t)(cs + 8), false, false, 0);
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

static enum core_done sysexit(struct core_vcpu *v, const struct core_insn *insn,
			      struct engine_exception *e)
{
	uint16_t cs = (uint16_t)msr(v, X86_MSR_SYSENTER_CS) & 0xfffc;
	bool wide = insn->aux == 8;
	uint64_t rip = v->regs->rdx, rsp = v->regs->rcx;

	if (!cs || !(v->s.cr0 & X86_CR0_PE) || v->cpl ||
	    (wide && (!core_canonical(v, rip) || !core_canonical(v, rsp))))
		return fault(e, core_fault_code(X86_VEC_GP, 0));
	cs += wide ? 32 : 16;
	v->regs->rip = wide ? rip : (uint32_t)rip;
	v->regs->rsp = wide ? rsp : (uint32_t)rsp;
	v->regs->rflags &= ~X86_FL_RF;
	v->s.cs = core_flat_segment((uint16_t)(cs | 3), true, wide, 3);
	v->s.ss = core_flat_segment((uint16_t)((cs + 8) | 3), false, false, 3);
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

enum core_done core_emulate_syscall(struct core_vcpu *v, const struct core_insn *insn,
				    struct engine_exception *e)
{
	switch (insn->cls) {
	case CORE_INSN_SYSCALL:
		return syscall(v, insn, e);
	case CORE_INSN_SYSRET:
		return sysret(v, insn, e);
	case CORE_INSN_SYSENTER:
		return sysenter(v, e);
	default:
		return sysexit(v, insn, e);
	}
}
