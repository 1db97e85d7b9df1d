// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real mode: a selector is a base, the IDT a table of far pointers. Loads of CS keep
 * the limit and the attributes it has (SDM vol. 3, 21.1.1 and 10.9.2).
 */
#include "core/access.h"
#include "core/emulate.h"
#include "core/transfer.h"

#define REAL_RFLAGS16 0x7fd5ull
#define REAL_RFLAGS32 0x257fd5ull

void vpt_real_code(struct vpt_vcpu *v, uint64_t selector, uint64_t ip)
{
	v->s.cs.selector = (uint16_t)selector;
	v->s.cs.base = (selector & 0xffff) << 4;
	v->regs->rip = ip;
}

bool vpt_real_deliver(struct vpt_vcpu *v, const struct vpt_exception *event, uint64_t rip,
		      struct vpt_exception *e)
{
	uint64_t frame[3] = {v->regs->rflags, v->s.cs.selector, rip};
	struct vpt_stack stack = vpt_stack_now(v);
	uint32_t offset = 4u * event->vector;
	uint16_t to[2];

	if (offset + 3 > v->s.idt.limit)
		return vpt_refuse(e, VPT_VEC_GP, event->vector * 8u + 2, false);
	if (!vpt_read(v, v->s.idt.base + offset, to, sizeof(to), VPT_WALK_SYSTEM, e) ||
	    !vpt_check_ip(v, &v->s.cs, to[0], false, e) || !vpt_push(v, &stack, frame, 3, 2, e))
		return false;
	vpt_real_code(v, to[1], to[0]);
	v->regs->rsp = stack.sp;
	v->regs->rflags &= ~(VPT_FL_IF | VPT_FL_TF | VPT_FL_AC | VPT_FL_RF);
	vpt_vcpu_store(v);
	return true;
}

enum vpt_done vpt_real_iret(struct vpt_vcpu *v, unsigned int size, struct vpt_exception *e)
{
	uint64_t mask = size == 2 ? REAL_RFLAGS16 : REAL_RFLAGS32;
	struct vpt_stack stack = vpt_stack_now(v);
	uint64_t frame[3];

	if (!vpt_pop(v, &stack, frame, 3, size, e) ||
	    !vpt_check_ip(v, &v->s.cs, frame[0], false, e))
		return VPT_DONE_FAULT;
	vpt_real_code(v, frame[1], frame[0]);
	v->regs->rsp = stack.sp;
	v->regs->rflags =
		(v->regs->rflags & ~(mask | VPT_FL_RF)) | (frame[2] & mask) | VPT_FL_FIXED;
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}

enum vpt_done vpt_real_far(struct vpt_vcpu *v, const struct vpt_insn_far *far, uint64_t next,
			   struct vpt_exception *e)
{
	uint64_t to[2] = {far->offset, far->selector}, from[2] = {v->s.cs.selector, next};
	struct vpt_stack stack = vpt_stack_now(v);

	if (far->kind == VPT_FAR_RET && !vpt_pop(v, &stack, to, 2, far->size, e))
		return VPT_DONE_FAULT;
	if (!vpt_check_ip(v, &v->s.cs, to[0], false, e))
		return VPT_DONE_FAULT;
	if (far->kind == VPT_FAR_CALL && !vpt_push(v, &stack, from, 2, far->size, e))
		return VPT_DONE_FAULT;
	v->regs->rsp = vpt_stack_pointer(v, &v->s.ss, false, stack.sp + far->release);
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_real_code(v, to[1], to[0]);
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}
