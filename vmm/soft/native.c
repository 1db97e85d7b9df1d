// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep and run stubs. Their memory is mapped twice: writable at one address and executable at
 * another.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/platform/x86.h>

#include "soft/native.h"
#include "soft/region.h"

#define REGION	(16u << 20)
#define BUCKETS 4096u
/* The largest size of a stub with its key. */
#define ENTRY_MAX (sizeof(struct entry) + SOFT_STUB_MAX)
/* Each instruction of a block may need a stub. */
#define BLOCK_MAX (SOFT_BLOCK_MAX_INSNS * ENTRY_MAX)

struct entry {
	struct soft_recoded recoded;
	uint32_t next; /* the next entry of the bucket, as an offset; 0 if none */
};

struct soft_native {
	struct soft_region region;
	uint32_t bucket[BUCKETS];
	struct soft_native_host host;
	struct soft_uop alone[2]; /* see soft_native_call() */
	uint8_t scratch[4096] __attribute__((aligned(4096)));
};

/* The micro-operation that ends a stub which is run alone. */
SOFT_UOP(stop)
{
	(void)c;
	(void)u;
	return NULL;
}

/* The same as CPU_FEATURE_ACTIVE() of libc, which shifts a 1 into the sign for AVX512VL. */
static bool is_active(unsigned int feature)
{
	const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(feature / 128);

	return leaf->active_array[feature % 128 / 32] >> feature % 32 & 1;
}

struct soft_native *soft_native_create(void)
{
	struct soft_native *n = aligned_alloc(4096, (sizeof(*n) + 4095) & ~4095ul);
	int error;

	if (!n)
		return NULL;
	memset(n, 0, sizeof(*n));
	n->host.avx = is_active(x86_cpu_AVX);
	n->host.avx512 = is_active(x86_cpu_AVX512F) && is_active(x86_cpu_AVX512VL);
	n->host.avx512bw = is_active(x86_cpu_AVX512BW);
	n->alone[1].fn = stop;
	error = soft_region_create(&n->region, REGION);
	if (error) {
		free(n);
		errno = -error;
		return NULL;
	}
	soft_native_reset(n);
	return n;
}

void soft_native_destroy(struct soft_native *n)
{
	if (!n)
		return;
	soft_region_destroy(&n->region);
	free(n);
}

int soft_native_own(struct soft_native *n)
{
	return soft_region_own(&n->region);
}

bool soft_native_has_room(const struct soft_native *n)
{
	return REGION - n->region.used >= BLOCK_MAX;
}

void soft_native_reset(struct soft_native *n)
{
	memset(n->bucket, 0, sizeof(n->bucket));
	soft_region_reset(&n->region, 64);
}

static uint32_t hash(const struct soft_recoded *r)
{
	const uint8_t *p = (const uint8_t *)r;
	uint32_t h = 0x811c9dc5;
	size_t i;

	for (i = 0; i < sizeof(*r); i++)
		h = (h ^ p[i]) * 0x01000193;
	return (h ^ h >> 15) % BUCKETS;
}

static soft_native_fn code_of(const struct soft_native *n, uint32_t entry)
{
	return (soft_native_fn)(uintptr_t)(n->region.executable + entry + sizeof(struct entry));
}

soft_native_fn soft_native_stub(struct soft_native *n, const struct soft_recoded *r)
{
	uint32_t *bucket = &n->bucket[hash(r)], at;
	struct entry *e;
	size_t len;

	for (at = *bucket; at; at = e->next) {
		e = (struct entry *)(n->region.writable + at);
		if (!memcmp(&e->recoded, r, sizeof(*r)))
			return code_of(n, at);
	}
	if (REGION - n->region.used < ENTRY_MAX)
		return NULL;
	at = (uint32_t)n->region.used;
	e = (struct entry *)(n->region.writable + at);
	e->recoded = *r;
	e->next = *bucket;
	len = soft_stub_write((uint8_t *)(e + 1), &n->host, r);
	soft_region_take(&n->region, (uint8_t *)(e + 1) + len);
	*bucket = at;
	return code_of(n, at);
}

void *soft_native_scratch(struct soft *c)
{
	return c->native->scratch;
}

void soft_native_call(struct soft *c, const struct soft_uop *u, void *operand)
{
	struct soft_native *n = c->native;

	n->alone[0] = *u;
	soft_native_run(c, n->alone, operand);
}

#define PRE_FLAGS 7u /* invalid, denormal, divide by zero: raised before the result exists */

const struct soft_uop *soft_native_trap(struct soft *c, const struct soft_uop *u, void *flags)
{
	uint32_t raised = (uint32_t)(uintptr_t)flags;

	/* If one of these is unmasked there is no result, so drop the flags of the result. */
	if (raised & PRE_FLAGS & ~(c->fpu.mxcsr >> 7))
		raised &= PRE_FLAGS;
	c->fpu.mxcsr |= raised;
	soft_raise(c, u, c->s.cr4 & X86_CR4_OSXMMEXCPT ? SOFT_VEC_XM : X86_VEC_UD);
}

/*
 * Run the stub with all exceptions masked. Returns the raised flags, with underflow for every tiny
 * result. Undoes all effects if the guest has not masked one of the flags.
 */
static uint32_t run_masked(struct soft *c, const struct soft_uop *u, void *operand)
{
	const uint32_t masks = 0x1f80, flush = 0x8000, underflow = 0x10;
	uint32_t mxcsr = c->fpu.mxcsr & ~(SOFT_MXCSR_FLAGS | flush), tiny;
	struct soft_fpu fpu = c->fpu;
	uint64_t r[SOFT_R_SLOTS];
	uint16_t fl = c->fl;

	memcpy(r, c->r, sizeof(r));
	c->fpu.mxcsr = mxcsr | masks | flush;
	soft_native_call(c, u, operand);
	tiny = c->fpu.mxcsr & underflow;
	c->fpu = fpu;
	c->fl = fl;
	memcpy(c->r, r, sizeof(r));

	c->fpu.mxcsr = mxcsr | masks;
	soft_native_call(c, u, operand);
	tiny |= c->fpu.mxcsr & SOFT_MXCSR_FLAGS;
	c->fpu.mxcsr = fpu.mxcsr;
	if (tiny & ~(fpu.mxcsr >> 7)) {
		c->fpu = fpu;
		c->fl = fl;
		memcpy(c->r, r, sizeof(r));
	}
	return tiny;
}

/*
 * Unmasked underflow is raised for every tiny result, even an exact one. With underflow masked, the
 * host reports exact tiny results only if it flushes them to zero. So run_masked() runs the
 * instruction with flush-to-zero to get the flag, and again without to get the result.
 */
const struct soft_uop *soft_native_tiny(struct soft *c, const struct soft_uop *u, void *operand)
{
	uint32_t raised = run_masked(c, u, operand);

	if (raised & ~(c->fpu.mxcsr >> 7))
		return soft_native_trap(c, u, (void *)(uintptr_t)raised);
	c->fpu.mxcsr |= raised;
	return SOFT_NEXT(c, u);
}

__attribute__((noinline)) void *soft_native_load_slow(struct soft *c, const struct soft_uop *u,
						      uint64_t va)
{
	soft_read(c, u, va, c->native->scratch, u->aux);
	return c->native->scratch;
}

static __attribute__((noinline)) void store_slow(struct soft *c, const struct soft_uop *u,
						 uint64_t va)
{
	soft_probe_write(c, u, va, u->aux);
	soft_native_call(c, u, c->native->scratch);
	soft_write(c, u, va, c->native->scratch, u->aux);
}

static inline void check_aligned(struct soft *c, const struct soft_uop *u, uint64_t va)
{
	if (vpt_unlikely(va & u->imm))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

SOFT_UOP(load)
{
	uint64_t va = soft_ea(c, u);

	check_aligned(c, u, va);
	return soft_native_run(c, u, soft_native_load(c, u, va));
}

SOFT_UOP(store)
{
	uint64_t va = soft_ea(c, u);
	const struct soft_tlb *t = soft_find_tlb(c, va);

	check_aligned(c, u, va);
	if (SOFT_TLB_HIT(t->write, va, u->aux))
		return soft_native_run(c, u, (void *)(t->host + va));
	store_slow(c, u, va);
	return SOFT_NEXT(c, u);
}

/*
 * Convert, then store (VCVTPS2PH). On Intel's processors #XM precedes #PF and #GP of the store, and
 * a store that faults leaves the flags of the conversion in MXCSR.
 */
static __attribute__((noinline)) void convert_and_store(struct soft *c, const struct soft_uop *u)
{
	uint64_t va = soft_ea(c, u);

	soft_native_call(c, u, c->native->scratch);
	soft_probe_write(c, u, va, u->aux);
	soft_write(c, u, va, c->native->scratch, u->aux);
}

SOFT_UOP(store_trapping)
{
	convert_and_store(c, u);
	return SOFT_NEXT(c, u);
}

/* MMX: reorder the registers only when no fault is possible any more. */
SOFT_UOP(mmx)
{
	soft_x87_check(c, u);
	soft_x87_to_mmx(c);
	return soft_native_run(c, u, NULL);
}

SOFT_UOP(mmx_load)
{
	uint64_t va = soft_ea(c, u);
	void *p;

	soft_x87_check(c, u);
	check_aligned(c, u, va);
	p = soft_native_load(c, u, va);
	soft_x87_to_mmx(c);
	return soft_native_run(c, u, p);
}

static __attribute__((noinline)) void mmx_store_slow(struct soft *c, const struct soft_uop *u,
						     uint64_t va)
{
	soft_probe_write(c, u, va, u->aux);
	soft_x87_to_mmx(c);
	store_slow(c, u, va);
}

SOFT_UOP(mmx_store)
{
	uint64_t va = soft_ea(c, u);
	const struct soft_tlb *t = soft_find_tlb(c, va);

	soft_x87_check(c, u);
	if (SOFT_TLB_HIT(t->write, va, u->aux)) {
		soft_x87_to_mmx(c);
		return soft_native_run(c, u, (void *)(t->host + va));
	}
	mmx_store_slow(c, u, va);
	return SOFT_NEXT(c, u);
}

int soft_native_memory(const struct soft_translation *t)
{
	int n;

	for (n = 0; n < t->insn->operand_count_visible; n++)
		if (soft_tr_is_mem(t, (unsigned int)n))
			return n;
	return -1;
}

static bool writes(const struct soft_translation *t, int mem)
{
	return mem >= 0 && t->op[mem].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

struct soft_uop *soft_native_emit_by(struct soft_translation *t, const struct soft_recoded *r,
				     soft_uop_fn fn, int mem)
{
	struct soft_address address = {0};
	soft_native_fn stub;
	struct soft_uop *u;
	unsigned int size = 0;

	stub = soft_native_stub(t->c->native, r);
	if (!stub)
		return NULL;
	if (mem >= 0) {
		size = soft_tr_size(t, (unsigned int)mem);
		address = soft_tr_address(t, (unsigned int)mem, size, writes(t, mem));
	}
	u = soft_tr_emit(t, fn ? fn : (soft_uop_fn)(uintptr_t)stub);
	u->ptr = (const void *)(uintptr_t)stub;
	u->aux = size;
	if (mem >= 0)
		soft_tr_put_address(u, &address);
	return u;
}

bool soft_native_emit(struct soft_translation *t, const struct soft_recoded *r, unsigned int align)
{
	/* Handlers by r->how & SOFT_HOW_MMX, and by operand: none, read or written. */
	static const soft_uop_fn handler[2][3] = {{NULL, load, store}, {mmx, mmx_load, mmx_store}};
	int mem = soft_native_memory(t);
	unsigned int kind = mem < 0 ? 0 : writes(t, mem) ? 2 : 1;
	struct soft_uop *u;

	if (kind == 2 && r->how & SOFT_HOW_MXCSR)
		u = soft_native_emit_by(t, r, store_trapping, mem);
	else
		u = soft_native_emit_by(t, r, handler[r->how & SOFT_HOW_MMX ? 1 : 0][kind], mem);
	if (!u)
		return false;
	u->imm = align - 1;
	return true;
}
