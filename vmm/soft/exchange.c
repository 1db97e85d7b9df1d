// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XCHG, XADD and the CMPXCHG family. There is one processor, so LOCK has no effect. CMPXCHG writes
 * its destination even if the values differ, and needs write permission.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"

#define NOINLINE __attribute__((noinline))

#define SIZES(X) X(8, "b") X(16, "w") X(32, "l") X(64, "q")

/* Exchange a register or memory with register src. */
#define XCHG(bits, s)                                                   \
	SOFT_UOP(xchg##bits)                                            \
	{                                                               \
		uint##bits##_t a = SOFT_REG(c, u->dst, uint##bits##_t); \
		uint##bits##_t b = SOFT_REG(c, u->src, uint##bits##_t); \
                                                                        \
		soft_put##bits(c, u->dst, b);                           \
		soft_put##bits(c, u->src, a);                           \
		return SOFT_NEXT(c, u);                                 \
	}                                                               \
	SOFT_RMW_UOP(xchg##bits##_memory, bits)                         \
	{                                                               \
		uint##bits##_t old = *m;                                \
                                                                        \
		*m = SOFT_REG(c, u->src, uint##bits##_t);               \
		soft_put##bits(c, u->src, old);                         \
	}
SIZES(XCHG)

/* If both operands are the same register, the result is the sum. */
#define XADD(bits, s)                                                                    \
	SOFT_UOP(xadd##bits)                                                             \
	{                                                                                \
		uint##bits##_t old = SOFT_REG(c, u->dst, uint##bits##_t), sum = old;     \
                                                                                         \
		SOFT_ALU_ASM("add", s, sum, SOFT_REG(c, u->src, uint##bits##_t), c->fl); \
		soft_put##bits(c, u->src, old);                                          \
		soft_put##bits(c, u->dst, sum);                                          \
		return SOFT_NEXT(c, u);                                                  \
	}                                                                                \
	SOFT_RMW_UOP(xadd##bits##_memory, bits)                                          \
	{                                                                                \
		uint##bits##_t old = *m, sum = old;                                      \
                                                                                         \
		SOFT_ALU_ASM("add", s, sum, SOFT_REG(c, u->src, uint##bits##_t), c->fl); \
		soft_put##bits(c, u->src, old);                                          \
		*m = sum;                                                                \
	}
SIZES(XADD)

/* For 32-bit registers the host's instruction decides which register has its upper half cleared. */
#define CMPXCHG(bits, s)                                                                    \
	SOFT_UOP(cmpxchg##bits)                                                             \
	{                                                                                   \
		uint##bits##_t acc = SOFT_REG(c, SOFT_R_RAX * 8, uint##bits##_t);           \
		uint##bits##_t dst = SOFT_REG(c, u->dst, uint##bits##_t);                   \
                                                                                            \
		SOFT_CMP_ASM("cmp", s, acc, dst, c->fl);                                    \
		cmpxchg_end##bits(c, u, acc == dst);                                        \
		return SOFT_NEXT(c, u);                                                     \
	}                                                                                   \
	SOFT_RMW_UOP(cmpxchg##bits##_memory, bits)                                          \
	{                                                                                   \
		uint##bits##_t acc = SOFT_REG(c, SOFT_R_RAX * 8, uint##bits##_t), old = *m; \
                                                                                            \
		SOFT_CMP_ASM("cmp", s, acc, old, c->fl);                                    \
		if (acc == old)                                                             \
			*m = SOFT_REG(c, u->src, uint##bits##_t);                           \
		else                                                                        \
			soft_put##bits(c, SOFT_R_RAX * 8, old);                             \
	}

#define CMPXCHG_END(bits, s)                                                                       \
	static inline void cmpxchg_end##bits(struct soft *c, const struct soft_uop *u, bool equal) \
	{                                                                                          \
		if (equal)                                                                         \
			soft_put##bits(c, u->dst, SOFT_REG(c, u->src, uint##bits##_t));            \
		else                                                                               \
			SOFT_REG(c, SOFT_R_RAX * 8, uint##bits##_t) =                              \
				SOFT_REG(c, u->dst, uint##bits##_t);                               \
	}
CMPXCHG_END(8, "b")
CMPXCHG_END(16, "w")
CMPXCHG_END(64, "q")

static inline void cmpxchg_end32(struct soft *c, const struct soft_uop *u, bool equal)
{
	uint64_t acc = c->r[SOFT_R_RAX], dst = SOFT_REG(c, u->dst, uint64_t);
	uint32_t src = SOFT_REG(c, u->src, uint32_t);

	(void)equal;
	asm("cmpxchgl %2, %k1" : "+a"(acc), "+r"(dst) : "r"(src) : "cc");
	c->r[SOFT_R_RAX] = acc;
	if (u->dst != SOFT_R_RAX * 8)
		SOFT_REG(c, u->dst, uint64_t) = dst;
	else if (equal)
		c->r[SOFT_R_RAX] = src;
}
SIZES(CMPXCHG)

static inline void set_zf(struct soft *c, bool zf)
{
	c->fl = (uint16_t)((c->fl & ~SOFT_F_ZF) | (zf ? SOFT_F_ZF : 0));
}

SOFT_RMW_UOP(cmpxchg8b, 64)
{
	uint64_t old = *m;
	bool equal = old == ((uint32_t)c->r[SOFT_R_RAX] | c->r[SOFT_R_RDX] << 32);

	set_zf(c, equal);
	if (equal) {
		*m = (uint32_t)c->r[SOFT_R_RBX] | c->r[SOFT_R_RCX] << 32;
	} else {
		c->r[SOFT_R_RAX] = (uint32_t)old;
		c->r[SOFT_R_RDX] = old >> 32;
	}
}

SOFT_UOP(cmpxchg16b)
{
	uint64_t va = soft_ea(c, u);
	soft_ram64 *m;
	bool equal;

	if (vpt_unlikely(va & 15))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	m = soft_rmw(c, u, va, 16);
	equal = m[0] == c->r[SOFT_R_RAX] && m[1] == c->r[SOFT_R_RDX];
	set_zf(c, equal);
	if (equal) {
		m[0] = c->r[SOFT_R_RBX];
		m[1] = c->r[SOFT_R_RCX];
	} else {
		c->r[SOFT_R_RAX] = m[0];
		c->r[SOFT_R_RDX] = m[1];
	}
	soft_rmw_done(c, u);
	return SOFT_NEXT(c, u);
}

/* Handlers by size, for registers and then for memory. */
struct forms {
	soft_uop_fn reg[4];
	struct soft_mem_uop mem[4];
};

#define FORMS(name)                                             \
	{                                                       \
		.reg = {name##8, name##16, name##32, name##64}, \
		.mem = { SOFT_MEM_UOP(name##8_memory),          \
			 SOFT_MEM_UOP(name##16_memory),         \
			 SOFT_MEM_UOP(name##32_memory),         \
			 SOFT_MEM_UOP(name##64_memory),         \
		}                                               \
	}

static bool two_operands(struct soft_translation *t, const struct forms *f, enum soft_kind_op op)
{
	unsigned int size = (unsigned int)__builtin_ctz(t->size);
	/* XCHG accepts its operands in either order. */
	unsigned int mem = soft_tr_is_mem(t, 1) ? 1 : 0;
	struct soft_uop *u;

	if (soft_tr_is_mem(t, mem)) {
		u = soft_tr_emit_mem(t, &f->mem[size], mem, true);
		u->dst = op == SOFT_K_CMPXCHG ? SOFT_R_RAX * 8 : soft_tr_gpr(t, 1 - mem);
		u->kind = SOFT_KIND(op, SOFT_K_AR, size, 0);
	} else {
		u = soft_tr_emit(t, f->reg[size]);
		u->dst = soft_tr_gpr(t, mem);
		u->kind = op == SOFT_K_XCHG ? SOFT_KIND(op, SOFT_K_RR, size, 0) : 0;
	}
	u->src = soft_tr_gpr(t, 1 - mem);
	return true;
}

static bool wide(struct soft_translation *t)
{
	static const struct soft_mem_uop eight = SOFT_MEM_UOP(cmpxchg8b);
	struct soft_address a;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B) {
		soft_tr_emit_mem(t, &eight, 0, true);
		return true;
	}
	a = soft_tr_address(t, 0, 16, true);
	soft_tr_put_address(soft_tr_emit(t, cmpxchg16b), &a);
	return true;
}

bool soft_tr_xchg(struct soft_translation *t)
{
	static const struct forms exchange = FORMS(xchg), add = FORMS(xadd),
				  compare = FORMS(cmpxchg);

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
		return two_operands(t, &exchange, SOFT_K_XCHG);
	case ZYDIS_MNEMONIC_XADD:
		return two_operands(t, &add, SOFT_K_XADD);
	case ZYDIS_MNEMONIC_CMPXCHG:
		return two_operands(t, &compare, SOFT_K_CMPXCHG);
	default:
		return wide(t);
	}
}
