// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the core executes itself: branches that touch no memory, since it costs a
 * step less; what would show a debugger's TF or an empty IDTR; PT's own MSRs. An
 * engine with VPT_ENGINE_NEAR leaves only transfers between segments to it.
 */
#include "core/access.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/msr.h"
#include "core/transfer.h"
#include "core/wait.h"

#include <string.h>

static enum vpt_done retire_at(struct vpt_vcpu *v, uint64_t rip)
{
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_vcpu_set_rip(v, rip);
	return VPT_DONE_RETIRED;
}

/* A target the processor would refuse is left to it. */
static enum vpt_done jump(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	uint64_t to = v->regs->rip + insn->len + (uint64_t)insn->disp;

	if (v->bits != 64 || !vpt_canonical(v, to))
		return VPT_DONE_NATIVE;
	return retire_at(v, to);
}

enum count_opcode { OP_LOOPNE = 0xe0, OP_LOOPE = 0xe1, OP_LOOP = 0xe2, OP_JRCXZ = 0xe3 };

static bool is_count(uint8_t opcode)
{
	return opcode >= OP_LOOPNE && opcode <= OP_JRCXZ;
}

/* LOOPcc and J*CXZ, which count in as much of RCX as the address size says. */
static bool count_taken(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	uint64_t mask = insn->flags & VPT_INSN_ADDRESS32 ? 0xffffffffu : ~0ull;
	uint64_t count = v->regs->rcx & mask, zf = v->regs->rflags & VPT_FL_ZF;

	if (insn->aux == OP_JRCXZ)
		return !count;
	count = (count - 1) & mask;
	/* A 32-bit result clears the upper half, as everywhere. */
	v->regs->rcx = count;
	v->ev->regs_dirty = true;
	if (insn->aux == OP_LOOPNE)
		return count && !zf;
	if (insn->aux == OP_LOOPE)
		return count && zf;
	return count;
}

static enum vpt_done branch(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	uint64_t next = v->regs->rip + insn->len;
	bool taken;

	if (v->bits != 64 || insn->flags & VPT_INSN_ADDRESS16 ||
	    !vpt_canonical(v, next + (uint64_t)insn->disp))
		return VPT_DONE_NATIVE;
	taken = is_count(insn->aux) ? count_taken(v, insn)
				    : vpt_insn_condition(insn->aux, v->regs->rflags);
	vpt_put_bit(&v->pending, VPT_VCPU_TAKEN, taken);
	return retire_at(v, taken ? next + (uint64_t)insn->disp : next);
}

static enum vpt_done pushf(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint64_t rflags = v->regs->rflags & ~(VPT_FL_RF | VPT_FL_VM);

	if (v->bits != 64)
		return VPT_DONE_NATIVE;
	if (!vpt_write(v, v->regs->rsp - insn->aux, &rflags, insn->aux, 0, e)) {
		if (e->vector == VPT_VEC_GP)
			*e = vpt_fault_code(VPT_VEC_SS, 0);
		return VPT_DONE_FAULT;
	}
	v->regs->rsp -= insn->aux;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum vpt_done popf(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint64_t mask = VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF | VPT_FL_TF |
			VPT_FL_DF | VPT_FL_OF | VPT_FL_NT | VPT_FL_AC | VPT_FL_ID;
	uint64_t now = v->regs->rflags, popped = 0;

	if (v->bits != 64)
		return VPT_DONE_NATIVE;
	if (!vpt_read(v, v->regs->rsp, &popped, insn->aux, VPT_WALK_READ, e)) {
		if (e->vector == VPT_VEC_GP)
			*e = vpt_fault_code(VPT_VEC_SS, 0);
		return VPT_DONE_FAULT;
	}
	if (!v->cpl)
		mask |= VPT_FL_IOPL;
	if (v->cpl <= (now & VPT_FL_IOPL) >> 12)
		mask |= VPT_FL_IF;
	if (insn->aux == 2)
		mask &= 0xffff;
	v->regs->rflags = (now & ~mask) | (popped & mask) | VPT_FL_FIXED;
	v->regs->rsp += insn->aux;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum vpt_done sidt(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint64_t address;
	uint8_t out[10];
	char segment;

	if (v->bits != 64 || (v->cpl && v->s.cr4 & VPT_CR4_UMIP) ||
	    !vpt_insn_address(v->insns, insn, v->regs, &address, &segment))
		return VPT_DONE_NATIVE;
	if (segment == 'f' || segment == 'g')
		address += segment == 'f' ? v->s.fs.base : v->s.gs.base;
	memcpy(out, &v->s.idt.limit, 2);
	memcpy(out + 2, &v->s.idt.base, 8);
	if (!vpt_write(v, address, out, sizeof(out), 0, e))
		return VPT_DONE_FAULT;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum vpt_done rdmsr(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint64_t value;

	if (v->cpl || !vpt_msr_traps((uint32_t)v->regs->rcx))
		return VPT_DONE_NATIVE;
	if (vpt_msr_read(v, (uint32_t)v->regs->rcx, &value) != VPT_FAULT_NONE) {
		*e = vpt_fault_code(VPT_VEC_GP, 0);
		return VPT_DONE_FAULT;
	}
	v->regs->rax = (uint32_t)value;
	v->regs->rdx = value >> 32;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum vpt_done rdpmc(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	uint64_t value;

	if ((v->cpl && !(v->s.cr4 & VPT_CR4_PCE)) ||
	    !vpt_perfmon_rdpmc(v, (uint32_t)v->regs->rcx, &value)) {
		*e = vpt_fault_code(VPT_VEC_GP, 0);
		return VPT_DONE_FAULT;
	}
	v->regs->rax = (uint32_t)value;
	v->regs->rdx = value >> 32;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum vpt_done software_interrupt(struct vpt_vcpu *v, const struct vpt_insn *insn,
					struct vpt_exception *e)
{
	bool int1 = insn->cls == VPT_INSN_INT1;
	struct vpt_exception event = vpt_fault_plain(int1 ? VPT_VEC_DB : insn->aux);
	uint64_t next = v->regs->rip + insn->len;

	if (vpt_insn_is_into(insn) && !(v->regs->rflags & VPT_FL_OF))
		return retire_at(v, next);
	if (vpt_deliver_software(v, &event, int1 ? VPT_SOURCE_INT1 : VPT_SOURCE_SOFTWARE, next, e))
		return VPT_DONE_RETIRED;
	return v->vm->stop.kind == VPT_STOP_UNABLE ? VPT_DONE_STOPPED : VPT_DONE_FAULT;
}

/* What a step would not get right, on engines that cannot do everything. */
static enum vpt_done spare_a_step(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e)
{
	switch (insn->cls) {
	case VPT_INSN_COND:
		return branch(v, insn);
	case VPT_INSN_JMP:
		return jump(v, insn);
	case VPT_INSN_PUSHF:
		return pushf(v, insn, e);
	case VPT_INSN_POPF:
		return popf(v, insn, e);
	case VPT_INSN_SIDT:
		return sidt(v, insn, e);
	default:
		return VPT_DONE_NATIVE;
	}
}

enum vpt_done vpt_emulate(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e)
{
	switch (insn->cls) {
	case VPT_INSN_HLT:
	case VPT_INSN_MONITOR:
	case VPT_INSN_MWAIT:
	case VPT_INSN_UMONITOR:
	case VPT_INSN_UMWAIT:
	case VPT_INSN_TPAUSE:
		return vpt_emulate_wait(v, insn, e);
	case VPT_INSN_PTWRITE:
		return vpt_emulate_ptwrite(v, insn, e);
	case VPT_INSN_RDMSR:
		return rdmsr(v, insn, e);
	case VPT_INSN_RDPMC:
		return rdpmc(v, insn, e);
	case VPT_INSN_INT:
	case VPT_INSN_INT1:
		return software_interrupt(v, insn, e);
	case VPT_INSN_IRET:
		return vpt_emulate_iret(v, insn, e);
	case VPT_INSN_SYSCALL:
	case VPT_INSN_SYSRET:
	case VPT_INSN_SYSENTER:
	case VPT_INSN_SYSEXIT:
		return vpt_emulate_syscall(v, insn, e);
	case VPT_INSN_FAR:
		return v->engine->can & VPT_ENGINE_NEAR ? vpt_emulate_far(v, insn, e)
							: VPT_DONE_NATIVE;
	default:
		return v->engine->can & VPT_ENGINE_NEAR ? VPT_DONE_NATIVE
							: spare_a_step(v, insn, e);
	}
}
