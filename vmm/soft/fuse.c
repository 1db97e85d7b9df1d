// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparisons and the branches on them, in one: most branches come right after what
 * they depend on, and the host's own condition code decides.
 */
#include "soft/alu_flags.h"
#include "soft/branch.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand)	 VPT_REG(c, u->operand, uint##bits##_t)
#define IMM(bits)		 ((uint##bits##_t)u->imm)
#define NAME(op, form, bits, cc) op##_##form##bits##_##cc

/* One handler for a condition; `work` sets `holds`. */
#define FUSED(cc, n, op, form, bits, work)            \
	VPT_UOP(op##_##form##bits##_##cc)             \
	{                                             \
		bool holds;                           \
                                                      \
		work(op, bits, cc);                   \
		return vpt_end_cond(c, u + 1, holds); \
	}

/* One that loads `m` first. */
#define FUSED_LOAD(cc, n, op, form, bits, work)       \
	VPT_LOAD_UOP(op##_##form##bits##_##cc, bits)  \
	{                                             \
		bool holds;                           \
                                                      \
		work(op, bits, cc);                   \
		return vpt_end_cond(c, u + 1, holds); \
	}

#define S8  "b"
#define S32 "l"
#define S64 "q"

#define CMP_RR(op, bits, cc) \
	VPT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), REG(bits, src), c->fl, cc, holds)
#define CMP_RI(op, bits, cc) \
	VPT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), IMM(bits), c->fl, cc, holds)
#define CMP_RM(op, bits, cc) VPT_CMP_ASM_COND(#op, S##bits, REG(bits, dst), m, c->fl, cc, holds)
#define CMP_MR(op, bits, cc) VPT_CMP_ASM_COND(#op, S##bits, m, REG(bits, src), c->fl, cc, holds)
#define CMP_MI(op, bits, cc) VPT_CMP_ASM_COND(#op, S##bits, m, IMM(bits), c->fl, cc, holds)
#define ALU(op, bits, cc, operand)                                    \
	uint##bits##_t a = REG(bits, dst);                            \
                                                                      \
	VPT_ALU_ASM_COND(#op, S##bits, a, operand, c->fl, cc, holds); \
	vpt_put##bits(c, u->dst, a)
#define ALU_RR(op, bits, cc) ALU(op, bits, cc, REG(bits, src))
#define ALU_RI(op, bits, cc) ALU(op, bits, cc, IMM(bits))
#define ALU_R(op, bits, cc)                                          \
	uint##bits##_t a = REG(bits, dst);                           \
                                                                     \
	VPT_UNARY_ASM_CARRY_COND(#op, S##bits, a, c->fl, cc, holds); \
	vpt_put##bits(c, u->dst, a)

#define COMPARE(op, bits)                                \
	VPT_CONDITIONS(FUSED, op, rr, bits, CMP_RR)      \
	VPT_CONDITIONS(FUSED, op, ri, bits, CMP_RI)      \
	VPT_CONDITIONS(FUSED_LOAD, op, rm, bits, CMP_RM) \
	VPT_CONDITIONS(FUSED_LOAD, op, mr, bits, CMP_MR) \
	VPT_CONDITIONS(FUSED_LOAD, op, mi, bits, CMP_MI)
#define BINARY(op, bits)                            \
	VPT_CONDITIONS(FUSED, op, rr, bits, ALU_RR) \
	VPT_CONDITIONS(FUSED, op, ri, bits, ALU_RI)
#define UNARY(op, bits) VPT_CONDITIONS(FUSED, op, rr, bits, ALU_R)

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

/* The handlers of one kind, by condition: without an index, and with one. */
struct kind {
	vpt_uop_fn plain[16], indexed[16];
};

#define PLAIN(cc, n, op, form, bits)   [n] = op##_##form##bits##_##cc,
#define INDEXED(cc, n, op, form, bits) [n] = op##_##form##bits##_##cc##_indexed,
#define KIND(op, form, bits)                                       \
	{                                                          \
		.plain = { VPT_CONDITIONS(PLAIN, op, form, bits) } \
	}
#define KIND_LOAD(op, form, bits)                                     \
	{                                                             \
		.plain = {VPT_CONDITIONS(PLAIN, op, form, bits)},     \
		.indexed = {VPT_CONDITIONS(INDEXED, op, form, bits)}, \
	}
#define COMPARE_KINDS(row, op, bits, size)                                                     \
	[row][VPT_K_RR]                                                                        \
	     [size] = KIND(op, rr, bits),                                                      \
  [row][VPT_K_RI][size] = KIND(op, ri, bits), [row][VPT_K_RM][size] = KIND_LOAD(op, rm, bits), \
  [row][VPT_K_MR][size] = KIND_LOAD(op, mr, bits), [row][VPT_K_MI][size] = KIND_LOAD(op, mi, bits)
#define BINARY_KINDS(row, op, bits, size) \
	[row][VPT_K_RR][size] = KIND(op, rr, bits), [row][VPT_K_RI][size] = KIND(op, ri, bits)
#define UNARY_KINDS(row, op, bits, size) [row][VPT_K_RR][size] = KIND(op, rr, bits)

static const struct kind kinds[VPT_K_DEC + 1][VPT_K_FORMS][4] = {
	COMPARE_KINDS(VPT_K_CMP, cmp, 8, 0),	COMPARE_KINDS(VPT_K_CMP, cmp, 32, 2),
	COMPARE_KINDS(VPT_K_CMP, cmp, 64, 3),	COMPARE_KINDS(VPT_K_TEST, test, 8, 0),
	COMPARE_KINDS(VPT_K_TEST, test, 32, 2), COMPARE_KINDS(VPT_K_TEST, test, 64, 3),
	BINARY_KINDS(VPT_K_ADD, add, 32, 2),	BINARY_KINDS(VPT_K_ADD, add, 64, 3),
	BINARY_KINDS(VPT_K_SUB, sub, 32, 2),	BINARY_KINDS(VPT_K_SUB, sub, 64, 3),
	BINARY_KINDS(VPT_K_AND, and, 32, 2),	BINARY_KINDS(VPT_K_AND, and, 64, 3),
	UNARY_KINDS(VPT_K_INC, inc, 32, 2),	UNARY_KINDS(VPT_K_INC, inc, 64, 3),
	UNARY_KINDS(VPT_K_DEC, dec, 32, 2),	UNARY_KINDS(VPT_K_DEC, dec, 64, 3),
};

vpt_uop_fn vpt_soft_fused(const struct vpt_uop *u, unsigned int cc)
{
	unsigned int op = VPT_KIND_OP(u->kind);
	const struct kind *kind;

	if (op > VPT_K_DEC)
		return NULL;
	kind = &kinds[op][VPT_KIND_FORM(u->kind)][VPT_KIND_SIZE(u->kind)];
	return u->index == VPT_R_ZERO * 8 ? kind->plain[cc] : kind->indexed[cc];
}
