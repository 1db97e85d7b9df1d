// SPDX-License-Identifier: GPL-2.0-or-later
/* Queries of segments: LAR, LSL, VERR, VERW and ARPL. */
#include "soft/access.h"
#include "soft/flagcond.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

/* System types that LAR and LSL accept (SDM vol. 2, LAR, LSL), outside and in long mode. */
#define LAR_TYPES      0x1a3eu
#define LAR_TYPES_LONG 0x1a04u
#define LSL_TYPES      0x0a0eu
#define LSL_TYPES_LONG 0x0a04u

#define CONFORMING (X86_AR_S | X86_AR_EXEC | X86_AR_DC)

static void set_zf(struct soft *c, bool zf)
{
	c->fl = (uint16_t)((c->fl & ~SOFT_F_ZF) | (zf ? SOFT_F_ZF : 0));
}

/* Returns true if the descriptor may be queried. `types` are the accepted system types. */
static bool visible(struct soft *c, const struct soft_uop *u, uint32_t types,
		    struct soft_descriptor *d)
{
	uint16_t selector = SOFT_REG(c, u->src, uint16_t);
	const struct x86_segment *s = &d->seg;
	uint8_t dpl;

	if (!(selector & 0xfffc) || !soft_descriptor(c, u, selector, false, d))
		return false;
	dpl = x86_segment_dpl(s);
	if (!(s->ar & X86_AR_S) && !(types >> x86_segment_type(s) & 1))
		return false;
	if ((s->ar & CONFORMING) == CONFORMING)
		return true;
	return c->cpl <= dpl && (selector & 3) <= dpl;
}

/* aux is the size of the destination in bytes. The destination is unchanged if ZF is cleared. */
static void answer(struct soft *c, const struct soft_uop *u, bool ok, uint32_t value)
{
	set_zf(c, ok);
	if (!ok)
		return;
	if (u->aux == 2)
		soft_put16(c, u->dst, (uint16_t)value);
	else
		soft_put32(c, u->dst, value);
}

static NOINLINE void do_lar(struct soft *c, const struct soft_uop *u)
{
	struct soft_descriptor d;
	bool ok = visible(c, u, soft_long_mode(c) ? LAR_TYPES_LONG : LAR_TYPES, &d);

	answer(c, u, ok, ok ? (uint32_t)(d.raw >> 32) & 0xffff00 : 0);
}

static NOINLINE void do_lsl(struct soft *c, const struct soft_uop *u)
{
	struct soft_descriptor d;
	bool ok = visible(c, u, soft_long_mode(c) ? LSL_TYPES_LONG : LSL_TYPES, &d);

	answer(c, u, ok, ok ? d.seg.limit : 0);
}

static NOINLINE void do_verr(struct soft *c, const struct soft_uop *u)
{
	struct soft_descriptor d;

	set_zf(c, visible(c, u, 0, &d) && (d.seg.ar & (X86_AR_EXEC | X86_AR_RW)) != X86_AR_EXEC);
}

static NOINLINE void do_verw(struct soft *c, const struct soft_uop *u)
{
	struct soft_descriptor d;

	set_zf(c, visible(c, u, 0, &d) && (d.seg.ar & (X86_AR_EXEC | X86_AR_RW)) == X86_AR_RW);
}

#define UOP_OF(name)                    \
	SOFT_UOP(name)                  \
	{                               \
		do_##name(c, u);        \
		return SOFT_NEXT(c, u); \
	}
UOP_OF(lar)
UOP_OF(lsl)
UOP_OF(verr)
UOP_OF(verw)

/* Raise the RPL of `at` to at least that of src. */
static inline void adjust(struct soft *c, const struct soft_uop *u, soft_ram16 *at)
{
	uint16_t rpl = SOFT_REG(c, u->src, uint16_t) & 3;
	bool less = (*at & 3) < rpl;

	if (less)
		*at = (uint16_t)((*at & ~3u) | rpl);
	set_zf(c, less);
}

SOFT_UOP(arpl_register)
{
	adjust(c, u, (soft_ram16 *)((char *)c->r + u->dst));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(arpl_memory)
{
	adjust(c, u, soft_rmw(c, u, soft_ea(c, u), 2));
	soft_rmw_done(c, u);
	return SOFT_NEXT(c, u);
}

static bool arpl(struct soft_translation *t)
{
	struct soft_address a;
	struct soft_uop *u;

	if (soft_tr_is_mem(t, 0)) {
		a = soft_tr_address(t, 0, 2, true);
		u = soft_tr_emit(t, arpl_memory);
		soft_tr_put_address(u, &a);
	} else {
		u = soft_tr_emit(t, arpl_register);
		u->dst = soft_tr_gpr(t, 0);
	}
	u->src = soft_tr_gpr(t, 1);
	return true;
}

/* The selector is operand n. LAR and LSL have a destination before it. */
static bool ask(struct soft_translation *t, soft_uop_fn fn, unsigned int n)
{
	uint8_t src = soft_tr_source16(t, n);
	struct soft_uop *u = soft_tr_emit(t, fn);

	u->src = src;
	if (n) {
		u->dst = soft_tr_gpr(t, 0);
		u->aux = t->size;
	}
	return true;
}

bool soft_tr_rights(struct soft_translation *t)
{
	if (!(t->mode & SOFT_BLOCK_PROTECTED))
		return false;
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_LAR:
		return ask(t, lar, 1);
	case ZYDIS_MNEMONIC_LSL:
		return ask(t, lsl, 1);
	case ZYDIS_MNEMONIC_VERR:
		return ask(t, verr, 0);
	case ZYDIS_MNEMONIC_VERW:
		return ask(t, verw, 0);
	case ZYDIS_MNEMONIC_ARPL:
		return arpl(t);
	default:
		return false;
	}
}
