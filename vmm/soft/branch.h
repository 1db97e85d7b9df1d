/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a block: report the branch to PT and follow a link. For branch.c and fuse.c. */
#ifndef VMM_SOFT_BRANCH_H
#define VMM_SOFT_BRANCH_H

#include "soft/soft.h"

/* Return the link to an address from the table of earlier targets of indirect branches. */
static inline struct soft_link *soft_jump_link(struct soft *c, uint64_t to)
{
	struct soft_jump *j = &c->jump[(to ^ to >> SOFT_JUMP_BITS) & (SOFT_JUMP_SIZE - 1)];

	if (vpt_unlikely(j->ip != to)) {
		j->ip = to;
		j->link.gen = 0;
	}
	return &j->link;
}

/* Leave at a stale link. The loop finds the block and updates the link. */
const struct soft_uop *soft_miss(struct soft *c, const struct soft_link *l, uint64_t to);

/*
 * Report a branch that PT's fast path cannot take, then continue along `l`. `kind` is an enum
 * vpt_event_kind. Callers tail-call these functions, so that they need no stack.
 */
const struct soft_uop *soft_branch_slow(struct soft *c, const struct soft_uop *u, uint8_t kind,
					uint64_t to, const struct soft_link *l);
const struct soft_uop *soft_cond_slow(struct soft *c, const struct soft_uop *u, bool taken);

/* The ends of a RET and of an indirect JMP or CALL, after all but the transfer. */
const struct soft_uop *soft_ret_to(struct soft *c, const struct soft_uop *u, uint64_t to);
const struct soft_uop *soft_jump_to(struct soft *c, const struct soft_uop *u, uint64_t to);
const struct soft_uop *soft_call_to(struct soft *c, const struct soft_uop *u, uint64_t to);
/* The end of a direct CALL that the gate does not take. */
const struct soft_uop *soft_call_slow(struct soft *c, const struct soft_uop *u);

/* Follow a link if it is valid. */
static inline __attribute__((always_inline)) const struct soft_uop *soft_follow(
	struct soft *c, const struct soft_link *l, uint64_t to)
{
	if (vpt_unlikely(l->gen != c->gen || c->left < l->insns))
		return soft_miss(c, l, to);
	c->left -= l->insns;
	return SOFT_RUN(c, l->first);
}

/* Return the address after the Jcc at `u`: imm if the branch is taken, else disp. */
static inline uint64_t soft_cond_target(const struct soft_uop *u, bool taken)
{
	return taken ? u->imm : (uint64_t)u->disp;
}

/* End a block with the outcome of a conditional branch. */
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
 * fuse.c: return one micro-operation for `u`, which sets the flags, and the Jcc with this condition
 * that is emitted right after it. NULL if there is none. The result reads both micro-operations.
 */
soft_uop_fn soft_fused(const struct soft_uop *u, unsigned int cc);

#endif /* VMM_SOFT_BRANCH_H */
