/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory operands of micro-operations. An access to RAM that the TLB maps costs one comparison.
 * mmu.c does all other accesses, such as page crossings and devices. Each access may fault, so it
 * precedes every change that the instruction makes.
 */
#ifndef VMM_SOFT_ACCESS_H
#define VMM_SOFT_ACCESS_H

#include "soft/soft.h"

static inline uint64_t soft_ea(const struct soft *c, const struct soft_uop *u)
{
	return SOFT_REG(c, u->base, uint64_t) + (SOFT_REG(c, u->index, uint64_t) << u->scale) +
	       (uint64_t)u->disp;
}

static inline struct soft_tlb *soft_find_tlb(const struct soft *c, uint64_t va)
{
	return &c->tlb[va >> 12 & (SOFT_TLB_SIZE - 1)];
}

#define SOFT_TLB_HIT(tag, va, size) vpt_likely((tag) == (((va) + (size)-1) & ~0xfffull))

#define SOFT_ACCESS(type, bits)                                                                    \
	static inline type soft_load##bits(struct soft *c, const struct soft_uop *u, uint64_t va)  \
	{                                                                                          \
		const struct soft_tlb *t = soft_find_tlb(c, va);                                   \
		type value;                                                                        \
                                                                                                   \
		if (!SOFT_TLB_HIT(t->read, va, sizeof(type)))                                      \
			return (type)soft_load_slow(c, u, va, sizeof(type));                       \
		memcpy(&value, (const void *)(t->host + va), sizeof(type));                        \
		return value;                                                                      \
	}                                                                                          \
	static inline void soft_store##bits(struct soft *c, const struct soft_uop *u, uint64_t va, \
					    type value)                                            \
	{                                                                                          \
		const struct soft_tlb *t = soft_find_tlb(c, va);                                   \
                                                                                                   \
		if (SOFT_TLB_HIT(t->write, va, sizeof(type)))                                      \
			memcpy((void *)(t->host + va), &value, sizeof(type));                      \
		else                                                                               \
			soft_store_slow(c, u, va, value, sizeof(type));                            \
	}

SOFT_ACCESS(uint8_t, 8)
SOFT_ACCESS(uint16_t, 16)
SOFT_ACCESS(uint32_t, 32)
SOFT_ACCESS(uint64_t, 64)

/*
 * Return a pointer to an operand that an instruction reads, changes and writes, after all checks.
 * The caller changes the operand there and then calls soft_rmw_done(), which cannot fault.
 */
static inline void *soft_rmw(struct soft *c, const struct soft_uop *u, uint64_t va,
			     unsigned int size)
{
	const struct soft_tlb *t = soft_find_tlb(c, va);

	if (SOFT_TLB_HIT(t->write, va, size))
		return (void *)(t->host + va);
	return soft_rmw_slow(c, u, va, size);
}

static inline void soft_rmw_done(struct soft *c, const struct soft_uop *u)
{
	if (vpt_unlikely(c->bounce_bytes))
		soft_rmw_end(c, u);
}

#endif /* VMM_SOFT_ACCESS_H */
