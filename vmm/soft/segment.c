// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading segment registers, and reading them. */
#include "soft/access.h"
#include "soft/operand.h"
#include "soft/stack.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))
#define T0	 (VPT_R_T0 * 8)

#define TYPE_CODE	8u
#define TYPE_CONFORMING 4u
#define TYPE_BIT1	2u /* writable data, readable code */
#define TYPE_ACCESSED	1u

/* Real and virtual-8086 mode: attributes stay what they are. */
static void load_real(struct vpt_soft *c, enum vpt_seg n, uint16_t selector)
{
	struct vpt_segment *s = vpt_soft_seg(c, n);

	s->selector = selector;
	s->base = (uint32_t)selector << 4;
	s->present = true;
	s->unusable = false;
}

static void load_null(struct vpt_soft *c, const struct vpt_uop *u, enum vpt_seg n,
		      uint16_t selector)
{
	uint8_t rpl = selector & 3;

	if (n == VPT_SEG_SS && (c->bits != 64 || c->cpl == 3 || rpl != c->cpl))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	*vpt_soft_seg(c, n) = (struct vpt_segment){
		.selector = selector,
		.dpl = n == VPT_SEG_SS ? rpl : 0,
		.unusable = true,
	};
}

static bool fits_ss(const struct vpt_soft *c, const struct vpt_segment *s, uint8_t rpl)
{
	return s->s && !(s->type & TYPE_CODE) && s->type & TYPE_BIT1 && rpl == c->cpl &&
	       s->dpl == c->cpl;
}

static bool fits_data(const struct vpt_soft *c, const struct vpt_segment *s, uint8_t rpl)
{
	bool code = s->type & TYPE_CODE;

	if (!s->s || (code && !(s->type & TYPE_BIT1)))
		return false;
	return (code && s->type & TYPE_CONFORMING) || (rpl <= s->dpl && c->cpl <= s->dpl);
}

static void load_protected(struct vpt_soft *c, const struct vpt_uop *u, enum vpt_seg n,
			   uint16_t selector)
{
	uint16_t error = selector & 0xfffc;
	uint8_t rpl = selector & 3, access;
	struct vpt_descriptor d;

	if (!error) {
		load_null(c, u, n, selector);
		return;
	}
	if (!vpt_soft_descriptor(c, u, selector, false, &d) ||
	    !(n == VPT_SEG_SS ? fits_ss(c, &d.seg, rpl) : fits_data(c, &d.seg, rpl)))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, error);
	if (!d.seg.present)
		vpt_soft_raise_code(c, u, n == VPT_SEG_SS ? VPT_VEC_SS : VPT_VEC_NP, error);
	if (!(d.seg.type & TYPE_ACCESSED)) {
		access = (uint8_t)(d.raw >> 40 | TYPE_ACCESSED);
		vpt_soft_system_write(c, u, d.at + 5, &access, 1);
		d.seg.type |= TYPE_ACCESSED;
	}
	*vpt_soft_seg(c, n) = d.seg;
}

NOINLINE void vpt_soft_load_segment(struct vpt_soft *c, const struct vpt_uop *u, enum vpt_seg n,
				    uint16_t selector)
{
	if (c->mode & VPT_BLOCK_PROTECTED)
		load_protected(c, u, n, selector);
	else
		load_real(c, n, selector);
}

/* aux: the register. SS decides what code is decoded for, the others do not. */
VPT_UOP(load)
{
	vpt_soft_load_segment(c, u, u->aux, VPT_REG(c, u->src, uint16_t));
	return VPT_NEXT(c, u);
}

VPT_UOP(load_ss)
{
	vpt_soft_load_segment(c, u, VPT_SEG_SS, VPT_REG(c, u->src, uint16_t));
	c->base.shadow = true;
	return vpt_soft_resume(c, u);
}

/* imm: operand bytes. SP moves as the old SS says. */
static NOINLINE void pop_segment(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint16_t selector = (uint16_t)vpt_soft_peek(c, u, (unsigned int)u->imm);
	bool old_db = c->s.ss.db, db;

	vpt_soft_load_segment(c, u, u->aux, selector);
	db = c->s.ss.db;
	c->s.ss.db = old_db;
	vpt_soft_move_sp(c, (int64_t)u->imm);
	c->s.ss.db = db;
}

VPT_UOP(pop)
{
	pop_segment(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(pop_ss)
{
	pop_segment(c, u);
	c->base.shadow = true;
	return vpt_soft_resume(c, u);
}

/* LDS and the like; imm: bytes of the offset. */
static NOINLINE void load_pointer(struct vpt_soft *c, const struct vpt_uop *u)
{
	unsigned int size = (unsigned int)u->imm;
	uint64_t offset = 0;
	uint8_t pointer[10];
	uint16_t selector;

	vpt_soft_read(c, u, vpt_ea(c, u), pointer, size + 2);
	memcpy(&offset, pointer, size);
	memcpy(&selector, pointer + size, 2);
	vpt_soft_load_segment(c, u, u->aux, selector);
	if (size == 2)
		vpt_put16(c, u->dst, (uint16_t)offset);
	else
		vpt_put64(c, u->dst, offset);
}

VPT_UOP(load_far)
{
	load_pointer(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(load_far_ss)
{
	load_pointer(c, u);
	return vpt_soft_resume(c, u);
}

/* aux: the register. */
static NOINLINE void selector_to_t0(struct vpt_soft *c, const struct vpt_uop *u)
{
	c->r[VPT_R_T0] = vpt_soft_seg(c, u->aux)->selector;
}

VPT_UOP(get)
{
	selector_to_t0(c, u);
	return VPT_NEXT(c, u);
}

/* What loads SS ends its block. */
static struct vpt_uop *emit(struct vpt_translation *t, enum vpt_seg n, vpt_uop_fn plain,
			    vpt_uop_fn stack)
{
	struct vpt_uop *u = vpt_tr_emit(t, n == VPT_SEG_SS ? stack : plain);

	u->aux = n;
	t->ends = n == VPT_SEG_SS;
	return u;
}

static bool is_segment(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(t->op[n].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}

static enum vpt_seg segment_of(const struct vpt_translation *t, unsigned int n)
{
	return (enum vpt_seg)(t->op[n].reg.value - ZYDIS_REGISTER_ES);
}

static bool mov(struct vpt_translation *t)
{
	enum vpt_seg n;
	uint8_t src;

	if (is_segment(t, 1)) {
		vpt_tr_emit(t, get)->aux = segment_of(t, 1);
		vpt_tr_put_t0(t, 0);
		return true;
	}
	n = segment_of(t, 0);
	if (n == VPT_SEG_CS)
		return false;
	src = vpt_tr_source16(t, 1);
	emit(t, n, load, load_ss)->src = src;
	return true;
}

static bool load_full(struct vpt_translation *t, enum vpt_seg n)
{
	unsigned int size = vpt_tr_size(t, 0);
	struct vpt_address a = vpt_tr_address(t, 1, size + 2, false);
	struct vpt_uop *u = emit(t, n, load_far, load_far_ss);

	vpt_tr_put_address(u, &a);
	u->dst = vpt_tr_gpr(t, 0);
	u->imm = size;
	return true;
}

static bool pop_one(struct vpt_translation *t)
{
	struct vpt_uop *u = emit(t, segment_of(t, 0), pop, pop_ss);

	u->flags = VPT_UOP_SS;
	u->imm = t->insn->operand_width / 8u;
	return true;
}

bool vpt_tr_segment(struct vpt_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return mov(t);
	case ZYDIS_MNEMONIC_POP:
		return pop_one(t);
	case ZYDIS_MNEMONIC_LES:
		return load_full(t, VPT_SEG_ES);
	case ZYDIS_MNEMONIC_LDS:
		return load_full(t, VPT_SEG_DS);
	case ZYDIS_MNEMONIC_LSS:
		return load_full(t, VPT_SEG_SS);
	case ZYDIS_MNEMONIC_LFS:
		return load_full(t, VPT_SEG_FS);
	case ZYDIS_MNEMONIC_LGS:
		return load_full(t, VPT_SEG_GS);
	default:
		return vpt_tr_rights(t);
	}
}
