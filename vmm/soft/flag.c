// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions about single flags. */
#include "soft/flagcond.h"
#include "soft/translate.h"

/* The flags that LAHF and SAHF move, as RFLAGS has them. */
#define AH_FLAGS (VPT_FL_CF | VPT_FL_PF | VPT_FL_AF | VPT_FL_ZF | VPT_FL_SF)

#define FLAG(name, change)             \
	VPT_UOP(name)                  \
	{                              \
		change;                \
		return VPT_NEXT(c, u); \
	}

FLAG(clc, c->fl &= (uint16_t)~VPT_F_CF)
FLAG(stc, c->fl |= VPT_F_CF)
FLAG(cmc, c->fl ^= VPT_F_CF)
FLAG(cld, c->r[VPT_R_RFLAGS] &= ~VPT_FL_DF)
FLAG(std, c->r[VPT_R_RFLAGS] |= VPT_FL_DF)

VPT_UOP(lahf)
{
	VPT_REG(c, VPT_R_RAX * 8 + 1, uint8_t) = (c->fl >> 8 & AH_FLAGS) | VPT_FL_FIXED;
	return VPT_NEXT(c, u);
}

VPT_UOP(sahf)
{
	const uint16_t ah = VPT_REG(c, VPT_R_RAX * 8 + 1, uint8_t);

	c->fl = (uint16_t)((c->fl & VPT_F_OF) | (ah & AH_FLAGS) << 8 | VPT_F_FIXED);
	return VPT_NEXT(c, u);
}

/* In the order of insns_alu.def. */
bool vpt_tr_flag(struct vpt_translation *t)
{
	static const vpt_uop_fn fn[] = {clc, stc, cmc, cld, std, lahf, sahf};

	vpt_tr_emit(t, fn[t->arg]);
	return true;
}
