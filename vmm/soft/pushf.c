// SPDX-License-Identifier: GPL-2.0-or-later
/* PUSHF and POPF, and which flags who may change (SDM vol. 2, POPF). */
#include "soft/access.h"
#include "soft/stack.h"

#include "soft/translate.h"

#define NOINLINE __attribute__((noinline))

#define IMAGE 0x3f7fd7ull
#define ORDINARY                                                                             \
	(VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF | VPT_FL_TF | VPT_FL_DF | \
	 VPT_FL_OF | VPT_FL_NT | VPT_FL_AC | VPT_FL_ID)
/* What the blocks, the TLB or the loop depend on. */
#define WATCHED (VPT_FL_TF | VPT_FL_IF | VPT_FL_AC)

/* Virtual-8086 mode may do neither without IOPL. */
static void check_v86(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t rflags = c->r[VPT_R_RFLAGS];

	if (rflags & VPT_FL_VM && (rflags & VPT_FL_IOPL) != VPT_FL_IOPL)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
}

static NOINLINE void do_pushf(struct vpt_soft *c, const struct vpt_uop *u)
{
	check_v86(c, u);
	vpt_soft_push(c, u, u->aux, vpt_soft_rflags(c) & IMAGE & ~(VPT_FL_RF | VPT_FL_VM));
}

/* 64-bit mode, where there is nothing to be refused. */
VPT_UOP(pushf64)
{
	vpt_store64(c, u, c->r[VPT_R_RSP] - 8,
		    vpt_soft_rflags(c) & IMAGE & ~(VPT_FL_RF | VPT_FL_VM));
	c->r[VPT_R_RSP] -= 8;
	return VPT_NEXT(c, u);
}

static uint64_t changeable(const struct vpt_soft *c, unsigned int size)
{
	uint64_t mask = ORDINARY, rflags = c->r[VPT_R_RFLAGS];

	if (!c->cpl)
		mask |= VPT_FL_IOPL;
	if (c->cpl <= (rflags & VPT_FL_IOPL) >> 12)
		mask |= VPT_FL_IF;
	return size == 2 ? mask & 0xffff : mask;
}

/* Returns the flags that changed. */
static uint64_t set_flags(struct vpt_soft *c, unsigned int size, uint64_t value)
{
	uint64_t mask = changeable(c, size), now = vpt_soft_rflags(c);

	value = (now & ~mask & ~VPT_FL_RF) | (value & mask) | VPT_FL_FIXED;
	vpt_soft_set_rflags(c, value);
	return now ^ value;
}

static NOINLINE uint64_t do_popf(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value;

	check_v86(c, u);
	value = vpt_soft_peek(c, u, u->aux);
	vpt_soft_move_sp(c, (int64_t)u->aux);
	return set_flags(c, u->aux, value);
}

static inline const struct vpt_uop *after_popf(struct vpt_soft *c, const struct vpt_uop *u,
					       uint64_t changed)
{
	if (vpt_unlikely(changed & VPT_FL_IF))
		return vpt_soft_resume_if(c, u);
	if (changed & WATCHED)
		return vpt_soft_resume(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(popf64)
{
	uint64_t value = vpt_load64(c, u, c->r[VPT_R_RSP]);

	c->r[VPT_R_RSP] += 8;
	return after_popf(c, u, set_flags(c, 8, value));
}

VPT_UOP(pushf)
{
	do_pushf(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(popf)
{
	return after_popf(c, u, do_popf(c, u));
}

bool vpt_tr_pushf(struct vpt_translation *t)
{
	bool push = t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHF ||
		    t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHFD ||
		    t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
	bool fast = t->bits == 64 && t->insn->operand_width == 64;
	struct vpt_uop *u = vpt_tr_emit(t, fast ? (push ? pushf64 : popf64) : push ? pushf : popf);

	u->flags = VPT_UOP_SS;
	u->aux = t->insn->operand_width / 8u;
	return true;
}
