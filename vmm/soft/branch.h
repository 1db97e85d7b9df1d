/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a block: telling PT, and on along a link. For branch.c and fuse.c. */
#ifndef VMM_SOFT_BRANCH_H
#define VMM_SOFT_BRANCH_H

#include "soft/soft.h"

/* A link that does not hold: the loop finds the block and mends it. */
const struct soft_uop *soft_miss(struct soft *c, const struct soft_link *l, uint64_t to);

/*
 * Report a branch that PT's fast path cannot take, then continue along `l`. `kind` is an enum
 * vpt_event_kind. Callers tail-call these functions, so that they need no stack.
 */
const struct soft_uop *soft_branch_slow(struct soft *c, const struct soft_uop *u, uint8_t kind,
					uint64_t to, const struct soft_link *l);
const struct soft_uop *soft_cond_slow(struct soft *c, const struct soft_uop *u, bool taken);

/* Along a link, if it holds. */
static inline __attribute__((always_inline)) const struct soft_uop *soft_follow(
	struct soft *c, const struct soft_link *l, uint64_t to)
{
	if (vpt_unlikely(l->gen != c->gen || c->left < l->insns))
		return soft_miss(c, l, to);
	c->left -= l->insns;
	return SOFT_RUN(c, l->first);
}

/* Where Jcc at `u` goes: to imm if it is taken, else to disp. */
static inline uint64_t soft_cond_target(const struct soft_uop *u, bool taken)
{
	return taken ? u->imm : (uint64_t)u->disp;
}

/* A conditional branch is decided. */
static inline __attribute__((always_inline)) const struct soft_uop *soft_end_cond(
	struct soft *c, const struct soft_uop *u, bool taken)
{
	const struct soft_link *l = (const struct soft_link *)u->ptr + taken;

	if (c->gate && !vpt_gate_cond(c->gate, taken))
		return soft_cond_slow(c, u, taken);
	if (vpt_unlikely(l->gen != c->gen || c->left < l->insns))
		return soft_miss(c, l, soft_cond_target(u, taken));
	c->left -= l->insns;
	return SOFT_RUN(c, l->first);
}

/*
 * fuse.c: one micro-operation for what sets the flags, `u`, and the Jcc with this
 * condition that is emitted right after it; NULL: there is none. It looks at both.
 */
soft_uop_fn soft_fused(const struct soft_uop *u, unsigned int cc);

#endif /* VMM_SOFT_BRANCH_H */
