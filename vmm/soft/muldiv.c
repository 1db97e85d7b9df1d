// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multiplication and division. The quotient is checked before the host's instruction runs, because
 * an overflow would raise #DE in the host.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) SOFT_REG(c, u->operand, uint##bits##_t)
#define RAX		   (SOFT_R_RAX * 8)
#define RDX		   (SOFT_R_RDX * 8)

/* Returns true if the quotient of high:low / d fits in the width of d. */
#define FITS(bits, wide)                                                                           \
	SOFT_INLINE bool div_fits##bits(uint##bits##_t high, uint##bits##_t low, uint##bits##_t d) \
	{                                                                                          \
		(void)low;                                                                         \
		return high < d;                                                                   \
	}                                                                                          \
	static SOFT_SLOW bool idiv_fits_wide##bits(uint##bits##_t high, uint##bits##_t low,        \
						   uint##bits##_t d)                               \
	{                                                                                          \
		const uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);                       \
		wide n = (wide)((wide)high << bits | low);                                         \
		wide limit = (high ^ d) & sign ? sign : (wide)(sign - 1);                          \
                                                                                                   \
		if (high & sign)                                                                   \
			n = (wide)-n;                                                              \
		if (d & sign)                                                                      \
			d = (uint##bits##_t) - d;                                                  \
		return n >> bits < d && (wide)(n / d) <= limit;                                    \
	}                                                                                          \
	SOFT_INLINE bool idiv_fits##bits(uint##bits##_t high, uint##bits##_t low,                  \
					 uint##bits##_t d)                                         \
	{                                                                                          \
		const uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);                       \
                                                                                                   \
		if (vpt_likely(high == (uint##bits##_t)(low & sign ? -1 : 0)))                     \
			return d && (d != (uint##bits##_t) - 1 || low != sign);                    \
		return idiv_fits_wide##bits(high, low, d);                                         \
	}

FITS(8, uint16_t)
FITS(16, uint32_t)
FITS(32, uint64_t)
FITS(64, unsigned __int128)

/*
 * All eight use rDX:rAX, or AX for bytes. Undefined flags may keep their values. The asm is
 * volatile so that it stays after the check.
 */
#define WIDE(op, bits, s, check)                                                          \
	SOFT_INLINE const struct soft_uop *op##_by##bits(SOFT_UOP_ARGS, uint##bits##_t b) \
	{                                                                                 \
		uint64_t low = c->r[SOFT_R_RAX], high = c->r[SOFT_R_RDX];                 \
		uint16_t fl = c->fl;                                                      \
                                                                                          \
		if (vpt_unlikely(!check((uint##bits##_t)high, (uint##bits##_t)low, b)))   \
			soft_raise(c, u, X86_VEC_DE);                                     \
		asm volatile(SOFT_FLAGS_IN "movq %[low], %%rax\n\t" #op s                 \
					   " %[b]\n\tmovq %%rax, %[low]" SOFT_FLAGS_OUT   \
			     : "+&a"(fl), [low] "+&r"(low), "+&d"(high)                   \
			     : [b] "rm"(b));                                              \
		c->fl = fl;                                                               \
		soft_put##bits(c, RAX, (uint##bits##_t)low);                              \
		soft_put##bits(c, RDX, (uint##bits##_t)high);                             \
		return SOFT_NEXT(c, u);                                                   \
	}

#define WIDE8(op, check)                                                                 \
	SOFT_INLINE const struct soft_uop *op##_by8(SOFT_UOP_ARGS, uint8_t b)            \
	{                                                                                \
		uint64_t low = c->r[SOFT_R_RAX];                                         \
		uint16_t fl = c->fl;                                                     \
                                                                                         \
		if (vpt_unlikely(!check((uint8_t)(low >> 8), (uint8_t)low, b)))          \
			soft_raise(c, u, X86_VEC_DE);                                    \
		asm volatile(SOFT_FLAGS_IN "movq %[low], %%rax\n\t" #op                  \
					   "b %[b]\n\tmovq %%rax, %[low]" SOFT_FLAGS_OUT \
			     : "+&a"(fl), [low] "+&r"(low)                               \
			     : [b] "qm"(b));                                             \
		c->fl = fl;                                                              \
		soft_put16(c, RAX, (uint16_t)low);                                       \
		return SOFT_NEXT(c, u);                                                  \
	}

#define WIDE_SIZES(op, check)        \
	WIDE8(op, check##8)          \
	WIDE(op, 16, "w", check##16) \
	WIDE(op, 32, "l", check##32) \
	WIDE(op, 64, "q", check##64)

/* A product always fits. */
#define mul_fits8(high, low, b)	 true
#define mul_fits16(high, low, b) true
#define mul_fits32(high, low, b) true
#define mul_fits64(high, low, b) true

WIDE_SIZES(mul, mul_fits)
WIDE_SIZES(imul, mul_fits)
WIDE_SIZES(div, div_fits)
WIDE_SIZES(idiv, idiv_fits)

#define ONE_OPERAND(op, bits)                               \
	SOFT_UOP(op##_r##bits)                              \
	{                                                   \
		return op##_by##bits(c, u, REG(bits, src)); \
	}                                                   \
	SOFT_LOAD_UOP(op##_m##bits, bits)                   \
	{                                                   \
		return op##_by##bits(c, u, m);              \
	}

#define ONE_OPERAND_SIZES(op) \
	ONE_OPERAND(op, 8)    \
	ONE_OPERAND(op, 16)   \
	ONE_OPERAND(op, 32)   \
	ONE_OPERAND(op, 64)

ONE_OPERAND_SIZES(mul)
ONE_OPERAND_SIZES(imul)
ONE_OPERAND_SIZES(div)
ONE_OPERAND_SIZES(idiv)

/* IMUL of a register by a register or memory, or of either by an immediate. */
#define IMUL(bits, s)                                                   \
	SOFT_UOP(imul_rr##bits)                                         \
	{                                                               \
		uint##bits##_t a = REG(bits, dst);                      \
                                                                        \
		SOFT_ALU_ASM_FULL("imul", s, a, REG(bits, src), c->fl); \
		soft_put##bits(c, u->dst, a);                           \
		return SOFT_NEXT(c, u);                                 \
	}                                                               \
	SOFT_LOAD_UOP(imul_rm##bits, bits)                              \
	{                                                               \
		uint##bits##_t a = REG(bits, dst);                      \
                                                                        \
		SOFT_ALU_ASM_FULL("imul", s, a, m, c->fl);              \
		soft_put##bits(c, u->dst, a);                           \
		return SOFT_NEXT(c, u);                                 \
	}                                                               \
	SOFT_UOP(imul_rri##bits)                                        \
	{                                                               \
		uint##bits##_t a = (uint##bits##_t)u->imm;              \
                                                                        \
		SOFT_ALU_ASM_FULL("imul", s, a, REG(bits, src), c->fl); \
		soft_put##bits(c, u->dst, a);                           \
		return SOFT_NEXT(c, u);                                 \
	}                                                               \
	SOFT_LOAD_UOP(imul_rmi##bits, bits)                             \
	{                                                               \
		uint##bits##_t a = (uint##bits##_t)u->imm;              \
                                                                        \
		SOFT_ALU_ASM_FULL("imul", s, a, m, c->fl);              \
		soft_put##bits(c, u->dst, a);                           \
		return SOFT_NEXT(c, u);                                 \
	}

IMUL(16, "w")
IMUL(32, "l")
IMUL(64, "q")

/*
 * MULX multiplies RDX by src and changes no flags. aux is the register for the low half. If both
 * destinations are the same register, it gets the high half.
 */
#define MULX(bits, wide)                                                                  \
	SOFT_INLINE const struct soft_uop *mulx_by##bits(SOFT_UOP_ARGS, uint##bits##_t b) \
	{                                                                                 \
		const wide product = (wide)(uint##bits##_t)c->r[SOFT_R_RDX] * b;          \
                                                                                          \
		soft_put##bits(c, u->aux, (uint##bits##_t)product);                       \
		soft_put##bits(c, u->dst, (uint##bits##_t)(product >> bits));             \
		return SOFT_NEXT(c, u);                                                   \
	}                                                                                 \
	ONE_OPERAND(mulx, bits)

MULX(32, uint64_t)
MULX(64, unsigned __int128)

struct one_operand {
	soft_uop_fn r;
	struct soft_mem_uop m;
};

struct imul {
	soft_uop_fn rr, rri;
	struct soft_mem_uop rm, rmi;
};

#define ROW(op, bits)                                    \
	{                                                \
		op##_r##bits, SOFT_MEM_UOP(op##_m##bits) \
	}
#define ROWS(op)                                                  \
	{                                                         \
		ROW(op, 8), ROW(op, 16), ROW(op, 32), ROW(op, 64) \
	}
#define IMUL_ROW(bits)                                                      \
	{                                                                   \
		imul_rr##bits, imul_rri##bits, SOFT_MEM_UOP(imul_rm##bits), \
			SOFT_MEM_UOP(imul_rmi##bits)                        \
	}

/* Handlers by log2 of the size. */
static const struct one_operand muls[][4] = {ROWS(mul), ROWS(imul)},
				divs[][4] = {ROWS(div), ROWS(idiv)};
static const struct imul imul[4] = {{0}, IMUL_ROW(16), IMUL_ROW(32), IMUL_ROW(64)};
static const struct one_operand mulx32 = ROW(mulx, 32), mulx64 = ROW(mulx, 64);

static unsigned int size_index(const struct soft_translation *t)
{
	return (unsigned int)__builtin_ctz(t->size);
}

static struct soft_uop *one_operand(struct soft_translation *t, const struct one_operand *fn,
				    unsigned int n)
{
	struct soft_uop *u;

	if (soft_tr_is_mem(t, n))
		return soft_tr_emit_mem(t, &fn->m, n, false);
	u = soft_tr_emit(t, fn->r);
	u->src = soft_tr_gpr(t, n);
	return u;
}

/* Set the kind of MUL, DIV or their signed forms. */
static void wide_kind(const struct soft_translation *t, struct soft_uop *u, unsigned int op)
{
	u->dst = RDX;
	u->kind = SOFT_KIND(op + t->arg, soft_tr_is_mem(t, 0) ? SOFT_K_RM : SOFT_K_RR,
			    size_index(t), 0);
}

static bool into_register(struct soft_translation *t)
{
	const struct imul *fn = &imul[size_index(t)];
	const bool by_imm = t->insn->operand_count_visible == 3;
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 1)) {
		u = soft_tr_emit_mem(t, by_imm ? &fn->rmi : &fn->rm, 1, false);
	} else {
		u = soft_tr_emit(t, by_imm ? fn->rri : fn->rr);
		u->src = soft_tr_gpr(t, 1);
	}
	u->dst = soft_tr_gpr(t, 0);
	u->kind = SOFT_KIND(by_imm ? SOFT_K_IMUL3 : SOFT_K_IMUL,
			    soft_tr_is_mem(t, 1) ? SOFT_K_RM : SOFT_K_RR, size_index(t), 0);
	if (by_imm)
		u->imm = soft_tr_imm(t, 2);
	return true;
}

static bool mulx(struct soft_translation *t)
{
	struct soft_uop *u;

	/* VEX exists in protected mode only. */
	if (!(t->mode & SOFT_BLOCK_PROTECTED))
		return false;
	u = one_operand(t, t->size == 8 ? &mulx64 : &mulx32, 2);
	u->dst = soft_tr_gpr(t, 0);
	u->aux = soft_tr_gpr(t, 1);
	return true;
}

bool soft_tr_mul(struct soft_translation *t)
{
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_MULX)
		return mulx(t);
	if (t->insn->operand_count_visible > 1)
		return into_register(t);
	wide_kind(t, one_operand(t, &muls[t->arg][size_index(t)], 0), SOFT_K_MUL);
	return true;
}

bool soft_tr_div(struct soft_translation *t)
{
	wide_kind(t, one_operand(t, &divs[t->arg][size_index(t)], 0), SOFT_K_DIV);
	return true;
}
