// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions of an operating system: what is not in a file of its own. */
#include "soft/system.h"

#include "soft/access.h"
#include "soft/flagcond.h"
#include "soft/operand.h"

#define NOINLINE __attribute__((noinline))
#define T0	 (VPT_R_T0 * 8)

/* In step() the core has already declined it. */
VPT_UOP(unable)
{
	return vpt_soft_leave(c, u, false, c->stepping ? VPT_EXIT_UNABLE : VPT_EXIT_CORE);
}

VPT_UOP(into)
{
	if (!(c->fl & VPT_F_OF))
		return VPT_NEXT(c, u);
	return vpt_soft_leave(c, u, false, c->stepping ? VPT_EXIT_UNABLE : VPT_EXIT_CORE);
}

bool vpt_tr_core(struct vpt_translation *t)
{
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_INTO) {
		vpt_tr_emit(t, into);
		return true;
	}
	vpt_tr_emit(t, unable);
	t->ends = true;
	return true;
}

VPT_UOP(load16)
{
	c->r[VPT_R_T0] = vpt_load16(c, u, vpt_ea(c, u));
	return VPT_NEXT(c, u);
}

VPT_UOP(store16)
{
	vpt_store16(c, u, vpt_ea(c, u), (uint16_t)c->r[VPT_R_T0]);
	return VPT_NEXT(c, u);
}

VPT_UOP(put16)
{
	vpt_put16(c, u->dst, (uint16_t)c->r[VPT_R_T0]);
	return VPT_NEXT(c, u);
}

VPT_UOP(put32)
{
	vpt_put32(c, u->dst, (uint32_t)c->r[VPT_R_T0]);
	return VPT_NEXT(c, u);
}

VPT_UOP(put64)
{
	vpt_put64(c, u->dst, c->r[VPT_R_T0]);
	return VPT_NEXT(c, u);
}

uint8_t vpt_tr_source16(struct vpt_translation *t, unsigned int n)
{
	struct vpt_address a;

	if (!vpt_tr_is_mem(t, n))
		return vpt_tr_gpr(t, n);
	a = vpt_tr_address(t, n, 2, false);
	vpt_tr_put_address(vpt_tr_emit(t, load16), &a);
	return T0;
}

void vpt_tr_put_t0(struct vpt_translation *t, unsigned int n)
{
	unsigned int size = vpt_tr_size(t, n);
	struct vpt_address a;

	if (vpt_tr_is_mem(t, n)) {
		a = vpt_tr_address(t, n, 2, true);
		vpt_tr_put_address(vpt_tr_emit(t, store16), &a);
		return;
	}
	vpt_tr_emit(t, size == 2 ? put16 : size == 4 ? put32 : put64)->dst = vpt_tr_gpr(t, n);
}

/* May this level change IF? */
static bool has_iopl(const struct vpt_soft *c)
{
	return c->cpl <= (c->r[VPT_R_RFLAGS] >> 12 & 3) || !(c->s.cr0 & VPT_CR0_PE);
}

VPT_UOP(cli)
{
	if (vpt_unlikely(!has_iopl(c)))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	if (vpt_unlikely(vpt_soft_watches_if(c)) && c->r[VPT_R_RFLAGS] & VPT_FL_IF) {
		c->r[VPT_R_RFLAGS] &= ~VPT_FL_IF;
		return vpt_soft_resume_if(c, u);
	}
	c->r[VPT_R_RFLAGS] &= ~VPT_FL_IF;
	return VPT_NEXT(c, u);
}

/* The next instruction runs before any interrupt. */
VPT_UOP(sti)
{
	if (vpt_unlikely(!has_iopl(c)))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	if (c->r[VPT_R_RFLAGS] & VPT_FL_IF)
		return VPT_NEXT(c, u);
	c->r[VPT_R_RFLAGS] |= VPT_FL_IF;
	c->base.shadow = true;
	return vpt_soft_resume_if(c, u);
}

/* imm: what AC becomes. */
VPT_UOP(set_ac)
{
	uint64_t rflags = c->r[VPT_R_RFLAGS];

	if ((rflags & VPT_FL_AC) == u->imm)
		return VPT_NEXT(c, u);
	c->r[VPT_R_RFLAGS] = rflags ^ VPT_FL_AC;
	return vpt_soft_resume(c, u);
}

/* imm: the next RIP. What a trace has of it is the core's. */
VPT_UOP(hlt)
{
	if (c->pt)
		return vpt_soft_leave(c, u, false, VPT_EXIT_CORE);
	c->r[VPT_R_RIP] = u->imm;
	return vpt_soft_leave(c, u, true, VPT_EXIT_HLT);
}

VPT_UOP(nothing)
{
	(void)c;
	return VPT_NEXT(c, u);
}

/* EA is the offset, aux the segment: FS and GS have a base in 64-bit mode too. */
static NOINLINE void do_invlpg(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t base = 0;

	if (c->bits != 64 || u->aux >= VPT_SEG_FS)
		base = vpt_soft_seg(c, u->aux)->base;
	vpt_soft_flush_page(c, base + c->r[VPT_R_EA]);
}

VPT_UOP(invlpg)
{
	do_invlpg(c, u);
	return vpt_soft_resume(c, u);
}

/* src: the type. */
static NOINLINE void do_invpcid(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t type = c->bits == 64 ? VPT_REG(c, u->src, uint64_t) : VPT_REG(c, u->src, uint32_t);
	uint64_t what[2];

	vpt_soft_read(c, u, vpt_ea(c, u), what, sizeof(what));
	if (type > 3 || what[0] >> 12 || (type == 0 && !vpt_soft_canonical(c, what[1])) ||
	    (type < 2 && what[0] && !(c->s.cr4 & VPT_CR4_PCIDE)))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	vpt_soft_flush_tlb(c);
}

VPT_UOP(invpcid)
{
	do_invpcid(c, u);
	return vpt_soft_resume(c, u);
}

VPT_UOP(check_umip)
{
	if (c->s.cr4 & VPT_CR4_UMIP)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	return VPT_NEXT(c, u);
}

/* SGDT SIDT SLDT STR SMSW, which an operating system may deny its programs. */
static bool stores(struct vpt_translation *t, vpt_translate_fn fn)
{
	if (t->mode & VPT_BLOCK_USER)
		vpt_tr_emit(t, check_umip);
	return fn(t);
}

static bool loads(struct vpt_translation *t)
{
	if (t->mode & VPT_BLOCK_USER) {
		vpt_tr_raise(t, VPT_VEC_GP);
		return true;
	}
	return vpt_tr_tables(t);
}

static bool ac(struct vpt_translation *t, uint64_t value)
{
	if (t->mode & VPT_BLOCK_USER)
		return false;
	vpt_tr_emit(t, set_ac)->imm = value;
	return true;
}

static bool flush_page(struct vpt_translation *t)
{
	vpt_tr_offset(t, 0);
	vpt_tr_emit(t, invlpg)->aux = (uint32_t)(t->op[0].mem.segment - ZYDIS_REGISTER_ES);
	t->ends = true;
	return true;
}

static bool flush_context(struct vpt_translation *t)
{
	struct vpt_address a = vpt_tr_address(t, 1, 16, false);
	struct vpt_uop *u = vpt_tr_emit(t, invpcid);

	vpt_tr_put_address(u, &a);
	u->src = vpt_tr_gpr(t, 0);
	t->ends = true;
	return true;
}

static bool emit(struct vpt_translation *t, vpt_uop_fn fn, uint64_t imm, bool ends)
{
	vpt_tr_emit(t, fn)->imm = imm;
	t->ends = ends;
	return true;
}

bool vpt_tr_system(struct vpt_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLI:
		return emit(t, cli, 0, false);
	case ZYDIS_MNEMONIC_STI:
		return emit(t, sti, 0, false);
	case ZYDIS_MNEMONIC_STAC:
		return ac(t, VPT_FL_AC);
	case ZYDIS_MNEMONIC_CLAC:
		return ac(t, 0);
	case ZYDIS_MNEMONIC_HLT:
		return emit(t, hlt, t->next, true);
	case ZYDIS_MNEMONIC_INVD:
	case ZYDIS_MNEMONIC_WBINVD:
		return emit(t, nothing, 0, false);
	case ZYDIS_MNEMONIC_INVLPG:
		return flush_page(t);
	case ZYDIS_MNEMONIC_INVPCID:
		return flush_context(t);
	case ZYDIS_MNEMONIC_SMSW:
		return stores(t, vpt_tr_control);
	case ZYDIS_MNEMONIC_SGDT:
	case ZYDIS_MNEMONIC_SIDT:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR:
		return stores(t, vpt_tr_tables);
	case ZYDIS_MNEMONIC_LGDT:
	case ZYDIS_MNEMONIC_LIDT:
	case ZYDIS_MNEMONIC_LLDT:
	case ZYDIS_MNEMONIC_LTR:
		return loads(t);
	default:
		return vpt_tr_control(t);
	}
}
