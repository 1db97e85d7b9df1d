// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real mode: a selector gives the segment's base, and the IDT is a table of far pointers. Loads of
 * CS keep its limit and attributes (SDM vol. 3, 21.1.1 and 10.9.2).
 */
#include "core/access.h"
#include "core/emulate.h"
#include "core/transfer.h"

#define REAL_RFLAGS16 0x7fd5ull
#define REAL_RFLAGS32 0x257fd5ull

void core_real_code(struct core_vcpu *v, uint64_t selector, uint64_t ip)
{
	v->s.cs.selector = (uint16_t)selector;
	v->s.cs.base = (selector & 0xffff) << 4;
	v->regs->rip = ip;
}

bool core_real_deliver(struct core_vcpu *v, const struct engine_exception *event, uint64_t rip,
		       struct engine_exception *e)
{
	uint64_t frame[3] = {v->regs->rflags, v->s.cs.selector, rip};
	struct core_stack stack = core_stack_now(v);
	uint32_t offset = 4u * event->vector;
	uint16_t to[2];

	if (offset + 3 > v->s.idt.limit)
		return core_refuse(e, X86_VEC_GP, event->vector * 8u + 2, false);
	if (!core_read(v, v->s.idt.base + offset, to, sizeof(to), X86_WALK_SYSTEM, e) ||
	    !core_check_ip(v, &v->s.cs, to[0], false, e) || !core_push(v, &stack, frame, 3, 2, e))
		return false;
	core_real_code(v, to[1], to[0]);
	v->regs->rsp = stack.sp;
	v->regs->rflags &= ~(X86_FL_IF | X86_FL_TF | X86_FL_AC | X86_FL_RF);
	core_vcpu_store(v);
	return true;
}

enum core_done core_real_iret(struct core_vcpu *v, unsigned int size, struct engine_exception *e)
{
	uint64_t mask = size == 2 ? REAL_RFLAGS16 : REAL_RFLAGS32;
	struct core_stack stack = core_stack_now(v);
	uint64_t frame[3];

	if (!core_pop(v, &stack, frame, 3, size, e) ||
	    !core_check_ip(v, &v->s.cs, frame[0], false, e))
		return CORE_DONE_FAULT;
	core_real_code(v, frame[1], frame[0]);
	v->regs->rsp = stack.sp;
	v->regs->rflags =
		(v->regs->rflags & ~(mask | X86_FL_RF)) | (frame[2] & mask) | X86_FL_FIXED;
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

enum core_done core_real_far(struct core_vcpu *v, const struct core_insn_far *far, uint64_t next,
			     struct engine_exception *e)
{
	uint64_t to[2] = {far->offset, far->selector}, from[2] = {v->s.cs.selector, next};
	struct core_stack stack = core_stack_now(v);

	if (far->kind == CORE_FAR_RET && !core_pop(v, &stack, to, 2, far->size, e))
		return CORE_DONE_FAULT;
	if (!core_check_ip(v, &v->s.cs, to[0], false, e))
		return CORE_DONE_FAULT;
	if (far->kind == CORE_FAR_CALL && !core_push(v, &stack, from, 2, far->size, e))
		return CORE_DONE_FAULT;
	v->regs->rsp = core_stack_pointer(v, &v->s.ss, false, stack.sp + far->release);
	v->regs->rflags &= ~X86_FL_RF;
	core_real_code(v, to[1], to[0]);
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}
