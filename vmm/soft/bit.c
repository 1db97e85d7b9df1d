// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BT, BTS, BTR and BTC. With a bit number in a register, memory is a string of bits that begins at
 * the address and extends in both directions.
 */
#include "soft/alu_flags.h"
#include "soft/kind.h"
#include "soft/operand.h"
#include "soft/system.h"

/* The bit number: src, or imm if src is ZERO. */
#define NUMBER(bits) ((int##bits##_t)(SOFT_REG(c, u->src, uint##bits##_t) + (uint##bits##_t)u->imm))

/* The distance in bytes from the address to the operand that has the bit. */
#define BYTES_AWAY(bits) ((uint64_t)(((int64_t)NUMBER(bits) >> SHIFT_##bits) * ((bits) / 8)))
#define SHIFT_16	 4
#define SHIFT_32	 5
#define SHIFT_64	 6

/* Only CF is defined. The host's instruction sets the other flags. */
#define BIT_ASM(insn, s, a, n) \
	asm(SOFT_FLAGS_IN insn s " %2, %1" SOFT_FLAGS_OUT : "+a"(c->fl), "+r"(a) : "r"(n))

/* aux is the segment, and its high half the address size in bytes. EA has the offset. */
#define STRING_ADDRESS(bits)                                                                     \
	static __attribute__((noinline))                                                         \
	uint64_t string_address##bits(struct soft *c, const struct soft_uop *u, bool write)      \
	{                                                                                        \
		uint64_t offset = c->r[SOFT_R_EA] + BYTES_AWAY(bits);                            \
		unsigned int width = u->aux >> 16;                                               \
                                                                                                 \
		offset = width == 8 ? offset : width == 4 ? (uint32_t)offset : (uint16_t)offset; \
		return soft_linear(c, u, u->aux & 0xffff, offset, (bits) / 8, write);            \
	}
STRING_ADDRESS(16)
STRING_ADDRESS(32)
STRING_ADDRESS(64)

/*
 * Handlers for a register, for plain memory, and for memory with a segment base or a short address.
 */
#define TEST_BITS(name, bits, s, address)                                            \
	SOFT_UOP(name##bits##address)                                                \
	{                                                                            \
		uint##bits##_t n = (uint##bits##_t)NUMBER(bits);                     \
		uint##bits##_t value =                                               \
			soft_load##bits(c, u, address##_address##bits(c, u, false)); \
                                                                                     \
		BIT_ASM("bt", s, value, n);                                          \
		return SOFT_NEXT(c, u);                                              \
	}

#define CHANGE_BITS(name, bits, s, address)                                              \
	SOFT_UOP(name##bits##address)                                                    \
	{                                                                                \
		uint##bits##_t n = (uint##bits##_t)NUMBER(bits);                         \
		soft_ram##bits *m =                                                      \
			soft_rmw(c, u, address##_address##bits(c, u, true), (bits) / 8); \
		uint##bits##_t value = *m;                                               \
                                                                                         \
		BIT_ASM(#name, s, value, n);                                             \
		*m = value;                                                              \
		soft_rmw_done(c, u);                                                     \
		return SOFT_NEXT(c, u);                                                  \
	}

#define PLAIN_ADDRESS(bits)                                                                        \
	static inline uint64_t plain_address##bits(const struct soft *c, const struct soft_uop *u, \
						   bool write)                                     \
	{                                                                                          \
		(void)write;                                                                       \
		return soft_ea(c, u) + BYTES_AWAY(bits);                                           \
	}
PLAIN_ADDRESS(16)
PLAIN_ADDRESS(32)
PLAIN_ADDRESS(64)

#define BIT_REGISTER(name, bits, s)                                         \
	SOFT_UOP(name##bits)                                                \
	{                                                                   \
		uint##bits##_t n = (uint##bits##_t)NUMBER(bits);            \
		uint##bits##_t value = SOFT_REG(c, u->dst, uint##bits##_t); \
                                                                            \
		BIT_ASM(#name, s, value, n);                                \
		KEEP_##name(bits);                                          \
		return SOFT_NEXT(c, u);                                     \
	}
#define KEEP_bt(bits)  (void)value
#define KEEP_bts(bits) soft_put##bits(c, u->dst, value)
#define KEEP_btr(bits) soft_put##bits(c, u->dst, value)
#define KEEP_btc(bits) soft_put##bits(c, u->dst, value)

#define ONE_SIZE(name, MEMORY, bits, s) \
	BIT_REGISTER(name, bits, s)     \
	MEMORY(name, bits, s, plain)    \
	MEMORY(name, bits, s, string)
#define ALL_SIZES(name, MEMORY)         \
	ONE_SIZE(name, MEMORY, 16, "w") \
	ONE_SIZE(name, MEMORY, 32, "l") \
	ONE_SIZE(name, MEMORY, 64, "q")
ALL_SIZES(bt, TEST_BITS)
ALL_SIZES(bts, CHANGE_BITS)
ALL_SIZES(btr, CHANGE_BITS)
ALL_SIZES(btc, CHANGE_BITS)

struct forms {
	soft_uop_fn reg, plain, string;
};
#define FORMS(name, bits)                                         \
	{                                                         \
		name##bits, name##bits##plain, name##bits##string \
	}
#define ROW(name)                                                 \
	{                                                         \
		FORMS(name, 16), FORMS(name, 32), FORMS(name, 64) \
	}

/* Return the row of the mnemonic. */
static unsigned int op_of(const struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
		return 0;
	case ZYDIS_MNEMONIC_BTS:
		return 1;
	case ZYDIS_MNEMONIC_BTR:
		return 2;
	default:
		return 3;
	}
}

static const struct forms *forms_of(const struct soft_translation *t)
{
	static const struct forms all[4][3] = {ROW(bt), ROW(bts), ROW(btr), ROW(btc)};

	return &all[op_of(t)][__builtin_ctz(t->size) - 1];
}

/* With a bit number in a register, the address is not that of the operand. BT by a constant loads. */
static enum soft_kind_form memory_form(const struct soft_translation *t)
{
	if (!soft_tr_is_imm(t, 1))
		return SOFT_K_AR;
	return op_of(t) ? SOFT_K_MI : SOFT_K_RM;
}

static struct soft_uop *memory(struct soft_translation *t, const struct forms *f)
{
	const ZydisDecodedOperandMem *m = &t->op[0].mem;
	struct soft_address a;
	struct soft_uop *u;

	if (t->bits == 64 && t->insn->address_width == 64) {
		a = soft_tr_address(t, 0, t->size, true);
		u = soft_tr_emit(t, f->plain);
		soft_tr_put_address(u, &a);
		u->kind = SOFT_KIND(SOFT_K_BT, memory_form(t), __builtin_ctz(t->size), op_of(t));
		return u;
	}
	soft_tr_offset(t, 0);
	u = soft_tr_emit(t, f->string);
	u->aux = (uint32_t)(m->segment - ZYDIS_REGISTER_ES) | t->insn->address_width / 8u << 16;
	u->flags = m->segment == ZYDIS_REGISTER_SS ? SOFT_UOP_SS : 0;
	return u;
}

bool soft_tr_bit(struct soft_translation *t)
{
	const struct forms *f = forms_of(t);
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 0)) {
		u = memory(t, f);
	} else {
		u = soft_tr_emit(t, f->reg);
		u->dst = soft_tr_gpr(t, 0);
		u->kind = SOFT_KIND(SOFT_K_BT, soft_tr_is_imm(t, 1) ? SOFT_K_RI : SOFT_K_RR,
				    __builtin_ctz(t->size), op_of(t));
	}
	if (soft_tr_is_imm(t, 1))
		u->imm = soft_tr_imm(t, 1) & (t->size * 8u - 1);
	else
		u->src = soft_tr_gpr(t, 1);
	return true;
}
