// SPDX-License-Identifier: GPL-2.0-or-later
/* Store and load the x87 environment in its four formats (SDM vol. 1, 8.1.10). */
#include "soft/x87.h"

/* Bits of u->aux. */
#define ENV_WIDE      1u /* 28 bytes instead of 14 */
#define ENV_PROTECTED 2u

enum { TAG_VALID, TAG_ZERO, TAG_SPECIAL, TAG_EMPTY };

static unsigned int env_size(const struct soft_uop *u)
{
	return u->aux & ENV_WIDE ? 28 : 14;
}

static unsigned int tag_of(const uint8_t st[16])
{
	uint64_t significand;
	uint16_t exponent;

	memcpy(&significand, st, sizeof(significand));
	memcpy(&exponent, st + 8, sizeof(exponent));
	exponent &= 0x7fff;
	if (!exponent && !significand)
		return TAG_ZERO;
	return exponent && exponent != 0x7fff && significand >> 63 ? TAG_VALID : TAG_SPECIAL;
}

static uint16_t full_tags(const struct soft_x87_image *x)
{
	unsigned int top = soft_x87_top(x), i, tag, tags = 0;

	for (i = 0; i < 8; i++) {
		tag = x->ftw >> i & 1 ? tag_of(x->st[(i - top) & 7].bytes) : TAG_EMPTY;
		tags |= tag << (2 * i);
	}
	return (uint16_t)tags;
}

static void put16(uint8_t *at, uint64_t value)
{
	uint16_t v = (uint16_t)value;

	memcpy(at, &v, sizeof(v));
}

static void put32(uint8_t *at, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(at, &v, sizeof(v));
}

static uint32_t get(const uint8_t *at, unsigned int len)
{
	uint32_t v = 0;

	memcpy(&v, at, len);
	return v;
}

/* Write the environment. The selectors of code and data are not kept, and are stored as zero. */
static void put_env(const struct soft_x87_image *x, const struct soft_uop *u, uint8_t *to)
{
	uint32_t ip = (uint32_t)x->fip, dp = (uint32_t)x->fdp;

	if (u->aux & ENV_WIDE) {
		bool protected = u->aux & ENV_PROTECTED;

		put32(to, 0xffff0000u | x->fcw);
		put32(to + 4, 0xffff0000u | x->fsw);
		put32(to + 8, 0xffff0000u | full_tags(x));
		put32(to + 12, protected ? ip : 0xffff0000u | (ip & 0xffff));
		put32(to + 16, protected ? (uint32_t)x->fop << 16 : ip >> 16 << 12 | x->fop);
		put32(to + 20, protected ? dp : 0xffff0000u | (dp & 0xffff));
		put32(to + 24, protected ? 0xffff0000u : dp >> 16 << 12);
		return;
	}
	put16(to, x->fcw);
	put16(to + 2, x->fsw);
	put16(to + 4, full_tags(x));
	put16(to + 6, ip);
	put16(to + 8, u->aux & ENV_PROTECTED ? 0 : (ip >> 4 & 0xf000) | x->fop);
	put16(to + 10, dp);
	put16(to + 12, u->aux & ENV_PROTECTED ? 0 : dp >> 4 & 0xf000);
}

static void get_pointers(struct soft_x87_image *x, const struct soft_uop *u, const uint8_t *from)
{
	bool protected = u->aux & ENV_PROTECTED;

	if (!(u->aux & ENV_WIDE)) {
		x->fip = get(from + 6, 2);
		x->fdp = get(from + 10, 2);
		x->fop = 0;
		if (protected)
			return;
		x->fip |= get(from + 8, 2) >> 12 << 16;
		x->fop = (uint16_t)(get(from + 8, 2) & 0x7ff);
		x->fdp |= get(from + 12, 2) >> 12 << 16;
	} else if (protected) {
		x->fip = get(from + 12, 4);
		x->fop = (uint16_t)(get(from + 18, 2) & 0x7ff);
		x->fdp = get(from + 20, 4);
	} else {
		x->fip = get(from + 12, 2) | (get(from + 16, 4) >> 12 & 0xffff) << 16;
		x->fop = (uint16_t)(get(from + 16, 2) & 0x7ff);
		x->fdp = get(from + 20, 2) | (get(from + 24, 4) >> 12 & 0xffff) << 16;
	}
}

static void get_env(struct soft_x87_image *x, const struct soft_uop *u, const uint8_t *from)
{
	unsigned int word = u->aux & ENV_WIDE ? 4 : 2, i;
	uint32_t tags = get(from + 2 * word, 2);

	x->fcw = (uint16_t)((get(from, 2) & SOFT_FCW_BITS) | SOFT_FCW_FIXED);
	soft_x87_set_top(x, get(from + word, 2) >> 11 & 7);
	x->fsw = (uint16_t)get(from + word, 2);
	x->ftw = 0;
	for (i = 0; i < 8; i++)
		if ((tags >> (2 * i) & 3) != TAG_EMPTY)
			x->ftw |= (uint8_t)(1u << i);
	get_pointers(x, u, from);
	soft_x87_summarize(x);
}

static __attribute__((noinline)) void store_env(struct soft *c, const struct soft_uop *u)
{
	struct soft_x87_image *x = soft_x87(c);
	uint8_t env[28];

	put_env(x, u, env);
	soft_write(c, u, soft_ea(c, u), env, env_size(u));
	x->fcw |= SOFT_X87_FLAGS;
	soft_x87_summarize(x);
}

static __attribute__((noinline)) void load_env(struct soft *c, const struct soft_uop *u)
{
	uint8_t env[28];

	soft_x87_check(c, u);
	soft_read(c, u, soft_ea(c, u), env, env_size(u));
	get_env(soft_x87(c), u, env);
}

static __attribute__((noinline)) void save(struct soft *c, const struct soft_uop *u)
{
	struct soft_x87_image *x = soft_x87(c);
	unsigned int at = env_size(u), i;
	uint8_t state[108];

	put_env(x, u, state);
	for (i = 0; i < 8; i++)
		memcpy(state + at + i * 10, x->st[i].bytes, 10);
	soft_write(c, u, soft_ea(c, u), state, at + 80);
	soft_x87_init(x);
}

static __attribute__((noinline)) void restore(struct soft *c, const struct soft_uop *u)
{
	struct soft_x87_image *x = soft_x87(c);
	unsigned int at = env_size(u), i;
	uint8_t state[108];

	soft_x87_check(c, u);
	soft_read(c, u, soft_ea(c, u), state, at + 80);
	get_env(x, u, state);
	for (i = 0; i < 8; i++)
		memcpy(x->st[i].bytes, state + at + i * 10, 10);
}

#define ENVIRONMENT(name, does)         \
	SOFT_UOP(name)                  \
	{                               \
		does(c, u);             \
		return SOFT_NEXT(c, u); \
	}

ENVIRONMENT(fnstenv, store_env)
ENVIRONMENT(fldenv, load_env)
ENVIRONMENT(fnsave, save)
ENVIRONMENT(frstor, restore)

bool soft_tr_x87_environment(struct soft_translation *t)
{
	bool wide = t->insn->operand_width != 16, all = false, write = false;
	struct soft_address address;
	soft_uop_fn fn = fldenv;
	struct soft_uop *u;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_FNSTENV:
		fn = fnstenv;
		write = true;
		break;
	case ZYDIS_MNEMONIC_FNSAVE:
		fn = fnsave;
		write = true;
		all = true;
		break;
	case ZYDIS_MNEMONIC_FRSTOR:
		fn = frstor;
		all = true;
		break;
	default:
		break;
	}
	address = soft_tr_address(t, 0, (wide ? 28 : 14) + (all ? 80 : 0), write);
	u = soft_tr_emit(t, fn);
	soft_tr_put_address(u, &address);
	u->aux = (wide ? ENV_WIDE : 0) | (t->mode & SOFT_BLOCK_PROTECTED ? ENV_PROTECTED : 0);
	return true;
}
