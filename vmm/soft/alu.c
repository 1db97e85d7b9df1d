// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two-operand arithmetic, and the similar instructions with one operand. Each combination of
 * instruction, operand size and operand kinds has its own handler.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) SOFT_REG(c, u->operand, uint##bits##_t)
#define IMM(bits)	   ((uint##bits##_t)u->imm)

/*
 * Handler names begin with the operand kinds, destination first: r, m or i for register, memory or
 * immediate.
 */
#define BINARY(op, bits, s, asm_reg, asm_mem)               \
	SOFT_UOP(op##_rr##bits)                             \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, REG(bits, src), c->fl);  \
		soft_put##bits(c, u->dst, a);               \
		return SOFT_NEXT(c, u);                     \
	}                                                   \
	SOFT_UOP(op##_ri##bits)                             \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, IMM(bits), c->fl);       \
		soft_put##bits(c, u->dst, a);               \
		return SOFT_NEXT(c, u);                     \
	}                                                   \
	SOFT_LOAD_UOP(op##_rm##bits, bits)                  \
	{                                                   \
		uint##bits##_t a = REG(bits, dst);          \
                                                            \
		asm_reg(#op, s, a, m, c->fl);               \
		soft_put##bits(c, u->dst, a);               \
		return SOFT_NEXT(c, u);                     \
	}                                                   \
	SOFT_RMW_UOP(op##_mr##bits, bits)                   \
	{                                                   \
		asm_mem(#op, s, *m, REG(bits, src), c->fl); \
	}                                                   \
	SOFT_RMW_UOP(op##_mi##bits, bits)                   \
	{                                                   \
		asm_mem(#op, s, *m, IMM(bits), c->fl);      \
	}

#define COMPARE(op, bits, s, ...)                                            \
	SOFT_UOP(op##_rr##bits)                                              \
	{                                                                    \
		SOFT_CMP_ASM(#op, s, REG(bits, dst), REG(bits, src), c->fl); \
		return SOFT_NEXT(c, u);                                      \
	}                                                                    \
	SOFT_UOP(op##_ri##bits)                                              \
	{                                                                    \
		SOFT_CMP_ASM(#op, s, REG(bits, dst), IMM(bits), c->fl);      \
		return SOFT_NEXT(c, u);                                      \
	}                                                                    \
	SOFT_LOAD_UOP(op##_rm##bits, bits)                                   \
	{                                                                    \
		SOFT_CMP_ASM(#op, s, REG(bits, dst), m, c->fl);              \
		return SOFT_NEXT(c, u);                                      \
	}                                                                    \
	SOFT_LOAD_UOP(op##_mr##bits, bits)                                   \
	{                                                                    \
		SOFT_CMP_ASM(#op, s, m, REG(bits, src), c->fl);              \
		return SOFT_NEXT(c, u);                                      \
	}                                                                    \
	SOFT_LOAD_UOP(op##_mi##bits, bits)                                   \
	{                                                                    \
		SOFT_CMP_ASM(#op, s, m, IMM(bits), c->fl);                   \
		return SOFT_NEXT(c, u);                                      \
	}

#define UNARY(op, bits, s, asm_reg, asm_mem)       \
	SOFT_UOP(op##_r##bits)                     \
	{                                          \
		uint##bits##_t a = REG(bits, dst); \
                                                   \
		asm_reg(#op, s, a, c->fl);         \
		soft_put##bits(c, u->dst, a);      \
		return SOFT_NEXT(c, u);            \
	}                                          \
	SOFT_RMW_UOP(op##_m##bits, bits)           \
	{                                          \
		asm_mem(#op, s, *m, c->fl);        \
	}

/* NOT changes no flags. */
#define COMPLEMENT(op, s, a, fl) ((a) = ~(a))

#define ALL_SIZES(X, op, ...)       \
	X(op, 8, "b", __VA_ARGS__)  \
	X(op, 16, "w", __VA_ARGS__) \
	X(op, 32, "l", __VA_ARGS__) \
	X(op, 64, "q", __VA_ARGS__)

ALL_SIZES(BINARY, add, SOFT_ALU_ASM, SOFT_ALU_MEM)
ALL_SIZES(BINARY, or, SOFT_ALU_ASM, SOFT_ALU_MEM)
ALL_SIZES(BINARY, adc, SOFT_ALU_ASM_CARRY, SOFT_ALU_MEM_CARRY)
ALL_SIZES(BINARY, sbb, SOFT_ALU_ASM_CARRY, SOFT_ALU_MEM_CARRY)
ALL_SIZES(BINARY, and, SOFT_ALU_ASM, SOFT_ALU_MEM)
ALL_SIZES(BINARY, sub, SOFT_ALU_ASM, SOFT_ALU_MEM)
ALL_SIZES(BINARY, xor, SOFT_ALU_ASM, SOFT_ALU_MEM)
ALL_SIZES(COMPARE, cmp, )
ALL_SIZES(COMPARE, test, )
ALL_SIZES(UNARY, inc, SOFT_UNARY_ASM_CARRY, SOFT_UNARY_MEM_CARRY)
ALL_SIZES(UNARY, dec, SOFT_UNARY_ASM_CARRY, SOFT_UNARY_MEM_CARRY)
ALL_SIZES(UNARY, neg, SOFT_UNARY_ASM, SOFT_UNARY_MEM)
ALL_SIZES(UNARY, not, COMPLEMENT, COMPLEMENT)

/* Set the register to zero: XOR or SUB of a register and itself. */
SOFT_UOP(clear)
{
	SOFT_REG(c, u->dst, uint64_t) = 0;
	c->fl = SOFT_F_ZF | SOFT_F_PF | SOFT_F_FIXED;
	return SOFT_NEXT(c, u);
}

/* TEST of a register and itself. */
#define TEST_SELF(bits, s)                                                     \
	SOFT_UOP(test_self##bits)                                              \
	{                                                                      \
		const uint##bits##_t a = REG(bits, dst);                       \
                                                                               \
		asm("test" s " %1, %1" SOFT_FLAGS_OUT : "=a"(c->fl) : "q"(a)); \
		return SOFT_NEXT(c, u);                                        \
	}
TEST_SELF(32, "l")
TEST_SELF(64, "q")

struct binary {
	soft_uop_fn rr, ri;
	struct soft_mem_uop rm, mr, mi;
};

struct unary {
	soft_uop_fn r;
	struct soft_mem_uop m;
};

#define BINARY_ROW(op, bits)                                                     \
	{                                                                        \
		op##_rr##bits, op##_ri##bits, SOFT_MEM_UOP(op##_rm##bits),       \
			SOFT_MEM_UOP(op##_mr##bits), SOFT_MEM_UOP(op##_mi##bits) \
	}
#define BINARY_ROWS(op)                                                                       \
	{                                                                                     \
		BINARY_ROW(op, 8), BINARY_ROW(op, 16), BINARY_ROW(op, 32), BINARY_ROW(op, 64) \
	}
#define UNARY_ROW(op, bits)                              \
	{                                                \
		op##_r##bits, SOFT_MEM_UOP(op##_m##bits) \
	}
#define UNARY_ROWS(op)                                                                    \
	{                                                                                 \
		UNARY_ROW(op, 8), UNARY_ROW(op, 16), UNARY_ROW(op, 32), UNARY_ROW(op, 64) \
	}

/*
 * Rows in the order of insns_alu.def, of which the first eight have the order of opcodes. The
 * columns are log2 of the size.
 */
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

/* Return the handler for an idiom that names the same register twice, or NULL if there is none. */
static soft_uop_fn idiom(const struct soft_translation *t)
{
	if (t->size < 4)
		return NULL;
	if (t->arg == ROW_SUB || t->arg == ROW_XOR)
		return clear;
	if (t->arg == ROW_TEST)
		return t->size == 4 ? test_self32 : test_self64;
	return NULL;
}

/* Return the kind. Rows have the same order as kinds. */
static uint32_t kind_of(const struct soft_translation *t, enum soft_kind_form form)
{
	unsigned int op =
		t->arg < ROW_UNARY ? SOFT_K_ADD + t->arg : SOFT_K_INC + t->arg - ROW_UNARY;

	return SOFT_KIND(op, form, __builtin_ctz(t->size), 0);
}

static bool to_register(struct soft_translation *t, const struct binary *fn)
{
	struct soft_uop *u;
	soft_uop_fn same;

	if (soft_tr_is_mem(t, 1)) {
		u = soft_tr_emit_mem(t, &fn->rm, 1, false);
		u->kind = kind_of(t, SOFT_K_RM);
	} else if (soft_tr_is_imm(t, 1)) {
		u = soft_tr_emit(t, fn->ri);
		u->imm = soft_tr_imm(t, 1);
		u->kind = kind_of(t, SOFT_K_RI);
	} else {
		same = soft_tr_gpr(t, 0) == soft_tr_gpr(t, 1) ? idiom(t) : NULL;
		u = soft_tr_emit(t, same ? same : fn->rr);
		u->src = soft_tr_gpr(t, 1);
		u->kind = kind_of(t, SOFT_K_RR);
	}
	u->dst = soft_tr_gpr(t, 0);
	return true;
}

static bool to_memory(struct soft_translation *t, const struct binary *fn)
{
	const bool write = t->op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	struct soft_uop *u;

	if (soft_tr_is_imm(t, 1)) {
		u = soft_tr_emit_mem(t, &fn->mi, 0, write);
		u->imm = soft_tr_imm(t, 1);
		u->kind = kind_of(t, SOFT_K_MI);
	} else {
		u = soft_tr_emit_mem(t, &fn->mr, 0, write);
		u->src = soft_tr_gpr(t, 1);
		u->kind = kind_of(t, SOFT_K_MR);
	}
	return true;
}

bool soft_tr_alu(struct soft_translation *t)
{
	const unsigned int size = (unsigned int)__builtin_ctz(t->size);
	struct soft_uop *u;

	if (t->arg < ROW_UNARY) {
		const struct binary *fn = &binary[t->arg][size];

		return soft_tr_is_mem(t, 0) ? to_memory(t, fn) : to_register(t, fn);
	}
	if (soft_tr_is_mem(t, 0)) {
		u = soft_tr_emit_mem(t, &unary[t->arg - ROW_UNARY][size].m, 0, true);
		u->kind = kind_of(t, SOFT_K_MI);
		return true;
	}
	u = soft_tr_emit(t, unary[t->arg - ROW_UNARY][size].r);
	u->dst = soft_tr_gpr(t, 0);
	u->kind = kind_of(t, SOFT_K_RR);
	return true;
}
