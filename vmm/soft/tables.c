// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptor tables and the task register. */
#include "soft/access.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

#define TYPE_LDT	0x2u
#define TYPE_TSS16	0x1u
#define TYPE_TSS	0x9u
#define TYPE_BUSY	0x2u
#define BASE_LONG_BYTES 8u

/* src: is it the IDT's? imm: bytes of the base; aux: those of them that count. */
static struct vpt_table *table_of(struct vpt_soft *c, const struct vpt_uop *u)
{
	return u->src ? &c->s.idt : &c->s.gdt;
}

static NOINLINE void do_load_table(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t base = 0;
	uint8_t image[10];

	vpt_soft_read(c, u, vpt_ea(c, u), image, u->imm + 2);
	memcpy(&base, image + 2, u->imm);
	base &= u->aux == 3 ? 0xffffffu : ~0ull;
	if (u->imm == BASE_LONG_BYTES && !vpt_soft_canonical(c, base))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	memcpy(&table_of(c, u)->limit, image, 2);
	table_of(c, u)->base = base;
}

static NOINLINE void do_store_table(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint8_t image[10];

	memcpy(image, &table_of(c, u)->limit, 2);
	memcpy(image + 2, &table_of(c, u)->base, 8);
	vpt_soft_write(c, u, vpt_ea(c, u), image, u->imm + 2);
}

VPT_UOP(load_table)
{
	do_load_table(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(store_table)
{
	do_store_table(c, u);
	return VPT_NEXT(c, u);
}

/*
 * A system segment of the GDT; `types` are those it may be of. What is not right
 * about it is #GP with its selector, or #NP.
 */
static void system_segment(struct vpt_soft *c, const struct vpt_uop *u, uint16_t selector,
			   uint32_t types, struct vpt_descriptor *d)
{
	uint16_t error = selector & 0xfffc;

	if (selector & 4 || !vpt_soft_descriptor(c, u, selector, c->long_mode, d) || d->seg.s ||
	    !(types >> d->seg.type & 1))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, error);
	if (!d->seg.present)
		vpt_soft_raise_code(c, u, VPT_VEC_NP, error);
	if (c->long_mode) {
		d->seg.base |= d->high << 32;
		if (d->high >> 40 & 31 || !vpt_soft_canonical(c, d->seg.base))
			vpt_soft_raise_code(c, u, VPT_VEC_GP, error);
	}
}

static NOINLINE void do_lldt(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint16_t selector = VPT_REG(c, u->src, uint16_t);
	struct vpt_descriptor d;

	if (!(selector & 0xfffc)) {
		c->s.ldt = (struct vpt_segment){
			.selector = selector, .type = TYPE_LDT, .unusable = true};
		return;
	}
	system_segment(c, u, selector, 1u << TYPE_LDT, &d);
	c->s.ldt = d.seg;
}

static NOINLINE void do_ltr(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint32_t types = 1u << TYPE_TSS | (c->long_mode ? 0 : 1u << TYPE_TSS16);
	uint16_t selector = VPT_REG(c, u->src, uint16_t);
	struct vpt_descriptor d;
	uint8_t access;

	if (!(selector & 0xfffc))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	system_segment(c, u, selector, types, &d);
	access = (uint8_t)(d.raw >> 40 | TYPE_BUSY);
	vpt_soft_system_write(c, u, d.at + 5, &access, 1);
	d.seg.type |= TYPE_BUSY;
	c->s.tr = d.seg;
}

VPT_UOP(lldt)
{
	do_lldt(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(ltr)
{
	do_ltr(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(sldt)
{
	c->r[VPT_R_T0] = c->s.ldt.selector;
	return VPT_NEXT(c, u);
}

VPT_UOP(str)
{
	c->r[VPT_R_T0] = c->s.tr.selector;
	return VPT_NEXT(c, u);
}

static bool table(struct vpt_translation *t, bool is_idt, bool store)
{
	unsigned int base = t->bits == 64 ? BASE_LONG_BYTES : 4;
	struct vpt_address a;
	struct vpt_uop *u;

	a = vpt_tr_address(t, 0, base + 2, store);
	u = vpt_tr_emit(t, store ? store_table : load_table);
	vpt_tr_put_address(u, &a);
	u->src = is_idt;
	u->imm = base;
	/* A 16-bit operand size leaves 24 bits of a base that is loaded. */
	u->aux = t->bits != 64 && t->insn->operand_width == 16 ? 3 : base;
	return true;
}

static bool from_selector(struct vpt_translation *t, vpt_uop_fn fn)
{
	uint8_t src;

	if (!(t->mode & VPT_BLOCK_PROTECTED))
		return false;
	src = vpt_tr_source16(t, 0);
	vpt_tr_emit(t, fn)->src = src;
	return true;
}

static bool to_selector(struct vpt_translation *t, vpt_uop_fn fn)
{
	if (!(t->mode & VPT_BLOCK_PROTECTED))
		return false;
	vpt_tr_emit(t, fn);
	vpt_tr_put_t0(t, 0);
	return true;
}

bool vpt_tr_tables(struct vpt_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_LGDT:
		return table(t, false, false);
	case ZYDIS_MNEMONIC_LIDT:
		return table(t, true, false);
	case ZYDIS_MNEMONIC_SGDT:
		return table(t, false, true);
	case ZYDIS_MNEMONIC_SIDT:
		return table(t, true, true);
	case ZYDIS_MNEMONIC_LLDT:
		return from_selector(t, lldt);
	case ZYDIS_MNEMONIC_LTR:
		return from_selector(t, ltr);
	case ZYDIS_MNEMONIC_SLDT:
		return to_selector(t, sldt);
	case ZYDIS_MNEMONIC_STR:
		return to_selector(t, str);
	default:
		return false;
	}
}
