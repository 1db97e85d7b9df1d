// SPDX-License-Identifier: GPL-2.0-or-later
/* IRET in protected, compatibility and 64-bit mode (SDM vol. 2, IRET/IRETD/IRETQ). */
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

/* The flags that IRET changes at any privilege level, and those that it changes only in ring 0. */
#define RFLAGS_ANY                                                                           \
	(X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_TF | X86_FL_DF | \
	 X86_FL_OF | X86_FL_NT | X86_FL_RF | X86_FL_AC | X86_FL_ID)
#define RFLAGS_RING0 (X86_FL_IOPL | X86_FL_VIF | X86_FL_VIP)

enum frame { IP, CS, FLAGS, SP, SS, FRAME_WORDS };

static uint64_t new_rflags(const struct core_vcpu *v, uint64_t popped, unsigned int size)
{
	uint64_t mask = RFLAGS_ANY, now = v->regs->rflags;

	if (v->cpl == 0)
		mask |= RFLAGS_RING0;
	if (v->cpl <= (now & X86_FL_IOPL) >> 12)
		mask |= X86_FL_IF;
	if (size == 2) {
		mask &= 0xffff;
		now &= ~X86_FL_RF;
	}
	return (now & ~mask) | (popped & mask) | X86_FL_FIXED;
}

static enum core_done nested_task(struct core_vcpu *v, struct engine_exception *e)
{
	if (core_vcpu_long_mode(v)) {
		*e = core_fault_code(X86_VEC_GP, 0);
		return CORE_DONE_FAULT;
	}
	core_cannot(v, "IRET to another task");
	return CORE_DONE_STOPPED;
}

/* Pop the frame. It has SP and SS if the privilege level changes, and always in 64-bit mode. */
static bool pop(struct core_vcpu *v, unsigned int size, uint64_t *f, struct core_stack *stack,
		bool *outer, struct engine_exception *e)
{
	bool wide = v->bits == 64;

	*stack = core_stack_now(v);
	if (!core_pop(v, stack, f, wide ? FRAME_WORDS : SP, size, e))
		return false;
	f[CS] &= 0xffff;
	*outer = wide || (f[CS] & 3) > v->cpl;
	if (*outer && !wide && !core_pop(v, stack, f + SP, 2, size, e))
		return false;
	f[SS] &= 0xffff;
	return true;
}

enum core_done core_emulate_iret(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e)
{
	uint64_t f[FRAME_WORDS] = {0};
	unsigned int size = insn->aux;
	struct x86_segment cs, ss;
	struct core_stack stack;
	bool outer;

	/* An IRET unblocks NMIs even if it faults. */
	v->shadowed &= ~CORE_VCPU_NMI_BLOCKED;
	if (!(v->s.cr0 & X86_CR0_PE))
		return core_real_iret(v, size, e);
	if (v->regs->rflags & X86_FL_NT)
		return nested_task(v, e);
	if (!pop(v, size, f, &stack, &outer, e))
		return CORE_DONE_FAULT;
	if (!core_vcpu_long_mode(v) && size == 4 && !v->cpl && f[FLAGS] & X86_FL_VM) {
		core_cannot(v, "IRET to virtual-8086 mode");
		return CORE_DONE_STOPPED;
	}
	if (!core_return_code(v, f[CS], f[IP], &cs, e) ||
	    (outer && !core_return_stack(v, f[SS], &cs, &ss, e)) ||
	    !core_descriptor_accessed(v, &cs, e) || (outer && !core_descriptor_accessed(v, &ss, e)))
		return CORE_DONE_FAULT;
	v->regs->rflags = new_rflags(v, f[FLAGS], size);
	core_return_to(v, &cs, outer ? &ss : NULL, f[IP], outer ? f[SP] : stack.sp);
	return CORE_DONE_RETIRED;
}
