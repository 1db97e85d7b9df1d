// SPDX-License-Identifier: GPL-2.0-or-later
/* Far JMP and CALL to code segments (SDM vol. 2, JMP and CALL), and dispatch of far transfers. */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

#include <string.h>

static const struct x86_segment *segment(const struct core_vcpu *v, char letter)
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

/* Get the linear address of a memory operand, checked against its segment. */
static bool operand(struct core_vcpu *v, const struct core_insn *insn, size_t len,
		    uint64_t *address, char *letter, struct engine_exception *e)
{
	const struct x86_segment *seg;

	if (!core_insn_address(v->insns, insn, v->regs, address, letter))
		return core_refuse(e, X86_VEC_GP, 0, false);
	seg = segment(v, *letter);
	if (v->bits == 64) {
		*address += *letter == 'f' || *letter == 'g' ? seg->base : 0;
		return true;
	}
	/* An execute-only code segment cannot be read. */
	if (seg->ar & X86_AR_UNUSABLE ||
	    (v->s.cr0 & X86_CR0_PE && (seg->ar & (X86_AR_EXEC | X86_AR_RW)) == X86_AR_EXEC) ||
	    !core_in_limit(seg, *address, len))
		return core_refuse(e, *letter == 's' ? X86_VEC_SS : X86_VEC_GP, 0, false);
	*address = (uint32_t)(*address + seg->base);
	return true;
}

/* Load the far pointer from memory: the offset, then the selector. */
static bool load_pointer(struct core_vcpu *v, const struct core_insn *insn,
			 struct core_insn_far *far, struct engine_exception *e)
{
	size_t len = far->size + 2u;
	uint64_t address;
	uint8_t raw[10];
	char letter;

	if (!operand(v, insn, len, &address, &letter, e))
		return false;
	if (!core_read(v, address, raw, len, X86_WALK_READ, e)) {
		if (e->vector == X86_VEC_GP && letter == 's')
			*e = core_fault_code(X86_VEC_SS, 0);
		return false;
	}
	far->offset = 0;
	memcpy(&far->offset, raw, far->size);
	memcpy(&far->selector, raw + far->size, 2);
	return true;
}

/* Check a transfer to code without a gate, which keeps the privilege level. */
static bool check_direct(struct core_vcpu *v, uint16_t selector, struct x86_segment *cs,
			 struct engine_exception *e)
{
	uint8_t dpl = x86_segment_dpl(cs);
	bool allowed =
		core_is_conforming(cs) ? dpl <= v->cpl : dpl == v->cpl && (selector & 3) <= v->cpl;

	if (!core_is_code(cs) || !allowed || (core_is_wide(v, cs) && cs->ar & X86_AR_DB))
		return core_refuse(e, X86_VEC_GP, selector, false);
	if (!(cs->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_NP, selector, false);
	x86_segment_set_dpl(cs, v->cpl);
	return true;
}

static enum core_done direct(struct core_vcpu *v, const struct core_insn_far *far,
			     struct x86_segment *cs, uint64_t next, struct engine_exception *e)
{
	uint64_t from[2] = {v->s.cs.selector, next};
	struct core_stack stack = core_stack_now(v);

	if (!check_direct(v, far->selector, cs, e) ||
	    !core_check_ip(v, cs, far->offset, false, e) || !core_descriptor_accessed(v, cs, e))
		return CORE_DONE_FAULT;
	if (far->kind == CORE_FAR_CALL && !core_push(v, &stack, from, 2, far->size, e))
		return CORE_DONE_FAULT;
	cs->selector = (uint16_t)((far->selector & 0xfffc) | v->cpl);
	v->s.cs = *cs;
	v->regs->rip = far->offset;
	v->regs->rsp = stack.sp;
	v->regs->rflags &= ~X86_FL_RF;
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

enum core_done core_emulate_far(struct core_vcpu *v, const struct core_insn *insn,
				struct engine_exception *e)
{
	uint64_t next = v->regs->rip + insn->len;
	struct core_insn_far far;
	struct x86_segment seg;

	if (!core_insn_far(v->insns, insn, &far))
		return CORE_DONE_NATIVE;
	if (far.memory && !load_pointer(v, insn, &far, e))
		return CORE_DONE_FAULT;
	if (!(v->s.cr0 & X86_CR0_PE))
		return core_real_far(v, &far, next, e);
	if (far.kind == CORE_FAR_RET)
		return core_far_return(v, &far, e);
	if (core_null_selector(far.selector)) {
		*e = core_fault_code(X86_VEC_GP, 0);
		return CORE_DONE_FAULT;
	}
	if (!core_descriptor(v, far.selector, X86_VEC_GP, false, &seg, e))
		return CORE_DONE_FAULT;
	if (!(seg.ar & X86_AR_S))
		return core_far_system(v, &far, &seg, next, e);
	return direct(v, &far, &seg, next, e);
}
