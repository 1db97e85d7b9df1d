// SPDX-License-Identifier: GPL-2.0-or-later
/* LGDT, LIDT, LLDT and LTR, and the instructions that store these registers. */
#include "soft/access.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

#define TYPE_LDT	0x2u
#define TYPE_TSS16	0x1u
#define TYPE_TSS	0x9u
#define TYPE_BUSY	0x2u
#define BASE_LONG_BYTES 8u

/* u->src is 1 for the IDT. u->imm is the size of the base; u->aux bytes of it are loaded. */
static struct x86_table *table_of(struct soft *c, const struct soft_uop *u)
{
	return u->src ? &c->s.idt : &c->s.gdt;
}

static NOINLINE void do_load_table(struct soft *c, const struct soft_uop *u)
{
	uint64_t base = 0;
	uint8_t image[10];

	soft_read(c, u, soft_ea(c, u), image, u->imm + 2);
	memcpy(&base, image + 2, u->imm);
	base &= u->aux == 3 ? 0xffffffu : ~0ull;
	if (u->imm == BASE_LONG_BYTES && !soft_canonical(c, base))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	memcpy(&table_of(c, u)->limit, image, 2);
	table_of(c, u)->base = base;
}

static NOINLINE void do_store_table(struct soft *c, const struct soft_uop *u)
{
	uint8_t image[10];

	memcpy(image, &table_of(c, u)->limit, 2);
	memcpy(image + 2, &table_of(c, u)->base, 8);
	soft_write(c, u, soft_ea(c, u), image, u->imm + 2);
}

SOFT_UOP(load_table)
{
	do_load_table(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(store_table)
{
	do_store_table(c, u);
	return SOFT_NEXT(c, u);
}

/*
 * Read a system segment of the GDT. `types` has a bit for each permitted type. An invalid
 * descriptor raises #GP with the selector, and a descriptor that is not present raises #NP.
 */
static void system_segment(struct soft *c, const struct soft_uop *u, uint16_t selector,
			   uint32_t types, struct soft_descriptor *d)
{
	uint16_t error = selector & 0xfffc;

	if (selector & 4 || !soft_descriptor(c, u, selector, soft_long_mode(c), d) ||
	    d->seg.ar & X86_AR_S || !(types >> x86_segment_type(&d->seg) & 1))
		soft_raise_code(c, u, X86_VEC_GP, error);
	if (!(d->seg.ar & X86_AR_P))
		soft_raise_code(c, u, X86_VEC_NP, error);
	if (soft_long_mode(c)) {
		d->seg.base |= d->high << 32;
		if (d->high >> 40 & 31 || !soft_canonical(c, d->seg.base))
			soft_raise_code(c, u, X86_VEC_GP, error);
	}
}

static NOINLINE void do_lldt(struct soft *c, const struct soft_uop *u)
{
	uint16_t selector = SOFT_REG(c, u->src, uint16_t);
	struct soft_descriptor d;

	if (!(selector & 0xfffc)) {
		c->s.ldt = (struct x86_segment){.selector = selector,
						.ar = TYPE_LDT | X86_AR_UNUSABLE};
		return;
	}
	system_segment(c, u, selector, 1u << TYPE_LDT, &d);
	c->s.ldt = d.seg;
}

static NOINLINE void do_ltr(struct soft *c, const struct soft_uop *u)
{
	uint32_t types = 1u << TYPE_TSS | (soft_long_mode(c) ? 0 : 1u << TYPE_TSS16);
	uint16_t selector = SOFT_REG(c, u->src, uint16_t);
	struct soft_descriptor d;
	uint8_t access;

	if (!(selector & 0xfffc))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	system_segment(c, u, selector, types, &d);
	access = (uint8_t)(d.raw >> 40 | TYPE_BUSY);
	soft_system_write(c, u, d.at + 5, &access, 1);
	d.seg.ar |= TYPE_BUSY;
	c->s.tr = d.seg;
}

SOFT_UOP(lldt)
{
	do_lldt(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(ltr)
{
	do_ltr(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(sldt)
{
	c->r[SOFT_R_T0] = c->s.ldt.selector;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(str)
{
	c->r[SOFT_R_T0] = c->s.tr.selector;
	return SOFT_NEXT(c, u);
}

static bool table(struct soft_translation *t, bool is_idt, bool store)
{
	unsigned int base = t->bits == 64 ? BASE_LONG_BYTES : 4;
	struct soft_address a;
	struct soft_uop *u;

	a = soft_tr_address(t, 0, base + 2, store);
	u = soft_tr_emit(t, store ? store_table : load_table);
	soft_tr_put_address(u, &a);
	u->src = is_idt;
	u->imm = base;
	/* With a 16-bit operand size, only 24 bits of the base are loaded. */
	u->aux = t->bits != 64 && t->insn->operand_width == 16 ? 3 : base;
	return true;
}

static bool from_selector(struct soft_translation *t, soft_uop_fn fn)
{
	uint8_t src;

	if (!(t->mode & SOFT_BLOCK_PROTECTED))
		return false;
	src = soft_tr_source16(t, 0);
	soft_tr_emit(t, fn)->src = src;
	return true;
}

static bool to_selector(struct soft_translation *t, soft_uop_fn fn)
{
	if (!(t->mode & SOFT_BLOCK_PROTECTED))
		return false;
	soft_tr_emit(t, fn);
	soft_tr_put_t0(t, 0);
	return true;
}

bool soft_tr_tables(struct soft_translation *t)
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
