// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multiplication and division. Whether a quotient fits is known before the host's
 * instruction is used, which would raise #DE in the host itself.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) VPT_REG(c, u->operand, uint##bits##_t)
#define RAX		   (VPT_R_RAX * 8)
#define RDX		   (VPT_R_RDX * 8)

/* Does the quotient of high:low / d fit in as many bits as d? */
#define FITS(bits, wide)                                                                           \
	VPT_INLINE bool div_fits##bits(uint##bits##_t high, uint##bits##_t low, uint##bits##_t d)  \
	{                                                                                          \
		(void)low;                                                                         \
		return high < d;                                                                   \
	}                                                                                          \
	static VPT_SLOW bool idiv_fits_wide##bits(uint##bits##_t high, uint##bits##_t low,         \
						  uint##bits##_t d)                                \
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
	VPT_INLINE bool idiv_fits##bits(uint##bits##_t high, uint##bits##_t low, uint##bits##_t d) \
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
 * All eight work on rDX:rAX, or AX alone with bytes. Of the flags, undefined ones may
 * be those from before. Volatile: not to be moved before the check.
 */
#define WIDE(op, bits, s, check)                                                        \
	VPT_INLINE const struct vpt_uop *op##_by##bits(VPT_UOP_ARGS, uint##bits##_t b)  \
	{                                                                               \
		uint64_t low = c->r[VPT_R_RAX], high = c->r[VPT_R_RDX];                 \
		uint16_t fl = c->fl;                                                    \
                                                                                        \
		if (vpt_unlikely(!check((uint##bits##_t)high, (uint##bits##_t)low, b))) \
			vpt_soft_raise(c, u, VPT_VEC_DE);                               \
		asm volatile(VPT_FLAGS_IN "movq %[low], %%rax\n\t" #op s                \
					  " %[b]\n\tmovq %%rax, %[low]" VPT_FLAGS_OUT   \
			     : "+&a"(fl), [low] "+&r"(low), "+&d"(high)                 \
			     : [b] "rm"(b));                                            \
		c->fl = fl;                                                             \
		vpt_put##bits(c, RAX, (uint##bits##_t)low);                             \
		vpt_put##bits(c, RDX, (uint##bits##_t)high);                            \
		return VPT_NEXT(c, u);                                                  \
	}

#define WIDE8(op, check)                                                               \
	VPT_INLINE const struct vpt_uop *op##_by8(VPT_UOP_ARGS, uint8_t b)             \
	{                                                                              \
		uint64_t low = c->r[VPT_R_RAX];                                        \
		uint16_t fl = c->fl;                                                   \
                                                                                       \
		if (vpt_unlikely(!check((uint8_t)(low >> 8), (uint8_t)low, b)))        \
			vpt_soft_raise(c, u, VPT_VEC_DE);                              \
		asm volatile(VPT_FLAGS_IN "movq %[low], %%rax\n\t" #op                 \
					  "b %[b]\n\tmovq %%rax, %[low]" VPT_FLAGS_OUT \
			     : "+&a"(fl), [low] "+&r"(low)                             \
			     : [b] "qm"(b));                                           \
		c->fl = fl;                                                            \
		vpt_put16(c, RAX, (uint16_t)low);                                      \
		return VPT_NEXT(c, u);                                                 \
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
	VPT_UOP(op##_r##bits)                               \
	{                                                   \
		return op##_by##bits(c, u, REG(bits, src)); \
	}                                                   \
	VPT_LOAD_UOP(op##_m##bits, bits)                    \
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

/* IMUL into a register: by a register or memory, or of those by an immediate. */
#define IMUL(bits, s)                                                  \
	VPT_UOP(imul_rr##bits)                                         \
	{                                                              \
		uint##bits##_t a = REG(bits, dst);                     \
                                                                       \
		VPT_ALU_ASM_FULL("imul", s, a, REG(bits, src), c->fl); \
		vpt_put##bits(c, u->dst, a);                           \
		return VPT_NEXT(c, u);                                 \
	}                                                              \
	VPT_LOAD_UOP(imul_rm##bits, bits)                              \
	{                                                              \
		uint##bits##_t a = REG(bits, dst);                     \
                                                                       \
		VPT_ALU_ASM_FULL("imul", s, a, m, c->fl);              \
		vpt_put##bits(c, u->dst, a);                           \
		return VPT_NEXT(c, u);                                 \
	}                                                              \
	VPT_UOP(imul_rri##bits)                                        \
	{                                                              \
		uint##bits##_t a = (uint##bits##_t)u->imm;             \
                                                                       \
		VPT_ALU_ASM_FULL("imul", s, a, REG(bits, src), c->fl); \
		vpt_put##bits(c, u->dst, a);                           \
		return VPT_NEXT(c, u);                                 \
	}                                                              \
	VPT_LOAD_UOP(imul_rmi##bits, bits)                             \
	{                                                              \
		uint##bits##_t a = (uint##bits##_t)u->imm;             \
                                                                       \
		VPT_ALU_ASM_FULL("imul", s, a, m, c->fl);              \
		vpt_put##bits(c, u->dst, a);                           \
		return VPT_NEXT(c, u);                                 \
	}

IMUL(16, "w")
IMUL(32, "l")
IMUL(64, "q")

/* MULX: RDX times src; no flags. aux: the register for the low half, which is left
 * with the high one if both are the same. */
#define MULX(bits, wide)                                                               \
	VPT_INLINE const struct vpt_uop *mulx_by##bits(VPT_UOP_ARGS, uint##bits##_t b) \
	{                                                                              \
		const wide product = (wide)(uint##bits##_t)c->r[VPT_R_RDX] * b;        \
                                                                                       \
		vpt_put##bits(c, u->aux, (uint##bits##_t)product);                     \
		vpt_put##bits(c, u->dst, (uint##bits##_t)(product >> bits));           \
		return VPT_NEXT(c, u);                                                 \
	}                                                                              \
	ONE_OPERAND(mulx, bits)

MULX(32, uint64_t)
MULX(64, unsigned __int128)

struct one_operand {
	vpt_uop_fn r;
	struct vpt_mem_uop m;
};

struct imul {
	vpt_uop_fn rr, rri;
	struct vpt_mem_uop rm, rmi;
};

#define ROW(op, bits)                                   \
	{                                               \
		op##_r##bits, VPT_MEM_UOP(op##_m##bits) \
	}
#define ROWS(op)                                                  \
	{                                                         \
		ROW(op, 8), ROW(op, 16), ROW(op, 32), ROW(op, 64) \
	}
#define IMUL_ROW(bits)                                                     \
	{                                                                  \
		imul_rr##bits, imul_rri##bits, VPT_MEM_UOP(imul_rm##bits), \
			VPT_MEM_UOP(imul_rmi##bits)                        \
	}

/* By log2 of the size. */
static const struct one_operand muls[][4] = {ROWS(mul), ROWS(imul)},
				divs[][4] = {ROWS(div), ROWS(idiv)};
static const struct imul imul[4] = {{0}, IMUL_ROW(16), IMUL_ROW(32), IMUL_ROW(64)};
static const struct one_operand mulx32 = ROW(mulx, 32), mulx64 = ROW(mulx, 64);

static unsigned int size_index(const struct vpt_translation *t)
{
	return (unsigned int)__builtin_ctz(t->size);
}

static struct vpt_uop *one_operand(struct vpt_translation *t, const struct one_operand *fn,
				   unsigned int n)
{
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, n))
		return vpt_tr_emit_mem(t, &fn->m, n, false);
	u = vpt_tr_emit(t, fn->r);
	u->src = vpt_tr_gpr(t, n);
	return u;
}

static bool into_register(struct vpt_translation *t)
{
	const struct imul *fn = &imul[size_index(t)];
	const bool by_imm = t->insn->operand_count_visible == 3;
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, 1)) {
		u = vpt_tr_emit_mem(t, by_imm ? &fn->rmi : &fn->rm, 1, false);
	} else {
		u = vpt_tr_emit(t, by_imm ? fn->rri : fn->rr);
		u->src = vpt_tr_gpr(t, 1);
	}
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = VPT_KIND(by_imm ? VPT_K_IMUL3 : VPT_K_IMUL,
			   vpt_tr_is_mem(t, 1) ? VPT_K_RM : VPT_K_RR, size_index(t), 0);
	if (by_imm)
		u->imm = vpt_tr_imm(t, 2);
	return true;
}

static bool mulx(struct vpt_translation *t)
{
	struct vpt_uop *u;

	/* VEX exists in protected mode only. */
	if (!(t->mode & VPT_BLOCK_PROTECTED))
		return false;
	u = one_operand(t, t->size == 8 ? &mulx64 : &mulx32, 2);
	u->dst = vpt_tr_gpr(t, 0);
	u->aux = vpt_tr_gpr(t, 1);
	return true;
}

bool vpt_tr_mul(struct vpt_translation *t)
{
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_MULX)
		return mulx(t);
	if (t->insn->operand_count_visible > 1)
		return into_register(t);
	one_operand(t, &muls[t->arg][size_index(t)], 0);
	return true;
}

bool vpt_tr_div(struct vpt_translation *t)
{
	one_operand(t, &divs[t->arg][size_index(t)], 0);
	return true;
}
