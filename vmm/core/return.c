// SPDX-License-Identifier: GPL-2.0-or-later
/* Far RET, and what IRET has in common with it: returns go outward, never inward. */
#include "core/emulate.h"
#include "core/transfer.h"

bool vpt_return_code(struct vpt_vcpu *v, uint64_t selector, uint64_t ip, struct vpt_segment *cs,
		     struct vpt_exception *e)
{
	uint8_t rpl = selector & 3;

	if (vpt_null_selector(selector))
		return vpt_refuse(e, VPT_VEC_GP, 0, false);
	if (!vpt_descriptor(v, (uint16_t)selector, VPT_VEC_GP, false, cs, e))
		return false;
	if (!vpt_is_code(cs) || rpl < v->cpl || (vpt_is_wide(v, cs) && cs->db))
		return vpt_refuse(e, VPT_VEC_GP, selector, false);
	if (vpt_is_conforming(cs) ? cs->dpl > rpl : cs->dpl != rpl)
		return vpt_refuse(e, VPT_VEC_GP, selector, false);
	if (!cs->present)
		return vpt_refuse(e, VPT_VEC_NP, selector, false);
	if (!vpt_check_ip(v, cs, ip, false, e))
		return false;
	cs->dpl = rpl;
	return true;
}

bool vpt_return_stack(struct vpt_vcpu *v, uint64_t selector, const struct vpt_segment *cs,
		      struct vpt_segment *ss, struct vpt_exception *e)
{
	uint8_t rpl = cs->dpl;

	if (vpt_null_selector(selector)) {
		if (!vpt_is_wide(v, cs) || rpl == 3 || (selector & 3) != rpl)
			return vpt_refuse(e, VPT_VEC_GP, 0, false);
		*ss = vpt_null_ss(rpl);
		return true;
	}
	if ((selector & 3) != rpl)
		return vpt_refuse(e, VPT_VEC_GP, selector, false);
	if (!vpt_descriptor(v, (uint16_t)selector, VPT_VEC_GP, false, ss, e))
		return false;
	if (!ss->s || (ss->type & 0xa) != 2 || ss->dpl != rpl)
		return vpt_refuse(e, VPT_VEC_GP, selector, false);
	if (!ss->present)
		return vpt_refuse(e, VPT_VEC_SS, selector, false);
	return true;
}

/* Data segments of the inner ring do not follow to the outer one. */
static void drop_if_inner(struct vpt_segment *seg, uint8_t cpl)
{
	if (seg->unusable || !seg->present || vpt_null_selector(seg->selector) ||
	    vpt_is_conforming(seg))
		return;
	if (seg->dpl < cpl) {
		seg->selector = 0;
		seg->unusable = true;
		seg->present = false;
	}
}

void vpt_return_to(struct vpt_vcpu *v, const struct vpt_segment *cs, const struct vpt_segment *ss,
		   uint64_t ip, uint64_t sp)
{
	bool wide = vpt_is_wide(v, cs);

	v->regs->rip = wide ? ip : (uint32_t)ip;
	v->regs->rsp = ss ? vpt_stack_pointer(v, ss, wide, sp) : sp;
	if (cs->dpl > v->cpl) {
		drop_if_inner(&v->s.ds, cs->dpl);
		drop_if_inner(&v->s.es, cs->dpl);
		drop_if_inner(&v->s.fs, cs->dpl);
		drop_if_inner(&v->s.gs, cs->dpl);
	}
	v->s.cs = *cs;
	if (ss)
		v->s.ss = *ss;
	vpt_vcpu_store(v);
}

/* RET n gives up the caller's parameters on both stacks. */
static uint64_t released(const struct vpt_vcpu *v, const struct vpt_segment *ss, bool wide,
			 uint64_t sp, uint16_t bytes)
{
	return vpt_stack_pointer(v, ss, wide, sp + bytes);
}

enum vpt_done vpt_far_return(struct vpt_vcpu *v, const struct vpt_insn_far *far,
			     struct vpt_exception *e)
{
	struct vpt_stack stack = vpt_stack_now(v);
	struct vpt_segment cs, ss;
	uint64_t to[2], outer[2];
	bool wide;

	if (!vpt_pop(v, &stack, to, 2, far->size, e))
		return VPT_DONE_FAULT;
	to[1] &= 0xffff;
	if (!vpt_return_code(v, to[1], to[0], &cs, e))
		return VPT_DONE_FAULT;
	wide = vpt_is_wide(v, &cs);
	stack.sp = released(v, &v->s.ss, v->bits == 64, stack.sp, far->release);
	if (cs.dpl == v->cpl) {
		if (!vpt_descriptor_accessed(v, &cs, e))
			return VPT_DONE_FAULT;
		v->regs->rflags &= ~VPT_FL_RF;
		vpt_return_to(v, &cs, NULL, to[0], stack.sp);
		return VPT_DONE_RETIRED;
	}
	if (!vpt_pop(v, &stack, outer, 2, far->size, e))
		return VPT_DONE_FAULT;
	outer[1] &= 0xffff;
	if (!vpt_return_stack(v, outer[1], &cs, &ss, e) || !vpt_descriptor_accessed(v, &cs, e) ||
	    !vpt_descriptor_accessed(v, &ss, e))
		return VPT_DONE_FAULT;
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_return_to(v, &cs, &ss, to[0], released(v, &ss, wide, outer[0], far->release));
	return VPT_DONE_RETIRED;
}
