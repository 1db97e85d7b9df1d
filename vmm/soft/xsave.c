// SPDX-License-Identifier: GPL-2.0-or-later
/* Vector and x87 state in memory: FXSAVE and the XSAVE family (SDM vol. 1, 10.5, 13). */
#include "soft/xstate.h"

#define LEGACY	  512u
#define HEADER	  64u
#define COMPACTED (1ull << 63)
#define AREA_MAX  4096u

struct header {
	uint64_t bv, comp_bv, reserved[6];
};

/* A save area under construction, and the parts of it that are to be written. */
struct area {
	unsigned int parts;
	struct {
		uint32_t at, len;
	} part[12];
	uint8_t bytes[AREA_MAX] __attribute__((aligned(64)));
};

const struct engine_cpuid_entry *soft_xstate_cpuid(const struct soft *c, unsigned int n)
{
	size_t i;

	for (i = 0; i < c->cpuid_count; i++)
		if (c->cpuid[i].leaf == 0xd && c->cpuid[i].by_subleaf && c->cpuid[i].subleaf == n)
			return &c->cpuid[i];
	return NULL;
}

/* Return the components that software has enabled, including IA32_XSS for XSAVES and XRSTORS. */
static uint64_t enabled(const struct soft *c, unsigned int flags)
{
	return c->fpu.xcr0 | (flags & SOFT_XSTATE_SYSTEM ? c->msr.xss : 0);
}

static uint64_t requested(const struct soft *c, unsigned int flags)
{
	return ((uint64_t)(uint32_t)c->r[SOFT_R_RDX] << 32 | (uint32_t)c->r[SOFT_R_RAX]) &
	       enabled(c, flags);
}

static bool has_pt(const struct soft *c, uint64_t components)
{
	return components >> SOFT_XSTATE_PT & 1 && c->base.bus.xstate;
}

bool soft_xstate_moves_pt(const struct soft *c)
{
	return has_pt(c, requested(c, SOFT_XSTATE_SYSTEM));
}

/*
 * Get the offset and the size of component n >= 2. `present` has the components of a compacted
 * area. Return false if CPUID lacks the component, or if the component does not fit the area.
 */
static bool locate(const struct soft *c, unsigned int n, uint64_t present, bool compacted,
		   uint32_t *at, uint32_t *len)
{
	const struct engine_cpuid_entry *e;
	uint32_t next = LEGACY + HEADER;
	unsigned int i;

	for (i = 2; compacted && i < n; i++) {
		e = soft_xstate_cpuid(c, i);
		if (!(present >> i & 1) || !e)
			continue;
		if (e->ecx & 2)
			next = (next + 63) & ~63u;
		next += e->eax;
	}
	e = soft_xstate_cpuid(c, n);
	if (!e)
		return false;
	if (compacted && e->ecx & 2)
		next = (next + 63) & ~63u;
	*at = compacted ? next : e->ebx;
	*len = e->eax;
	return *at <= AREA_MAX && *len <= AREA_MAX - *at;
}

/* A component: `len` bytes from byte `from` on, of each of `count` vector registers. */
struct slice {
	uint16_t first, count, from, len;
};

static const struct slice slices[8] = {
	[2] = {0, 16, 16, 16},
	[6] = {0, 16, 32, 32},
	[7] = {16, 16, 0, 64},
};

static unsigned int registers_of(unsigned int n, unsigned int flags)
{
	if (flags & SOFT_XSTATE_LONG)
		return slices[n].count;
	return n == 7 ? 0 : 8;
}

static void save_component(const struct soft *c, unsigned int n, uint8_t *to, unsigned int flags)
{
	const struct slice *s = &slices[n];
	unsigned int i;

	if (n == 5)
		memcpy(to, c->fpu.k, sizeof(c->fpu.k));
	for (i = 0; n != 5 && i < registers_of(n, flags); i++)
		memcpy(to + i * s->len, c->fpu.zmm[s->first + i] + s->from, s->len);
}

static void load_component(struct soft *c, unsigned int n, const uint8_t *from, unsigned int flags)
{
	const struct slice *s = &slices[n];
	unsigned int i;

	if (n == 5)
		memcpy(c->fpu.k, from, sizeof(c->fpu.k));
	for (i = 0; n != 5 && i < registers_of(n, flags); i++)
		memcpy(c->fpu.zmm[s->first + i] + s->from, from + i * s->len, s->len);
}

static bool all_zero(const uint8_t *p, size_t len)
{
	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

static bool x87_in_use(struct soft *c)
{
	const struct soft_x87_image *x = soft_x87(c);

	return x->fcw != SOFT_FCW_DEFAULT || x->fsw || x->ftw || x->fop || x->fip || x->fdp ||
	       !all_zero((const uint8_t *)x->st, sizeof(x->st));
}

static bool slice_in_use(const struct soft *c, const struct slice *s)
{
	unsigned int i;

	for (i = s->first; i < s->first + s->count; i++)
		if (!all_zero(c->fpu.zmm[i] + s->from, s->len))
			return true;
	return false;
}

/* Return XINUSE, the components that are not in their initial configuration. */
uint64_t soft_xstate_in_use(struct soft *c)
{
	static const struct slice xmm = {0, 16, 0, 16};
	uint64_t used = 0;
	unsigned int n;

	if (x87_in_use(c))
		used |= SOFT_XCR0_X87;
	if (slice_in_use(c, &xmm))
		used |= SOFT_XCR0_SSE;
	for (n = 2; n < 8; n++)
		if (slices[n].count && slice_in_use(c, &slices[n]))
			used |= 1u << n;
	if (!all_zero((const uint8_t *)c->fpu.k, sizeof(c->fpu.k)))
		used |= SOFT_XCR0_K;
	if (c->base.bus.xstate && !c->base.bus.xstate->initial(c->base.bus.opaque))
		used |= 1u << SOFT_XSTATE_PT;
	return used;
}

static void part(struct area *a, uint32_t at, uint32_t len)
{
	if (!len)
		return;
	a->part[a->parts].at = at;
	a->part[a->parts++].len = len;
}

static void save_x87(struct soft *c, struct area *a, unsigned int flags)
{
	struct soft_x87_image x = *soft_x87(c);
	unsigned int i;

	if (!(flags & SOFT_XSTATE_WIDE)) {
		/* This format has 32-bit offsets and selectors. The selectors are not kept. */
		x.fip = (uint32_t)x.fip;
		x.fdp = (uint32_t)x.fdp;
	}
	x.reserved = 0;
	for (i = 0; i < 8; i++)
		memset(x.st[i].bytes + 10, 0, 6);
	memcpy(a->bytes, &x, 24);
	memcpy(a->bytes + 32, x.st, sizeof(x.st));
	part(a, 0, 24);
	part(a, 32, sizeof(x.st));
}

static void save_mxcsr(struct soft *c, struct area *a)
{
	const uint32_t both[2] = {c->fpu.mxcsr, SOFT_MXCSR_VALID};

	memcpy(a->bytes + 24, both, sizeof(both));
	part(a, 24, sizeof(both));
}

static void save_xmm(struct soft *c, struct area *a, unsigned int flags)
{
	unsigned int count = flags & SOFT_XSTATE_LONG ? 16 : 8, i;

	for (i = 0; i < count; i++)
		memcpy(a->bytes + 160 + i * 16, c->fpu.zmm[i], 16);
	part(a, 160, count * 16);
}

static void probe_area(struct soft *c, const struct soft_uop *u, uint64_t va, const struct area *a)
{
	unsigned int i;

	for (i = 0; i < a->parts; i++)
		soft_probe_write(c, u, va + a->part[i].at, a->part[i].len);
}

static void put_area(struct soft *c, const struct soft_uop *u, uint64_t va, const struct area *a)
{
	unsigned int i;

	probe_area(c, u, va, a);
	for (i = 0; i < a->parts; i++)
		soft_write(c, u, va + a->part[i].at, a->bytes + a->part[i].at, a->part[i].len);
}

static void check_aligned(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t to)
{
	if (va & (to - 1))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

void soft_xstate_fxsave(struct soft *c, const struct soft_uop *u)
{
	struct area a = {0};
	uint64_t va = soft_ea(c, u);

	check_aligned(c, u, va, 16);
	save_x87(c, &a, u->aux);
	save_mxcsr(c, &a);
	save_xmm(c, &a, u->aux);
	put_area(c, u, va, &a);
}

static void restore_x87(struct soft *c, const uint8_t *from, unsigned int flags)
{
	struct soft_x87_image *x = soft_x87(c);

	memcpy(x, from, 24);
	memcpy(x->st, from + 32, sizeof(x->st));
	if (!(flags & SOFT_XSTATE_WIDE)) {
		x->fip = (uint32_t)x->fip;
		x->fdp = (uint32_t)x->fdp;
	}
	x->fcw = (uint16_t)((x->fcw & SOFT_FCW_BITS) | SOFT_FCW_FIXED);
	x->fop &= 0x7ff;
	x->reserved = 0;
	soft_x87_summarize(x);
}

static void restore_xmm(struct soft *c, const uint8_t *from, unsigned int flags)
{
	unsigned int count = flags & SOFT_XSTATE_LONG ? 16 : 8, i;

	for (i = 0; i < count; i++)
		memcpy(c->fpu.zmm[i], from + 160 + i * 16, 16);
}

static uint32_t mxcsr_of(struct soft *c, const struct soft_uop *u, const uint8_t *area)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, area + 24, sizeof(mxcsr));
	if (mxcsr & ~SOFT_MXCSR_VALID)
		soft_raise_code(c, u, X86_VEC_GP, 0);
	return mxcsr;
}

void soft_xstate_fxrstor(struct soft *c, const struct soft_uop *u)
{
	uint8_t bytes[LEGACY];
	uint64_t va = soft_ea(c, u);

	check_aligned(c, u, va, 16);
	soft_read(c, u, va, bytes, sizeof(bytes));
	c->fpu.mxcsr = mxcsr_of(c, u, bytes);
	restore_x87(c, bytes, u->aux);
	restore_xmm(c, bytes, u->aux);
}

static void save_components(struct soft *c, struct area *a, uint64_t which, uint64_t present,
			    unsigned int flags)
{
	uint32_t at, len;
	unsigned int n;

	if (which & SOFT_XCR0_X87)
		save_x87(c, a, flags);
	if (which & SOFT_XCR0_SSE)
		save_xmm(c, a, flags);
	for (n = 2; n < 8; n++) {
		if (!(which >> n & 1) ||
		    !locate(c, n, present, flags & SOFT_XSTATE_COMPACT, &at, &len))
			continue;
		save_component(c, n, a->bytes + at, flags);
		if (!(flags & SOFT_XSTATE_LONG) && n != 5)
			len = registers_of(n, flags) * slices[n].len;
		part(a, at, len);
	}
}

/*
 * Save the PT registers last. That ends the trace, so the instruction must no longer be able to
 * fault.
 */
static void save_pt(struct soft *c, const struct soft_uop *u, uint64_t va, struct area *a,
		    uint64_t present)
{
	uint32_t at, len;

	if (!locate(c, SOFT_XSTATE_PT, present, true, &at, &len))
		return;
	part(a, at, len);
	probe_area(c, u, va, a);
	c->base.bus.xstate->save(c->base.bus.opaque, a->bytes + at);
}

void soft_xstate_xsave(struct soft *c, const struct soft_uop *u)
{
	uint64_t va = soft_ea(c, u), rfbm = requested(c, u->aux), used = soft_xstate_in_use(c),
		 mxcsr_for = SOFT_XCR0_SSE | SOFT_XCR0_AVX;
	struct header h = {0};
	struct area a = {0};
	unsigned int len = sizeof(h.bv);

	check_aligned(c, u, va, 64);
	soft_read(c, u, va + LEGACY, &h, sizeof(h));
	if (u->aux & SOFT_XSTATE_COMPACT) {
		if (c->fpu.mxcsr != SOFT_MXCSR_DEFAULT)
			used |= SOFT_XCR0_SSE;
		h.bv = used & rfbm;
		h.comp_bv = rfbm | COMPACTED;
		len = 16;
		mxcsr_for = SOFT_XCR0_SSE & used;
	} else {
		h.bv = (h.bv & ~rfbm) | (used & rfbm);
	}
	if (rfbm & mxcsr_for)
		save_mxcsr(c, &a);
	save_components(c, &a,
			u->aux & (SOFT_XSTATE_OPTIMIZED | SOFT_XSTATE_COMPACT) ? rfbm & used : rfbm,
			rfbm, u->aux);
	memcpy(a.bytes + LEGACY, &h, len);
	part(&a, LEGACY, len);
	if (has_pt(c, rfbm & used))
		save_pt(c, u, va, &a, rfbm);
	put_area(c, u, va, &a);
}

/* Return true if XRSTOR or XRSTORS accepts the header (SDM vol. 1, 13.8, 13.12). */
static bool acceptable(const struct soft *c, const struct header *h, unsigned int flags)
{
	const uint64_t *r = h->reserved;
	uint64_t all = h->bv;

	if (h->comp_bv & COMPACTED) {
		if (!soft_xstate_cpuid(c, 1) || !(soft_xstate_cpuid(c, 1)->eax & (2 | 8)))
			return false;
		if (h->bv & ~h->comp_bv)
			return false;
		all |= h->comp_bv & ~COMPACTED;
	} else if (flags & SOFT_XSTATE_SYSTEM || h->comp_bv || r[0]) {
		return false;
	}
	return !(all & ~enabled(c, flags)) && !(r[0] | r[1] | r[2] | r[3] | r[4] | r[5]);
}

static void initialize(struct soft *c, unsigned int n, unsigned int flags)
{
	static const uint8_t zeroes[16 * 64];

	if (n == 0) {
		soft_x87_init(soft_x87(c));
		memset(soft_x87(c)->st, 0, sizeof(soft_x87(c)->st));
	} else if (n == 1) {
		restore_xmm(c, zeroes, flags);
	} else {
		load_component(c, n, zeroes, flags);
	}
}

static void restore_component(struct soft *c, unsigned int n, uint8_t *area, const struct header *h,
			      unsigned int flags)
{
	uint32_t at, len;

	if (!(h->bv >> n & 1))
		initialize(c, n, flags);
	else if (n == 0)
		restore_x87(c, area, flags);
	else if (n == 1)
		restore_xmm(c, area, flags);
	else if (locate(c, n, h->comp_bv, h->comp_bv & COMPACTED, &at, &len))
		load_component(c, n, area + at, flags);
}

/* Read all required parts before any state changes. */
static void read_area(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t which,
		      const struct header *h, uint8_t *area)
{
	uint32_t at, len;
	unsigned int n;

	soft_read(c, u, va, area, LEGACY);
	for (n = 2; n <= SOFT_XSTATE_PT; n++)
		if (which >> n & 1 && locate(c, n, h->comp_bv, h->comp_bv & COMPACTED, &at, &len))
			soft_read(c, u, va + at, area + at, len);
}

/* Return the PT component of an area, NULL for its initial configuration. */
static const void *pt_image(const struct soft *c, const uint8_t *area, const struct header *h)
{
	uint32_t at, len;

	if (!(h->bv >> SOFT_XSTATE_PT & 1) ||
	    !locate(c, SOFT_XSTATE_PT, h->comp_bv, true, &at, &len))
		return NULL;
	return area + at;
}

void soft_xstate_xrstor(struct soft *c, const struct soft_uop *u)
{
	uint64_t va = soft_ea(c, u), rfbm = requested(c, u->aux);
	uint32_t mxcsr = c->fpu.mxcsr;
	const void *pt = NULL;
	uint8_t area[AREA_MAX];
	struct header h;
	unsigned int n;

	check_aligned(c, u, va, 64);
	soft_read(c, u, va + LEGACY, &h, sizeof(h));
	if (!acceptable(c, &h, u->aux))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	read_area(c, u, va, rfbm & h.bv, &h, area);
	if (!(h.comp_bv & COMPACTED) && rfbm & (SOFT_XCR0_SSE | SOFT_XCR0_AVX))
		mxcsr = mxcsr_of(c, u, area);
	else if (rfbm & SOFT_XCR0_SSE)
		mxcsr = h.bv & SOFT_XCR0_SSE ? mxcsr_of(c, u, area) : SOFT_MXCSR_DEFAULT;
	if (has_pt(c, rfbm)) {
		pt = pt_image(c, area, &h);
		if (!c->base.bus.xstate->check(c->base.bus.opaque, pt))
			soft_raise_code(c, u, X86_VEC_GP, 0);
	}
	c->fpu.mxcsr = mxcsr;
	for (n = 0; n < 8; n++)
		if (rfbm >> n & 1)
			restore_component(c, n, area, &h, u->aux);
	if (has_pt(c, rfbm))
		c->base.bus.xstate->restore(c->base.bus.opaque, pt);
}
