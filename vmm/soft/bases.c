// SPDX-License-Identifier: GPL-2.0-or-later
/* The bases of FS and GS, read and written by instructions of 64-bit mode. */
#include "soft/operand.h"
#include "soft/system.h"

/* aux: which; imm: operand bytes. */
static inline struct vpt_segment *segment(struct vpt_soft *c, const struct vpt_uop *u)
{
	return u->aux == VPT_SEG_FS ? &c->s.fs : &c->s.gs;
}

static inline void check_allowed(struct vpt_soft *c, const struct vpt_uop *u)
{
	if (vpt_unlikely(!(c->s.cr4 & VPT_CR4_FSGSBASE)))
		vpt_soft_raise(c, u, VPT_VEC_UD);
}

VPT_UOP(read_base)
{
	check_allowed(c, u);
	vpt_put64(c, u->dst, u->imm == 8 ? segment(c, u)->base : (uint32_t)segment(c, u)->base);
	return VPT_NEXT(c, u);
}

VPT_UOP(write_base)
{
	uint64_t value = VPT_REG(c, u->src, uint64_t);

	check_allowed(c, u);
	if (u->imm != 8)
		value = (uint32_t)value;
	if (!vpt_soft_canonical(c, value))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	segment(c, u)->base = value;
	return VPT_NEXT(c, u);
}

VPT_UOP(swapgs)
{
	uint64_t base = c->s.gs.base;

	c->s.gs.base = c->msr.kernel_gs_base;
	c->msr.kernel_gs_base = base;
	return VPT_NEXT(c, u);
}

static bool base(struct vpt_translation *t, enum vpt_seg n, bool write)
{
	struct vpt_uop *u = vpt_tr_emit(t, write ? write_base : read_base);

	u->dst = u->src = vpt_tr_gpr(t, 0);
	u->aux = n;
	u->imm = t->size;
	return true;
}

bool vpt_tr_bases(struct vpt_translation *t)
{
	if (t->bits != 64)
		return false;
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_RDFSBASE:
		return base(t, VPT_SEG_FS, false);
	case ZYDIS_MNEMONIC_RDGSBASE:
		return base(t, VPT_SEG_GS, false);
	case ZYDIS_MNEMONIC_WRFSBASE:
		return base(t, VPT_SEG_FS, true);
	case ZYDIS_MNEMONIC_WRGSBASE:
		return base(t, VPT_SEG_GS, true);
	case ZYDIS_MNEMONIC_SWAPGS:
		vpt_tr_emit(t, swapgs);
		return true;
	default:
		return false;
	}
}
