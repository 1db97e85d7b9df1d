/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-operations with one memory operand, written once each: the macros here make
 * of a body the handlers for addresses with and without an index, and a third one to
 * which both jump when the TLB does not know the page. With the calls over there the
 * fast ones save no registers.
 */
#ifndef VMM_SOFT_OPERAND_H
#define VMM_SOFT_OPERAND_H

#include "soft/access.h"
#include "soft/translate.h"

/* Memory of the guest: not aligned, and of no type the compiler may reason about. */
typedef uint8_t __attribute__((may_alias)) vpt_ram8;
typedef uint16_t __attribute__((may_alias, aligned(1))) vpt_ram16;
typedef uint32_t __attribute__((may_alias, aligned(1))) vpt_ram32;
typedef uint64_t __attribute__((may_alias, aligned(1))) vpt_ram64;

/* A result into a register, by operand size. */
static inline void vpt_put8(struct vpt_soft *c, unsigned int offset, uint8_t value)
{
	VPT_REG(c, offset, uint8_t) = value;
}

static inline void vpt_put16(struct vpt_soft *c, unsigned int offset, uint16_t value)
{
	VPT_REG(c, offset, uint16_t) = value;
}

static inline void vpt_put32(struct vpt_soft *c, unsigned int offset, uint32_t value)
{
	vpt_set32(c, offset, value);
}

static inline void vpt_put64(struct vpt_soft *c, unsigned int offset, uint64_t value)
{
	VPT_REG(c, offset, uint64_t) = value;
}

static inline uint64_t vpt_ea_plain(const struct vpt_soft *c, const struct vpt_uop *u)
{
	return VPT_REG(c, u->base, uint64_t) + (uint64_t)u->disp;
}

#define VPT_INLINE static inline __attribute__((always_inline))
#define VPT_SLOW   __attribute__((noinline, cold))
#define VPT_UOP_ARGS \
	__attribute__((unused)) struct vpt_soft *c, __attribute__((unused)) const struct vpt_uop *u

/*
 * VPT_LOAD_UOP(name, bits) { ...; return VPT_NEXT(c, u); }
 * `m` is the operand's value.
 */
#define VPT_LOAD_UOP(name, bits)                                                                   \
	VPT_INLINE const struct vpt_uop *name##_body(VPT_UOP_ARGS, uint##bits##_t m);              \
	VPT_SLOW VPT_UOP(name##_slow)                                                              \
	{                                                                                          \
		return name##_body(                                                                \
			c, u, (uint##bits##_t)vpt_soft_load_slow(c, u, vpt_ea(c, u), (bits) / 8)); \
	}                                                                                          \
	VPT_LOAD_AT(name, name, bits, vpt_ea_plain)                                                \
	VPT_LOAD_AT(name##_indexed, name, bits, vpt_ea)                                            \
	VPT_INLINE const struct vpt_uop *name##_body(VPT_UOP_ARGS, uint##bits##_t m)

#define VPT_LOAD_AT(handler, name, bits, address)                                 \
	VPT_UOP(handler)                                                          \
	{                                                                         \
		const uint64_t va = address(c, u);                                \
		const struct vpt_soft_tlb *t = vpt_tlb(c, va);                    \
                                                                                  \
		if (!VPT_TLB_HIT(t->read, va, (bits) / 8))                        \
			return name##_slow(c, u);                                 \
		return name##_body(c, u, *(const vpt_ram##bits *)(t->host + va)); \
	}

/* VPT_STORE_UOP(name, bits) { return value; } */
#define VPT_STORE_UOP(name, bits)                                                        \
	VPT_INLINE uint##bits##_t name##_value(VPT_UOP_ARGS);                            \
	VPT_SLOW VPT_UOP(name##_slow)                                                    \
	{                                                                                \
		vpt_soft_store_slow(c, u, vpt_ea(c, u), name##_value(c, u), (bits) / 8); \
		return VPT_NEXT(c, u);                                                   \
	}                                                                                \
	VPT_STORE_AT(name, name, bits, vpt_ea_plain)                                     \
	VPT_STORE_AT(name##_indexed, name, bits, vpt_ea)                                 \
	VPT_INLINE uint##bits##_t name##_value(VPT_UOP_ARGS)

#define VPT_STORE_AT(handler, name, bits, address)                     \
	VPT_UOP(handler)                                               \
	{                                                              \
		const uint64_t va = address(c, u);                     \
		const struct vpt_soft_tlb *t = vpt_tlb(c, va);         \
                                                                       \
		if (!VPT_TLB_HIT(t->write, va, (bits) / 8))            \
			return name##_slow(c, u);                      \
		*(vpt_ram##bits *)(t->host + va) = name##_value(c, u); \
		return VPT_NEXT(c, u);                                 \
	}

/* VPT_RMW_UOP(name, bits) { change *m, of which nothing can go wrong any more } */
#define VPT_RMW_UOP(name, bits)                                             \
	VPT_INLINE void name##_body(VPT_UOP_ARGS, vpt_ram##bits *m);        \
	VPT_SLOW VPT_UOP(name##_slow)                                       \
	{                                                                   \
		name##_body(c, u, vpt_rmw(c, u, vpt_ea(c, u), (bits) / 8)); \
		vpt_rmw_end(c, u);                                          \
		return VPT_NEXT(c, u);                                      \
	}                                                                   \
	VPT_RMW_AT(name, name, bits, vpt_ea_plain)                          \
	VPT_RMW_AT(name##_indexed, name, bits, vpt_ea)                      \
	VPT_INLINE void name##_body(VPT_UOP_ARGS, vpt_ram##bits *m)

#define VPT_RMW_AT(handler, name, bits, address)                    \
	VPT_UOP(handler)                                            \
	{                                                           \
		const uint64_t va = address(c, u);                  \
		const struct vpt_soft_tlb *t = vpt_tlb(c, va);      \
                                                                    \
		if (!VPT_TLB_HIT(t->write, va, (bits) / 8))         \
			return name##_slow(c, u);                   \
		name##_body(c, u, (vpt_ram##bits *)(t->host + va)); \
		return VPT_NEXT(c, u);                              \
	}

/* What any of the three has made, for tables. */
struct vpt_mem_uop {
	vpt_uop_fn plain, indexed;
};

#define VPT_MEM_UOP(name)            \
	{                            \
		name, name##_indexed \
	}

/* Emit it for memory operand n; for the rest of its operands it is returned. */
static inline struct vpt_uop *vpt_tr_emit_bytes(struct vpt_translation *t,
						const struct vpt_mem_uop *fn, unsigned int n,
						unsigned int bytes, bool write)
{
	const struct vpt_address a = vpt_tr_address(t, n, bytes, write);
	const bool indexed = a.index != VPT_R_ZERO * 8;
	struct vpt_uop *u = vpt_tr_emit(t, indexed ? fn->indexed : fn->plain);

	vpt_tr_put_address(u, &a);
	return u;
}

static inline struct vpt_uop *vpt_tr_emit_mem(struct vpt_translation *t,
					      const struct vpt_mem_uop *fn, unsigned int n,
					      bool write)
{
	return vpt_tr_emit_bytes(t, fn, n, vpt_tr_size(t, n), write);
}

#endif /* VMM_SOFT_OPERAND_H */
