// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions that access single flags. */
#include "soft/flagcond.h"
#include "soft/translate.h"

/* The flags that LAHF and SAHF move, in the layout of RFLAGS. */
#define AH_FLAGS (X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF)

#define FLAG(name, change)              \
	SOFT_UOP(name)                  \
	{                               \
		change;                 \
		return SOFT_NEXT(c, u); \
	}

FLAG(clc, c->fl &= (uint16_t)~SOFT_F_CF)
FLAG(stc, c->fl |= SOFT_F_CF)
FLAG(cmc, c->fl ^= SOFT_F_CF)
FLAG(cld, c->r[SOFT_R_RFLAGS] &= ~X86_FL_DF)
FLAG(std, c->r[SOFT_R_RFLAGS] |= X86_FL_DF)

SOFT_UOP(lahf)
{
	SOFT_REG(c, SOFT_R_RAX * 8 + 1, uint8_t) = (c->fl >> 8 & AH_FLAGS) | X86_FL_FIXED;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(sahf)
{
	const uint16_t ah = SOFT_REG(c, SOFT_R_RAX * 8 + 1, uint8_t);

	c->fl = (uint16_t)((c->fl & SOFT_F_OF) | (ah & AH_FLAGS) << 8 | SOFT_F_FIXED);
	return SOFT_NEXT(c, u);
}

/* The order is that of insns_alu.def. */
bool soft_tr_flag(struct soft_translation *t)
{
	static const soft_uop_fn fn[] = {clc, stc, cmc, cld, std, lahf, sahf};

	soft_tr_emit(t, fn[t->arg]);
	return true;
}
