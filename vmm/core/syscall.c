// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SYSCALL, SYSENTER and back, done here since a stepped one would show the debugger's
 * TF (in R11) or undo it (SYSRET), and since not every KVM can do them all.
 */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

#define SYSRET_RFLAGS 0x3c7fd7ull

static enum vpt_done fault(struct vpt_exception *e, struct vpt_exception what)
{
	*e = what;
	return VPT_DONE_FAULT;
}

static uint64_t msr(struct vpt_vcpu *v, uint32_t index)
{
	uint64_t value = 0;

	if (v->engine->get_msr(v->ev, index, &value))
		return 0;
	return value;
}

static enum vpt_done syscall(struct vpt_vcpu *v, const struct vpt_insn *insn,
			     struct vpt_exception *e)
{
	uint64_t star = msr(v, VPT_MSR_STAR);
	uint16_t cs = (uint16_t)(star >> 32) & 0xfffc;

	if (v->bits != 64 || !(v->s.efer & VPT_EFER_SCE))
		return fault(e, vpt_fault_plain(VPT_VEC_UD));
	v->regs->rcx = v->regs->rip + insn->len;
	v->regs->r11 = v->regs->rflags & ~VPT_FL_RF;
	v->regs->rflags &= ~(msr(v, VPT_MSR_FMASK) | VPT_FL_RF);
	v->regs->rflags |= VPT_FL_FIXED;
	v->s.cs = vpt_flat_segment(cs, true, true, 0);
	v->s.ss = vpt_flat_segment((uint16_t)(cs + 8), false, false, 0);
	v->regs->rip = msr(v, VPT_MSR_LSTAR);
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

static enum vpt_done sysret(struct vpt_vcpu *v, const struct vpt_insn *insn,
			    struct vpt_exception *e)
{
	uint16_t base = (uint16_t)(msr(v, VPT_MSR_STAR) >> 48);
	bool wide = insn->aux == 8;

	if (v->bits != 64 || !(v->s.efer & VPT_EFER_SCE))
		return fault(e, vpt_fault_plain(VPT_VEC_UD));
	if (v->cpl || (wide && !vpt_canonical(v, v->regs->rcx)))
		return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
	v->regs->rip = wide ? v->regs->rcx : (uint32_t)v->regs->rcx;
	v->regs->rflags = (v->regs->r11 & SYSRET_RFLAGS) | VPT_FL_FIXED;
	v->s.cs = vpt_flat_segment((uint16_t)((base + (wide ? 16 : 0)) | 3), true, wide, 3);
	v->s.ss = vpt_flat_segment((uint16_t)((base + 8) | 3), false, false, 3);
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

/* Outside long mode the upper half of an MSR counts for nothing. */
static uint64_t in_mode(const struct vpt_vcpu *v, uint64_t value)
{
	return v->long_mode ? value : (uint32_t)value;
}

static enum vpt_done sysenter(struct vpt_vcpu *v, struct vpt_exception *e)
{
	uint16_t cs = (uint16_t)msr(v, VPT_MSR_SYSENTER_CS) & 0xfffc;

	if (!cs || !(v->s.cr0 & VPT_CR0_PE))
		return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
	v->regs->rflags &= ~(VPT_FL_VM | VPT_FL_IF | VPT_FL_RF);
	v->regs->rsp = in_mode(v, msr(v, VPT_MSR_SYSENTER_ESP));
	v->regs->rip = in_mode(v, msr(v, VPT_MSR_SYSENTER_EIP));
	v->s.cs = vpt_flat_segment(cs, true, v->long_mode, 0);
	v->s.ss = vpt_flat_segment((uint16_t)(cs + 8), false, false, 0);
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

static enum vpt_done sysexit(struct vpt_vcpu *v, const struct vpt_insn *insn,
			     struct vpt_exception *e)
{
	uint16_t cs = (uint16_t)msr(v, VPT_MSR_SYSENTER_CS) & 0xfffc;
	bool wide = insn->aux == 8;
	uint64_t rip = v->regs->rdx, rsp = v->regs->rcx;

	if (!cs || !(v->s.cr0 & VPT_CR0_PE) || v->cpl ||
	    (wide && (!vpt_canonical(v, rip) || !vpt_canonical(v, rsp))))
		return fault(e, vpt_fault_code(VPT_VEC_GP, 0));
	cs += wide ? 32 : 16;
	v->regs->rip = wide ? rip : (uint32_t)rip;
	v->regs->rsp = wide ? rsp : (uint32_t)rsp;
	v->regs->rflags &= ~VPT_FL_RF;
	v->s.cs = vpt_flat_segment((uint16_t)(cs | 3), true, wide, 3);
	v->s.ss = vpt_flat_segment((uint16_t)((cs + 8) | 3), false, false, 3);
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

enum vpt_done vpt_emulate_syscall(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e)
{
	switch (insn->cls) {
	case VPT_INSN_SYSCALL:
		return syscall(v, insn, e);
	case VPT_INSN_SYSRET:
		return sysret(v, insn, e);
	case VPT_INSN_SYSENTER:
		return sysenter(v, e);
	default:
		return sysexit(v, insn, e);
	}
}
