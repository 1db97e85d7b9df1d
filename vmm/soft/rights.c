// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking about segments: LAR LSL VERR VERW ARPL. */
#include "soft/access.h"
#include "soft/flagcond.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

/* System types that LAR and LSL know (SDM vol. 2, LAR, LSL), outside and in long mode. */
#define LAR_TYPES      0x1a3eu
#define LAR_TYPES_LONG 0x1a04u
#define LSL_TYPES      0x0a0eu
#define LSL_TYPES_LONG 0x0a04u

static void set_zf(struct vpt_soft *c, bool zf)
{
	c->fl = (uint16_t)((c->fl & ~VPT_F_ZF) | (zf ? VPT_F_ZF : 0));
}

/* A descriptor that may be asked about: `types` are the system ones. */
static bool visible(struct vpt_soft *c, const struct vpt_uop *u, uint32_t types,
		    struct vpt_descriptor *d)
{
	uint16_t selector = VPT_REG(c, u->src, uint16_t);
	const struct vpt_segment *s = &d->seg;

	if (!(selector & 0xfffc) || !vpt_soft_descriptor(c, u, selector, false, d))
		return false;
	if (!s->s && !(types >> s->type & 1))
		return false;
	if (s->s && (s->type & 12) == 12)
		return true;
	return c->cpl <= s->dpl && (selector & 3) <= s->dpl;
}

/* aux: bytes of the destination, which is left alone where ZF gets 0. */
static void answer(struct vpt_soft *c, const struct vpt_uop *u, bool ok, uint32_t value)
{
	set_zf(c, ok);
	if (!ok)
		return;
	if (u->aux == 2)
		vpt_put16(c, u->dst, (uint16_t)value);
	else
		vpt_put32(c, u->dst, value);
}

static NOINLINE void do_lar(struct vpt_soft *c, const struct vpt_uop *u)
{
	struct vpt_descriptor d;
	bool ok = visible(c, u, c->long_mode ? LAR_TYPES_LONG : LAR_TYPES, &d);

	answer(c, u, ok, ok ? (uint32_t)(d.raw >> 32) & 0xffff00 : 0);
}

static NOINLINE void do_lsl(struct vpt_soft *c, const struct vpt_uop *u)
{
	struct vpt_descriptor d;
	bool ok = visible(c, u, c->long_mode ? LSL_TYPES_LONG : LSL_TYPES, &d);

	answer(c, u, ok, ok ? d.seg.limit : 0);
}

static NOINLINE void do_verr(struct vpt_soft *c, const struct vpt_uop *u)
{
	struct vpt_descriptor d;

	set_zf(c, visible(c, u, 0, &d) && (!(d.seg.type & 8) || d.seg.type & 2));
}

static NOINLINE void do_verw(struct vpt_soft *c, const struct vpt_uop *u)
{
	struct vpt_descriptor d;

	set_zf(c, visible(c, u, 0, &d) && (d.seg.type & 10) == 2);
}

#define UOP_OF(name)                   \
	VPT_UOP(name)                  \
	{                              \
		do_##name(c, u);       \
		return VPT_NEXT(c, u); \
	}
UOP_OF(lar)
UOP_OF(lsl)
UOP_OF(verr)
UOP_OF(verw)

/* The RPL of `at` becomes no less than that of src. */
static inline void adjust(struct vpt_soft *c, const struct vpt_uop *u, vpt_ram16 *at)
{
	uint16_t rpl = VPT_REG(c, u->src, uint16_t) & 3;
	bool less = (*at & 3) < rpl;

	if (less)
		*at = (uint16_t)((*at & ~3u) | rpl);
	set_zf(c, less);
}

VPT_UOP(arpl_register)
{
	adjust(c, u, (vpt_ram16 *)((char *)c->r + u->dst));
	return VPT_NEXT(c, u);
}

VPT_UOP(arpl_memory)
{
	adjust(c, u, vpt_rmw(c, u, vpt_ea(c, u), 2));
	vpt_rmw_end(c, u);
	return VPT_NEXT(c, u);
}

static bool arpl(struct vpt_translation *t)
{
	struct vpt_address a;
	struct vpt_uop *u;

	if (vpt_tr_is_mem(t, 0)) {
		a = vpt_tr_address(t, 0, 2, true);
		u = vpt_tr_emit(t, arpl_memory);
		vpt_tr_put_address(u, &a);
	} else {
		u = vpt_tr_emit(t, arpl_register);
		u->dst = vpt_tr_gpr(t, 0);
	}
	u->src = vpt_tr_gpr(t, 1);
	return true;
}

/* The selector is operand n; with LAR and LSL there is a destination before it. */
static bool ask(struct vpt_translation *t, vpt_uop_fn fn, unsigned int n)
{
	uint8_t src = vpt_tr_source16(t, n);
	struct vpt_uop *u = vpt_tr_emit(t, fn);

	u->src = src;
	if (n) {
		u->dst = vpt_tr_gpr(t, 0);
		u->aux = t->size;
	}
	return true;
}

bool vpt_tr_rights(struct vpt_translation *t)
{
	if (!(t->mode & VPT_BLOCK_PROTECTED))
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
