// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Integer instructions that the host executes, because they are too rare for separate handlers:
 * BMI, ADX, LZCNT, POPCNT, CRC32, MOVBE, BSWAP, BSF, BSR.
 */
#include "soft/native.h"

bool soft_tr_native(struct soft_translation *t)
{
	struct soft_recoded r;

	return soft_recode(t, &r) && soft_native_emit(t, &r, 1);
}
