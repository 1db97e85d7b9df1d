// SPDX-License-Identifier: GPL-2.0-or-later
/* Far RET, and its parts that IRET shares. A return never raises the privilege level. */
#include "core/emulate.h"
#include "core/transfer.h"

bool core_return_code(struct core_vcpu *v, uint64_t selector, uint64_t ip, struct x86_segment *cs,
		      struct engine_exception *e)
{
	uint8_t rpl = selector & 3, dpl;

	if (core_null_selector(selector))
		return core_refuse(e, X86_VEC_GP, 0, false);
	if (!core_descriptor(v, (uint16_t)selector, X86_VEC_GP, false, cs, e))
		return false;
	if (!core_is_code(cs) || rpl < v->cpl || (core_is_wide(v, cs) && cs->ar & X86_AR_DB))
		return core_refuse(e, X86_VEC_GP, selector, false);
	dpl = x86_segment_dpl(cs);
	if (core_is_conforming(cs) ? dpl > rpl : dpl != rpl)
		return core_refuse(e, X86_VEC_GP, selector, false);
	if (!(cs->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_NP, selector, false);
	if (!core_check_ip(v, cs, ip, false, e))
		return false;
	x86_segment_set_dpl(cs, rpl);
	return true;
}

bool core_return_stack(struct core_vcpu *v, uint64_t selector, const struct x86_segment *cs,
		       struct x86_segment *ss, struct engine_exception *e)
{
	uint8_t rpl = x86_segment_dpl(cs);

	if (core_null_selector(selector)) {
		if (!core_is_wide(v, cs) || rpl == 3 || (selector & 3) != rpl)
			return core_refuse(e, X86_VEC_GP, 0, false);
		*ss = core_null_ss(rpl);
		return true;
	}
	if ((selector & 3) != rpl)
		return core_refuse(e, X86_VEC_GP, selector, false);
	if (!core_descriptor(v, (uint16_t)selector, X86_VEC_GP, false, ss, e))
		return false;
	if (!core_is_stack(ss) || x86_segment_dpl(ss) != rpl)
		return core_refuse(e, X86_VEC_GP, selector, false);
	if (!(ss->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_SS, selector, false);
	return true;
}

/* Clear a data segment that the outer ring may not use. */
static void drop_if_inner(struct x86_segment *seg, uint8_t cpl)
{
	if (!x86_segment_usable(seg) || core_null_selector(seg->selector) ||
	    core_is_conforming(seg))
		return;
	if (x86_segment_dpl(seg) < cpl) {
		seg->selector = 0;
		seg->ar = (seg->ar & ~X86_AR_P) | X86_AR_UNUSABLE;
	}
}

void core_return_to(struct core_vcpu *v, const struct x86_segment *cs, const struct x86_segment *ss,
		    uint64_t ip, uint64_t sp)
{
	uint8_t cpl = x86_segment_dpl(cs);
	bool wide = core_is_wide(v, cs);

	v->regs->rip = wide ? ip : (uint32_t)ip;
	v->regs->rsp = ss ? core_stack_pointer(v, ss, wide, sp) : sp;
	if (cpl > v->cpl) {
		drop_if_inner(&v->s.ds, cpl);
		drop_if_inner(&v->s.es, cpl);
		drop_if_inner(&v->s.fs, cpl);
		drop_if_inner(&v->s.gs, cpl);
	}
	v->s.cs = *cs;
	if (ss)
		v->s.ss = *ss;
	core_vcpu_store(v);
}

/* Returns the stack pointer after RET n has released the parameters, which are on both stacks. */
static uint64_t released(const struct core_vcpu *v, const struct x86_segment *ss, bool wide,
			 uint64_t sp, uint16_t bytes)
{
	return core_stack_pointer(v, ss, wide, sp + bytes);
}

enum core_done core_far_return(struct core_vcpu *v, const struct core_insn_far *far,
			       struct engine_exception *e)
{
	struct core_stack stack = core_stack_now(v);
	struct x86_segment cs, ss;
	uint64_t to[2], outer[2];
	bool wide;

	if (!core_pop(v, &stack, to, 2, far->size, e))
		return CORE_DONE_FAULT;
	to[1] &= 0xffff;
	if (!core_return_code(v, to[1], to[0], &cs, e))
		return CORE_DONE_FAULT;
	wide = core_is_wide(v, &cs);
	stack.sp = released(v, &v->s.ss, v->bits == 64, stack.sp, far->release);
	if (x86_segment_dpl(&cs) == v->cpl) {
		if (!core_descriptor_accessed(v, &cs, e))
			return CORE_DONE_FAULT;
		v->regs->rflags &= ~X86_FL_RF;
		core_return_to(v, &cs, NULL, to[0], stack.sp);
		return CORE_DONE_RETIRED;
	}
	if (!core_pop(v, &stack, outer, 2, far->size, e))
		return CORE_DONE_FAULT;
	outer[1] &= 0xffff;
	if (!core_return_stack(v, outer[1], &cs, &ss, e) || !core_descriptor_accessed(v, &cs, e) ||
	    !core_descriptor_accessed(v, &ss, e))
		return CORE_DONE_FAULT;
	v->regs->rflags &= ~X86_FL_RF;
	core_return_to(v, &cs, &ss, to[0], released(v, &ss, wide, outer[0], far->release));
	return CORE_DONE_RETIRED;
}
