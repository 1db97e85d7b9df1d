// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivery through the IDT in long mode (SDM vol. 3, 6.14), done here so that it
 * is exact on every host: what is pushed, what faults on the way, where it ends.
 */
#include "core/vcpu.h"

#include <string.h>

#define GATE_INTERRUPT 14
#define GATE_TRAP      15
#define TSS_RSP0       4
#define TSS_IST1       36

struct gate {
	uint64_t offset;
	uint16_t selector;
	uint8_t ist, type, dpl;
	bool present;
};

static bool read_gate(struct vpt_vcpu *v, uint8_t vector, uint32_t external, struct gate *gate,
		      struct vpt_exception *e)
{
	uint64_t raw[2];

	if (16u * vector + 15 > v->s.idt.limit) {
		*e = vpt_fault_code(VPT_VEC_GP, vector * 8u + 2 + external);
		return false;
	}
	if (!vpt_read(v, v->s.idt.base + 16u * vector, raw, sizeof(raw), VPT_WALK_SYSTEM, e))
		return false;
	*gate = (struct gate){
		.offset = (raw[0] & 0xffff) | (raw[0] >> 32 & 0xffff0000) | raw[1] << 32,
		.selector = (uint16_t)(raw[0] >> 16),
		.ist = raw[0] >> 32 & 7,
		.type = raw[0] >> 40 & 31, /* the S bit must be 0 */
		.dpl = raw[0] >> 45 & 3,
		.present = raw[0] >> 47 & 1,
	};
	return true;
}

static bool check_gate(struct vpt_vcpu *v, uint8_t vector, enum vpt_event_source source,
		       uint32_t external, const struct gate *gate, struct vpt_exception *e)
{
	uint32_t code = vector * 8u + 2 + external;

	if ((gate->type != GATE_INTERRUPT && gate->type != GATE_TRAP) ||
	    (source == VPT_SOURCE_SOFTWARE && gate->dpl < v->cpl)) {
		*e = vpt_fault_code(VPT_VEC_GP, code);
		return false;
	}
	if (!gate->present) {
		*e = vpt_fault_code(VPT_VEC_NP, code);
		return false;
	}
	return true;
}

static bool load_code(struct vpt_vcpu *v, const struct gate *gate, uint32_t external,
		      struct vpt_segment *cs, struct vpt_exception *e)
{
	uint32_t code = (gate->selector & 0xfffcu) | external;

	if (!(gate->selector & 0xfffc)) {
		*e = vpt_fault_code(VPT_VEC_GP, external);
		return false;
	}
	if (!vpt_descriptor(v, gate->selector, VPT_VEC_GP, external, cs, e))
		return false;
	if (!cs->s || !(cs->type & 8) || cs->dpl > v->cpl || !cs->l || cs->db) {
		*e = vpt_fault_code(VPT_VEC_GP, code);
		return false;
	}
	if (!cs->present) {
		*e = vpt_fault_code(VPT_VEC_NP, code);
		return false;
	}
	/* A conforming handler runs at the privilege it interrupts. */
	if (cs->type & 4)
		cs->dpl = v->cpl;
	cs->selector = (uint16_t)((gate->selector & 0xfffc) | cs->dpl);
	return true;
}

static bool find_stack(struct vpt_vcpu *v, const struct gate *gate, uint8_t cpl, uint32_t external,
		       uint64_t *rsp, struct vpt_exception *e)
{
	uint32_t offset;

	if (gate->ist)
		offset = TSS_IST1 + 8u * (gate->ist - 1u);
	else if (cpl < v->cpl)
		offset = TSS_RSP0 + 8u * cpl;
	else
		offset = 0;
	if (!offset) {
		*rsp = v->regs->rsp;
	} else if (offset + 7 > v->s.tr.limit) {
		*e = vpt_fault_code(VPT_VEC_TS, (v->s.tr.selector & 0xfffcu) | external);
		return false;
	} else if (!vpt_read(v, v->s.tr.base + offset, rsp, sizeof(*rsp), VPT_WALK_SYSTEM, e)) {
		return false;
	}
	if (!vpt_canonical(v, *rsp)) {
		*e = vpt_fault_code(VPT_VEC_SS, external);
		return false;
	}
	*rsp &= ~15ull;
	return true;
}

struct frame {
	uint64_t error, rip, cs, rflags, rsp, ss;
};

/* The stack is the handler's: its privilege, its checks. */
static bool push(struct vpt_vcpu *v, uint64_t rsp, const struct frame *frame, bool has_error,
		 uint8_t cpl, struct vpt_exception *e)
{
	struct vpt_paging saved = v->paging;
	const uint64_t *from = has_error ? &frame->error : &frame->rip;
	size_t len = sizeof(*frame) - (has_error ? 0 : sizeof(frame->error));
	bool ok;

	v->paging.cpl = cpl;
	ok = vpt_write(v, rsp - len, from, len, cpl < 3 ? VPT_WALK_SYSTEM : 0, e);
	if (!ok && e->vector == VPT_VEC_GP)
		*e = vpt_fault_code(VPT_VEC_SS, 0);
	v->paging = saved;
	return ok;
}

static uint64_t pushed_rflags(const struct vpt_vcpu *v, const struct vpt_exception *e,
			      enum vpt_event_source source)
{
	bool trap = e->vector == VPT_VEC_DB || e->vector == VPT_VEC_BP || e->vector == VPT_VEC_OF;

	/* A fault's frame has RF set, so that a breakpoint is not hit again. */
	if (source == VPT_SOURCE_EXCEPTION && !trap)
		return v->regs->rflags | VPT_FL_RF;
	return v->regs->rflags & ~VPT_FL_RF;
}

static void enter(struct vpt_vcpu *v, const struct gate *gate, const struct vpt_segment *cs,
		  uint64_t rsp, const struct vpt_exception *e)
{
	if (cs->dpl != v->cpl)
		v->s.ss = vpt_null_ss(cs->dpl);
	v->s.cs = *cs;
	if (e->vector == VPT_VEC_PF)
		v->s.cr2 = e->cr2;
	v->regs->rsp = rsp;
	v->regs->rip = gate->offset;
	v->regs->rflags &= ~(VPT_FL_TF | VPT_FL_NT | VPT_FL_RF | VPT_FL_VM);
	if (gate->type == GATE_INTERRUPT)
		v->regs->rflags &= ~VPT_FL_IF;
	vpt_vcpu_store(v);
}

/* False: *e is what went wrong, and nothing changed. */
static bool attempt(struct vpt_vcpu *v, const struct vpt_exception *event,
		    enum vpt_event_source source, uint64_t rip, struct vpt_exception *e)
{
	uint32_t external = source != VPT_SOURCE_SOFTWARE;
	struct vpt_segment cs;
	struct frame frame;
	struct gate gate;
	uint64_t rsp;

	if (!read_gate(v, event->vector, external, &gate, e) ||
	    !check_gate(v, event->vector, source, external, &gate, e) ||
	    !load_code(v, &gate, external, &cs, e) ||
	    !find_stack(v, &gate, cs.dpl, external, &rsp, e))
		return false;
	if (!vpt_canonical(v, gate.offset)) {
		*e = vpt_fault_code(VPT_VEC_GP, external);
		return false;
	}
	frame = (struct frame){
		.error = event->error,
		.rip = rip,
		.cs = v->s.cs.selector,
		.rflags = pushed_rflags(v, event, source),
		.rsp = v->regs->rsp,
		.ss = v->s.ss.selector,
	};
	if (!push(v, rsp, &frame, event->has_error, cs.dpl, e))
		return false;
	rsp -= event->has_error ? sizeof(frame) : sizeof(frame) - sizeof(frame.error);
	enter(v, &gate, &cs, rsp, event);
	return true;
}

static bool contributory(uint8_t vector)
{
	return vector == VPT_VEC_DE || (vector >= VPT_VEC_TS && vector <= VPT_VEC_GP);
}

/* What a second exception makes of the first (SDM vol. 3, table 6-5). */
static bool doubles(uint8_t first, uint8_t second)
{
	if (first == VPT_VEC_PF)
		return second == VPT_VEC_PF || contributory(second);
	return contributory(first) && contributory(second);
}

bool vpt_deliver_software(struct vpt_vcpu *v, const struct vpt_exception *event,
			  enum vpt_event_source source, uint64_t rip, struct vpt_exception *e)
{
	return attempt(v, event, source, rip, e);
}

bool vpt_deliver(struct vpt_vcpu *v, struct vpt_exception *e, enum vpt_event_source source,
		 uint64_t rip)
{
	struct vpt_exception second;

	/* Each round delivers or gets worse: exception, #DF, triple fault. */
	while (!attempt(v, e, source, rip, &second)) {
		if (second.vector == VPT_VEC_PF)
			v->s.cr2 = second.cr2;
		if (source == VPT_SOURCE_EXCEPTION && e->vector == VPT_VEC_DF)
			return false;
		if (source == VPT_SOURCE_EXCEPTION && doubles(e->vector, second.vector))
			*e = vpt_fault_code(VPT_VEC_DF, 0);
		else
			*e = second;
		source = VPT_SOURCE_EXCEPTION;
	}
	return true;
}
