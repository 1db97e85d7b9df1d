/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-operations with one memory operand. From one body the macros make the handlers for
 * addresses with and without an index. A third handler, to which both jump, is for a page that is
 * not in the TLB. Since it has the calls, the fast ones save no registers.
 */
#ifndef VMM_SOFT_OPERAND_H
#define VMM_SOFT_OPERAND_H

#include "soft/access.h"
#include "soft/translate.h"

/* Guest memory may be unaligned, and may alias any type. */
typedef uint8_t __attribute__((may_alias)) soft_ram8;
typedef uint16_t __attribute__((may_alias, aligned(1))) soft_ram16;
typedef uint32_t __attribute__((may_alias, aligned(1))) soft_ram32;
typedef uint64_t __attribute__((may_alias, aligned(1))) soft_ram64;

/* Write a result to a register, by operand size. */
static inline void soft_put8(struct soft *c, unsigned int offset, uint8_t value)
{
	SOFT_REG(c, offset, uint8_t) = value;
}

static inline void soft_put16(struct soft *c, unsigned int offset, uint16_t value)
{
	SOFT_REG(c, offset, uint16_t) = value;
}

static inline void soft_put32(struct soft *c, unsigned int offset, uint32_t value)
{
	soft_set32(c, offset, value);
}

static inline void soft_put64(struct soft *c, unsigned int offset, uint64_t value)
{
	SOFT_REG(c, offset, uint64_t) = value;
}

static inline uint64_t soft_ea_plain(const struct soft *c, const struct soft_uop *u)
{
	return SOFT_REG(c, u->base, uint64_t) + (uint64_t)u->disp;
}

#define SOFT_INLINE static inline __attribute__((always_inline))
#define SOFT_SLOW   __attribute__((noinline, cold))
#define SOFT_UOP_ARGS \
	__attribute__((unused)) struct soft *c, __attribute__((unused)) const struct soft_uop *u

/*
 * SOFT_LOAD_UOP(name, bits) { ...; return SOFT_NEXT(c, u); }
 * `m` is the operand's value.
 */
#define SOFT_LOAD_UOP(name, bits)                                                               \
	SOFT_INLINE const struct soft_uop *name##_body(SOFT_UOP_ARGS, uint##bits##_t m);        \
	SOFT_SLOW SOFT_UOP(name##_slow)                                                         \
	{                                                                                       \
		return name##_body(                                                             \
			c, u, (uint##bits##_t)soft_load_slow(c, u, soft_ea(c, u), (bits) / 8)); \
	}                                                                                       \
	SOFT_LOAD_AT(name, name, bits, soft_ea_plain)                                           \
	SOFT_LOAD_AT(name##_indexed, name, bits, soft_ea)                                       \
	SOFT_INLINE const struct soft_uop *name##_body(SOFT_UOP_ARGS, uint##bits##_t m)

#define SOFT_LOAD_AT(handler, name, bits, address)                                 \
	SOFT_UOP(handler)                                                          \
	{                                                                          \
		const uint64_t va = address(c, u);                                 \
		const struct soft_tlb *t = soft_find_tlb(c, va);                   \
                                                                                   \
		if (!SOFT_TLB_HIT(t->read, va, (bits) / 8))                        \
			return name##_slow(c, u);                                  \
		return name##_body(c, u, *(const soft_ram##bits *)(t->host + va)); \
	}

/* SOFT_STORE_UOP(name, bits) { return value; } */
#define SOFT_STORE_UOP(name, bits)                                                    \
	SOFT_INLINE uint##bits##_t name##_value(SOFT_UOP_ARGS);                       \
	SOFT_SLOW SOFT_UOP(name##_slow)                                               \
	{                                                                             \
		soft_store_slow(c, u, soft_ea(c, u), name##_value(c, u), (bits) / 8); \
		return SOFT_NEXT(c, u);                                               \
	}                                                                             \
	SOFT_STORE_AT(name, name, bits, soft_ea_plain)                                \
	SOFT_STORE_AT(name##_indexed, name, bits, soft_ea)                            \
	SOFT_INLINE uint##bits##_t name##_value(SOFT_UOP_ARGS)

#define SOFT_STORE_AT(handler, name, bits, address)                     \
	SOFT_UOP(handler)                                               \
	{                                                               \
		const uint64_t va = address(c, u);                      \
		const struct soft_tlb *t = soft_find_tlb(c, va);        \
                                                                        \
		if (!SOFT_TLB_HIT(t->write, va, (bits) / 8))            \
			return name##_slow(c, u);                       \
		*(soft_ram##bits *)(t->host + va) = name##_value(c, u); \
		return SOFT_NEXT(c, u);                                 \
	}

/* SOFT_RMW_UOP(name, bits) { change *m; } The body cannot fault. */
#define SOFT_RMW_UOP(name, bits)                                              \
	SOFT_INLINE void name##_body(SOFT_UOP_ARGS, soft_ram##bits *m);       \
	SOFT_SLOW SOFT_UOP(name##_slow)                                       \
	{                                                                     \
		name##_body(c, u, soft_rmw(c, u, soft_ea(c, u), (bits) / 8)); \
		soft_rmw_done(c, u);                                          \
		return SOFT_NEXT(c, u);                                       \
	}                                                                     \
	SOFT_RMW_AT(name, name, bits, soft_ea_plain)                          \
	SOFT_RMW_AT(name##_indexed, name, bits, soft_ea)                      \
	SOFT_INLINE void name##_body(SOFT_UOP_ARGS, soft_ram##bits *m)

#define SOFT_RMW_AT(handler, name, bits, address)                    \
	SOFT_UOP(handler)                                            \
	{                                                            \
		const uint64_t va = address(c, u);                   \
		const struct soft_tlb *t = soft_find_tlb(c, va);     \
                                                                     \
		if (!SOFT_TLB_HIT(t->write, va, (bits) / 8))         \
			return name##_slow(c, u);                    \
		name##_body(c, u, (soft_ram##bits *)(t->host + va)); \
		return SOFT_NEXT(c, u);                              \
	}

/* The handlers of one of the three macros, for tables. */
struct soft_mem_uop {
	soft_uop_fn plain, indexed;
};

#define SOFT_MEM_UOP(name)           \
	{                            \
		name, name##_indexed \
	}

/*
 * Emit the micro-operation for memory operand n. The caller fills in the other operands of the
 * result.
 */
static inline struct soft_uop *soft_tr_emit_bytes(struct soft_translation *t,
						  const struct soft_mem_uop *fn, unsigned int n,
						  unsigned int bytes, bool write)
{
	const struct soft_address a = soft_tr_address(t, n, bytes, write);
	const bool indexed = a.index != SOFT_R_ZERO * 8;
	struct soft_uop *u = soft_tr_emit(t, indexed ? fn->indexed : fn->plain);

	soft_tr_put_address(u, &a);
	return u;
}

static inline struct soft_uop *soft_tr_emit_mem(struct soft_translation *t,
						const struct soft_mem_uop *fn, unsigned int n,
						bool write)
{
	return soft_tr_emit_bytes(t, fn, n, soft_tr_size(t, n), write);
}

#endif /* VMM_SOFT_OPERAND_H */
