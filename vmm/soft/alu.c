// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two-operand arithmetic and its relatives of one operand: a handler for each of
 * instruction, operand size and kind of operands, which none of them looks at again.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) VPT_REG(c, u->operand, uint##bits##_t)
#define IMM(bits)	   ((uint##bits##_t)u->imm)

/* First letter: the destination; r, m, i: register, memory, immediate. */
#define BINARY(op, bits, s, asm_reg, asm_mem)               \
	VPT_UOP(op##_rr##bits)                              \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, REG(bits, src), c->fl);  \
		vpt_put##bits(c, u->dst, a);                \
		return VPT_NEXT(c, u);                      \
	}                                                   \
	VPT_UOP(op##_ri##bits)                              \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, IMM(bits), c->fl);       \
		vpt_put##bits(c, u->dst, a);                \
		return VPT_NEXT(c, u);                      \
	}                                                   \
	VPT_LOAD_UOP(op##_rm##bits, bits)                   \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, m, c->fl);               \
		vpt_put##bits(c, u->dst, a);                \
		return VPT_NEXT(c, u);                      \
	}                                                   \
	VPT_RMW_UOP(op##_mr##bits, bits)                    \
	{                                                   \
		asm_mem(#op, s, *m, REG(bits, src), c->fl); \
	}                                                   \
	VPT_RMW_UOP(op##_mi##bits, bits)                    \
	{                                                   \
		asm_mem(#op, s, *m, IMM(bits), c->fl);      \
	}

#define COMPARE(op, bits, s, ...)                                           \
	VPT_UOP(op##_rr##bits)                                              \
	{                                                                   \
		VPT_CMP_ASM(#op, s, REG(bits, dst), REG(bits, src), c->fl); \
		return VPT_NEXT(c, u);                                      \
	}                                                                   \
	VPT_UOP(op##_ri##bits)                                              \
	{                                                                   \
		VPT_CMP_ASM(#op, s, REG(bits, dst), IMM(bits), c->fl);      \
		return VPT_NEXT(c, u);                                      \
	}                                                                   \
	VPT_LOAD_UOP(op##_rm##bits, bits)                                   \
	{                                                                   \
		VPT_CMP_ASM(#op, s, REG(bits, dst), m, c->fl);              \
		return VPT_NEXT(c, u);                                      \
	}                                                                   \
	VPT_LOAD_UOP(op##_mr##bits, bits)                                   \
	{                                                                   \
		VPT_CMP_ASM(#op, s, m, REG(bits, src), c->fl);              \
		return VPT_NEXT(c, u);                                      \
	}                                                                   \
	VPT_LOAD_UOP(op##_mi##bits, bits)                                   \
	{                                                                   \
		VPT_CMP_ASM(#op, s, m, IMM(bits), c->fl);                   \
		return VPT_NEXT(c, u);                                      \
	}

#define UNARY(op, bits, s, asm_reg, asm_mem)       \
	VPT_UOP(op##_r##bits)                      \
	{                                          \
		uint##bits##_t a = REG(bits, dst); \
                                                   \
		asm_reg(#op, s, a, c->fl);         \
		vpt_put##bits(c, u->dst, a);       \
		return VPT_NEXT(c, u);             \
	}                                          \
	VPT_RMW_UOP(op##_m##bits, bits)            \
	{                                          \
		asm_mem(#op, s, *m, c->fl);        \
	}

/* NOT is the one without flags. */
#define COMPLEMENT(op, s, a, fl) ((a) = ~(a))

#define ALL_SIZES(X, op, ...)       \
	X(op, 8, "b", __VA_ARGS__)  \
	X(op, 16, "w", __VA_ARGS__) \
	X(op, 32, "l", __VA_ARGS__) \
	X(op, 64, "q", __VA_ARGS__)

ALL_SIZES(BINARY, add, VPT_ALU_ASM, VPT_ALU_MEM)
ALL_SIZES(BINARY, or, VPT_ALU_ASM, VPT_ALU_MEM)
ALL_SIZES(BINARY, adc, VPT_ALU_ASM_CARRY, VPT_ALU_MEM_CARRY)
ALL_SIZES(BINARY, sbb, VPT_ALU_ASM_CARRY, VPT_ALU_MEM_CARRY)
ALL_SIZES(BINARY, and, VPT_ALU_ASM, VPT_ALU_MEM)
ALL_SIZES(BINARY, sub, VPT_ALU_ASM, VPT_ALU_MEM)
ALL_SIZES(BINARY, xor, VPT_ALU_ASM, VPT_ALU_MEM)
ALL_SIZES(COMPARE, cmp, )
ALL_SIZES(COMPARE, test, )
ALL_SIZES(UNARY, inc, VPT_UNARY_ASM_CARRY, VPT_UNARY_MEM_CARRY)
ALL_SIZES(UNARY, dec, VPT_UNARY_ASM_CARRY, VPT_UNARY_MEM_CARRY)
ALL_SIZES(UNARY, neg, VPT_UNARY_ASM, VPT_UNARY_MEM)
ALL_SIZES(UNARY, not, COMPLEMENT, COMPLEMENT)

/* XOR or SUB of a register and itself. */
VPT_UOP(clear)
{
	VPT_REG(c, u->dst, uint64_t) = 0;
	c->fl = VPT_F_ZF | VPT_F_PF | VPT_F_FIXED;
	return VPT_NEXT(c, u);
}

/* TEST of a register and itself. */
#define TEST_SELF(bits, s)                                                    \
	VPT_UOP(test_self##bits)                                              \
	{                                                                     \
		const uint##bits##_t a = REG(bits, dst);                      \
                                                                              \
		asm("test" s " %1, %1" VPT_FLAGS_OUT : "=a"(c->fl) : "q"(a)); \
		return VPT_NEXT(c, u);                                        \
	}
TEST_SELF(32, "l")
TEST_SELF(64, "q")

struct binary {
	vpt_uop_fn rr, ri;
	struct vpt_mem_uop rm, mr, mi;
};

struct unary {
	vpt_uop_fn r;
	struct vpt_mem_uop m;
};

#define BINARY_ROW(op, bits)                                                   \
	{                                                                      \
		op##_rr##bits, op##_ri##bits, VPT_MEM_UOP(op##_rm##bits),      \
			VPT_MEM_UOP(op##_mr##bits), VPT_MEM_UOP(op##_mi##bits) \
	}
#define BINARY_ROWS(op)                                                                       \
	{                                                                                     \
		BINARY_ROW(op, 8), BINARY_ROW(op, 16), BINARY_ROW(op, 32), BINARY_ROW(op, 64) \
	}
#define UNARY_ROW(op, bits)                             \
	{                                               \
		op##_r##bits, VPT_MEM_UOP(op##_m##bits) \
	}
#define UNARY_ROWS(op)                                                                    \
	{                                                                                 \
		UNARY_ROW(op, 8), UNARY_ROW(op, 16), UNARY_ROW(op, 32), UNARY_ROW(op, 64) \
	}

/* As insns_alu.def counts them: the first eight as opcodes do. By log2 of the size. */
enum { ROW_SUB = 5, ROW_XOR = 6, ROW_TEST = 8, ROW_UNARY = 16 };

static const struct binary binary[][4] = {
	BINARY_ROWS(add), BINARY_ROWS(or),  BINARY_ROWS(adc), BINARY_ROWS(sbb),	 BINARY_ROWS(and),
	BINARY_ROWS(sub), BINARY_ROWS(xor), BINARY_ROWS(cmp), BINARY_ROWS(test),
};

static const struct unary unary[][4] = {
	UNARY_ROWS(inc),
	UNARY_ROWS(dec),
	UNARY_ROWS(neg),
	UNARY_ROWS(not ),
};

/* With the same register twice, where that is an idiom; NULL: nothing special. */
static vpt_uop_fn idiom(const struct vpt_translation *t)
{
	if (t->size < 4)
		return NULL;
	if (t->arg == ROW_SUB || t->arg == ROW_XOR)
		return clear;
	if (t->arg == ROW_TEST)
		return t->size == 4 ? test_self32 : test_self64;
	return NULL;
}

/* The rows are in the order of the kinds. */
static uint32_t kind_of(const struct vpt_translation *t, enum vpt_kind_form form)
{
	unsigned int op = t->arg < ROW_UNARY ? VPT_K_ADD + t->arg : VPT_K_INC + t->arg - ROW_UNARY;

	return VPT_KIND(op, form, __builtin_ctz(t->size), 0);
}

static bool to_register(struct vpt_translation *t, const struct binary *fn)
{
	struct vpt_uop *u;
	vpt_uop_fn same;

	if (vpt_tr_is_mem(t, 1)) {
		u = vpt_tr_emit_mem(t, &fn->rm, 1, false);
		u->kind = kind_of(t, VPT_K_RM);
	} else if (vpt_tr_is_imm(t, 1)) {
		u = vpt_tr_emit(t, fn->ri);
		u->imm = vpt_tr_imm(t, 1);
		u->kind = kind_of(t, VPT_K_RI);
	} else {
		same = vpt_tr_gpr(t, 0) == vpt_tr_gpr(t, 1) ? idiom(t) : NULL;
		u = vpt_tr_emit(t, same ? same : fn->rr);
		u->src = vpt_tr_gpr(t, 1);
		u->kind = kind_of(t, VPT_K_RR);
	}
	u->dst = vpt_tr_gpr(t, 0);
	return true;
}

static bool to_memory(struct vpt_translation *t, const struct binary *fn)
{
	const bool write = t->op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	struct vpt_uop *u;

	if (vpt_tr_is_imm(t, 1)) {
		u = vpt_tr_emit_mem(t, &fn->mi, 0, write);
		u->imm = vpt_tr_imm(t, 1);
		u->kind = kind_of(t, VPT_K_MI);
	} else {
		u = vpt_tr_emit_mem(t, &fn->mr, 0, write);
		u->src = vpt_tr_gpr(t, 1);
		u->kind = kind_of(t, VPT_K_MR);
	}
	return true;
}

bool vpt_tr_alu(struct vpt_translation *t)
{
	const unsigned int size = (unsigned int)__builtin_ctz(t->size);
	struct vpt_uop *u;

	if (t->arg < ROW_UNARY) {
		const struct binary *fn = &binary[t->arg][size];

		return vpt_tr_is_mem(t, 0) ? to_memory(t, fn) : to_register(t, fn);
	}
	if (vpt_tr_is_mem(t, 0)) {
		vpt_tr_emit_mem(t, &unary[t->arg - ROW_UNARY][size].m, 0, true);
		return true;
	}
	u = vpt_tr_emit(t, unary[t->arg - ROW_UNARY][size].r);
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = kind_of(t, VPT_K_RR);
	return true;
}
