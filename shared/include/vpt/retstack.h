/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The stack of CALLs that every decoder has seen, for RET compression (33.4.2.2). It keeps the
 * youngest 64 and drops the oldest first. Return addresses have the form of IP payloads: LIPs where
 * payloads are LIPs, else RIPs (33.3.1.1).
 */
#ifndef VPT_RETSTACK_H
#define VPT_RETSTACK_H

#include "base.h"

#define VPT_RETSTACK_SIZE 64

struct vpt_retstack {
	uint64_t ip[VPT_RETSTACK_SIZE];
	uint32_t top;	/* next slot, modulo the size */
	uint32_t depth; /* valid entries */
};

static inline void vpt_retstack_clear(struct vpt_retstack *stack)
{
	stack->depth = 0;
}

static inline void vpt_retstack_push(struct vpt_retstack *stack, uint64_t ip)
{
	stack->ip[stack->top++ % VPT_RETSTACK_SIZE] = ip;
	/* [GEN-RETC-64] */
	if (stack->depth < VPT_RETSTACK_SIZE)
		stack->depth++;
}

/*
 * Pop the youngest entry if the RET returned there. Such a RET may be sent as a TNT bit. Otherwise
 * empty the stack. Decoders differ in whether an uncompressed RET pops, so only later entries are
 * on top of every decoder's stack (docs/adr/0003).
 */
static inline bool vpt_retstack_match(struct vpt_retstack *stack, uint64_t ip)
{
	if (vpt_likely(stack->depth && stack->ip[(stack->top - 1) % VPT_RETSTACK_SIZE] == ip)) {
		stack->top--;
		stack->depth--;
		return true;
	}
	stack->depth = 0;
	return false;
}

#endif /* VPT_RETSTACK_H */
