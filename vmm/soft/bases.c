// SPDX-License-Identifier: GPL-2.0-or-later
/* The bases of FS and GS, read and written by instructions of 64-bit mode. */
#include "soft/operand.h"
#include "soft/system.h"

/* aux is the register (FS or GS); imm is the operand size in bytes. */
static inline struct x86_segment *segment(struct soft *c, const struct soft_uop *u)
{
	return u->aux == SOFT_SEG_FS ? &c->s.fs : &c->s.gs;
}

static inline void check_allowed(struct soft *c, const struct soft_uop *u)
{
	if (vpt_unlikely(!(c->s.cr4 & SOFT_CR4_FSGSBASE)))
		soft_raise(c, u, X86_VEC_UD);
}

SOFT_UOP(read_base)
{
	check_allowed(c, u);
	soft_put64(c, u->dst, u->imm == 8 ? segment(c, u)->base : (uint32_t)segment(c, u)->base);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(write_base)
{
	uint64_t value = SOFT_REG(c, u->src, uint64_t);

	check_allowed(c, u);
	if (u->imm != 8)
		value = (uint32_t)value;
	if (!soft_canonical(c, value))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	segment(c, u)->base = value;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(swapgs)
{
	uint64_t base = c->s.gs.base;

	c->s.gs.base = c->msr.kernel_gs_base;
	c->msr.kernel_gs_base = base;
	return SOFT_NEXT(c, u);
}

static bool base(struct soft_translation *t, enum soft_seg n, bool write)
{
	struct soft_uop *u = soft_tr_emit(t, write ? write_base : read_base);

	u->dst = u->src = soft_tr_gpr(t, 0);
	u->aux = n;
	u->imm = t->size;
	return true;
}

bool soft_tr_bases(struct soft_translation *t)
{
	if (t->bits != 64)
		return false;
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_RDFSBASE:
		return base(t, SOFT_SEG_FS, false);
	case ZYDIS_MNEMONIC_RDGSBASE:
		return base(t, SOFT_SEG_GS, false);
	case ZYDIS_MNEMONIC_WRFSBASE:
		return base(t, SOFT_SEG_FS, true);
	case ZYDIS_MNEMONIC_WRGSBASE:
		return base(t, SOFT_SEG_GS, true);
	case ZYDIS_MNEMONIC_SWAPGS:
		soft_tr_emit(t, swapgs);
		return true;
	default:
		return false;
	}
}
