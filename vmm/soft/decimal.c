// SPDX-License-Identifier: GPL-2.0-or-later
/* Decimal arithmetic, most of it only in 32-bit code, and other old instructions. */
#include "soft/flagcond.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

static inline uint8_t al(const struct soft *c)
{
	return (uint8_t)c->r[SOFT_R_RAX];
}

static inline void set_al(struct soft *c, uint8_t value)
{
	SOFT_REG(c, SOFT_R_RAX * 8, uint8_t) = value;
}

/* Set SF, ZF and PF from a result, and AF and CF as given. OF is undefined and cleared. */
static void set_flags(struct soft *c, uint8_t value, bool af, bool cf)
{
	unsigned int fl = SOFT_F_FIXED;

	fl |= value & 0x80 ? SOFT_F_SF : 0;
	fl |= value ? 0 : SOFT_F_ZF;
	fl |= __builtin_parity(value) ? 0 : SOFT_F_PF;
	fl |= af ? SOFT_F_AF : 0;
	fl |= cf ? SOFT_F_CF : 0;
	c->fl = (uint16_t)fl;
}

/* DAA, or DAS if `sign` is -1. */
static void adjust_packed(struct soft *c, int sign)
{
	uint8_t old = al(c), value = old;
	bool cf = c->fl & SOFT_F_CF, af = c->fl & SOFT_F_AF, old_cf = cf;

	cf = false;
	if ((old & 15) > 9 || af) {
		cf = old_cf || (sign > 0 ? old > 0xf9 : old < 6);
		value = (uint8_t)(value + 6 * sign);
		af = true;
	}
	if (old > 0x99 || old_cf) {
		value = (uint8_t)(value + 0x60 * sign);
		cf = true;
	} else if (sign > 0) {
		cf = false;
	}
	set_al(c, value);
	set_flags(c, value, af, cf);
}

/* AAA, or AAS if `sign` is -1. */
static void adjust_unpacked(struct soft *c, int sign)
{
	bool carry = (al(c) & 15) > 9 || c->fl & SOFT_F_AF;

	if (carry)
		SOFT_REG(c, SOFT_R_RAX * 8, uint16_t) =
			(uint16_t)(SOFT_REG(c, SOFT_R_RAX * 8, uint16_t) + 0x106 * sign);
	set_al(c, al(c) & 15);
	set_flags(c, al(c), carry, carry);
}

SOFT_UOP(daa)
{
	adjust_packed(c, 1);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(das)
{
	adjust_packed(c, -1);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(aaa)
{
	adjust_unpacked(c, 1);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(aas)
{
	adjust_unpacked(c, -1);
	return SOFT_NEXT(c, u);
}

/* imm is the base, not 0. */
SOFT_UOP(aam)
{
	uint8_t base = (uint8_t)u->imm, value = al(c);

	SOFT_REG(c, SOFT_R_RAX * 8 + 1, uint8_t) = value / base;
	set_al(c, value % base);
	set_flags(c, al(c), false, false);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(aad)
{
	uint8_t ah = SOFT_REG(c, SOFT_R_RAX * 8 + 1, uint8_t);

	SOFT_REG(c, SOFT_R_RAX * 8, uint16_t) = (uint8_t)(al(c) + ah * (uint8_t)u->imm);
	set_flags(c, al(c), false, false);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(salc)
{
	set_al(c, c->fl & SOFT_F_CF ? 0xff : 0);
	return SOFT_NEXT(c, u);
}

/* aux is the segment; imm is the address size in bytes. */
static NOINLINE void do_xlat(struct soft *c, const struct soft_uop *u)
{
	uint64_t offset = c->r[SOFT_R_RBX] + al(c);

	if (u->imm != 8)
		offset = u->imm == 4 ? (uint32_t)offset : (uint16_t)offset;
	set_al(c, soft_load8(c, u, soft_linear(c, u, u->aux, offset, 1, false)));
}

SOFT_UOP(xlat)
{
	do_xlat(c, u);
	return SOFT_NEXT(c, u);
}

/* The index is signed, and the bounds are inclusive. */
#define BOUND(bits)                                                                   \
	static NOINLINE void do_bound##bits(struct soft *c, const struct soft_uop *u) \
	{                                                                             \
		int##bits##_t index = SOFT_REG(c, u->src, int##bits##_t), bound[2];   \
                                                                                      \
		soft_read(c, u, soft_ea(c, u), bound, sizeof(bound));                 \
		if (index < bound[0] || index > bound[1])                             \
			soft_raise(c, u, X86_VEC_BR);                                 \
	}                                                                             \
	SOFT_UOP(bound##bits)                                                         \
	{                                                                             \
		do_bound##bits(c, u);                                                 \
		return SOFT_NEXT(c, u);                                               \
	}
BOUND(16)
BOUND(32)

static bool bound(struct soft_translation *t)
{
	bool narrow = t->size == 2;
	struct soft_address a = soft_tr_address(t, 1, t->size * 2u, false);
	struct soft_uop *u = soft_tr_emit(t, narrow ? bound16 : bound32);

	soft_tr_put_address(u, &a);
	u->src = soft_tr_gpr(t, 0);
	return true;
}

static bool read_table(struct soft_translation *t)
{
	struct soft_uop *u = soft_tr_emit(t, xlat);

	u->aux = (uint32_t)(t->op[0].mem.segment - ZYDIS_REGISTER_ES);
	u->flags = u->aux == SOFT_SEG_SS ? SOFT_UOP_SS : 0;
	u->imm = t->insn->address_width / 8u;
	return true;
}

static bool unpacked(struct soft_translation *t, soft_uop_fn fn)
{
	uint64_t base = soft_tr_imm(t, 0) & 0xff;

	if (!base && fn == aam)
		soft_tr_raise(t, X86_VEC_DE);
	else
		soft_tr_emit(t, fn)->imm = base;
	return true;
}

bool soft_tr_decimal(struct soft_translation *t)
{
	static const struct {
		ZydisMnemonic mnemonic;
		soft_uop_fn fn;
	} row[] = {
		{ZYDIS_MNEMONIC_DAA, daa}, {ZYDIS_MNEMONIC_DAS, das},	{ZYDIS_MNEMONIC_AAA, aaa},
		{ZYDIS_MNEMONIC_AAS, aas}, {ZYDIS_MNEMONIC_SALC, salc},
	};
	unsigned int i;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_AAM:
		return unpacked(t, aam);
	case ZYDIS_MNEMONIC_AAD:
		return unpacked(t, aad);
	case ZYDIS_MNEMONIC_XLAT:
		return read_table(t);
	case ZYDIS_MNEMONIC_BOUND:
		return bound(t);
	default:
		break;
	}
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].mnemonic == t->insn->mnemonic) {
			soft_tr_emit(t, row[i].fn);
			return true;
		}
	return false;
}
