// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory operands of which an instruction accesses only some elements: masked operands of AVX and
 * AVX-512, and compressed or expanded ones. If the whole operand is in RAM, the host's instruction
 * applies the mask. Otherwise each active element is a separate access, since the others must not
 * fault.
 */
#include "soft/native.h"

enum shape {
	SHAPE_PLAIN,	/* bit i of the mask is for element i */
	SHAPE_FEW,	/* an element is active if any of its repetitions is */
	SHAPE_CONDENSED /* the first elements, one for each set bit */
};

/* A masked operand, packed into a micro-operation. */
struct masked {
	uint8_t element; /* size in bytes */
	uint8_t count;	 /* the number of elements in memory */
	uint8_t repeat;	 /* the number of mask bits that matter */
	uint8_t shape;	 /* enum shape */
	uint8_t align;	 /* alignment less one */
	uint8_t reg;	 /* mask register, or vector register if `signs` */
	bool signs;	 /* the mask is the sign bits of a vector's elements */
	bool whole;	 /* a store that faults like an unmasked one */
};

_Static_assert(sizeof(struct masked) == sizeof(uint64_t), "fits into u->imm");

static struct masked unpack(const struct soft_uop *u)
{
	struct masked m;

	memcpy(&m, &u->imm, sizeof(m));
	return m;
}

static uint64_t low_bits(unsigned int n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

static uint64_t sign_bits(const uint8_t *vector, unsigned int element, unsigned int count)
{
	uint64_t mask = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		mask |= (uint64_t)(vector[(i + 1) * element - 1] >> 7) << i;
	return mask;
}

/* Return a bit for each element of memory that is accessed. */
static uint64_t active(const struct soft *c, const struct masked *m)
{
	uint64_t bits, result = 0;
	unsigned int i;

	bits = m->signs ? sign_bits(c->fpu.zmm[m->reg], m->element, m->count) : c->fpu.k[m->reg];
	bits &= low_bits(m->repeat);
	if (m->shape == SHAPE_PLAIN)
		return bits;
	if (m->shape == SHAPE_CONDENSED)
		return low_bits((unsigned int)__builtin_popcountll(bits));
	for (i = 0; i < m->repeat; i++)
		result |= (bits >> i & 1) << (i % m->count);
	return result;
}

static __attribute__((noinline)) void *gather_operand(struct soft *c, const struct soft_uop *u,
						      uint64_t va)
{
	struct masked m = unpack(u);
	uint64_t mask = active(c, &m);
	uint8_t *p = soft_native_scratch(c);
	unsigned int i;

	memset(p, 0, 64);
	for (i = 0; i < m.count; i++)
		if (mask >> i & 1)
			soft_read(c, u, va + i * m.element, p + i * m.element, m.element);
	return p;
}

static __attribute__((noinline)) void store_elements(struct soft *c, const struct soft_uop *u,
						     uint64_t va)
{
	struct masked m = unpack(u);
	uint64_t mask = active(c, &m);
	uint8_t *p = soft_native_scratch(c);
	unsigned int i;

	/* The instruction may raise #XM, which precedes faults of the store. */
	soft_native_call(c, u, p);
	if (m.whole)
		soft_probe_write(c, u, va, u->aux);
	for (i = 0; i < m.count; i++)
		if (mask >> i & 1)
			soft_probe_write(c, u, va + i * m.element, m.element);
	for (i = 0; i < m.count; i++)
		if (mask >> i & 1)
			soft_write(c, u, va + i * m.element, p + i * m.element, m.element);
}

static inline bool is_aligned(const struct soft_uop *u, uint64_t va)
{
	return vpt_likely(!(va & (u->imm >> 32 & 0xff)));
}

_Static_assert(offsetof(struct masked, align) == 4, "as is_aligned() takes it");

/* Raise #GP for a misaligned operand of which any element is accessed. */
static __attribute__((noinline)) void check_misaligned(struct soft *c, const struct soft_uop *u)
{
	struct masked m = unpack(u);

	if (active(c, &m))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

SOFT_UOP(masked_load)
{
	uint64_t va = soft_ea(c, u);
	const struct soft_tlb *t = soft_find_tlb(c, va);
	void *p;

	if (is_aligned(u, va) && SOFT_TLB_HIT(t->read, va, u->aux))
		return soft_native_run(c, u, (void *)(t->host + va));
	if (!is_aligned(u, va))
		check_misaligned(c, u);
	p = gather_operand(c, u, va);
	return soft_native_run(c, u, p);
}

SOFT_UOP(masked_store_slow)
{
	uint64_t va = soft_ea(c, u);

	if (!is_aligned(u, va))
		check_misaligned(c, u);
	store_elements(c, u, va);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(masked_store)
{
	uint64_t va = soft_ea(c, u);
	const struct soft_tlb *t = soft_find_tlb(c, va);

	if (is_aligned(u, va) && SOFT_TLB_HIT(t->write, va, u->aux))
		return soft_native_run(c, u, (void *)(t->host + va));
	return masked_store_slow(c, u);
}

/* Returns true if masked-off elements do not fault (SDM vol. 2, 2.8). */
static bool suppresses_faults(const ZydisDecodedInstruction *insn)
{
	/* In these instructions elements of memory are not those of the result. */
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VDBPSADBW:
	case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
	case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB:
	case ZYDIS_MNEMONIC_VPMULTISHIFTQB:
		return false;
	default:
		break;
	}
	switch (insn->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return false;
	default:
		return true;
	}
}

static uint8_t repeated(const ZydisDecodedInstruction *insn)
{
	switch (insn->avx.broadcast.mode) {
	case ZYDIS_BROADCAST_MODE_1_TO_2:
		return 2;
	case ZYDIS_BROADCAST_MODE_1_TO_4:
	case ZYDIS_BROADCAST_MODE_2_TO_4:
		return 4;
	case ZYDIS_BROADCAST_MODE_1_TO_8:
	case ZYDIS_BROADCAST_MODE_2_TO_8:
	case ZYDIS_BROADCAST_MODE_4_TO_8:
		return 8;
	case ZYDIS_BROADCAST_MODE_1_TO_16:
	case ZYDIS_BROADCAST_MODE_2_TO_16:
	case ZYDIS_BROADCAST_MODE_4_TO_16:
	case ZYDIS_BROADCAST_MODE_8_TO_16:
		return 16;
	case ZYDIS_BROADCAST_MODE_1_TO_32:
		return 32;
	case ZYDIS_BROADCAST_MODE_1_TO_64:
		return 64;
	default:
		return 0;
	}
}

/* AVX: the signs of the second operand are the mask of a load or store. */
static bool masked_by_signs(const struct soft_translation *t, struct masked *m)
{
	unsigned int mask;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		break;
	default:
		return false;
	}
	for (mask = 0; t->op[mask].encoding != ZYDIS_OPERAND_ENCODING_NDSNDD; mask++)
		;
	m->reg = (uint8_t)ZydisRegisterGetId(t->op[mask].reg.value);
	m->signs = true;
	return true;
}

static bool masked_by_k(const struct soft_translation *t, struct masked *m)
{
	const ZydisDecodedInstruction *insn = t->insn;
	uint8_t repeat = repeated(insn);

	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	    insn->avx.mask.reg <= ZYDIS_REGISTER_K0 || insn->avx.mask.reg > ZYDIS_REGISTER_K7)
		return false;
	m->whole = !suppresses_faults(insn);
	/* A store never changes masked-off elements. */
	if (m->whole && !soft_tr_is_mem(t, 0))
		return false;
	m->reg = (uint8_t)ZydisRegisterGetId(insn->avx.mask.reg);
	if (repeat) {
		m->shape = SHAPE_FEW;
		m->repeat = repeat;
	} else if (insn->meta.category == ZYDIS_CATEGORY_COMPRESS ||
		   insn->meta.category == ZYDIS_CATEGORY_EXPAND) {
		m->shape = SHAPE_CONDENSED;
	}
	return true;
}

/* Zydis has the VBMI2 instructions in another category. */
static bool is_condensed(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_VPCOMPRESSB || mnemonic == ZYDIS_MNEMONIC_VPCOMPRESSW ||
	       mnemonic == ZYDIS_MNEMONIC_VPEXPANDB || mnemonic == ZYDIS_MNEMONIC_VPEXPANDW;
}

/*
 * Return the number of memory elements with a mask bit each. Dot products combine several into one.
 */
static uint8_t elements(const struct soft_translation *t, int mem)
{
	unsigned int count = t->op[mem].element_count, results = t->op[0].element_count;

	if (mem && !t->insn->avx.broadcast.mode && results && results < count &&
	    ZydisRegisterGetClass(t->op[0].reg.value) != ZYDIS_REGCLASS_MASK)
		return (uint8_t)results;
	return (uint8_t)count;
}

bool soft_element_emit(struct soft_translation *t, const struct soft_recoded *r, unsigned int align)
{
	int mem = soft_native_memory(t);
	struct masked m = {.align = (uint8_t)(align - 1)};
	bool writes = mem == 0;
	struct soft_uop *u;

	if (mem < 0 || (!masked_by_k(t, &m) && !masked_by_signs(t, &m)))
		return false;
	if (is_condensed(t->insn->mnemonic))
		m.shape = SHAPE_CONDENSED;
	m.count = elements(t, mem);
	if (!m.count)
		return false;
	m.element = (uint8_t)(t->op[mem].size / 8 / m.count);
	if (!m.repeat)
		m.repeat = m.count;
	u = soft_native_emit_by(t, r,
				!writes			  ? masked_load
				: r->how & SOFT_HOW_MXCSR ? masked_store_slow
							  : masked_store,
				mem);
	if (!u)
		return false;
	memcpy(&u->imm, &m, sizeof(m));
	return true;
}
