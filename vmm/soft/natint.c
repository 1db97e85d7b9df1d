// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Integer instructions that the host executes, because they are too rare for separate handlers:
 * BMI, ADX, LZCNT, POPCNT, CRC32, MOVBE, BSWAP, BSF, BSR.
 */
#include "soft/kind.h"
#include "soft/native.h"

/* Give the micro-operation that was emitted last its kind, if the compiler has code for it. */
static void set_kind(struct soft_translation *t)
{
	struct soft_uop *u = &t->block->uop[t->block->uops - 1];
	const unsigned int size = (unsigned int)__builtin_ctz(t->size);
	unsigned int scan;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_BSWAP:
		u->dst = soft_tr_gpr(t, 0);
		u->kind = SOFT_KIND(SOFT_K_BSWAP, SOFT_K_RR, size, 0);
		return;
	case ZYDIS_MNEMONIC_BSF:
		scan = SOFT_SCAN_BSF;
		break;
	case ZYDIS_MNEMONIC_BSR:
		scan = SOFT_SCAN_BSR;
		break;
	case ZYDIS_MNEMONIC_TZCNT:
		scan = SOFT_SCAN_TZCNT;
		break;
	case ZYDIS_MNEMONIC_LZCNT:
		scan = SOFT_SCAN_LZCNT;
		break;
	case ZYDIS_MNEMONIC_POPCNT:
		scan = SOFT_SCAN_POPCNT;
		break;
	default:
		return;
	}
	u->dst = soft_tr_gpr(t, 0);
	if (!soft_tr_is_mem(t, 1))
		u->src = soft_tr_gpr(t, 1);
	u->kind = SOFT_KIND(SOFT_K_SCAN, soft_tr_is_mem(t, 1) ? SOFT_K_RM : SOFT_K_RR, size, scan);
}

bool soft_tr_native(struct soft_translation *t)
{
	struct soft_recoded r;

	if (!soft_recode(t, &r) || !soft_native_emit(t, &r, 1))
		return false;
	set_kind(t);
	return true;
}
