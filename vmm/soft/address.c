// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of memory operands. In 64-bit mode without FS, GS or an address size prefix they are
 * base + index + displacement, and every micro-operation can add them. For all others a separate
 * micro-operation computes and checks the address, and leaves it in EA.
 */
#include "soft/access.h"
#include "soft/kind.h"
#include "soft/system.h"
#include "soft/translate.h"

static const size_t segment_offset[] = {
	offsetof(struct soft, s.es), offsetof(struct soft, s.cs), offsetof(struct soft, s.ss),
	offsetof(struct soft, s.ds), offsetof(struct soft, s.fs), offsetof(struct soft, s.gs),
};

static const struct x86_segment *segment(const struct soft *c, const struct soft_uop *u)
{
	return (const struct x86_segment *)((const char *)c + u->imm);
}

/* Add the base of FS or GS in 64-bit mode. */
SOFT_UOP(address_based)
{
	c->r[SOFT_R_EA] = soft_ea(c, u) + segment(c, u)->base;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(address_based32)
{
	c->r[SOFT_R_EA] = (uint32_t)soft_ea(c, u) + segment(c, u)->base;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(offset64)
{
	c->r[SOFT_R_EA] = soft_ea(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(offset32)
{
	c->r[SOFT_R_EA] = (uint32_t)soft_ea(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(offset16)
{
	c->r[SOFT_R_EA] = (uint16_t)soft_ea(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(address_checked)
{
	const struct x86_segment *s = segment(c, u);
	uint32_t offset = (uint32_t)c->r[SOFT_R_EA];

	if (vpt_unlikely(!soft_permits(c, s, offset, u->aux & 0xffff, u->aux >> 16)))
		soft_raise_code(c, u, u->flags & SOFT_UOP_SS ? X86_VEC_SS : X86_VEC_GP, 0);
	c->r[SOFT_R_EA] = (uint32_t)(offset + s->base);
	return SOFT_NEXT(c, u);
}

static void put_operands(const struct soft_translation *t, unsigned int n, struct soft_uop *u)
{
	const ZydisDecodedOperandMem *m = &t->op[n].mem;

	if (m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP) {
		u->disp = (int64_t)(t->next + (uint64_t)m->disp.value);
		return;
	}
	u->base = soft_tr_reg(m->base);
	u->index = soft_tr_reg(m->index);
	u->scale = m->scale > 1 ? (uint8_t)__builtin_ctz(m->scale) : 0;
	u->disp = m->disp.has_displacement ? m->disp.value : 0;
}

void soft_tr_offset(struct soft_translation *t, unsigned int n)
{
	unsigned int width = t->insn->address_width;

	put_operands(t, n,
		     soft_tr_emit(t, width == 64   ? offset64
				     : width == 32 ? offset32
						   : offset16));
}

static struct soft_address in_ea(uint8_t flags)
{
	return (struct soft_address){
		.base = SOFT_R_EA * 8, .index = SOFT_R_ZERO * 8, .flags = flags};
}

static bool is_stack(const ZydisDecodedOperandMem *m)
{
	return m->segment == ZYDIS_REGISTER_SS;
}

static struct soft_address address64(struct soft_translation *t, unsigned int n)
{
	const ZydisDecodedOperandMem *m = &t->op[n].mem;
	uint8_t flags = is_stack(m) ? SOFT_UOP_SS : 0;
	bool narrow = t->insn->address_width == 32;
	struct soft_uop plain = {.base = SOFT_R_ZERO * 8, .index = SOFT_R_ZERO * 8}, *u;

	if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS) {
		u = soft_tr_emit(t, narrow ? address_based32 : address_based);
		u->imm = segment_offset[m->segment - ZYDIS_REGISTER_ES];
		u->dst = SOFT_R_EA * 8;
		u->kind = SOFT_KIND(SOFT_K_BASED, SOFT_K_RR, narrow ? 2 : 3, 0);
		put_operands(t, n, u);
		return in_ea(0);
	}
	if (narrow) {
		put_operands(t, n, soft_tr_emit(t, offset32));
		return in_ea(flags);
	}
	put_operands(t, n, &plain);
	return (struct soft_address){.base = plain.base,
				     .index = plain.index,
				     .scale = plain.scale,
				     .flags = flags,
				     .disp = plain.disp};
}

struct soft_address soft_tr_address(struct soft_translation *t, unsigned int n, unsigned int len,
				    bool write)
{
	const ZydisDecodedOperandMem *m = &t->op[n].mem;
	struct soft_uop *u;

	if (t->bits == 64)
		return address64(t, n);
	soft_tr_offset(t, n);
	u = soft_tr_emit(t, address_checked);
	u->imm = segment_offset[m->segment - ZYDIS_REGISTER_ES];
	u->flags = is_stack(m) ? SOFT_UOP_SS : 0;
	u->aux = len | (uint32_t)write << 16;
	return in_ea(u->flags);
}
