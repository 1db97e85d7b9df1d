// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gathers and scatters, which compute an address for each element, and MASKMOV, which stores single
 * bytes. If a gather or scatter faults, the earlier elements are complete, and their mask bits are
 * clear.
 */
#include "soft/native.h"

/* A gather or scatter, packed into a micro-operation. */
struct gather {
	uint8_t index;		    /* vector register of the indices */
	uint8_t mask;		    /* mask register, or vector register in AVX2 */
	uint8_t count;		    /* the number of elements */
	uint8_t segment;	    /* ES CS SS DS FS GS */
	bool wide_index, wide_data; /* 8 bytes instead of 4 */
	bool by_k;
	bool narrow; /* 32-bit addresses */
};

_Static_assert(sizeof(struct gather) == sizeof(uint64_t), "fits into u->imm");

static const struct x86_segment *segment(const struct soft *c, unsigned int n)
{
	const struct x86_segment *const by_number[] = {&c->s.es, &c->s.cs, &c->s.ss,
						       &c->s.ds, &c->s.fs, &c->s.gs};

	return by_number[n];
}

/*
 * Return true if the segment permits the access. Expand-down segments are not supported here, and
 * are refused.
 */
static bool within(const struct soft *c, const struct x86_segment *s, uint64_t offset,
		   unsigned int len, bool write)
{
	bool code = s->ar & X86_AR_EXEC, rw = s->ar & X86_AR_RW;

	if (c->mode & SOFT_BLOCK_PROTECTED &&
	    (!x86_segment_usable(s) || (write && (code || !rw)) || (code && !rw)))
		return false;
	return (code || !(s->ar & X86_AR_DC)) && offset + len - 1 <= s->limit;
}

static uint64_t element_address(struct soft *c, const struct soft_uop *u, const struct gather *g,
				unsigned int i, bool write)
{
	const struct x86_segment *s = segment(c, g->segment);
	unsigned int len = g->wide_data ? 8 : 4;
	const uint8_t *indices = c->fpu.zmm[g->index];
	uint64_t offset;
	int32_t narrow;
	int64_t index;

	if (g->wide_index) {
		memcpy(&index, indices + i * 8, sizeof(index));
	} else {
		memcpy(&narrow, indices + i * 4, sizeof(narrow));
		index = narrow;
	}
	offset = SOFT_REG(c, u->base, uint64_t) + ((uint64_t)index << u->scale) + (uint64_t)u->disp;
	if (g->narrow)
		offset = (uint32_t)offset;
	if (c->bits == 64)
		return offset + (g->segment >= 4 ? s->base : 0);
	if (!within(c, s, offset, len, write))
		soft_raise_code(c, u, g->segment == 2 ? X86_VEC_SS : X86_VEC_GP, 0);
	return (uint32_t)(offset + s->base);
}

static bool is_active(const struct soft *c, const struct gather *g, unsigned int i)
{
	unsigned int len = g->wide_data ? 8 : 4;

	if (g->by_k)
		return c->fpu.k[g->mask] >> i & 1;
	return c->fpu.zmm[g->mask][(i + 1) * len - 1] >> 7;
}

/* Clear the mask of a complete element. A gather also clears the mask of inactive elements. */
static void element_done(struct soft *c, const struct gather *g, unsigned int i)
{
	unsigned int len = g->wide_data ? 8 : 4;

	if (g->by_k)
		c->fpu.k[g->mask] &= ~(1ull << i);
	else
		memset(c->fpu.zmm[g->mask] + i * len, 0, len);
}

static struct gather unpack(const struct soft_uop *u)
{
	struct gather g;

	memcpy(&g, &u->imm, sizeof(g));
	return g;
}

static void clear_from(uint8_t *vector, unsigned int at)
{
	memset(vector + at, 0, 64 - at);
}

/*
 * AVX2: before the first access, fill each element of the mask with its sign, and clear the rest
 * of the register. A gather that faults leaves this mask (SDM vol. 2, VPGATHERDD and others). The
 * mask is a whole vector of `bytes` bytes, even if wide indices leave only half for elements.
 */
static void extend_mask(uint8_t *mask, unsigned int len, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i += len)
		memset(mask + i, mask[i + len - 1] >> 7 ? 0xff : 0, len);
	clear_from(mask, bytes);
}

static __attribute__((noinline)) void do_gather(struct soft *c, const struct soft_uop *u)
{
	struct gather g = unpack(u);
	unsigned int len = g.wide_data ? 8 : 4, i;
	unsigned int length = g.count * (g.wide_index ? 8 : len); /* the length of the vectors */
	uint8_t *to = c->fpu.zmm[u->dst];

	if (!g.by_k)
		extend_mask(c->fpu.zmm[g.mask], len, length);
	for (i = 0; i < g.count; i++) {
		if (is_active(c, &g, i)) {
			soft_read(c, u, element_address(c, u, &g, i, false), to + i * len, len);
			clear_from(to, length);
		}
		element_done(c, &g, i);
	}
	clear_from(to, g.count * len);
	if (g.by_k)
		c->fpu.k[g.mask] = 0;
	else
		memset(c->fpu.zmm[g.mask], 0, sizeof(c->fpu.zmm[0]));
}

static __attribute__((noinline)) void do_scatter(struct soft *c, const struct soft_uop *u)
{
	struct gather g = unpack(u);
	unsigned int len = g.wide_data ? 8 : 4, i;
	const uint8_t *from = c->fpu.zmm[u->src];

	for (i = 0; i < g.count; i++) {
		if (!is_active(c, &g, i))
			continue;
		soft_write(c, u, element_address(c, u, &g, i, true), from + i * len, len);
		element_done(c, &g, i);
	}
	c->fpu.k[g.mask] = 0;
}

SOFT_UOP(gather)
{
	do_gather(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(scatter)
{
	do_scatter(c, u);
	return SOFT_NEXT(c, u);
}

/* Set the sizes that a mnemonic names: D or Q for the index; D, Q, PS or PD for the data. */
static bool shape(ZydisMnemonic mnemonic, struct gather *g)
{
	switch (mnemonic) {
#define SHAPE(integer, name, wide_i, wide_d) \
	case ZYDIS_MNEMONIC_VP##integer:     \
	case ZYDIS_MNEMONIC_V##name:         \
		g->wide_index = wide_i;      \
		g->wide_data = wide_d;       \
		return true;
		SHAPE(GATHERDD, GATHERDPS, false, false)
		SHAPE(GATHERDQ, GATHERDPD, false, true)
		SHAPE(GATHERQD, GATHERQPS, true, false)
		SHAPE(GATHERQQ, GATHERQPD, true, true)
		SHAPE(SCATTERDD, SCATTERDPS, false, false)
		SHAPE(SCATTERDQ, SCATTERDPD, false, true)
		SHAPE(SCATTERQD, SCATTERQPS, true, false)
		SHAPE(SCATTERQQ, SCATTERQPD, true, true)
#undef SHAPE
	default:
		return false;
	}
}

static void put_address(const struct soft_translation *t, unsigned int n, struct gather *g,
			struct soft_uop *u)
{
	const ZydisDecodedOperandMem *m = &t->op[n].mem;

	u->base = soft_tr_reg(m->base);
	u->scale = m->scale > 1 ? (uint8_t)__builtin_ctz(m->scale) : 0;
	u->disp = m->disp.has_displacement ? m->disp.value : 0;
	if (m->segment == ZYDIS_REGISTER_SS)
		u->flags |= SOFT_UOP_SS;
	g->index = (uint8_t)ZydisRegisterGetId(m->index);
	g->segment = (uint8_t)(m->segment - ZYDIS_REGISTER_ES);
	g->narrow = t->insn->address_width == 32;
}

bool soft_tr_gather(struct soft_translation *t)
{
	const ZydisDecodedInstruction *insn = t->insn;
	struct gather g = {0};
	struct soft_uop *u;
	unsigned int mem = 0, last = insn->operand_count_visible - 1u;
	bool by_k = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;

	if (!shape(insn->mnemonic, &g))
		return false;
	while (!soft_tr_is_mem(t, mem))
		mem++;
	soft_tr_need(t, by_k ? SOFT_UNIT_AVX512 : SOFT_UNIT_AVX);
	u = soft_tr_emit(t, mem ? gather : scatter);
	put_address(t, mem, &g, u);
	g.by_k = by_k;
	g.count = (uint8_t)(insn->avx.vector_length / (g.wide_index || g.wide_data ? 64 : 32));
	g.mask = (uint8_t)ZydisRegisterGetId(by_k ? insn->avx.mask.reg : t->op[last].reg.value);
	if (mem)
		u->dst = (uint8_t)ZydisRegisterGetId(t->op[0].reg.value);
	else
		u->src = (uint8_t)ZydisRegisterGetId(t->op[last].reg.value);
	memcpy(&u->imm, &g, sizeof(g));
	return true;
}

static __attribute__((noinline)) void store_bytes(struct soft *c, const struct soft_uop *u,
						  uint64_t va, const uint8_t *data,
						  const uint8_t *mask)
{
	unsigned int i;

	for (i = 0; i < u->aux; i++)
		if (mask[i] >> 7)
			soft_probe_write(c, u, va + i, 1);
	for (i = 0; i < u->aux; i++)
		if (mask[i] >> 7)
			soft_write(c, u, va + i, data + i, 1);
}

SOFT_UOP(maskmov)
{
	store_bytes(c, u, soft_ea(c, u), c->fpu.zmm[u->dst], c->fpu.zmm[u->src]);
	return SOFT_NEXT(c, u);
}

static __attribute__((noinline)) void store_bytes_mmx(struct soft *c, const struct soft_uop *u)
{
	uint64_t data, mask;

	soft_x87_check(c, u);
	data = soft_x87_mm(c, u->dst);
	mask = soft_x87_mm(c, u->src);
	store_bytes(c, u, soft_ea(c, u), (const uint8_t *)&data, (const uint8_t *)&mask);
	soft_x87_to_mmx(c);
}

SOFT_UOP(maskmov_mmx)
{
	store_bytes_mmx(c, u);
	return SOFT_NEXT(c, u);
}

bool soft_tr_maskmov(struct soft_translation *t)
{
	bool mmx = t->insn->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ;
	bool vex = t->insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
	unsigned int mem = t->insn->operand_count_visible, size = mmx ? 8 : 16;
	struct soft_address address;
	struct soft_uop *u;

	while (mem < t->insn->operand_count && !soft_tr_is_mem(t, mem))
		mem++;
	if (mem == t->insn->operand_count)
		return false;
	soft_tr_need(t, mmx ? SOFT_UNIT_MMX : vex ? SOFT_UNIT_AVX : SOFT_UNIT_SSE);
	address = soft_tr_address(t, mem, size, true);
	u = soft_tr_emit(t, mmx ? maskmov_mmx : maskmov);
	soft_tr_put_address(u, &address);
	u->dst = (uint8_t)ZydisRegisterGetId(t->op[0].reg.value);
	u->src = (uint8_t)ZydisRegisterGetId(t->op[1].reg.value);
	u->aux = size;
	return true;
}
