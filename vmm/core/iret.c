// SPDX-License-Identifier: GPL-2.0-or-later
/* IRET in 64-bit mode (SDM vol. 2, IRET/IRETD). */
#include "core/vcpu.h"

#include <string.h>

/* What any privilege may change, and what only ring 0 or IOPL may. */
#define RFLAGS_ANY                                                                           \
	(VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF | VPT_FL_TF | VPT_FL_DF | \
	 VPT_FL_OF | VPT_FL_NT | VPT_FL_RF | VPT_FL_AC | VPT_FL_ID)
#define RFLAGS_RING0 (VPT_FL_IOPL | VPT_FL_VIF | VPT_FL_VIP)

struct iret_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

static bool gp(struct vpt_exception *e, uint64_t code)
{
	*e = vpt_fault_code(VPT_VEC_GP, (uint32_t)(code & 0xfffc));
	return false;
}

static bool pop(struct vpt_vcpu *v, unsigned int size, struct iret_frame *f,
		struct vpt_exception *e)
{
	uint8_t raw[40];
	uint64_t word[5];
	unsigned int i;

	if (!vpt_read(v, v->regs->rsp, raw, 5u * size, VPT_WALK_READ, e)) {
		if (e->vector == VPT_VEC_GP)
			*e = vpt_fault_code(VPT_VEC_SS, 0);
		return false;
	}
	for (i = 0; i < 5; i++) {
		word[i] = 0;
		memcpy(&word[i], raw + i * size, size);
	}
	*f = (struct iret_frame){word[0], word[1] & 0xffff, word[2], word[3], word[4] & 0xffff};
	return true;
}

static bool check_code(struct vpt_vcpu *v, const struct iret_frame *f, struct vpt_segment *cs,
		       struct vpt_exception *e)
{
	uint8_t rpl = f->cs & 3;

	if (!(f->cs & 0xfffc))
		return gp(e, 0);
	if (!vpt_descriptor(v, (uint16_t)f->cs, VPT_VEC_GP, false, cs, e))
		return false;
	if (!cs->s || !(cs->type & 8) || rpl < v->cpl || (cs->l && cs->db))
		return gp(e, f->cs);
	if (cs->type & 4 ? cs->dpl > rpl : cs->dpl != rpl)
		return gp(e, f->cs);
	if (!cs->present) {
		*e = vpt_fault_code(VPT_VEC_NP, (uint32_t)(f->cs & 0xfffc));
		return false;
	}
	if (cs->l ? !vpt_canonical(v, f->rip) : f->rip > cs->limit)
		return gp(e, 0);
	cs->dpl = rpl;
	return true;
}

static bool check_stack(struct vpt_vcpu *v, const struct iret_frame *f,
			const struct vpt_segment *cs, struct vpt_segment *ss,
			struct vpt_exception *e)
{
	uint8_t rpl = f->cs & 3;

	if (!(f->ss & 0xfffc)) {
		if (!cs->l || rpl == 3 || (f->ss & 3) != rpl)
			return gp(e, 0);
		*ss = vpt_null_ss(rpl);
		return true;
	}
	if ((f->ss & 3) != rpl)
		return gp(e, f->ss);
	if (!vpt_descriptor(v, (uint16_t)f->ss, VPT_VEC_GP, false, ss, e))
		return false;
	if (!ss->s || (ss->type & 0xa) != 2 || ss->dpl != rpl)
		return gp(e, f->ss);
	if (!ss->present) {
		*e = vpt_fault_code(VPT_VEC_SS, (uint32_t)(f->ss & 0xfffc));
		return false;
	}
	return true;
}

/* Data segments of the inner ring do not follow to the outer one. */
static void drop_if_inner(struct vpt_segment *seg, uint8_t cpl)
{
	bool conforming = (seg->type & 0xc) == 0xc;

	if (seg->unusable || !seg->present || !(seg->selector & 0xfffc) || conforming)
		return;
	if (seg->dpl < cpl) {
		seg->selector = 0;
		seg->unusable = true;
		seg->present = false;
	}
}

static uint64_t new_rflags(const struct vpt_vcpu *v, uint64_t popped, unsigned int size)
{
	uint64_t mask = RFLAGS_ANY, now = v->regs->rflags;

	if (v->cpl == 0)
		mask |= RFLAGS_RING0;
	if (v->cpl <= (now & VPT_FL_IOPL) >> 12)
		mask |= VPT_FL_IF;
	if (size == 2)
		mask &= 0xffff;
	return (now & ~mask) | (popped & mask) | VPT_FL_FIXED;
}

enum vpt_done vpt_emulate_iret(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e)
{
	unsigned int size = insn->aux;
	struct vpt_segment cs, ss;
	struct iret_frame f;

	if (v->regs->rflags & VPT_FL_NT) {
		gp(e, 0);
		return VPT_DONE_FAULT;
	}
	if (!pop(v, size, &f, e) || !check_code(v, &f, &cs, e) || !check_stack(v, &f, &cs, &ss, e))
		return VPT_DONE_FAULT;
	v->regs->rflags = new_rflags(v, f.rflags, size);
	v->regs->rip = cs.l ? f.rip : (uint32_t)f.rip;
	v->regs->rsp = cs.l ? f.rsp : (uint32_t)f.rsp;
	if (cs.dpl > v->cpl) {
		drop_if_inner(&v->s.ds, cs.dpl);
		drop_if_inner(&v->s.es, cs.dpl);
		drop_if_inner(&v->s.fs, cs.dpl);
		drop_if_inner(&v->s.gs, cs.dpl);
	}
	v->s.cs = cs;
	v->s.ss = ss;
	vpt_vcpu_store(v);
	return VPT_DONE_RETIRED;
}
