// SPDX-License-Identifier: GPL-2.0-or-later
/* PUSHF and POPF, and the flags that each privilege level may change (SDM vol. 2, POPF). */
#include "soft/access.h"
#include "soft/stack.h"

#include "soft/translate.h"

#define NOINLINE __attribute__((noinline))

#define IMAGE 0x3f7fd7ull
#define ORDINARY                                                                             \
	(X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_TF | X86_FL_DF | \
	 X86_FL_OF | X86_FL_NT | X86_FL_AC | X86_FL_ID)
/* The flags that blocks, the TLB or the loop depend on. */
#define WATCHED (X86_FL_TF | X86_FL_IF | X86_FL_AC)

/* Virtual-8086 mode allows neither instruction without IOPL. */
static void check_v86(struct soft *c, const struct soft_uop *u)
{
	uint64_t rflags = c->r[SOFT_R_RFLAGS];

	if (rflags & X86_FL_VM && (rflags & X86_FL_IOPL) != X86_FL_IOPL)
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

static NOINLINE void do_pushf(struct soft *c, const struct soft_uop *u)
{
	check_v86(c, u);
	soft_push(c, u, u->aux, soft_rflags(c) & IMAGE & ~(X86_FL_RF | X86_FL_VM));
}

/* PUSHF in 64-bit mode, where every privilege level may use it. */
SOFT_UOP(pushf64)
{
	soft_store64(c, u, c->r[SOFT_R_RSP] - 8, soft_rflags(c) & IMAGE & ~(X86_FL_RF | X86_FL_VM));
	c->r[SOFT_R_RSP] -= 8;
	return SOFT_NEXT(c, u);
}

static uint64_t changeable(const struct soft *c, unsigned int size)
{
	uint64_t mask = ORDINARY, rflags = c->r[SOFT_R_RFLAGS];

	if (!c->cpl)
		mask |= X86_FL_IOPL;
	if (c->cpl <= (rflags & X86_FL_IOPL) >> 12)
		mask |= X86_FL_IF;
	return size == 2 ? mask & 0xffff : mask;
}

/* Returns the flags that changed. */
static uint64_t set_flags(struct soft *c, unsigned int size, uint64_t value)
{
	uint64_t mask = changeable(c, size), now = soft_rflags(c);

	value = (now & ~mask & ~X86_FL_RF) | (value & mask) | X86_FL_FIXED;
	soft_set_rflags(c, value);
	return now ^ value;
}

static NOINLINE uint64_t do_popf(struct soft *c, const struct soft_uop *u)
{
	uint64_t value;

	check_v86(c, u);
	value = soft_peek(c, u, u->aux);
	soft_move_sp(c, (int64_t)u->aux);
	return set_flags(c, u->aux, value);
}

static inline const struct soft_uop *after_popf(struct soft *c, const struct soft_uop *u,
						uint64_t changed)
{
	if (vpt_unlikely(changed & X86_FL_IF))
		return soft_resume_if(c, u);
	if (changed & WATCHED)
		return soft_resume(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(popf64)
{
	uint64_t value = soft_load64(c, u, c->r[SOFT_R_RSP]);

	c->r[SOFT_R_RSP] += 8;
	return after_popf(c, u, set_flags(c, 8, value));
}

SOFT_UOP(pushf)
{
	do_pushf(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(popf)
{
	return after_popf(c, u, do_popf(c, u));
}

bool soft_tr_pushf(struct soft_translation *t)
{
	bool push = t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHF ||
		    t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHFD ||
		    t->insn->mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
	bool fast = t->bits == 64 && t->insn->operand_width == 64;
	struct soft_uop *u = soft_tr_emit(t, fast   ? (push ? pushf64 : popf64)
					     : push ? pushf
						    : popf);

	u->flags = SOFT_UOP_SS;
	u->aux = t->insn->operand_width / 8u;
	return true;
}
