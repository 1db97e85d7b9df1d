// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XCHG, XADD and the CMPXCHG family. There is one processor, so LOCK adds nothing.
 * CMPXCHG writes its destination even where the values differ, and needs to be
 * allowed to.
 */
#include "soft/alu_flags.h"
#include "soft/operand.h"

#define NOINLINE __attribute__((noinline))

#define SIZES(X) X(8, "b") X(16, "w") X(32, "l") X(64, "q")

/* dst and src, both registers. */
#define XCHG(bits, s)                                                  \
	VPT_UOP(xchg##bits)                                            \
	{                                                              \
		uint##bits##_t a = VPT_REG(c, u->dst, uint##bits##_t); \
		uint##bits##_t b = VPT_REG(c, u->src, uint##bits##_t); \
                                                                       \
		vpt_put##bits(c, u->dst, b);                           \
		vpt_put##bits(c, u->src, a);                           \
		return VPT_NEXT(c, u);                                 \
	}                                                              \
	VPT_RMW_UOP(xchg##bits##_memory, bits)                         \
	{                                                              \
		uint##bits##_t old = *m;                               \
                                                                       \
		*m = VPT_REG(c, u->src, uint##bits##_t);               \
		vpt_put##bits(c, u->src, old);                         \
	}
SIZES(XCHG)

/* Where both are the same register the sum is what stays. */
#define XADD(bits, s)                                                                  \
	VPT_UOP(xadd##bits)                                                            \
	{                                                                              \
		uint##bits##_t old = VPT_REG(c, u->dst, uint##bits##_t), sum = old;    \
                                                                                       \
		VPT_ALU_ASM("add", s, sum, VPT_REG(c, u->src, uint##bits##_t), c->fl); \
		vpt_put##bits(c, u->src, old);                                         \
		vpt_put##bits(c, u->dst, sum);                                         \
		return VPT_NEXT(c, u);                                                 \
	}                                                                              \
	VPT_RMW_UOP(xadd##bits##_memory, bits)                                         \
	{                                                                              \
		uint##bits##_t old = *m, sum = old;                                    \
                                                                                       \
		VPT_ALU_ASM("add", s, sum, VPT_REG(c, u->src, uint##bits##_t), c->fl); \
		vpt_put##bits(c, u->src, old);                                         \
		*m = sum;                                                              \
	}
SIZES(XADD)

/*
 * Of 32-bit registers the host's instruction decides which of the two has its upper
 * half cleared.
 */
#define CMPXCHG(bits, s)                                                                  \
	VPT_UOP(cmpxchg##bits)                                                            \
	{                                                                                 \
		uint##bits##_t acc = VPT_REG(c, VPT_R_RAX * 8, uint##bits##_t);           \
		uint##bits##_t dst = VPT_REG(c, u->dst, uint##bits##_t);                  \
                                                                                          \
		VPT_CMP_ASM("cmp", s, acc, dst, c->fl);                                   \
		cmpxchg_end##bits(c, u, acc == dst);                                      \
		return VPT_NEXT(c, u);                                                    \
	}                                                                                 \
	VPT_RMW_UOP(cmpxchg##bits##_memory, bits)                                         \
	{                                                                                 \
		uint##bits##_t acc = VPT_REG(c, VPT_R_RAX * 8, uint##bits##_t), old = *m; \
                                                                                          \
		VPT_CMP_ASM("cmp", s, acc, old, c->fl);                                   \
		if (acc == old)                                                           \
			*m = VPT_REG(c, u->src, uint##bits##_t);                          \
		else                                                                      \
			vpt_put##bits(c, VPT_R_RAX * 8, old);                             \
	}

#define CMPXCHG_END(bits, s)                                                              \
	static inline void cmpxchg_end##bits(struct vpt_soft *c, const struct vpt_uop *u, \
					     bool equal)                                  \
	{                                                                                 \
		if (equal)                                                                \
			vpt_put##bits(c, u->dst, VPT_REG(c, u->src, uint##bits##_t));     \
		else                                                                      \
			VPT_REG(c, VPT_R_RAX * 8, uint##bits##_t) =                       \
				VPT_REG(c, u->dst, uint##bits##_t);                       \
	}
CMPXCHG_END(8, "b")
CMPXCHG_END(16, "w")
CMPXCHG_END(64, "q")

static inline void cmpxchg_end32(struct vpt_soft *c, const struct vpt_uop *u, bool equal)
{
	uint64_t acc = c->r[VPT_R_RAX], dst = VPT_REG(c, u->dst, uint64_t);
	uint32_t src = VPT_REG(c, u->src, uint32_t);

	(void)equal;
	asm("cmpxchgl %2, %k1" : "+a"(acc), "+r"(dst) : "r"(src) : "cc");
	c->r[VPT_R_RAX] = acc;
	if (u->dst != VPT_R_RAX * 8)
		VPT_REG(c, u->dst, uint64_t) = dst;
	else if (equal)
		c->r[VPT_R_RAX] = src;
}
SIZES(CMPXCHG)

static inline void set_zf(struct vpt_soft *c, bool zf)
{
	c->fl = (uint16_t)((c->fl & ~VPT_F_ZF) | (zf ? VPT_F_ZF : 0));
}

VPT_RMW_UOP(cmpxchg8b, 64)
{
	uint64_t old = *m;
	bool equal = old == ((uint32_t)c->r[VPT_R_RAX] | c->r[VPT_R_RDX] << 32);

	set_zf(c, equal);
	if (equal) {
		*m = (uint32_t)c->r[VPT_R_RBX] | c->r[VPT_R_RCX] << 32;
	} else {
		c->r[VPT_R_RAX] = (uint32_t)old;
		c->r[VPT_R_RDX] = old >> 32;
	}
}

VPT_UOP(cmpxchg16b)
{
	uint64_t va = vpt_ea(c, u);
	vpt_ram64 *m;
	bool equal;

	if (vpt_unlikely(va & 15))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	m = vpt_rmw(c, u, va, 16);
	equal = m[0] == c->r[VPT_R_RAX] && m[1] == c->r[VPT_R_RDX];
	set_zf(c, equal);
	if (equal) {
		m[0] = c->r[VPT_R_RBX];
		m[1] = c->r[VPT_R_RCX];
	} else {
		c->r[VPT_R_RAX] = m[0];
		c->r[VPT_R_RDX] = m[1];
	}
	vpt_rmw_end(c, u);
	return VPT_NEXT(c, u);
}

/* By size: registers, then memory. */
struct forms {
	vpt_uop_fn reg[4];
	struct vpt_mem_uop mem[4];
};

#define FORMS(name)                                             \
	{                                                       \
		.reg = {name##8, name##16, name##32, name##64}, \
		.mem = { VPT_MEM_UOP(name##8_memory),           \
			 VPT_MEM_UOP(name##16_memory),          \
			 VPT_MEM_UOP(name##32_memory),          \
			 VPT_MEM_UOP(name##64_memory),          \
		}                                               \
	}

static bool two_operands(struct vpt_translation *t, const struct forms *f)
{
	unsigned int size = (unsigned int)__builtin_ctz(t->size);
	/* XCHG can be written either way. */
	unsigned int mem = vpt_tr_is_mem(t, 1) ? 1 : 0;
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, mem)) {
		u = vpt_tr_emit_mem(t, &f->mem[size], mem, true);
	} else {
		u = vpt_tr_emit(t, f->reg[size]);
		u->dst = vpt_tr_gpr(t, mem);
	}
	u->src = vpt_tr_gpr(t, 1 - mem);
	return true;
}

static bool wide(struct vpt_translation *t)
{
	static const struct vpt_mem_uop eight = VPT_MEM_UOP(cmpxchg8b);
	struct vpt_address a;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B) {
		vpt_tr_emit_mem(t, &eight, 0, true);
		return true;
	}
	a = vpt_tr_address(t, 0, 16, true);
	vpt_tr_put_address(vpt_tr_emit(t, cmpxchg16b), &a);
	return true;
}

bool vpt_tr_xchg(struct vpt_translation *t)
{
	static const struct forms exchange = FORMS(xchg), add = FORMS(xadd),
				  compare = FORMS(cmpxchg);

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
		return two_operands(t, &exchange);
	case ZYDIS_MNEMONIC_XADD:
		return two_operands(t, &add);
	case ZYDIS_MNEMONIC_CMPXCHG:
		return two_operands(t, &compare);
	default:
		return wide(t);
	}
}
