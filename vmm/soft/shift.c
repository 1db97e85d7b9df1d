// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shifts and rotates. A count of 0 preserves all flags, and rotates preserve most flags at any
 * count. SHL, SHR and SAR by a nonzero constant set all flags.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) SOFT_REG(c, u->operand, uint##bits##_t)

/* The count, as processors mask it (SDM vol. 2, SAL/SAR/SHL/SHR). */
#define COUNT_CL  ((uint8_t)c->r[SOFT_R_RCX])
#define COUNT_IMM ((uint8_t)u->imm)

/* The memory form shifts a copy, because the asm needs the value in a register. */
#define SHIFT(op, kind, bits, s, count, asm_shift) \
	SOFT_UOP(op##_r_##kind##bits)              \
	{                                          \
		uint##bits##_t a = REG(bits, dst); \
		uint16_t fl = c->fl;               \
                                                   \
		asm_shift(#op, s, a, count, fl);   \
		c->fl = fl;                        \
		soft_put##bits(c, u->dst, a);      \
		return SOFT_NEXT(c, u);            \
	}                                          \
	SOFT_RMW_UOP(op##_m_##kind##bits, bits)    \
	{                                          \
		uint##bits##_t a = *m;             \
		uint16_t fl = c->fl;               \
                                                   \
		asm_shift(#op, s, a, count, fl);   \
		c->fl = fl;                        \
		*m = a;                            \
	}

#define SHIFT_SIZE(op, bits, s, asm_imm)                      \
	SHIFT(op, cl, bits, s, COUNT_CL, SOFT_SHIFT_ASM_FULL) \
	SHIFT(op, imm, bits, s, COUNT_IMM, asm_imm)

#define SHIFT_SIZES(op, asm_imm)         \
	SHIFT_SIZE(op, 8, "b", asm_imm)  \
	SHIFT_SIZE(op, 16, "w", asm_imm) \
	SHIFT_SIZE(op, 32, "l", asm_imm) \
	SHIFT_SIZE(op, 64, "q", asm_imm)

SHIFT_SIZES(rol, SOFT_SHIFT_ASM_FULL)
SHIFT_SIZES(ror, SOFT_SHIFT_ASM_FULL)
SHIFT_SIZES(rcl, SOFT_SHIFT_ASM_FULL)
SHIFT_SIZES(rcr, SOFT_SHIFT_ASM_FULL)
SHIFT_SIZES(shl, SOFT_SHIFT_ASM)
SHIFT_SIZES(shr, SOFT_SHIFT_ASM)
SHIFT_SIZES(sar, SOFT_SHIFT_ASM)

/* SHLD and SHRD shift bits in from `src`. */
#define DOUBLE_ASM(insn, s, a, b, count, fl)                    \
	asm(SOFT_FLAGS_IN insn s " %%cl, %2, %1" SOFT_FLAGS_OUT \
	    : "+a"(fl), "+r"(a)                                 \
	    : "r"(b), "c"(count))

#define DOUBLE(op, kind, bits, s, count)                               \
	SOFT_UOP(op##_r_##kind##bits)                                  \
	{                                                              \
		uint##bits##_t a = REG(bits, dst), b = REG(bits, src); \
		uint16_t fl = c->fl;                                   \
                                                                       \
		DOUBLE_ASM(#op, s, a, b, count, fl);                   \
		c->fl = fl;                                            \
		soft_put##bits(c, u->dst, a);                          \
		return SOFT_NEXT(c, u);                                \
	}                                                              \
	SOFT_RMW_UOP(op##_m_##kind##bits, bits)                        \
	{                                                              \
		uint##bits##_t a = *m, b = REG(bits, src);             \
		uint16_t fl = c->fl;                                   \
                                                                       \
		DOUBLE_ASM(#op, s, a, b, count, fl);                   \
		c->fl = fl;                                            \
		*m = a;                                                \
	}

#define DOUBLE_SIZE(op, bits, s)          \
	DOUBLE(op, cl, bits, s, COUNT_CL) \
	DOUBLE(op, imm, bits, s, COUNT_IMM)

#define DOUBLE_SIZES(op)         \
	DOUBLE_SIZE(op, 16, "w") \
	DOUBLE_SIZE(op, 32, "l") \
	DOUBLE_SIZE(op, 64, "q")

DOUBLE_SIZES(shld)
DOUBLE_SIZES(shrd)

/* Shift by a constant of 0: only access the operand and zero-extend 32 bits. */
SOFT_UOP(zero_r32)
{
	soft_set32(c, u->dst, REG(32, dst));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(zero_r)
{
	(void)c;
	return SOFT_NEXT(c, u);
}

#define ZERO_MEM(bits)                   \
	SOFT_RMW_UOP(zero_m##bits, bits) \
	{                                \
		(void)m;                 \
	}
ZERO_MEM(8)
ZERO_MEM(16)
ZERO_MEM(32)
ZERO_MEM(64)

struct shift {
	soft_uop_fn r_cl, r_imm;
	struct soft_mem_uop m_cl, m_imm;
};

#define SHIFT_ROW(op, bits)                                                       \
	{                                                                         \
		op##_r_cl##bits, op##_r_imm##bits, SOFT_MEM_UOP(op##_m_cl##bits), \
			SOFT_MEM_UOP(op##_m_imm##bits)                            \
	}
#define SHIFT_ROWS(op)                                                                    \
	{                                                                                 \
		SHIFT_ROW(op, 8), SHIFT_ROW(op, 16), SHIFT_ROW(op, 32), SHIFT_ROW(op, 64) \
	}
#define DOUBLE_ROWS(op)                                                      \
	{                                                                    \
		{0}, SHIFT_ROW(op, 16), SHIFT_ROW(op, 32), SHIFT_ROW(op, 64) \
	}
#define NO_ROWS           \
	{                 \
		{         \
			0 \
		}         \
	}

enum { ROW_DOUBLE = 8 };

/* Rows in the order of opcodes, then SHLD and SHRD. The columns are log2 of the size. */
static const struct shift shift[][4] = {
	SHIFT_ROWS(rol), SHIFT_ROWS(ror), SHIFT_ROWS(rcl), SHIFT_ROWS(rcr),   SHIFT_ROWS(shl),
	SHIFT_ROWS(shr), NO_ROWS,	  SHIFT_ROWS(sar), DOUBLE_ROWS(shld), DOUBLE_ROWS(shrd),
};

#define ZERO_ROW(fn, bits)                                       \
	{                                                        \
		.r_imm = fn, .m_imm = SOFT_MEM_UOP(zero_m##bits) \
	}

static const struct shift by_zero[4] = {
	ZERO_ROW(zero_r, 8),
	ZERO_ROW(zero_r, 16),
	ZERO_ROW(zero_r32, 32),
	ZERO_ROW(zero_r, 64),
};

static uint8_t count_mask(const struct soft_translation *t)
{
	return t->size == 8 ? 63 : 31;
}

/* Return the kind of a shift or rotation by a constant or of a register, which is 0 for some. */
static uint32_t kind_of(const struct soft_translation *t, enum soft_kind_form form,
			unsigned int size)
{
	static const uint8_t op[] = {SOFT_K_ROL, SOFT_K_ROR, 0, 0,
				     SOFT_K_SHL, SOFT_K_SHR, 0, SOFT_K_SAR};

	if (t->arg >= ROW_DOUBLE)
		return form == SOFT_K_RI
			       ? SOFT_KIND(SOFT_K_SHLD + t->arg - ROW_DOUBLE, SOFT_K_RI, size, 0)
			       : 0;
	if (!op[t->arg])
		return 0;
	return SOFT_KIND(op[t->arg], form, size, 0);
}

bool soft_tr_shift(struct soft_translation *t)
{
	const unsigned int size = (unsigned int)__builtin_ctz(t->size);
	const unsigned int counted = t->arg >= ROW_DOUBLE ? 2 : 1;
	const bool by_imm = soft_tr_is_imm(t, counted);
	const uint8_t count = by_imm ? soft_tr_imm(t, counted) & count_mask(t) : 0;
	const struct shift *fn = &shift[t->arg][size];
	struct soft_uop *u;

	if (by_imm && !count)
		fn = &by_zero[size];
	if (soft_tr_is_mem(t, 0)) {
		u = soft_tr_emit_mem(t, by_imm ? &fn->m_imm : &fn->m_cl, 0, true);
		if (count)
			u->kind = kind_of(t, SOFT_K_MI, size);
	} else {
		u = soft_tr_emit(t, by_imm ? fn->r_imm : fn->r_cl);
		u->dst = soft_tr_gpr(t, 0);
		u->src = SOFT_R_RCX * 8;
		if (count || !by_imm)
			u->kind = kind_of(t, by_imm ? SOFT_K_RI : SOFT_K_RR, size);
	}
	u->imm = count;
	if (counted == 2)
		u->src = soft_tr_gpr(t, 1);
	return true;
}
