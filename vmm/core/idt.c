// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivery through the IDT (SDM vol. 3, 6.12 to 6.15). The core delivers all events, so that the
 * pushed frame, the faults during delivery and the result are exact on every host.
 */
#include "core/access.h"
#include "core/deliver.h"
#include "core/fault.h"
#include "core/post_mortem.h"
#include "core/transfer.h"

enum gate_type {
	TASK_GATE = 5,
	INTERRUPT_GATE16 = 6,
	TRAP_GATE16 = 7,
	INTERRUPT_GATE = 14,
	TRAP_GATE = 15,
};

struct gate {
	uint64_t offset;
	uint16_t selector;
	uint8_t ist, type, dpl;
	uint8_t size; /* bytes of each word pushed */
	bool present;
};

/* The event in delivery. */
struct delivery {
	const struct engine_exception *event;
	enum core_event_source source;
	uint64_t rip;
	bool external; /* EXT bit in the error code of a fault during delivery */
};

/* Raise an exception whose error code names the entry of the IDT. Returns false. */
static bool bad_gate(const struct delivery *d, uint8_t vector, struct engine_exception *e)
{
	*e = core_fault_code(vector, d->event->vector * 8u + 2 + d->external);
	return false;
}

static bool read_gate(struct core_vcpu *v, const struct delivery *d, struct gate *gate,
		      struct engine_exception *e)
{
	unsigned int bytes = core_vcpu_long_mode(v) ? 16 : 8;
	uint32_t at = bytes * d->event->vector;
	uint64_t raw[2] = {0};

	if (at + bytes - 1 > v->s.idt.limit)
		return bad_gate(d, X86_VEC_GP, e);
	if (!core_read(v, v->s.idt.base + at, raw, bytes, X86_WALK_SYSTEM, e))
		return false;
	*gate = (struct gate){
		.offset = (raw[0] & 0xffff) | (raw[0] >> 32 & 0xffff0000) | raw[1] << 32,
		.selector = (uint16_t)(raw[0] >> 16),
		.ist = core_vcpu_long_mode(v) ? raw[0] >> 32 & 7 : 0,
		.type = raw[0] >> 40 & 31, /* the S bit must be 0 */
		.dpl = raw[0] >> 45 & 3,
		.size = core_vcpu_long_mode(v) ? 8 : 4,
		.present = raw[0] >> 47 & 1,
	};
	if (!core_vcpu_long_mode(v) && gate->type <= TRAP_GATE16) {
		gate->offset &= 0xffff;
		gate->size = 2;
	}
	return true;
}

static bool is_gate(const struct core_vcpu *v, uint8_t type)
{
	if (type == INTERRUPT_GATE || type == TRAP_GATE)
		return true;
	return !core_vcpu_long_mode(v) &&
	       (type == TASK_GATE || type == INTERRUPT_GATE16 || type == TRAP_GATE16);
}

static bool check_gate(struct core_vcpu *v, const struct delivery *d, const struct gate *gate,
		       struct engine_exception *e)
{
	if (!is_gate(v, gate->type) || (d->source == CORE_SOURCE_SOFTWARE && gate->dpl < v->cpl))
		return bad_gate(d, X86_VEC_GP, e);
	if (!gate->present)
		return bad_gate(d, X86_VEC_NP, e);
	if (gate->type == TASK_GATE)
		return core_cannot(v, "a task gate in the IDT");
	return true;
}

static bool load_code(struct core_vcpu *v, const struct gate *gate, bool external,
		      struct x86_segment *cs, struct engine_exception *e)
{
	if (core_null_selector(gate->selector))
		return core_refuse(e, X86_VEC_GP, 0, external);
	if (!core_descriptor(v, gate->selector, X86_VEC_GP, external, cs, e))
		return false;
	if (!core_is_code(cs) || x86_segment_dpl(cs) > v->cpl ||
	    (core_vcpu_long_mode(v) && !core_is_code64(cs)))
		return core_refuse(e, X86_VEC_GP, gate->selector, external);
	if (!(cs->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_NP, gate->selector, external);
	/* A conforming handler runs at the interrupted privilege level. */
	if (core_is_conforming(cs))
		x86_segment_set_dpl(cs, v->cpl);
	cs->selector = (uint16_t)((gate->selector & 0xfffc) | x86_segment_dpl(cs));
	return true;
}

/* Find the handler's stack. *ss changes if the privilege level changes. */
static bool find_stack(struct core_vcpu *v, const struct gate *gate, uint8_t cpl, bool external,
		       struct x86_segment *ss, struct core_stack *stack, struct engine_exception *e)
{
	struct x86_segment inner;

	if (gate->ist || cpl < v->cpl) {
		if (!core_stack_inner(v, cpl, gate->ist, external, &inner, stack, e))
			return false;
		/* An IST stack of the same privilege level does not change SS. */
		if (cpl < v->cpl)
			*ss = inner;
	} else {
		*stack = core_stack_now(v);
		stack->access = cpl < 3 ? X86_WALK_SYSTEM : 0;
		stack->error = external;
		if (core_vcpu_long_mode(v) && !core_canonical(v, stack->sp))
			return core_refuse(e, X86_VEC_SS, 0, external);
	}
	stack->ss = core_vcpu_long_mode(v) ? NULL : ss;
	if (core_vcpu_long_mode(v))
		stack->sp &= ~15ull;
	return true;
}

static uint64_t pushed_rflags(const struct core_vcpu *v, const struct delivery *d)
{
	uint8_t vector = d->event->vector;
	bool trap = vector == X86_VEC_DB || vector == X86_VEC_BP || vector == X86_VEC_OF;

	/* A fault's frame has RF set, so that a breakpoint is not reported again. */
	if (d->source == CORE_SOURCE_EXCEPTION && !trap)
		return v->regs->rflags | X86_FL_RF;
	/* INT n has retired. RF of a host's vCPU is not used. */
	if (d->source == CORE_SOURCE_SOFTWARE || !core_vcpu_counts(v))
		return v->regs->rflags & ~X86_FL_RF;
	return v->regs->rflags;
}

static bool push(struct core_vcpu *v, const struct delivery *d, const struct gate *gate,
		 bool with_stack, struct core_stack *stack, struct engine_exception *e)
{
	uint64_t word[6];
	unsigned int n = 0;

	if (with_stack) {
		word[n++] = v->s.ss.selector;
		word[n++] = v->regs->rsp;
	}
	word[n++] = pushed_rflags(v, d);
	word[n++] = v->s.cs.selector;
	word[n++] = d->rip;
	if (d->event->has_error)
		word[n++] = d->event->error;
	return core_push(v, stack, word, n, gate->size, e);
}

static void enter(struct core_vcpu *v, const struct delivery *d, const struct gate *gate)
{
	if (d->event->vector == X86_VEC_PF)
		v->s.cr2 = d->event->cr2;
	v->regs->rip = gate->offset;
	v->regs->rflags &= ~(X86_FL_TF | X86_FL_NT | X86_FL_RF | X86_FL_VM);
	if (!(gate->type & 1))
		v->regs->rflags &= ~X86_FL_IF;
	core_vcpu_store(v);
}

static bool through_gate(struct core_vcpu *v, const struct delivery *d, struct engine_exception *e)
{
	struct x86_segment cs, ss = v->s.ss;
	struct core_stack stack;
	struct gate gate;
	uint8_t cpl;
	bool inner;

	if (!read_gate(v, d, &gate, e) || !check_gate(v, d, &gate, e) ||
	    !load_code(v, &gate, d->external, &cs, e))
		return false;
	cpl = x86_segment_dpl(&cs);
	inner = cpl < v->cpl;
	if (!find_stack(v, &gate, cpl, d->external, &ss, &stack, e) ||
	    !core_check_ip(v, &cs, gate.offset, d->external, e) ||
	    !core_descriptor_accessed(v, &cs, e) ||
	    (inner && !core_descriptor_accessed(v, &ss, e)) ||
	    !push(v, d, &gate, inner || core_vcpu_long_mode(v), &stack, e))
		return false;
	v->s.cs = cs;
	v->s.ss = ss;
	v->regs->rsp = stack.sp;
	enter(v, d, &gate);
	return true;
}

/*
 * Try to deliver an event. Returns false if that faults: *e is the exception, and nothing else
 * changed. Also returns false if the VM stopped.
 */
static bool attempt(struct core_vcpu *v, const struct engine_exception *event,
		    enum core_event_source source, uint64_t rip, struct engine_exception *e)
{
	const struct delivery d = {
		.event = event,
		.source = source,
		.rip = rip,
		.external = source != CORE_SOURCE_SOFTWARE,
	};

	const bool done = v->s.cr0 & X86_CR0_PE ? through_gate(v, &d, e)
						: core_real_deliver(v, event, rip, e);

	if (done) {
		v->deliveries++;
		v->delivered = *event;
	}
	return done;
}

static bool contributory(uint8_t vector)
{
	return vector == X86_VEC_DE || (vector >= X86_VEC_TS && vector <= X86_VEC_GP);
}

/* Returns true if the two exceptions make a double fault (SDM vol. 3, table 6-5). */
static bool doubles(uint8_t first, uint8_t second)
{
	if (first == X86_VEC_PF)
		return second == X86_VEC_PF || contributory(second);
	return contributory(first) && contributory(second);
}

/* Remember an event for core_vcpu_post_mortem(), in case of a triple fault. */
static void note(struct core_vcpu *v, const struct engine_exception *e,
		 enum core_event_source source, uint64_t rip)
{
	uint8_t flags = e->has_error ? TRACE_GUEST_FAULT_HAS_ERROR : 0;

	if (v->faults == TRACE_STOP_FAULTS)
		return;
	if (source == CORE_SOURCE_EXTERNAL)
		flags |= TRACE_GUEST_FAULT_INTERRUPT;
	else if (source == CORE_SOURCE_NMI)
		flags |= TRACE_GUEST_FAULT_NMI;
	else if (source != CORE_SOURCE_EXCEPTION)
		flags |= TRACE_GUEST_FAULT_SOFTWARE;
	v->fault[v->faults++] = (struct trace_guest_fault){
		.rip = rip,
		.cr2 = e->vector == X86_VEC_PF ? e->cr2 : 0,
		.error = e->has_error ? e->error : 0,
		.vector = e->vector,
		.flags = flags,
	};
}

bool core_deliver_software(struct core_vcpu *v, const struct engine_exception *event,
			   enum core_event_source source, uint64_t rip, struct engine_exception *e)
{
	return attempt(v, event, source, rip, e);
}

bool core_deliver(struct core_vcpu *v, struct engine_exception *e, enum core_event_source source,
		  uint64_t rip)
{
	struct engine_exception second;

	if (source == CORE_SOURCE_NMI)
		v->shadowed |= CORE_VCPU_NMI_BLOCKED;
	v->faults = 0;
	note(v, e, source, rip);
	/* Each iteration delivers or escalates: exception, #DF, triple fault. */
	while (!attempt(v, e, source, rip, &second)) {
		if (v->vm->stop.kind == TRACE_STOP_UNABLE)
			return false;
		note(v, &second, CORE_SOURCE_EXCEPTION, rip);
		if (second.vector == X86_VEC_PF)
			v->s.cr2 = second.cr2;
		if (source == CORE_SOURCE_EXCEPTION && e->vector == X86_VEC_DF)
			return false;
		if (source == CORE_SOURCE_EXCEPTION && doubles(e->vector, second.vector)) {
			*e = core_fault_code(X86_VEC_DF, 0);
			note(v, e, CORE_SOURCE_EXCEPTION, rip);
		} else {
			*e = second;
		}
		source = CORE_SOURCE_EXCEPTION;
	}
	v->faults = 0;
	return true;
}
