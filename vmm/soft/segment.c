// SPDX-License-Identifier: GPL-2.0-or-later
/* Load and read segment registers. */
#include "soft/access.h"
#include "soft/operand.h"
#include "soft/stack.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))
#define T0	 (SOFT_R_T0 * 8)

/* Real and virtual-8086 mode keep the attributes. */
static void load_real(struct soft *c, enum soft_seg n, uint16_t selector)
{
	struct x86_segment *s = soft_seg_cache(c, n);

	s->selector = selector;
	s->base = (uint32_t)selector << 4;
	s->ar = (s->ar & ~X86_AR_UNUSABLE) | X86_AR_P;
}

static void load_null(struct soft *c, const struct soft_uop *u, enum soft_seg n, uint16_t selector)
{
	uint8_t rpl = selector & 3;

	if (n == SOFT_SEG_SS && (c->bits != 64 || c->cpl == 3 || rpl != c->cpl))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	*soft_seg_cache(c, n) = (struct x86_segment){
		.selector = selector,
		.ar = X86_AR_UNUSABLE | (n == SOFT_SEG_SS ? (uint32_t)rpl << X86_AR_DPL_SHIFT : 0),
	};
}

static bool fits_ss(const struct soft *c, const struct x86_segment *s, uint8_t rpl)
{
	return (s->ar & (X86_AR_S | X86_AR_EXEC | X86_AR_RW)) == (X86_AR_S | X86_AR_RW) &&
	       rpl == c->cpl && x86_segment_dpl(s) == c->cpl;
}

static bool fits_data(const struct soft *c, const struct x86_segment *s, uint8_t rpl)
{
	uint8_t dpl = x86_segment_dpl(s);
	bool code = s->ar & X86_AR_EXEC;

	if (!(s->ar & X86_AR_S) || (code && !(s->ar & X86_AR_RW)))
		return false;
	return (code && s->ar & X86_AR_DC) || (rpl <= dpl && c->cpl <= dpl);
}

static void load_protected(struct soft *c, const struct soft_uop *u, enum soft_seg n,
			   uint16_t selector)
{
	uint16_t error = selector & 0xfffc;
	uint8_t rpl = selector & 3, access;
	struct soft_descriptor d;

	if (!error) {
		load_null(c, u, n, selector);
		return;
	}
	if (!soft_descriptor(c, u, selector, false, &d) ||
	    !(n == SOFT_SEG_SS ? fits_ss(c, &d.seg, rpl) : fits_data(c, &d.seg, rpl)))
		soft_raise_code(c, u, X86_VEC_GP, error);
	if (!(d.seg.ar & X86_AR_P))
		soft_raise_code(c, u, n == SOFT_SEG_SS ? X86_VEC_SS : X86_VEC_NP, error);
	if (!(d.seg.ar & X86_AR_ACCESSED)) {
		access = (uint8_t)(d.raw >> 40 | X86_AR_ACCESSED);
		soft_system_write(c, u, d.at + 5, &access, 1);
		d.seg.ar |= X86_AR_ACCESSED;
	}
	*soft_seg_cache(c, n) = d.seg;
}

NOINLINE void soft_load_segment(struct soft *c, const struct soft_uop *u, enum soft_seg n,
				uint16_t selector)
{
	if (c->mode & SOFT_BLOCK_PROTECTED)
		load_protected(c, u, n, selector);
	else
		load_real(c, n, selector);
}

/* aux is the register. Only SS affects how code is decoded. */
SOFT_UOP(load)
{
	soft_load_segment(c, u, u->aux, SOFT_REG(c, u->src, uint16_t));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(load_ss)
{
	soft_load_segment(c, u, SOFT_SEG_SS, SOFT_REG(c, u->src, uint16_t));
	c->base.state |= ENGINE_SHADOW;
	return soft_resume(c, u);
}

/* imm is the operand size in bytes. The width of SP is that of the old SS. */
static NOINLINE void pop_segment(struct soft *c, const struct soft_uop *u)
{
	uint16_t selector = (uint16_t)soft_peek(c, u, (unsigned int)u->imm);
	uint32_t old_db = c->s.ss.ar & X86_AR_DB, ar;

	soft_load_segment(c, u, u->aux, selector);
	ar = c->s.ss.ar;
	c->s.ss.ar = (ar & ~X86_AR_DB) | old_db;
	soft_move_sp(c, (int64_t)u->imm);
	c->s.ss.ar = ar;
}

SOFT_UOP(pop)
{
	pop_segment(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(pop_ss)
{
	pop_segment(c, u);
	c->base.state |= ENGINE_SHADOW;
	return soft_resume(c, u);
}

/* LDS and similar instructions. imm is the size of the offset in bytes. */
static NOINLINE void load_pointer(struct soft *c, const struct soft_uop *u)
{
	unsigned int size = (unsigned int)u->imm;
	uint64_t offset = 0;
	uint8_t pointer[10];
	uint16_t selector;

	soft_read(c, u, soft_ea(c, u), pointer, size + 2);
	memcpy(&offset, pointer, size);
	memcpy(&selector, pointer + size, 2);
	soft_load_segment(c, u, u->aux, selector);
	if (size == 2)
		soft_put16(c, u->dst, (uint16_t)offset);
	else
		soft_put64(c, u->dst, offset);
}

SOFT_UOP(load_far)
{
	load_pointer(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(load_far_ss)
{
	load_pointer(c, u);
	return soft_resume(c, u);
}

/* aux is the register. */
static NOINLINE void selector_to_t0(struct soft *c, const struct soft_uop *u)
{
	c->r[SOFT_R_T0] = soft_seg_cache(c, u->aux)->selector;
}

SOFT_UOP(get)
{
	selector_to_t0(c, u);
	return SOFT_NEXT(c, u);
}

/* Emit a load of a segment. A load of SS ends its block. */
static struct soft_uop *emit(struct soft_translation *t, enum soft_seg n, soft_uop_fn plain,
			     soft_uop_fn stack)
{
	struct soft_uop *u = soft_tr_emit(t, n == SOFT_SEG_SS ? stack : plain);

	u->aux = n;
	t->ends = n == SOFT_SEG_SS;
	return u;
}

static bool is_segment(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(t->op[n].reg.value) == ZYDIS_REGCLASS_SEGMENT;
}

static enum soft_seg segment_of(const struct soft_translation *t, unsigned int n)
{
	return (enum soft_seg)(t->op[n].reg.value - ZYDIS_REGISTER_ES);
}

static bool mov(struct soft_translation *t)
{
	enum soft_seg n;
	uint8_t src;

	if (is_segment(t, 1)) {
		soft_tr_emit(t, get)->aux = segment_of(t, 1);
		soft_tr_put_t0(t, 0);
		return true;
	}
	n = segment_of(t, 0);
	if (n == SOFT_SEG_CS)
		return false;
	src = soft_tr_source16(t, 1);
	emit(t, n, load, load_ss)->src = src;
	return true;
}

static bool load_full(struct soft_translation *t, enum soft_seg n)
{
	unsigned int size = soft_tr_size(t, 0);
	struct soft_address a = soft_tr_address(t, 1, size + 2, false);
	struct soft_uop *u = emit(t, n, load_far, load_far_ss);

	soft_tr_put_address(u, &a);
	u->dst = soft_tr_gpr(t, 0);
	u->imm = size;
	return true;
}

static bool pop_one(struct soft_translation *t)
{
	struct soft_uop *u = emit(t, segment_of(t, 0), pop, pop_ss);

	u->flags = SOFT_UOP_SS;
	u->imm = t->insn->operand_width / 8u;
	return true;
}

bool soft_tr_segment(struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return mov(t);
	case ZYDIS_MNEMONIC_POP:
		return pop_one(t);
	case ZYDIS_MNEMONIC_LES:
		return load_full(t, SOFT_SEG_ES);
	case ZYDIS_MNEMONIC_LDS:
		return load_full(t, SOFT_SEG_DS);
	case ZYDIS_MNEMONIC_LSS:
		return load_full(t, SOFT_SEG_SS);
	case ZYDIS_MNEMONIC_LFS:
		return load_full(t, SOFT_SEG_FS);
	case ZYDIS_MNEMONIC_LGS:
		return load_full(t, SOFT_SEG_GS);
	default:
		return soft_tr_rights(t);
	}
}
