// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuse a comparison and the branch that depends on it. Most branches directly follow the
 * instruction that sets their flags, and the host's own condition code decides.
 */
#include "soft/alu_flags.h"
#include "soft/branch.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand)	 SOFT_REG(c, u->operand, uint##bits##_t)
#define IMM(bits)		 ((uint##bits##_t)u->imm)
#define NAME(op, form, bits, cc) op##_##form##bits##_##cc

/* One handler for a condition. `work` sets `holds`. */
#define FUSED(cc, n, op, form, bits, work)             \
	SOFT_UOP(op##_##form##bits##_##cc)             \
	{                                              \
		bool holds;                            \
                                                       \
		work(op, bits, cc);                    \
		return soft_end_cond(c, u + 1, holds); \
	}

/* One handler that first loads `m`. */
#define FUSED_LOAD(cc, n, op, form, bits, work)        \
	SOFT_LOAD_UOP(op##_##form##bits##_##cc, bits)  \
	{                                              \
		bool holds;                            \
                                                       \
		work(op, bits, cc);                    \
		return soft_end_cond(c, u + 1, holds); \
	}

#define S8  "b"
#define S32 "l"
#define S64 "q"

#define CMP_RR(op, bits, cc) \
	SOFT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), REG(bits, src), c->fl, cc, holds)
#define CMP_RI(op, bits, cc) \
	SOFT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), IMM(bits), c->fl, cc, holds)
#define CMP_RM(op, bits, cc) SOFT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), m, c->fl, cc, holds)
#define CMP_MR(op, bits, cc) SOFT_CMP_ASM_COND(#op, S##bits, m, REG(bits, src), c->fl, cc, holds)
#define CMP_MI(op, bits, cc) SOFT_CMP_ASM_COND(#op, S##bits, m, IMM(bits), c->fl, cc, holds)
#define ALU(op, bits, cc, operand)                                     \
	uint##bits##_t a = REG(bits, dst);                             \
                                                                       \
	SOFT_ALU_ASM_COND(#op, S##bits, a, operand, c->fl, cc, holds); \
	soft_put##bits(c, u->dst, a)
#define ALU_RR(op, bits, cc) ALU(op, bits, cc, REG(bits, src))
#define ALU_RI(op, bits, cc) ALU(op, bits, cc, IMM(bits))
#define ALU_R(op, bits, cc)                                           \
	uint##bits##_t a = REG(bits, dst);                            \
                                                                      \
	SOFT_UNARY_ASM_CARRY_COND(#op, S##bits, a, c->fl, cc, holds); \
	soft_put##bits(c, u->dst, a)

#define COMPARE(op, bits)                                 \
	SOFT_CONDITIONS(FUSED, op, rr, bits, CMP_RR)      \
	SOFT_CONDITIONS(FUSED, op, ri, bits, CMP_RI)      \
	SOFT_CONDITIONS(FUSED_LOAD, op, rm, bits, CMP_RM) \
	SOFT_CONDITIONS(FUSED_LOAD, op, mr, bits, CMP_MR) \
	SOFT_CONDITIONS(FUSED_LOAD, op, mi, bits, CMP_MI)
#define BINARY(op, bits)                             \
	SOFT_CONDITIONS(FUSED, op, rr, bits, ALU_RR) \
	SOFT_CONDITIONS(FUSED, op, ri, bits, ALU_RI)
#define UNARY(op, bits) SOFT_CONDITIONS(FUSED, op, rr, bits, ALU_R)

COMPARE(cmp, 8)
COMPARE(cmp, 32)
COMPARE(cmp, 64)
COMPARE(test, 8)
COMPARE(test, 32)
COMPARE(test, 64)
BINARY(add, 32)
BINARY(add, 64)
BINARY(sub, 32)
BINARY(sub, 64)
BINARY(and, 32)
BINARY(and, 64)
UNARY(inc, 32)
UNARY(inc, 64)
UNARY(dec, 32)
UNARY(dec, 64)

/*
 * The handlers of one kind, by condition. Dense tables replace one sparse table, because the
 * dynamic linker writes each pointer at program start.
 */
#define PLAIN(cc, n, op, form, bits)   [n] = op##_##form##bits##_##cc,
#define INDEXED(cc, n, op, form, bits) [n] = op##_##form##bits##_##cc##_indexed,
#define KIND(kind, op, form, FORM, bits, size)                                              \
	case SOFT_KIND(kind, FORM, size, 0): {                                              \
		static const soft_uop_fn fn[16] = {SOFT_CONDITIONS(PLAIN, op, form, bits)}; \
                                                                                            \
		return indexed ? NULL : fn[cc];                                             \
	}
#define KIND_LOAD(kind, op, form, FORM, bits, size)                 \
	case SOFT_KIND(kind, FORM, size, 0): {                      \
		static const soft_uop_fn fn[2][16] = {              \
			{SOFT_CONDITIONS(PLAIN, op, form, bits)},   \
			{SOFT_CONDITIONS(INDEXED, op, form, bits)}, \
		};                                                  \
                                                                    \
		return fn[indexed][cc];                             \
	}
#define COMPARE_KINDS(kind, op, bits, size)            \
	KIND(kind, op, rr, SOFT_K_RR, bits, size)      \
	KIND(kind, op, ri, SOFT_K_RI, bits, size)      \
	KIND_LOAD(kind, op, rm, SOFT_K_RM, bits, size) \
	KIND_LOAD(kind, op, mr, SOFT_K_MR, bits, size) \
	KIND_LOAD(kind, op, mi, SOFT_K_MI, bits, size)
#define BINARY_KINDS(kind, op, bits, size)        \
	KIND(kind, op, rr, SOFT_K_RR, bits, size) \
	KIND(kind, op, ri, SOFT_K_RI, bits, size)
#define UNARY_KINDS(kind, op, bits, size) KIND(kind, op, rr, SOFT_K_RR, bits, size)

soft_uop_fn soft_fused(const struct soft_uop *u, unsigned int cc)
{
	bool indexed = u->index != SOFT_R_ZERO * 8;

	switch (u->kind) {
		COMPARE_KINDS(SOFT_K_CMP, cmp, 8, 0)
		COMPARE_KINDS(SOFT_K_CMP, cmp, 32, 2)
		COMPARE_KINDS(SOFT_K_CMP, cmp, 64, 3)
		COMPARE_KINDS(SOFT_K_TEST, test, 8, 0)
		COMPARE_KINDS(SOFT_K_TEST, test, 32, 2)
		COMPARE_KINDS(SOFT_K_TEST, test, 64, 3)
		BINARY_KINDS(SOFT_K_ADD, add, 32, 2)
		BINARY_KINDS(SOFT_K_ADD, add, 64, 3)
		BINARY_KINDS(SOFT_K_SUB, sub, 32, 2)
		BINARY_KINDS(SOFT_K_SUB, sub, 64, 3)
		BINARY_KINDS(SOFT_K_AND, and, 32, 2)
		BINARY_KINDS(SOFT_K_AND, and, 64, 3)
		UNARY_KINDS(SOFT_K_INC, inc, 32, 2)
		UNARY_KINDS(SOFT_K_INC, inc, 64, 3)
		UNARY_KINDS(SOFT_K_DEC, dec, 32, 2)
		UNARY_KINDS(SOFT_K_DEC, dec, 64, 3)
	default:
		return NULL;
	}
}
