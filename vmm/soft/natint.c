// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Integer instructions that are too rare, or too odd, for handlers of their own: BMI,
 * ADX, LZCNT, POPCNT, CRC32, MOVBE, BSWAP, BSF, BSR.
 */
#include "soft/native.h"

bool vpt_tr_native(struct vpt_translation *t)
{
	struct vpt_recoded r;

	return vpt_recode(t, &r) && vpt_native_emit(t, &r, 1);
}
