// SPDX-License-Identifier: GPL-2.0-or-later
/* Far JMP and CALL (SDM vol. 2, JMP and CALL) to code; what they find in a table else. */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

#include <string.h>

static const struct vpt_segment *segment(const struct vpt_vcpu *v, char letter)
{
	switch (letter) {
	case 'c':
		return &v->s.cs;
	case 'e':
		return &v->s.es;
	case 's':
		return &v->s.ss;
	case 'f':
		return &v->s.fs;
	case 'g':
		return &v->s.gs;
	default:
		return &v->s.ds;
	}
}

/* Linear address of an operand, checked against its segment. */
static bool operand(struct vpt_vcpu *v, const struct vpt_insn *insn, size_t len, uint64_t *address,
		    char *letter, struct vpt_exception *e)
{
	const struct vpt_segment *seg;

	if (!vpt_insn_address(v->insns, insn, v->regs, address, letter))
		return vpt_refuse(e, VPT_VEC_GP, 0, false);
	seg = segment(v, *letter);
	if (v->bits == 64) {
		*address += *letter == 'f' || *letter == 'g' ? seg->base : 0;
		return true;
	}
	/* Code that may only be executed cannot be read either. */
	if (seg->unusable || (v->s.cr0 & VPT_CR0_PE && (seg->type & 0xa) == 8) ||
	    !vpt_in_limit(seg, *address, len))
		return vpt_refuse(e, *letter == 's' ? VPT_VEC_SS : VPT_VEC_GP, 0, false);
	*address = (uint32_t)(*address + seg->base);
	return true;
}

/* The pointer in memory: offset, then selector. */
static bool load_pointer(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_insn_far *far,
			 struct vpt_exception *e)
{
	size_t len = far->size + 2u;
	uint64_t address;
	uint8_t raw[10];
	char letter;

	if (!operand(v, insn, len, &address, &letter, e))
		return false;
	if (!vpt_read(v, address, raw, len, VPT_WALK_READ, e)) {
		if (e->vector == VPT_VEC_GP && letter == 's')
			*e = vpt_fault_code(VPT_VEC_SS, 0);
		return false;
	}
	far->offset = 0;
	memcpy(&far->offset, raw, far->size);
	memcpy(&far->selector, raw + far->size, 2);
	return true;
}

/* To code without a gate: the privilege stays. */
static bool check_direct(struct vpt_vcpu *v, uint16_t selector, struct vpt_segment *cs,
			 struct vpt_exception *e)
{
	bool allowed = vpt_is_conforming(cs) ? cs->dpl <= v->cpl
					     : cs->dpl == v->cpl && (selector & 3) <= v->cpl;

	if (!vpt_is_code(cs) || !allowed || (vpt_is_wide(v, cs) && cs->db))
		return vpt_refuse(e, VPT_VEC_GP, selector, false);
	if (!cs->present)
		return vpt_refuse(e, VPT_VEC_NP, selector, false);
	cs->dpl = v->cpl;
	return true;
}

static enum vpt_done direct(struct vpt_vcpu *v, const struct vpt_insn_far *far,
			    struct vpt_segment *cs, uint64_t next, struct vpt_exception *e)
{
	uint64_t from[2] = {v->s.cs.selector, next};
	struct vpt_stack stack = vpt_stack_now(v);

	if (!check_direct(v, far->selector, cs, e) || !vpt_check_ip(v, cs, far->offset, false, e) ||
	    !vpt_descriptor_accessed(v, cs, e))
		return VPT_DONE_FAULT;
	if (far->kind == VPT_FAR_CALL && !vpt_push(v, &stack, from, 2, far->size, e))
		return VPT_DONE_FAULT;
	cs->selector = (uint16_t)((far->selector & 0xfffc) | v->cpl);
	v->s.cs = *cs;
	v->regs->rip = far->offset;
	v->regs->rsp = stack.sp;
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

enum vpt_done vpt_emulate_far(struct vpt_vcpu *v, const struct vpt_insn *insn,
			      struct vpt_exception *e)
{
	uint64_t next = v->regs->rip + insn->len;
	struct vpt_insn_far far;
	struct vpt_segment seg;

	if (!vpt_insn_far(v->insns, insn, &far))
		return VPT_DONE_NATIVE;
	if (far.memory && !load_pointer(v, insn, &far, e))
		return VPT_DONE_FAULT;
	if (!(v->s.cr0 & VPT_CR0_PE))
		return vpt_real_far(v, &far, next, e);
	if (far.kind == VPT_FAR_RET)
		return vpt_far_return(v, &far, e);
	if (vpt_null_selector(far.selector)) {
		*e = vpt_fault_code(VPT_VEC_GP, 0);
		return VPT_DONE_FAULT;
	}
	if (!vpt_descriptor(v, far.selector, VPT_VEC_GP, false, &seg, e))
		return VPT_DONE_FAULT;
	if (!seg.s)
		return vpt_far_system(v, &far, &seg, next, e);
	return direct(v, &far, &seg, next, e);
}
