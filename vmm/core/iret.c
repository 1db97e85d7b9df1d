// SPDX-License-Identifier: GPL-2.0-or-later
/* IRET in protected, compatibility and 64-bit mode (SDM vol. 2, IRET/IRETD/IRETQ). */
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

/* What any privilege may change, and what only ring 0 or IOPL may. */
#define RFLAGS_ANY                                                                           \
	(VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF | VPT_FL_TF | VPT_FL_DF | \
	 VPT_FL_OF | VPT_FL_NT | VPT_FL_RF | VPT_FL_AC | VPT_FL_ID)
#define RFLAGS_RING0 (VPT_FL_IOPL | VPT_FL_VIF | VPT_FL_VIP)

enum frame { IP, CS, FLAGS, SP, SS, FRAME_WORDS };

static uint64_t new_rflags(const struct vpt_vcpu *v, uint64_t popped, unsigned int size)
{
	uint64_t mask = RFLAGS_ANY, now = v->regs->rflags;

	if (v->cpl == 0)
		mask |= RFLAGS_RING0;
	if (v->cpl <= (now & VPT_FL_IOPL) >> 12)
		mask |= VPT_FL_IF;
	if (size == 2) {
		mask &= 0xffff;
		now &= ~VPT_FL_RF;
	}
	return (now & ~mask) | (popped & mask) | VPT_FL_FIXED;
}

static enum vpt_done nested_task(struct vpt_vcpu *v, struct vpt_exception *e)
{
	if (v->long_mode) {
		*e = vpt_fault_code(VPT_VEC_GP, 0);
		return VPT_DONE_FAULT;
	}
	vpt_cannot(v, "IRET to another task");
	return VPT_DONE_STOPPED;
}

/* SP and SS are on the stack when they change; in 64-bit mode always. */
static bool pop(struct vpt_vcpu *v, unsigned int size, uint64_t *f, struct vpt_stack *stack,
		bool *outer, struct vpt_exception *e)
{
	bool wide = v->bits == 64;

	*stack = vpt_stack_now(v);
	if (!vpt_pop(v, stack, f, wide ? FRAME_WORDS : SP, size, e))
		return false;
	f[CS] &= 0xffff;
	*outer = wide || (f[CS] & 3) > v->cpl;
	if (*outer && !wide && !vpt_pop(v, stack, f + SP, 2, size, e))
		return false;
	f[SS] &= 0xffff;
	return true;
}

enum vpt_done vpt_emulate_iret(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e)
{
	uint64_t f[FRAME_WORDS] = {0};
	unsigned int size = insn->aux;
	struct vpt_segment cs, ss;
	struct vpt_stack stack;
	bool outer;

	/* Even one that faults. */
	v->shadowed &= ~VPT_VCPU_NMI_BLOCKED;
	if (!(v->s.cr0 & VPT_CR0_PE))
		return vpt_real_iret(v, size, e);
	if (v->regs->rflags & VPT_FL_NT)
		return nested_task(v, e);
	if (!pop(v, size, f, &stack, &outer, e))
		return VPT_DONE_FAULT;
	if (!v->long_mode && size == 4 && !v->cpl && f[FLAGS] & VPT_FL_VM) {
		vpt_cannot(v, "IRET to virtual-8086 mode");
		return VPT_DONE_STOPPED;
	}
	if (!vpt_return_code(v, f[CS], f[IP], &cs, e) ||
	    (outer && !vpt_return_stack(v, f[SS], &cs, &ss, e)) ||
	    !vpt_descriptor_accessed(v, &cs, e) || (outer && !vpt_descriptor_accessed(v, &ss, e)))
		return VPT_DONE_FAULT;
	v->regs->rflags = new_rflags(v, f[FLAGS], size);
	vpt_return_to(v, &cs, outer ? &ss : NULL, f[IP], outer ? f[SP] : stack.sp);
	return VPT_DONE_RETIRED;
}
