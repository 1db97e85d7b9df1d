// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Integer instructions that are too rare, or too odd, for handlers of their own: BMI,
 * ADX, LZCNT, POPCNT, CRC32, MOVBE, BSWAP, BSF, BSR.
 */
#include "soft/native.h"

bool soft_tr_native(struct soft_translation *t)
{
	struct soft_recoded r;

	return soft_recode(t, &r) && soft_native_emit(t, &r, 1);
}
