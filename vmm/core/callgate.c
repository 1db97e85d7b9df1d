// SPDX-License-Identifier: GPL-2.0-or-later
/* Far JMP and CALL through call gates (SDM vol. 3, 5.8.3 to 5.8.5). */
#include "core/emulate.h"
#include "core/transfer.h"

enum system_type {
	TSS16_AVAILABLE = 1,
	CALL_GATE16 = 4,
	TASK_GATE = 5,
	TSS32_AVAILABLE = 9,
	CALL_GATE = 12,
};

struct gate {
	uint64_t offset;
	uint16_t selector;
	uint8_t count; /* parameters that a call copies */
	uint8_t size;  /* bytes of each word pushed */
};

static bool read_gate(struct core_vcpu *v, uint16_t selector, uint8_t type, struct gate *gate,
		      struct engine_exception *e)
{
	uint64_t raw[2] = {0};

	if (!core_descriptor_raw(v, selector, X86_VEC_GP, false, raw,
				 core_vcpu_long_mode(v) ? 16 : 8, e))
		return false;
	if (raw[1] >> 40 & 31)
		return core_refuse(e, X86_VEC_GP, selector, false);
	*gate = (struct gate){
		.offset = (raw[0] & 0xffff) | (raw[0] >> 32 & 0xffff0000) | raw[1] << 32,
		.selector = (uint16_t)(raw[0] >> 16),
		.count = core_vcpu_long_mode(v) ? 0 : raw[0] >> 32 & 31,
		.size = core_vcpu_long_mode(v) ? 8 : 4,
	};
	if (type == CALL_GATE16) {
		gate->offset &= 0xffff;
		gate->size = 2;
	}
	return true;
}

/* Load CS from the gate. A CALL to nonconforming code may raise the privilege to the code's DPL. */
static bool load_code(struct core_vcpu *v, const struct gate *gate, bool call,
		      struct x86_segment *cs, struct engine_exception *e)
{
	uint8_t dpl;

	if (core_null_selector(gate->selector))
		return core_refuse(e, X86_VEC_GP, 0, false);
	if (!core_descriptor(v, gate->selector, X86_VEC_GP, false, cs, e))
		return false;
	dpl = x86_segment_dpl(cs);
	if (call || core_is_conforming(cs) ? dpl > v->cpl : dpl != v->cpl)
		return core_refuse(e, X86_VEC_GP, gate->selector, false);
	if (!core_is_code(cs) || (core_vcpu_long_mode(v) && !core_is_code64(cs)))
		return core_refuse(e, X86_VEC_GP, gate->selector, false);
	if (!(cs->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_NP, gate->selector, false);
	if (core_is_conforming(cs))
		x86_segment_set_dpl(cs, v->cpl);
	return true;
}

/* Push the return address. On an inner stack the old SS:RSP and the parameters precede it. */
static bool push(struct core_vcpu *v, const struct gate *gate, struct core_stack *stack, bool inner,
		 uint64_t next, struct engine_exception *e)
{
	struct core_stack caller = core_stack_now(v);
	uint64_t word[CORE_STACK_WORDS], parameter[31];
	unsigned int n = 0, i;

	if (inner) {
		word[n++] = v->s.ss.selector;
		word[n++] = v->regs->rsp;
		if (gate->count && !core_pop(v, &caller, parameter, gate->count, gate->size, e))
			return false;
		for (i = gate->count; i > 0; i--)
			word[n++] = parameter[i - 1];
	}
	word[n++] = v->s.cs.selector;
	word[n++] = next;
	return core_push(v, stack, word, n, gate->size, e);
}

static enum core_done through_gate(struct core_vcpu *v, const struct gate *gate, bool call,
				   uint64_t next, struct engine_exception *e)
{
	struct core_stack stack = core_stack_now(v);
	struct x86_segment cs, ss = v->s.ss;
	uint8_t dpl;
	bool inner;

	if (!load_code(v, gate, call, &cs, e))
		return CORE_DONE_FAULT;
	dpl = x86_segment_dpl(&cs);
	inner = dpl < v->cpl;
	if (inner && !core_stack_inner(v, dpl, 0, false, &ss, &stack, e))
		return CORE_DONE_FAULT;
	/* A gate in long mode leads to 64-bit code, whose stack has no limit. */
	if (core_vcpu_long_mode(v))
		stack.ss = NULL;
	if (!core_check_ip(v, &cs, gate->offset, false, e) ||
	    !core_descriptor_accessed(v, &cs, e) ||
	    (inner && !core_descriptor_accessed(v, &ss, e)) ||
	    (call && !push(v, gate, &stack, inner, next, e)))
		return CORE_DONE_FAULT;
	cs.selector = (uint16_t)((gate->selector & 0xfffc) | dpl);
	v->s.cs = cs;
	v->s.ss = ss;
	v->regs->rip = gate->offset;
	v->regs->rsp = stack.sp;
	v->regs->rflags &= ~X86_FL_RF;
	core_vcpu_store(v);
	return CORE_DONE_RETIRED;
}

static bool is_task(uint8_t type)
{
	return type == TASK_GATE || type == TSS16_AVAILABLE || type == TSS32_AVAILABLE;
}

static bool usable(const struct core_vcpu *v, uint8_t type)
{
	if (type == CALL_GATE)
		return true;
	return !core_vcpu_long_mode(v) && (type == CALL_GATE16 || is_task(type));
}

enum core_done core_far_system(struct core_vcpu *v, const struct core_insn_far *far,
			       const struct x86_segment *seg, uint64_t next,
			       struct engine_exception *e)
{
	uint8_t type = x86_segment_type(seg), dpl = x86_segment_dpl(seg);
	struct gate gate;

	if (!usable(v, type) || dpl < v->cpl || dpl < (far->selector & 3)) {
		core_refuse(e, X86_VEC_GP, far->selector, false);
		return CORE_DONE_FAULT;
	}
	if (!(seg->ar & X86_AR_P)) {
		core_refuse(e, X86_VEC_NP, far->selector, false);
		return CORE_DONE_FAULT;
	}
	if (is_task(type)) {
		core_cannot(v, "a task switch");
		return CORE_DONE_STOPPED;
	}
	if (!read_gate(v, far->selector, type, &gate, e))
		return CORE_DONE_FAULT;
	return through_gate(v, &gate, far->kind == CORE_FAR_CALL, next, e);
}
