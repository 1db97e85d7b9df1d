// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves of general registers: plain, extending and conditional moves, LEA and SETcc. */
#include "soft/flagcond.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) SOFT_REG(c, u->operand, uint##bits##_t)

/* Tables are indexed by log2 of the size and by the encoding of the condition. */
static unsigned int size_index(const struct soft_translation *t)
{
	return (unsigned int)__builtin_ctz(t->size);
}

#define MOV(bits)                                                  \
	SOFT_UOP(mov_rr##bits)                                     \
	{                                                          \
		soft_put##bits(c, u->dst, REG(bits, src));         \
		return SOFT_NEXT(c, u);                            \
	}                                                          \
	SOFT_UOP(mov_ri##bits)                                     \
	{                                                          \
		soft_put##bits(c, u->dst, (uint##bits##_t)u->imm); \
		return SOFT_NEXT(c, u);                            \
	}                                                          \
	SOFT_LOAD_UOP(mov_rm##bits, bits)                          \
	{                                                          \
		soft_put##bits(c, u->dst, m);                      \
		return SOFT_NEXT(c, u);                            \
	}                                                          \
	SOFT_STORE_UOP(mov_mr##bits, bits)                         \
	{                                                          \
		return REG(bits, src);                             \
	}                                                          \
	SOFT_STORE_UOP(mov_mi##bits, bits)                         \
	{                                                          \
		return (uint##bits##_t)u->imm;                     \
	}

MOV(8)
MOV(16)
MOV(32)
MOV(64)

#define MOV_ROW(bits)                                                          \
	{                                                                      \
		mov_rr##bits, mov_ri##bits, SOFT_MEM_UOP(mov_rm##bits),        \
			SOFT_MEM_UOP(mov_mr##bits), SOFT_MEM_UOP(mov_mi##bits) \
	}

static const struct {
	soft_uop_fn rr, ri;
	struct soft_mem_uop rm, mr, mi;
} mov[4] = {MOV_ROW(8), MOV_ROW(16), MOV_ROW(32), MOV_ROW(64)};

static bool is_special(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_REGISTER && !soft_tr_is_gpr(t, n);
}

static bool is_segment(const struct soft_translation *t, unsigned int n)
{
	return is_special(t, n) &&
	       ZydisRegisterGetClass(t->op[n].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}

static enum soft_kind_form form_of(const struct soft_translation *t)
{
	if (soft_tr_is_mem(t, 0))
		return soft_tr_is_imm(t, 1) ? SOFT_K_MI : SOFT_K_MR;
	if (soft_tr_is_mem(t, 1))
		return SOFT_K_RM;
	return soft_tr_is_imm(t, 1) ? SOFT_K_RI : SOFT_K_RR;
}

bool soft_tr_mov(struct soft_translation *t)
{
	const unsigned int size = size_index(t);
	struct soft_uop *u;

	if (is_segment(t, 0) || is_segment(t, 1))
		return soft_tr_segment(t);
	if (is_special(t, 0) || is_special(t, 1))
		return soft_tr_system(t);
	if (soft_tr_is_mem(t, 0))
		u = soft_tr_emit_mem(t, soft_tr_is_imm(t, 1) ? &mov[size].mi : &mov[size].mr, 0,
				     true);
	else if (soft_tr_is_mem(t, 1))
		u = soft_tr_emit_mem(t, &mov[size].rm, 1, false);
	else
		u = soft_tr_emit(t, soft_tr_is_imm(t, 1) ? mov[size].ri : mov[size].rr);
	u->kind = SOFT_KIND(SOFT_K_MOV, form_of(t), size, 0);
	if (soft_tr_is_gpr(t, 0))
		u->dst = soft_tr_gpr(t, 0);
	if (soft_tr_is_gpr(t, 1))
		u->src = soft_tr_gpr(t, 1);
	else if (soft_tr_is_imm(t, 1))
		u->imm = soft_tr_imm(t, 1);
	return true;
}

/* Extend from one size in bits to another. */
#define EXTEND(name, sign, from, to)                                                        \
	SOFT_UOP(name##_r_##from##_##to)                                                    \
	{                                                                                   \
		soft_put##to(c, u->dst, (uint##to##_t)SOFT_REG(c, u->src, sign##from##_t)); \
		return SOFT_NEXT(c, u);                                                     \
	}                                                                                   \
	SOFT_LOAD_UOP(name##_m_##from##_##to, from)                                         \
	{                                                                                   \
		soft_put##to(c, u->dst, (uint##to##_t)(sign##from##_t)m);                   \
		return SOFT_NEXT(c, u);                                                     \
	}

EXTEND(movzx, uint, 8, 16)
EXTEND(movzx, uint, 8, 32)
EXTEND(movzx, uint, 16, 16)
EXTEND(movzx, uint, 16, 32)
EXTEND(movsx, int, 8, 16)
EXTEND(movsx, int, 8, 32)
EXTEND(movsx, int, 8, 64)
EXTEND(movsx, int, 16, 16)
EXTEND(movsx, int, 16, 32)
EXTEND(movsx, int, 16, 64)
EXTEND(movsx, int, 32, 32)
EXTEND(movsx, int, 32, 64)

struct extend {
	soft_uop_fn r;
	struct soft_mem_uop m;
};

#define EXTEND_ROW(name, from, to)                                           \
	{                                                                    \
		name##_r_##from##_##to, SOFT_MEM_UOP(name##_m_##from##_##to) \
	}

/* Tables by the sizes of destination and source. */
static const struct extend zero_extend[4][3] = {
	[1] = {EXTEND_ROW(movzx, 8, 16), EXTEND_ROW(movzx, 16, 16)},
	[2] = {EXTEND_ROW(movzx, 8, 32), EXTEND_ROW(movzx, 16, 32)},
	[3] = {EXTEND_ROW(movzx, 8, 32), EXTEND_ROW(movzx, 16, 32)},
};

/* MOVSXD to 16 bits reads 16, although Zydis reports otherwise (SDM vol. 2, MOVSXD). */
static const struct extend sign_extend[4][3] = {
	[1] = {EXTEND_ROW(movsx, 8, 16), EXTEND_ROW(movsx, 16, 16), EXTEND_ROW(movsx, 16, 16)},
	[2] = {EXTEND_ROW(movsx, 8, 32), EXTEND_ROW(movsx, 16, 32), EXTEND_ROW(movsx, 32, 32)},
	[3] = {EXTEND_ROW(movsx, 8, 64), EXTEND_ROW(movsx, 16, 64), EXTEND_ROW(movsx, 32, 64)},
};

/* MOVZX and the sign-extending moves. */
enum { ROW_MOVZX = 0 };

bool soft_tr_movx(struct soft_translation *t)
{
	const unsigned int from = (unsigned int)__builtin_ctz(soft_tr_size(t, 1));
	const struct extend *fn = t->arg == ROW_MOVZX ? &zero_extend[size_index(t)][from]
						      : &sign_extend[size_index(t)][from];
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 1)) {
		u = soft_tr_emit_mem(t, &fn->m, 1, false);
	} else {
		u = soft_tr_emit(t, fn->r);
		u->src = soft_tr_gpr(t, 1);
	}
	u->dst = soft_tr_gpr(t, 0);
	u->kind = SOFT_KIND(t->arg == ROW_MOVZX ? SOFT_K_MOVZX : SOFT_K_MOVSX, form_of(t),
			    size_index(t), from);
	return true;
}

/* CWD, CDQ, CQO: fill rDX with the sign of the accumulator. */
#define SIGN(bits)                                                                    \
	SOFT_UOP(sign##bits)                                                          \
	{                                                                             \
		const int##bits##_t a = (int##bits##_t)c->r[SOFT_R_RAX];              \
                                                                                      \
		soft_put##bits(c, SOFT_R_RDX * 8, (uint##bits##_t)(a >> (bits - 1))); \
		return SOFT_NEXT(c, u);                                               \
	}
SIGN(16)
SIGN(32)
SIGN(64)

/* CBW, CWDE, CDQE: extend within the accumulator. */
enum { ROW_WITHIN = 0 };

bool soft_tr_extend(struct soft_translation *t)
{
	static const soft_uop_fn sign[4] = {NULL, sign16, sign32, sign64};
	const unsigned int size = size_index(t);
	struct soft_uop *u;

	if (t->arg == ROW_WITHIN) {
		u = soft_tr_emit(t, sign_extend[size][size - 1].r);
		u->dst = u->src = SOFT_R_RAX * 8;
		u->kind = SOFT_KIND(SOFT_K_MOVSX, SOFT_K_RR, size, size - 1);
	} else {
		u = soft_tr_emit(t, sign[size]);
		u->dst = SOFT_R_RDX * 8;
		u->src = SOFT_R_RAX * 8;
		u->kind = SOFT_KIND(SOFT_K_SIGN, SOFT_K_RR, size, 0);
	}
	return true;
}

/* A 32-bit register is zero-extended even if the condition is false. */
#define CMOV_SIZE(cc, code, bits)                                            \
	SOFT_UOP(cmov##cc##_r##bits)                                         \
	{                                                                    \
		const uint##bits##_t a = REG(bits, dst), b = REG(bits, src); \
                                                                             \
		soft_put##bits(c, u->dst, soft_cond(c->fl, code) ? b : a);   \
		return SOFT_NEXT(c, u);                                      \
	}                                                                    \
	SOFT_LOAD_UOP(cmov##cc##_m##bits, bits)                              \
	{                                                                    \
		const uint##bits##_t a = REG(bits, dst);                     \
                                                                             \
		soft_put##bits(c, u->dst, soft_cond(c->fl, code) ? m : a);   \
		return SOFT_NEXT(c, u);                                      \
	}

#define CONDITIONAL(cc, code)                                 \
	CMOV_SIZE(cc, code, 16)                               \
	CMOV_SIZE(cc, code, 32)                               \
	CMOV_SIZE(cc, code, 64)                               \
	SOFT_UOP(set##cc##_r)                                 \
	{                                                     \
		soft_put8(c, u->dst, soft_cond(c->fl, code)); \
		return SOFT_NEXT(c, u);                       \
	}                                                     \
	SOFT_STORE_UOP(set##cc##_m, 8)                        \
	{                                                     \
		return soft_cond(c->fl, code);                \
	}

SOFT_CONDITIONS(CONDITIONAL)

#define SET_ROW(cc, code) {set##cc##_r, SOFT_MEM_UOP(set##cc##_m)},
#define CMOV_ROW(cc, code)                               \
	{{NULL, {NULL, NULL}},                           \
	 {cmov##cc##_r16, SOFT_MEM_UOP(cmov##cc##_m16)}, \
	 {cmov##cc##_r32, SOFT_MEM_UOP(cmov##cc##_m32)}, \
	 {cmov##cc##_r64, SOFT_MEM_UOP(cmov##cc##_m64)}},

struct conditional {
	soft_uop_fn r;
	struct soft_mem_uop m;
};

static const struct conditional set[16] = {SOFT_CONDITIONS(SET_ROW)};
static const struct conditional cmov[16][4] = {SOFT_CONDITIONS(CMOV_ROW)};

bool soft_tr_setcc(struct soft_translation *t)
{
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 0)) {
		u = soft_tr_emit_mem(t, &set[t->arg].m, 0, true);
		u->kind = SOFT_KIND(SOFT_K_SET, SOFT_K_MI, 0, t->arg);
		return true;
	}
	u = soft_tr_emit(t, set[t->arg].r);
	u->dst = soft_tr_gpr(t, 0);
	u->kind = SOFT_KIND(SOFT_K_SET, SOFT_K_RR, 0, t->arg);
	return true;
}

bool soft_tr_cmov(struct soft_translation *t)
{
	const struct conditional *fn = &cmov[t->arg][size_index(t)];
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 1)) {
		u = soft_tr_emit_mem(t, &fn->m, 1, false);
	} else {
		u = soft_tr_emit(t, fn->r);
		u->src = soft_tr_gpr(t, 1);
	}
	u->dst = soft_tr_gpr(t, 0);
	u->kind = SOFT_KIND(SOFT_K_CMOV, form_of(t), size_index(t), t->arg);
	return true;
}

#define LEA(bits)                                                               \
	SOFT_UOP(lea##bits)                                                     \
	{                                                                       \
		soft_put##bits(c, u->dst, (uint##bits##_t)soft_ea_plain(c, u)); \
		return SOFT_NEXT(c, u);                                         \
	}                                                                       \
	SOFT_UOP(lea##bits##_indexed)                                           \
	{                                                                       \
		soft_put##bits(c, u->dst, (uint##bits##_t)soft_ea(c, u));       \
		return SOFT_NEXT(c, u);                                         \
	}

LEA(16)
LEA(32)
LEA(64)

/* Return the offset without a segment base. The caller that emits it wraps it at 32 bits. */
static struct soft_address offset_of(const struct soft_translation *t)
{
	const ZydisDecodedOperandMem *m = &t->op[1].mem;
	const bool relative = m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP;
	struct soft_address a = {
		.base = soft_tr_reg(relative ? ZYDIS_REGISTER_NONE : m->base),
		.index = soft_tr_reg(m->index),
		.scale = m->scale > 1 ? (uint8_t)__builtin_ctz(m->scale) : 0,
	};

	if (m->disp.has_displacement)
		a.disp = m->disp.value;
	if (relative)
		a.disp = (int64_t)((uint64_t)a.disp + t->next);
	return a;
}

bool soft_tr_lea(struct soft_translation *t)
{
	static const struct soft_mem_uop lea[4] = {
		{NULL, NULL}, SOFT_MEM_UOP(lea16), SOFT_MEM_UOP(lea32), SOFT_MEM_UOP(lea64)};
	unsigned int size = size_index(t);
	struct soft_address a = {.base = SOFT_R_EA * 8, .index = SOFT_R_ZERO * 8};
	struct soft_uop *u;

	if (t->insn->address_width == 16)
		soft_tr_offset(t, 1);
	else
		a = offset_of(t);
	/* A 32-bit address extended to 64 bits equals the 32-bit result. */
	if (t->insn->address_width == 32 && size == 3)
		size = 2;
	u = soft_tr_emit(t, a.index == SOFT_R_ZERO * 8 ? lea[size].plain : lea[size].indexed);
	soft_tr_put_address(u, &a);
	u->dst = soft_tr_gpr(t, 0);
	u->kind = SOFT_KIND(SOFT_K_LEA, SOFT_K_RR, size, 0);
	return true;
}
