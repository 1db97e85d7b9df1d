// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vector and x87 state in memory: FXSAVE and the XSAVE family (SDM vol. 1, 10.5, 13),
 * and the control registers that go with it.
 */
#include "soft/x87.h"

#define X87    (1u << 0)
#define SSE    (1u << 1)
#define AVX    (1u << 2)
#define K      (1u << 5)
#define ZMM_HI (1u << 6)
#define ZMM_16 (1u << 7)
#define AVX512 (K | ZMM_HI | ZMM_16)
#define KNOWN  (X87 | SSE | AVX | AVX512)

#define LEGACY	  512u
#define HEADER	  64u
#define COMPACTED (1ull << 63)
#define AREA_MAX  4096u

/* u->aux, how an instruction saves or restores. */
#define WIDE	  (1u << 0) /* FIP and FDP have 64 bits */
#define LONG	  (1u << 1) /* 64-bit mode: XMM8 and up exist */
#define OPTIMIZED (1u << 2) /* what is initial is not written */
#define COMPACT	  (1u << 3)

struct header {
	uint64_t bv, comp_bv, reserved[6];
};

/* An area in the making: which parts of it are to be written. */
struct area {
	unsigned int parts;
	struct {
		uint32_t at, len;
	} part[12];
	uint8_t bytes[AREA_MAX] __attribute__((aligned(64)));
};

static const struct vpt_cpuid_entry *component(const struct vpt_soft *c, unsigned int n)
{
	size_t i;

	for (i = 0; i < c->cpuid_count; i++)
		if (c->cpuid[i].leaf == 0xd && c->cpuid[i].by_subleaf && c->cpuid[i].subleaf == n)
			return &c->cpuid[i];
	return NULL;
}

static uint64_t supported(const struct vpt_soft *c)
{
	const struct vpt_cpuid_entry *e = component(c, 0);

	return e ? e->eax & KNOWN : 0;
}

static uint64_t requested(const struct vpt_soft *c)
{
	return ((uint64_t)(uint32_t)c->r[VPT_R_RDX] << 32 | (uint32_t)c->r[VPT_R_RAX]) &
	       c->fpu.xcr0;
}

/* Where component n >= 2 is, and its size; `present` is what a compacted area has. */
static bool locate(const struct vpt_soft *c, unsigned int n, uint64_t present, bool compacted,
		   uint32_t *at, uint32_t *len)
{
	const struct vpt_cpuid_entry *e;
	uint32_t next = LEGACY + HEADER;
	unsigned int i;

	for (i = 2; compacted && i < n; i++) {
		e = component(c, i);
		if (!(present >> i & 1) || !e)
			continue;
		if (e->ecx & 2)
			next = (next + 63) & ~63u;
		next += e->eax;
	}
	e = component(c, n);
	if (!e)
		return false;
	if (compacted && e->ecx & 2)
		next = (next + 63) & ~63u;
	*at = compacted ? next : e->ebx;
	*len = e->eax;
	return *at <= AREA_MAX && *len <= AREA_MAX - *at;
}

/* What a component has of each vector register, of how many of them. */
struct slice {
	uint16_t first, count, from, len;
};

static const struct slice slices[8] = {
	[2] = {0, 16, 16, 16},
	[6] = {0, 16, 32, 32},
	[7] = {16, 16, 0, 64},
};

static void copy_component(struct vpt_soft *c, unsigned int n, uint8_t *area, unsigned int flags,
			   bool save)
{
	const struct slice *s = &slices[n];
	unsigned int count = s->count, i;

	if (n == 5) {
		memcpy(save ? area : (uint8_t *)c->fpu.k, save ? (uint8_t *)c->fpu.k : area,
		       sizeof(c->fpu.k));
		return;
	}
	if (!(flags & LONG))
		count = n == 7 ? 0 : 8;
	for (i = 0; i < count; i++) {
		uint8_t *reg = c->fpu.zmm[s->first + i] + s->from, *mem = area + i * s->len;

		memcpy(save ? mem : reg, save ? reg : mem, s->len);
	}
}

static bool all_zero(const uint8_t *p, size_t len)
{
	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

static bool x87_in_use(struct vpt_soft *c)
{
	const struct vpt_x87_image *x = vpt_x87(c);

	return x->fcw != VPT_FCW_DEFAULT || x->fsw || x->ftw || x->fop || x->fip || x->fdp ||
	       !all_zero((const uint8_t *)x->st, sizeof(x->st));
}

static bool slice_in_use(const struct vpt_soft *c, const struct slice *s)
{
	unsigned int i;

	for (i = s->first; i < s->first + s->count; i++)
		if (!all_zero(c->fpu.zmm[i] + s->from, s->len))
			return true;
	return false;
}

/* Components that are not as after a reset: XINUSE. */
static uint64_t in_use(struct vpt_soft *c)
{
	static const struct slice xmm = {0, 16, 0, 16};
	uint64_t used = 0;
	unsigned int n;

	if (x87_in_use(c))
		used |= X87;
	if (slice_in_use(c, &xmm))
		used |= SSE;
	for (n = 2; n < 8; n++)
		if (slices[n].count && slice_in_use(c, &slices[n]))
			used |= 1u << n;
	if (!all_zero((const uint8_t *)c->fpu.k, sizeof(c->fpu.k)))
		used |= K;
	return used;
}

static void part(struct area *a, uint32_t at, uint32_t len)
{
	if (!len)
		return;
	a->part[a->parts].at = at;
	a->part[a->parts++].len = len;
}

static void save_x87(struct vpt_soft *c, struct area *a, unsigned int flags)
{
	struct vpt_x87_image x = *vpt_x87(c);
	unsigned int i;

	if (!(flags & WIDE)) {
		/* Offset and selector; the selectors are not kept. */
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

static void save_mxcsr(struct vpt_soft *c, struct area *a)
{
	const uint32_t both[2] = {c->fpu.mxcsr, VPT_MXCSR_VALID};

	memcpy(a->bytes + 24, both, sizeof(both));
	part(a, 24, sizeof(both));
}

static void save_xmm(struct vpt_soft *c, struct area *a, unsigned int flags)
{
	unsigned int count = flags & LONG ? 16 : 8, i;

	for (i = 0; i < count; i++)
		memcpy(a->bytes + 160 + i * 16, c->fpu.zmm[i], 16);
	part(a, 160, count * 16);
}

static void put_area(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, const struct area *a)
{
	unsigned int i;

	for (i = 0; i < a->parts; i++)
		vpt_soft_probe_write(c, u, va + a->part[i].at, a->part[i].len);
	for (i = 0; i < a->parts; i++)
		vpt_soft_write(c, u, va + a->part[i].at, a->bytes + a->part[i].at, a->part[i].len);
}

static void check_aligned(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, uint64_t to)
{
	if (va & (to - 1))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
}

static __attribute__((noinline)) void do_fxsave(struct vpt_soft *c, const struct vpt_uop *u)
{
	struct area a = {0};
	uint64_t va = vpt_ea(c, u);

	check_aligned(c, u, va, 16);
	save_x87(c, &a, u->aux);
	save_mxcsr(c, &a);
	save_xmm(c, &a, u->aux);
	put_area(c, u, va, &a);
}

static void restore_x87(struct vpt_soft *c, const uint8_t *from, unsigned int flags)
{
	struct vpt_x87_image *x = vpt_x87(c);

	memcpy(x, from, 24);
	memcpy(x->st, from + 32, sizeof(x->st));
	if (!(flags & WIDE)) {
		x->fip = (uint32_t)x->fip;
		x->fdp = (uint32_t)x->fdp;
	}
	x->fcw = (uint16_t)((x->fcw & VPT_FCW_BITS) | VPT_FCW_FIXED);
	x->fop &= 0x7ff;
	x->reserved = 0;
	vpt_x87_summarize(x);
}

static void restore_xmm(struct vpt_soft *c, const uint8_t *from, unsigned int flags)
{
	unsigned int count = flags & LONG ? 16 : 8, i;

	for (i = 0; i < count; i++)
		memcpy(c->fpu.zmm[i], from + 160 + i * 16, 16);
}

static uint32_t mxcsr_of(struct vpt_soft *c, const struct vpt_uop *u, const uint8_t *area)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, area + 24, sizeof(mxcsr));
	if (mxcsr & ~VPT_MXCSR_VALID)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	return mxcsr;
}

static __attribute__((noinline)) void do_fxrstor(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint8_t bytes[LEGACY];
	uint64_t va = vpt_ea(c, u);

	check_aligned(c, u, va, 16);
	vpt_soft_read(c, u, va, bytes, sizeof(bytes));
	c->fpu.mxcsr = mxcsr_of(c, u, bytes);
	restore_x87(c, bytes, u->aux);
	restore_xmm(c, bytes, u->aux);
}

static void save_components(struct vpt_soft *c, struct area *a, uint64_t which, uint64_t present,
			    unsigned int flags)
{
	uint32_t at, len;
	unsigned int n;

	if (which & X87)
		save_x87(c, a, flags);
	if (which & SSE)
		save_xmm(c, a, flags);
	for (n = 2; n < 8; n++) {
		if (!(which >> n & 1) || !locate(c, n, present, flags & COMPACT, &at, &len))
			continue;
		copy_component(c, n, a->bytes + at, flags, true);
		if (!(flags & LONG) && n != 5)
			len = n == 7 ? 0 : 8u * slices[n].len;
		part(a, at, len);
	}
}

static __attribute__((noinline)) void do_xsave(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t va = vpt_ea(c, u), rfbm = requested(c), used = in_use(c), mxcsr_for = SSE | AVX;
	struct header h = {0};
	struct area a = {0};
	unsigned int len = sizeof(h.bv);

	check_aligned(c, u, va, 64);
	vpt_soft_read(c, u, va + LEGACY, &h, sizeof(h));
	if (u->aux & COMPACT) {
		if (c->fpu.mxcsr != VPT_MXCSR_DEFAULT)
			used |= SSE;
		h.bv = used & rfbm;
		h.comp_bv = rfbm | COMPACTED;
		len = 16;
		mxcsr_for = SSE & used;
	} else {
		h.bv = (h.bv & ~rfbm) | (used & rfbm);
	}
	if (rfbm & mxcsr_for)
		save_mxcsr(c, &a);
	save_components(c, &a, u->aux & (OPTIMIZED | COMPACT) ? rfbm & used : rfbm, rfbm, u->aux);
	memcpy(a.bytes + LEGACY, &h, len);
	part(&a, LEGACY, len);
	put_area(c, u, va, &a);
}

/* Is the header one that XRSTOR takes? (SDM vol. 1, 13.8) */
static bool acceptable(const struct vpt_soft *c, const struct header *h)
{
	const uint64_t *r = h->reserved;
	uint64_t all = h->bv;

	if (h->comp_bv & COMPACTED) {
		if (!component(c, 1) || !(component(c, 1)->eax & 2))
			return false;
		if (h->bv & ~h->comp_bv)
			return false;
		all |= h->comp_bv & ~COMPACTED;
	} else if (h->comp_bv || r[0]) {
		return false;
	}
	return !(all & ~c->fpu.xcr0) && !(r[0] | r[1] | r[2] | r[3] | r[4] | r[5]);
}

static void initialize(struct vpt_soft *c, unsigned int n, unsigned int flags)
{
	static uint8_t zeroes[16 * 64];

	if (n == 0) {
		vpt_x87_init(vpt_x87(c));
		memset(vpt_x87(c)->st, 0, sizeof(vpt_x87(c)->st));
	} else if (n == 1) {
		restore_xmm(c, zeroes, flags);
	} else {
		copy_component(c, n, zeroes, flags, false);
	}
}

static void restore_component(struct vpt_soft *c, unsigned int n, uint8_t *area,
			      const struct header *h, unsigned int flags)
{
	uint32_t at, len;

	if (!(h->bv >> n & 1))
		initialize(c, n, flags);
	else if (n == 0)
		restore_x87(c, area, flags);
	else if (n == 1)
		restore_xmm(c, area, flags);
	else if (locate(c, n, h->comp_bv, h->comp_bv & COMPACTED, &at, &len))
		copy_component(c, n, area + at, flags, false);
}

/* Every part that is needed is read before anything changes. */
static void read_area(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, uint64_t which,
		      const struct header *h, uint8_t *area)
{
	uint32_t at, len;
	unsigned int n;

	vpt_soft_read(c, u, va, area, LEGACY);
	for (n = 2; n < 8; n++)
		if (which >> n & 1 && locate(c, n, h->comp_bv, h->comp_bv & COMPACTED, &at, &len))
			vpt_soft_read(c, u, va + at, area + at, len);
}

static __attribute__((noinline)) void do_xrstor(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t va = vpt_ea(c, u), rfbm = requested(c);
	uint32_t mxcsr = c->fpu.mxcsr;
	uint8_t area[AREA_MAX];
	struct header h;
	unsigned int n;

	check_aligned(c, u, va, 64);
	vpt_soft_read(c, u, va + LEGACY, &h, sizeof(h));
	if (!acceptable(c, &h))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	read_area(c, u, va, rfbm & h.bv, &h, area);
	if (!(h.comp_bv & COMPACTED) && rfbm & (SSE | AVX))
		mxcsr = mxcsr_of(c, u, area);
	else if (rfbm & SSE)
		mxcsr = h.bv & SSE ? mxcsr_of(c, u, area) : VPT_MXCSR_DEFAULT;
	c->fpu.mxcsr = mxcsr;
	for (n = 0; n < 8; n++)
		if (rfbm >> n & 1)
			restore_component(c, n, area, &h, u->aux);
}

static __attribute__((noinline)) void do_ldmxcsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint32_t value = vpt_load32(c, u, vpt_ea(c, u));

	if (value & ~VPT_MXCSR_VALID)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	c->fpu.mxcsr = value;
}

static __attribute__((noinline)) void do_stmxcsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	vpt_store32(c, u, vpt_ea(c, u), c->fpu.mxcsr);
}

static __attribute__((noinline)) void do_emms(struct vpt_soft *c, const struct vpt_uop *u)
{
	vpt_x87_check(c, u);
	vpt_x87_to_mmx(c);
	vpt_x87(c)->ftw = 0;
}

static void need_osxsave(struct vpt_soft *c, const struct vpt_uop *u)
{
	if (!(c->s.cr4 & VPT_CR4_OSXSAVE))
		vpt_soft_raise(c, u, VPT_VEC_UD);
}

static __attribute__((noinline)) void do_xgetbv(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint32_t index = (uint32_t)c->r[VPT_R_RCX];
	const struct vpt_cpuid_entry *e = component(c, 1);
	uint64_t value = c->fpu.xcr0;

	need_osxsave(c, u);
	if (index == 1 && e && e->eax & 4)
		value &= in_use(c) | (c->fpu.mxcsr != VPT_MXCSR_DEFAULT ? SSE : 0);
	else if (index)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	vpt_set32(c, VPT_R_RAX * 8, (uint32_t)value);
	vpt_set32(c, VPT_R_RDX * 8, (uint32_t)(value >> 32));
}

bool vpt_soft_xcr0_valid(const struct vpt_soft *c, uint64_t value)
{
	if (!(value & X87) || value & ~supported(c) || (value & AVX && !(value & SSE)))
		return false;
	return !(value & AVX512) || (~value & (AVX512 | AVX)) == 0;
}

static __attribute__((noinline)) void do_xsetbv(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value = (uint64_t)(uint32_t)c->r[VPT_R_RDX] << 32 | (uint32_t)c->r[VPT_R_RAX];

	need_osxsave(c, u);
	if (c->cpl || (uint32_t)c->r[VPT_R_RCX] || !vpt_soft_xcr0_valid(c, value))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	c->fpu.xcr0 = value;
}

VPT_UOP(xsetbv)
{
	do_xsetbv(c, u);
	return vpt_soft_resume(c, u);
}

VPT_UOP(osxsave)
{
	need_osxsave(c, u);
	return VPT_NEXT(c, u);
}

#define STATE(name)                    \
	VPT_UOP(name)                  \
	{                              \
		do_##name(c, u);       \
		return VPT_NEXT(c, u); \
	}

STATE(fxsave)
STATE(fxrstor)
STATE(xsave)
STATE(xrstor)
STATE(ldmxcsr)
STATE(stmxcsr)
STATE(emms)
STATE(xgetbv)

/* What each of them is to a translator. */
struct form {
	vpt_uop_fn fn;
	enum vpt_unit unit;
	uint8_t bytes; /* that its operand surely has */
	bool write, xsave;
	uint8_t flags;
};

static const struct form *form_of(ZydisMnemonic mnemonic)
{
	static const struct {
		ZydisMnemonic mnemonic;
		struct form form;
	} forms[] = {
#define FORM(name, ...)                \
	{                              \
		ZYDIS_MNEMONIC_##name, \
		{                      \
			__VA_ARGS__    \
		}                      \
	}
		FORM(FXSAVE, fxsave, VPT_UNIT_X87, 160, true, false, 0),
		FORM(FXSAVE64, fxsave, VPT_UNIT_X87, 160, true, false, WIDE),
		FORM(FXRSTOR, fxrstor, VPT_UNIT_X87, 160, false, false, 0),
		FORM(FXRSTOR64, fxrstor, VPT_UNIT_X87, 160, false, false, WIDE),
		FORM(XSAVE, xsave, VPT_UNIT_X87, 160, true, true, 0),
		FORM(XSAVE64, xsave, VPT_UNIT_X87, 160, true, true, WIDE),
		FORM(XSAVEOPT, xsave, VPT_UNIT_X87, 160, true, true, OPTIMIZED),
		FORM(XSAVEOPT64, xsave, VPT_UNIT_X87, 160, true, true, OPTIMIZED | WIDE),
		FORM(XSAVEC, xsave, VPT_UNIT_X87, 160, true, true, COMPACT),
		FORM(XSAVEC64, xsave, VPT_UNIT_X87, 160, true, true, COMPACT | WIDE),
		FORM(XRSTOR, xrstor, VPT_UNIT_X87, 160, false, true, 0),
		FORM(XRSTOR64, xrstor, VPT_UNIT_X87, 160, false, true, WIDE),
		FORM(LDMXCSR, ldmxcsr, VPT_UNIT_SSE, 4, false, false, 0),
		FORM(STMXCSR, stmxcsr, VPT_UNIT_SSE, 4, true, false, 0),
		FORM(VLDMXCSR, ldmxcsr, VPT_UNIT_AVX, 4, false, false, 0),
		FORM(VSTMXCSR, stmxcsr, VPT_UNIT_AVX, 4, true, false, 0),
		FORM(EMMS, emms, VPT_UNIT_MMX, 0, false, false, 0),
#undef FORM
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].mnemonic == mnemonic)
			return &forms[i].form;
	return NULL;
}

bool vpt_tr_xstate(struct vpt_translation *t)
{
	const struct form *f = form_of(t->insn->mnemonic);
	struct vpt_address address;
	struct vpt_uop *u;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XGETBV) {
		vpt_tr_emit(t, xgetbv);
		return true;
	}
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XSETBV) {
		vpt_tr_emit(t, xsetbv);
		t->ends = true;
		return true;
	}
	if (!f)
		return false;
	if (f->xsave)
		vpt_tr_emit(t, osxsave);
	vpt_tr_need(t, f->unit);
	if (!f->bytes) {
		vpt_tr_emit(t, f->fn);
		return true;
	}
	address = vpt_tr_address(t, 0, f->bytes, f->write);
	u = vpt_tr_emit(t, f->fn);
	vpt_tr_put_address(u, &address);
	u->aux = f->flags | (t->bits == 64 ? LONG : 0);
	return true;
}
