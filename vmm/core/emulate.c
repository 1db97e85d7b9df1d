// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that the core executes itself. Emulating a branch without a memory operand saves
 * a step of the engine. PUSHF, POPF and SIDT would show the debugger's TF or an empty IDTR if they
 * were stepped. MSRs of PT are emulated, too. With ENGINE_NEAR the engine executes all branches
 * within a segment, and the core only transfers between segments.
 */
#include "core/access.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/msr.h"
#include "core/transfer.h"
#include "core/wait.h"

#include <string.h>

static enum core_done retire_at(struct core_vcpu *v, uint64_t rip)
{
	v->regs->rflags &= ~X86_FL_RF;
	core_vcpu_set_rip(v, rip);
	return CORE_DONE_RETIRED;
}

/* For a noncanonical target the engine executes the jump and raises the exception. */
static enum core_done jump(struct core_vcpu *v, const struct core_insn *insn)
{
	uint64_t to = v->regs->rip + insn->len + (uint64_t)insn->disp;

	if (v->bits != 64 || !core_canonical(v, to))
		return CORE_DONE_NATIVE;
	return retire_at(v, to);
}

enum count_opcode { OP_LOOPNE = 0xe0, OP_LOOPE = 0xe1, OP_LOOP = 0xe2, OP_JRCXZ = 0xe3 };

static bool is_count(uint8_t opcode)
{
	return opcode >= OP_LOOPNE && opcode <= OP_JRCXZ;
}

/*
 * Execute LOOPcc or J*CXZ, except for the jump. The address size selects the bits of RCX that
 * count. Returns true if the branch is taken.
 */
static bool count_taken(struct core_vcpu *v, const struct core_insn *insn)
{
	uint64_t mask = insn->flags & CORE_INSN_ADDRESS32 ? 0xffffffffu : ~0ull;
	uint64_t count = v->regs->rcx & mask, zf = v->regs->rflags & X86_FL_ZF;

	if (insn->aux == OP_JRCXZ)
		return !count;
	count = (count - 1) & mask;
	/* A 32-bit result clears the upper half of RCX. */
	v->regs->rcx = count;
	v->ev->state |= ENGINE_REGS_DIRTY;
	if (insn->aux == OP_LOOPNE)
		return count && !zf;
	if (insn->aux == OP_LOOPE)
		return count && zf;
	return count;
}

static enum core_done branch(struct core_vcpu *v, const struct core_insn *insn)
{
	uint64_t next = v->regs->rip + insn->len;
	bool taken;

	if (v->bits != 64 || insn->flags & CORE_INSN_ADDRESS16 ||
	    !core_canonical(v, next + (uint64_t)insn->disp))
		return CORE_DONE_NATIVE;
	taken = is_count(insn->aux) ? count_taken(v, insn)
				    : core_insn_condition(insn->aux, v->regs->rflags);
	core_put_bit(&v->pending, CORE_VCPU_TAKEN, taken);
	return retire_at(v, taken ? next + (uint64_t)insn->disp : next);
}

static enum core_done pushf(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e)
{
	uint64_t rflags = v->regs->rflags & ~(X86_FL_RF | X86_FL_VM);

	if (v->bits != 64)
		return CORE_DONE_NATIVE;
	if (!core_write(v, v->regs->rsp - insn->aux, &rflags, insn->aux, 0, e)) {
		if (e->vector == X86_VEC_GP)
			*e = core_fault_code(X86_VEC_SS, 0);
		return CORE_DONE_FAULT;
	}
	v->regs->rsp -= insn->aux;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum core_done popf(struct core_vcpu *v, const struct core_insn *insn,
			   struct engine_exception *e)
{
	uint64_t mask = X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_TF |
			X86_FL_DF | X86_FL_OF | X86_FL_NT | X86_FL_AC | X86_FL_ID;
	uint64_t now = v->regs->rflags, popped = 0;

	if (v->bits != 64)
		return CORE_DONE_NATIVE;
	if (!core_read(v, v->regs->rsp, &popped, insn->aux, X86_WALK_READ, e)) {
		if (e->vector == X86_VEC_GP)
			*e = core_fault_code(X86_VEC_SS, 0);
		return CORE_DONE_FAULT;
	}
	if (!v->cpl)
		mask |= X86_FL_IOPL;
	if (v->cpl <= (now & X86_FL_IOPL) >> 12)
		mask |= X86_FL_IF;
	if (insn->aux == 2)
		mask &= 0xffff;
	v->regs->rflags = (now & ~mask) | (popped & mask) | X86_FL_FIXED;
	v->regs->rsp += insn->aux;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum core_done sidt(struct core_vcpu *v, const struct core_insn *insn,
			   struct engine_exception *e)
{
	uint64_t address;
	uint8_t out[10];
	char segment;

	if (v->bits != 64 || (v->cpl && v->s.cr4 & X86_CR4_UMIP) ||
	    !core_insn_address(v->insns, insn, v->regs, &address, &segment))
		return CORE_DONE_NATIVE;
	if (segment == 'f' || segment == 'g')
		address += segment == 'f' ? v->s.fs.base : v->s.gs.base;
	memcpy(out, &v->s.idt.limit, 2);
	memcpy(out + 2, &v->s.idt.base, 8);
	if (!core_write(v, address, out, sizeof(out), 0, e))
		return CORE_DONE_FAULT;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum core_done rdmsr(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e)
{
	uint64_t value;

	if (v->cpl || !core_msr_traps((uint32_t)v->regs->rcx))
		return CORE_DONE_NATIVE;
	if (core_msr_read(v, (uint32_t)v->regs->rcx, &value) != VPT_FAULT_NONE) {
		*e = core_fault_code(X86_VEC_GP, 0);
		return CORE_DONE_FAULT;
	}
	v->regs->rax = (uint32_t)value;
	v->regs->rdx = value >> 32;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum core_done rdpmc(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e)
{
	uint64_t value;

	if ((v->cpl && !(v->s.cr4 & X86_CR4_PCE)) ||
	    !core_perfmon_rdpmc(v, (uint32_t)v->regs->rcx, &value)) {
		*e = core_fault_code(X86_VEC_GP, 0);
		return CORE_DONE_FAULT;
	}
	v->regs->rax = (uint32_t)value;
	v->regs->rdx = value >> 32;
	return retire_at(v, v->regs->rip + insn->len);
}

static enum core_done software_interrupt(struct core_vcpu *v, const struct core_insn *insn,
					 struct engine_exception *e)
{
	bool int1 = insn->cls == CORE_INSN_INT1;
	struct engine_exception event = core_fault_plain(int1 ? X86_VEC_DB : insn->aux);
	uint64_t next = v->regs->rip + insn->len;

	if (core_insn_is_into(insn) && !(v->regs->rflags & X86_FL_OF))
		return retire_at(v, next);
	if (core_deliver_software(v, &event, int1 ? CORE_SOURCE_INT1 : CORE_SOURCE_SOFTWARE, next,
				  e))
		return CORE_DONE_RETIRED;
	return v->vm->stop.kind == TRACE_STOP_UNABLE ? CORE_DONE_STOPPED : CORE_DONE_FAULT;
}

/* Emulate an instruction that a step would execute wrongly, on hosts that lack a feature. */
static enum core_done spare_a_step(struct core_vcpu *v, const struct core_insn *insn,
				   struct engine_exception *e)
{
	switch (insn->cls) {
	case CORE_INSN_COND:
		return branch(v, insn);
	case CORE_INSN_JMP:
		return jump(v, insn);
	case CORE_INSN_PUSHF:
		return pushf(v, insn, e);
	case CORE_INSN_POPF:
		return popf(v, insn, e);
	case CORE_INSN_SIDT:
		return sidt(v, insn, e);
	default:
		return CORE_DONE_NATIVE;
	}
}

enum core_done core_emulate(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e)
{
	switch (insn->cls) {
	case CORE_INSN_HLT:
	case CORE_INSN_MONITOR:
	case CORE_INSN_MWAIT:
	case CORE_INSN_UMONITOR:
	case CORE_INSN_UMWAIT:
	case CORE_INSN_TPAUSE:
		return core_emulate_wait(v, insn, e);
	case CORE_INSN_PTWRITE:
		return core_emulate_ptwrite(v, insn, e);
	case CORE_INSN_RDMSR:
		return rdmsr(v, insn, e);
	case CORE_INSN_RDPMC:
		return rdpmc(v, insn, e);
	case CORE_INSN_INT:
	case CORE_INSN_INT1:
		return software_interrupt(v, insn, e);
	case CORE_INSN_IRET:
		return core_emulate_iret(v, insn, e);
	case CORE_INSN_SYSCALL:
	case CORE_INSN_SYSRET:
	case CORE_INSN_SYSENTER:
	case CORE_INSN_SYSEXIT:
		return core_emulate_syscall(v, insn, e);
	case CORE_INSN_FAR:
		return v->engine->can & ENGINE_NEAR ? core_emulate_far(v, insn, e)
						    : CORE_DONE_NATIVE;
	default:
		return v->engine->can & ENGINE_NEAR ? CORE_DONE_NATIVE : spare_a_step(v, insn, e);
	}
}
