// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves of general registers: plain, extending, on a condition; LEA and SETcc. */
#include "soft/flagcond.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define REG(bits, operand) VPT_REG(c, u->operand, uint##bits##_t)

/* Of sizes and conditions: by log2 of the size, by encoding. */
static unsigned int size_index(const struct vpt_translation *t)
{
	return (unsigned int)__builtin_ctz(t->size);
}

#define MOV(bits)                                                 \
	VPT_UOP(mov_rr##bits)                                     \
	{                                                         \
		vpt_put##bits(c, u->dst, REG(bits, src));         \
		return VPT_NEXT(c, u);                            \
	}                                                         \
	VPT_UOP(mov_ri##bits)                                     \
	{                                                         \
		vpt_put##bits(c, u->dst, (uint##bits##_t)u->imm); \
		return VPT_NEXT(c, u);                            \
	}                                                         \
	VPT_LOAD_UOP(mov_rm##bits, bits)                          \
	{                                                         \
		vpt_put##bits(c, u->dst, m);                      \
		return VPT_NEXT(c, u);                            \
	}                                                         \
	VPT_STORE_UOP(mov_mr##bits, bits)                         \
	{                                                         \
		return REG(bits, src);                            \
	}                                                         \
	VPT_STORE_UOP(mov_mi##bits, bits)                         \
	{                                                         \
		return (uint##bits##_t)u->imm;                    \
	}

MOV(8)
MOV(16)
MOV(32)
MOV(64)

#define MOV_ROW(bits)                                                                             \
	{                                                                                         \
		mov_rr##bits, mov_ri##bits, VPT_MEM_UOP(mov_rm##bits), VPT_MEM_UOP(mov_mr##bits), \
			VPT_MEM_UOP(mov_mi##bits)                                                 \
	}

static const struct {
	vpt_uop_fn rr, ri;
	struct vpt_mem_uop rm, mr, mi;
} mov[4] = {MOV_ROW(8), MOV_ROW(16), MOV_ROW(32), MOV_ROW(64)};

static bool is_special(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_REGISTER && !vpt_tr_is_gpr(t, n);
}

static bool is_segment(const struct vpt_translation *t, unsigned int n)
{
	return is_special(t, n) &&
	       ZydisRegisterGetClass(t->op[n].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}

static enum vpt_kind_form form_of(const struct vpt_translation *t)
{
	if (vpt_tr_is_mem(t, 0))
		return vpt_tr_is_imm(t, 1) ? VPT_K_MI : VPT_K_MR;
	if (vpt_tr_is_mem(t, 1))
		return VPT_K_RM;
	return vpt_tr_is_imm(t, 1) ? VPT_K_RI : VPT_K_RR;
}

bool vpt_tr_mov(struct vpt_translation *t)
{
	const unsigned int size = size_index(t);
	struct vpt_uop *u;

	if (is_segment(t, 0) || is_segment(t, 1))
		return vpt_tr_segment(t);
	if (is_special(t, 0) || is_special(t, 1))
		return vpt_tr_system(t);
	if (vpt_tr_is_mem(t, 0))
		u = vpt_tr_emit_mem(t, vpt_tr_is_imm(t, 1) ? &mov[size].mi : &mov[size].mr, 0,
				    true);
	else if (vpt_tr_is_mem(t, 1))
		u = vpt_tr_emit_mem(t, &mov[size].rm, 1, false);
	else
		u = vpt_tr_emit(t, vpt_tr_is_imm(t, 1) ? mov[size].ri : mov[size].rr);
	u->kind = VPT_KIND(VPT_K_MOV, form_of(t), size, 0);
	if (vpt_tr_is_gpr(t, 0))
		u->dst = vpt_tr_gpr(t, 0);
	if (vpt_tr_is_gpr(t, 1))
		u->src = vpt_tr_gpr(t, 1);
	else if (vpt_tr_is_imm(t, 1))
		u->imm = vpt_tr_imm(t, 1);
	return true;
}

/* From as many bits into as many. */
#define EXTEND(name, sign, from, to)                                                      \
	VPT_UOP(name##_r_##from##_##to)                                                   \
	{                                                                                 \
		vpt_put##to(c, u->dst, (uint##to##_t)VPT_REG(c, u->src, sign##from##_t)); \
		return VPT_NEXT(c, u);                                                    \
	}                                                                                 \
	VPT_LOAD_UOP(name##_m_##from##_##to, from)                                        \
	{                                                                                 \
		vpt_put##to(c, u->dst, (uint##to##_t)(sign##from##_t)m);                  \
		return VPT_NEXT(c, u);                                                    \
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
	vpt_uop_fn r;
	struct vpt_mem_uop m;
};

#define EXTEND_ROW(name, from, to)                                          \
	{                                                                   \
		name##_r_##from##_##to, VPT_MEM_UOP(name##_m_##from##_##to) \
	}

/* By the sizes of destination and source. */
static const struct extend zero_extend[4][3] = {
	[1] = {EXTEND_ROW(movzx, 8, 16), EXTEND_ROW(movzx, 16, 16)},
	[2] = {EXTEND_ROW(movzx, 8, 32), EXTEND_ROW(movzx, 16, 32)},
	[3] = {EXTEND_ROW(movzx, 8, 32), EXTEND_ROW(movzx, 16, 32)},
};

/* MOVSXD to 16 bits takes 16, whatever Zydis says (SDM vol. 2, MOVSXD). */
static const struct extend sign_extend[4][3] = {
	[1] = {EXTEND_ROW(movsx, 8, 16), EXTEND_ROW(movsx, 16, 16), EXTEND_ROW(movsx, 16, 16)},
	[2] = {EXTEND_ROW(movsx, 8, 32), EXTEND_ROW(movsx, 16, 32), EXTEND_ROW(movsx, 32, 32)},
	[3] = {EXTEND_ROW(movsx, 8, 64), EXTEND_ROW(movsx, 16, 64), EXTEND_ROW(movsx, 32, 64)},
};

/* MOVZX, and those that extend the sign. */
enum { ROW_MOVZX = 0 };

bool vpt_tr_movx(struct vpt_translation *t)
{
	const unsigned int from = (unsigned int)__builtin_ctz(vpt_tr_size(t, 1));
	const struct extend *fn = t->arg == ROW_MOVZX ? &zero_extend[size_index(t)][from]
						      : &sign_extend[size_index(t)][from];
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, 1)) {
		u = vpt_tr_emit_mem(t, &fn->m, 1, false);
	} else {
		u = vpt_tr_emit(t, fn->r);
		u->src = vpt_tr_gpr(t, 1);
	}
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = VPT_KIND(t->arg == ROW_MOVZX ? VPT_K_MOVZX : VPT_K_MOVSX, form_of(t),
			   size_index(t), from);
	return true;
}

/* CWD, CDQ, CQO: the sign of the accumulator, all over rDX. */
#define SIGN(bits)                                                                  \
	VPT_UOP(sign##bits)                                                         \
	{                                                                           \
		const int##bits##_t a = (int##bits##_t)c->r[VPT_R_RAX];             \
                                                                                    \
		vpt_put##bits(c, VPT_R_RDX * 8, (uint##bits##_t)(a >> (bits - 1))); \
		return VPT_NEXT(c, u);                                              \
	}
SIGN(16)
SIGN(32)
SIGN(64)

/* CBW, CWDE, CDQE: within the accumulator. */
enum { ROW_WITHIN = 0 };

bool vpt_tr_extend(struct vpt_translation *t)
{
	static const vpt_uop_fn sign[4] = {NULL, sign16, sign32, sign64};
	const unsigned int size = size_index(t);
	struct vpt_uop *u;

	if (t->arg == ROW_WITHIN) {
		u = vpt_tr_emit(t, sign_extend[size][size - 1].r);
		u->dst = u->src = VPT_R_RAX * 8;
		u->kind = VPT_KIND(VPT_K_MOVSX, VPT_K_RR, size, size - 1);
	} else {
		vpt_tr_emit(t, sign[size]);
	}
	return true;
}

/* A register of 32 bits is extended whether it is replaced or not. */
#define CMOV_SIZE(cc, code, bits)                                             \
	VPT_UOP(cmov##cc##_r##bits)                                           \
	{                                                                     \
		const uint##bits##_t a = REG(bits, dst), b = REG(bits, src);  \
                                                                              \
		vpt_put##bits(c, u->dst, vpt_soft_cond(c->fl, code) ? b : a); \
		return VPT_NEXT(c, u);                                        \
	}                                                                     \
	VPT_LOAD_UOP(cmov##cc##_m##bits, bits)                                \
	{                                                                     \
		const uint##bits##_t a = REG(bits, dst);                      \
                                                                              \
		vpt_put##bits(c, u->dst, vpt_soft_cond(c->fl, code) ? m : a); \
		return VPT_NEXT(c, u);                                        \
	}

#define CONDITIONAL(cc, code)                                    \
	CMOV_SIZE(cc, code, 16)                                  \
	CMOV_SIZE(cc, code, 32)                                  \
	CMOV_SIZE(cc, code, 64)                                  \
	VPT_UOP(set##cc##_r)                                     \
	{                                                        \
		vpt_put8(c, u->dst, vpt_soft_cond(c->fl, code)); \
		return VPT_NEXT(c, u);                           \
	}                                                        \
	VPT_STORE_UOP(set##cc##_m, 8)                            \
	{                                                        \
		return vpt_soft_cond(c->fl, code);               \
	}

VPT_CONDITIONS(CONDITIONAL)

#define SET_ROW(cc, code) {set##cc##_r, VPT_MEM_UOP(set##cc##_m)},
#define CMOV_ROW(cc, code)                              \
	{{NULL, {NULL, NULL}},                          \
	 {cmov##cc##_r16, VPT_MEM_UOP(cmov##cc##_m16)}, \
	 {cmov##cc##_r32, VPT_MEM_UOP(cmov##cc##_m32)}, \
	 {cmov##cc##_r64, VPT_MEM_UOP(cmov##cc##_m64)}},

struct conditional {
	vpt_uop_fn r;
	struct vpt_mem_uop m;
};

static const struct conditional set[16] = {VPT_CONDITIONS(SET_ROW)};
static const struct conditional cmov[16][4] = {VPT_CONDITIONS(CMOV_ROW)};

bool vpt_tr_setcc(struct vpt_translation *t)
{
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, 0)) {
		vpt_tr_emit_mem(t, &set[t->arg].m, 0, true);
		return true;
	}
	u = vpt_tr_emit(t, set[t->arg].r);
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = VPT_KIND(VPT_K_SET, VPT_K_RR, 0, t->arg);
	return true;
}

bool vpt_tr_cmov(struct vpt_translation *t)
{
	const struct conditional *fn = &cmov[t->arg][size_index(t)];
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, 1)) {
		u = vpt_tr_emit_mem(t, &fn->m, 1, false);
	} else {
		u = vpt_tr_emit(t, fn->r);
		u->src = vpt_tr_gpr(t, 1);
	}
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = VPT_KIND(VPT_K_CMOV, form_of(t), size_index(t), t->arg);
	return true;
}

#define LEA(bits)                                                             \
	VPT_UOP(lea##bits)                                                    \
	{                                                                     \
		vpt_put##bits(c, u->dst, (uint##bits##_t)vpt_ea_plain(c, u)); \
		return VPT_NEXT(c, u);                                        \
	}                                                                     \
	VPT_UOP(lea##bits##_indexed)                                          \
	{                                                                     \
		vpt_put##bits(c, u->dst, (uint##bits##_t)vpt_ea(c, u));       \
		return VPT_NEXT(c, u);                                        \
	}

LEA(16)
LEA(32)
LEA(64)

/* The offset alone, without its segment; wrapped at 32 bits by who puts it. */
static struct vpt_address offset_of(const struct vpt_translation *t)
{
	const ZydisDecodedOperandMem *m = &t->op[1].mem;
	const bool relative = m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP;
	struct vpt_address a = {
		.base = vpt_tr_reg(relative ? ZYDIS_REGISTER_NONE : m->base),
		.index = vpt_tr_reg(m->index),
		.scale = m->scale > 1 ? (uint8_t)__builtin_ctz(m->scale) : 0,
	};

	if (m->disp.has_displacement)
		a.disp = m->disp.value;
	if (relative)
		a.disp = (int64_t)((uint64_t)a.disp + t->next);
	return a;
}

bool vpt_tr_lea(struct vpt_translation *t)
{
	static const struct vpt_mem_uop lea[4] = {
		{NULL, NULL}, VPT_MEM_UOP(lea16), VPT_MEM_UOP(lea32), VPT_MEM_UOP(lea64)};
	unsigned int size = size_index(t);
	struct vpt_address a = {.base = VPT_R_EA * 8, .index = VPT_R_ZERO * 8};
	struct vpt_uop *u;

	if (t->insn->address_width == 16)
		vpt_tr_offset(t, 1);
	else
		a = offset_of(t);
	/* What an address of 32 bits leaves of 64 is what it makes of 32. */
	if (t->insn->address_width == 32 && size == 3)
		size = 2;
	u = vpt_tr_emit(t, a.index == VPT_R_ZERO * 8 ? lea[size].plain : lea[size].indexed);
	vpt_tr_put_address(u, &a);
	u->dst = vpt_tr_gpr(t, 0);
	u->kind = VPT_KIND(VPT_K_LEA, VPT_K_RR, size, 0);
	return true;
}
