/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory operands of micro-operations. RAM that the TLB knows is a compare away; all
 * else, page crossings and devices too, is mmu.c's. Each of these may fault, so they
 * come before the instruction changes anything.
 */
#ifndef VMM_SOFT_ACCESS_H
#define VMM_SOFT_ACCESS_H

#include "soft/soft.h"

static inline uint64_t vpt_ea(const struct vpt_soft *c, const struct vpt_uop *u)
{
	return VPT_REG(c, u->base, uint64_t) + (VPT_REG(c, u->index, uint64_t) << u->scale) +
	       (uint64_t)u->disp;
}

static inline struct vpt_soft_tlb *vpt_tlb(const struct vpt_soft *c, uint64_t va)
{
	return &c->tlb[va >> 12 & (VPT_TLB_SIZE - 1)];
}

#define VPT_TLB_HIT(tag, va, size) vpt_likely((tag) == (((va) + (size)-1) & ~0xfffull))

#define VPT_ACCESS(type, bits)                                                          \
	static inline type vpt_load##bits(struct vpt_soft *c, const struct vpt_uop *u,  \
					  uint64_t va)                                  \
	{                                                                               \
		const struct vpt_soft_tlb *t = vpt_tlb(c, va);                          \
		type value;                                                             \
                                                                                        \
		if (!VPT_TLB_HIT(t->read, va, sizeof(type)))                            \
			return (type)vpt_soft_load_slow(c, u, va, sizeof(type));        \
		memcpy(&value, (const void *)(t->host + va), sizeof(type));             \
		return value;                                                           \
	}                                                                               \
	static inline void vpt_store##bits(struct vpt_soft *c, const struct vpt_uop *u, \
					   uint64_t va, type value)                     \
	{                                                                               \
		const struct vpt_soft_tlb *t = vpt_tlb(c, va);                          \
                                                                                        \
		if (VPT_TLB_HIT(t->write, va, sizeof(type)))                            \
			memcpy((void *)(t->host + va), &value, sizeof(type));           \
		else                                                                    \
			vpt_soft_store_slow(c, u, va, value, sizeof(type));             \
	}

VPT_ACCESS(uint8_t, 8)
VPT_ACCESS(uint16_t, 16)
VPT_ACCESS(uint32_t, 32)
VPT_ACCESS(uint64_t, 64)

/*
 * For instructions that read, change and write one operand: where it is, after all
 * checks. Change it there, then call vpt_rmw_end(), which cannot fault.
 */
static inline void *vpt_rmw(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va,
			    unsigned int size)
{
	const struct vpt_soft_tlb *t = vpt_tlb(c, va);

	if (VPT_TLB_HIT(t->write, va, size))
		return (void *)(t->host + va);
	return vpt_soft_rmw_slow(c, u, va, size);
}

static inline void vpt_rmw_end(struct vpt_soft *c, const struct vpt_uop *u)
{
	if (vpt_unlikely(c->bounce_bytes))
		vpt_soft_rmw_end(c, u);
}

#endif /* VMM_SOFT_ACCESS_H */
