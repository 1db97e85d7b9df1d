// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Save and load a processor as plain data. Blocks and links are left out, since they follow from
 * RAM. The second-level TLB is saved, because its content is visible to a guest. A stale entry lasts
 * until the guest invalidates it, and an access through an entry does not set the accessed bit again.
 */
#include <errno.h>
#include <stdlib.h>

#include "soft/state.h"
#include "soft/system.h"
#include "soft/tlb.h"
#include "soft/x87.h"

#define MAGIC	0x33554350u /* "PCU3" */
#define PAGE	(X86_PAGE_SIZE - 1)
#define ENTRIES ((size_t)(SOFT_DATA_ROWS + SOFT_CODE_ROWS) * SOFT_WAYS)
#define MSRS	64u

/* The bits that soft_load() accepts. Bits whose feature CPUID lacks are accepted, and harmless. */
#define CR0_BITS    0xe005003full
#define CR0_NW	    (1ull << 29)
#define CR0_CD	    (1ull << 30)
#define CR4_BITS    0x7fffffull
#define EFER_BITS   (X86_EFER_SCE | X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE)
#define RFLAGS_BITS 0x3f7fd7ull
#define XCR0_AVX    (1ull << 2)
#define XCR0_SSE    (1ull << 1)
#define XCR0_X87    (1ull << 0)
#define XCR0_512    (7ull << 5)

/* The x87 part of FXSAVE without MXCSR, which is stored elsewhere. */
#define X87_HEAD  24u
#define X87_ST	  32u
#define X87_BYTES 160u

enum attributes {
	TYPE = 0, /* four bits */
	DPL = 4,  /* two */
	S = 6,
	PRESENT,
	LONG,
	DB,
	G,
	AVL,
	UNUSABLE,
	ATTRIBUTES
};

struct saved_segment {
	uint64_t base;
	uint32_t limit;
	uint16_t selector;
	uint16_t attributes; /* enum attributes */
};

struct saved_msr {
	uint32_t index, reserved;
	uint64_t value;
};

/* An entry of the second-level TLB. The way is in `word`, above enum soft_page_bits. */
#define WAY_AT 7

struct saved_tlb {
	uint64_t key, word;
};

enum saved_segments { CS, DS, ES, FS, GS, SS, TR, LDT, SEGMENTS };

struct saved {
	uint32_t magic, bytes; /* the size of the whole state: this header, MSRs, TLB entries */
	uint32_t msrs, entries;
	struct x86_regs regs;
	struct saved_segment segment[SEGMENTS];
	uint64_t gdt_base, idt_base;
	uint16_t gdt_limit, idt_limit;
	uint32_t shadow;
	uint64_t cr0, cr2, cr3, cr4, efer;
	uint64_t dr[8];
	uint64_t retired;
	struct engine_time time;
	uint64_t xcr0;
	uint32_t mxcsr, pkru;
	uint64_t k[8];
	uint8_t zmm[32][64];
	uint8_t x87[X87_BYTES];
	struct engine_random random;
};

VPT_STATIC_ASSERT(sizeof(struct x86_regs) == 144, "without padding");
VPT_STATIC_ASSERT(sizeof(struct saved) == 16 + 144 + 16 * SEGMENTS + 24 + 40 + 64 + 56 + 8 + 64 +
						  2048 + X87_BYTES + 16,
		  "without padding");

#define FOUR(msr) (msr), (msr) + 1, (msr) + 2, (msr) + 3

/* The order of the MSRs in a snapshot. EFER and the segment bases are in struct saved. */
static const uint32_t msr_index[] = {
	X86_MSR_UMWAIT_CONTROL,
	X86_MSR_SPEC_CTRL,
	X86_MSR_SYSENTER_CS,
	X86_MSR_SYSENTER_ESP,
	X86_MSR_SYSENTER_EIP,
	X86_MSR_MISC_ENABLE,
	X86_MSR_DEBUGCTL,
	X86_MSR_PAT,
	X86_MSR_MTRR_DEF_TYPE,
	X86_MSR_XSS,
	X86_MSR_STAR,
	X86_MSR_LSTAR,
	X86_MSR_CSTAR,
	X86_MSR_FMASK,
	X86_MSR_KERNEL_GS_BASE,
	X86_MSR_TSC_AUX,
	FOUR(X86_MSR_MTRR_PHYSBASE0),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 4),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 8),
	FOUR(X86_MSR_MTRR_PHYSBASE0 + 12),
	X86_MSR_MTRR_FIX64K_00000,
	X86_MSR_MTRR_FIX16K_80000,
	X86_MSR_MTRR_FIX16K_A0000,
	FOUR(X86_MSR_MTRR_FIX4K_C0000),
	FOUR(X86_MSR_MTRR_FIX4K_C0000 + 4),
};

#undef FOUR

#define MSR_COUNT (sizeof(msr_index) / sizeof(msr_index[0]))
VPT_STATIC_ASSERT(MSR_COUNT <= MSRS, "room");

/* Attributes of one bit, whose places in a snapshot differ from those in the access rights. */
static const struct {
	uint32_t ar;
	enum attributes bit;
} attribute_bits[] = {
	{X86_AR_S, S},
	{X86_AR_P, PRESENT},
	{X86_AR_L, LONG},
	{X86_AR_DB, DB},
	{X86_AR_G, G},
	{X86_AR_AVL, AVL},
	{X86_AR_UNUSABLE, UNUSABLE},
};

#define ATTRIBUTE_BITS (sizeof(attribute_bits) / sizeof(attribute_bits[0]))

static uint16_t attributes(const struct x86_segment *s)
{
	unsigned int bits =
		(unsigned int)x86_segment_type(s) << TYPE | (unsigned int)x86_segment_dpl(s) << DPL;
	unsigned int i;

	for (i = 0; i < ATTRIBUTE_BITS; i++)
		if (s->ar & attribute_bits[i].ar)
			bits |= 1u << attribute_bits[i].bit;
	return (uint16_t)bits;
}

static uint32_t access_rights(uint16_t bits)
{
	uint32_t ar = (bits >> TYPE & 15u) | (bits >> DPL & 3u) << X86_AR_DPL_SHIFT;
	unsigned int i;

	for (i = 0; i < ATTRIBUTE_BITS; i++)
		if (bits >> attribute_bits[i].bit & 1)
			ar |= attribute_bits[i].ar;
	return ar;
}

static struct saved_segment save_segment(const struct x86_segment *s)
{
	return (struct saved_segment){
		.base = s->base,
		.limit = s->limit,
		.selector = s->selector,
		.attributes = attributes(s),
	};
}

static struct x86_segment load_segment(const struct saved_segment *s)
{
	return (struct x86_segment){
		.base = s->base,
		.limit = s->limit,
		.selector = s->selector,
		.ar = access_rights(s->attributes),
	};
}

static void save_system(const struct soft *c, struct saved *to)
{
	const struct x86_sregs *s = &c->s;

	to->segment[CS] = save_segment(&s->cs);
	to->segment[DS] = save_segment(&s->ds);
	to->segment[ES] = save_segment(&s->es);
	to->segment[FS] = save_segment(&s->fs);
	to->segment[GS] = save_segment(&s->gs);
	to->segment[SS] = save_segment(&s->ss);
	to->segment[TR] = save_segment(&s->tr);
	to->segment[LDT] = save_segment(&s->ldt);
	to->gdt_base = s->gdt.base;
	to->gdt_limit = s->gdt.limit;
	to->idt_base = s->idt.base;
	to->idt_limit = s->idt.limit;
	to->cr0 = s->cr0;
	to->cr2 = s->cr2;
	to->cr3 = s->cr3;
	to->cr4 = s->cr4;
	to->efer = s->efer;
	memcpy(to->dr, c->dr, sizeof(to->dr));
}

static void save_fpu(const struct soft *c, struct saved *to)
{
	to->xcr0 = c->fpu.xcr0;
	to->mxcsr = c->fpu.mxcsr;
	to->pkru = c->fpu.pkru;
	memcpy(to->k, c->fpu.k, sizeof(to->k));
	memcpy(to->zmm, c->fpu.zmm, sizeof(to->zmm));
	memcpy(to->x87, c->fpu.x87, X87_HEAD);
	memcpy(to->x87 + X87_ST, c->fpu.x87 + X87_ST, X87_BYTES - X87_ST);
}

static uint32_t save_msrs(struct soft *c, struct saved_msr *to)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < MSR_COUNT; i++) {
		to[n] = (struct saved_msr){.index = msr_index[i]};
		n += soft_msr_read(c, msr_index[i], &to[n].value);
	}
	return n;
}

static uint32_t save_tlb(const struct soft *c, struct saved_tlb *to)
{
	const struct soft_page *page[2] = {c->pages.data, c->pages.code};
	const unsigned int count[2] = {SOFT_DATA_ROWS * SOFT_WAYS, SOFT_CODE_ROWS * SOFT_WAYS};
	uint32_t n = 0;
	unsigned int part, i;

	for (part = 0; part < 2; part++)
		for (i = 0; i < count[part]; i++)
			if (soft_has_page(c, &page[part][i]))
				to[n++] = (struct saved_tlb){
					.key = page[part][i].key,
					.word = page[part][i].word | i % SOFT_WAYS << WAY_AT,
				};
	return n;
}

size_t soft_save(struct engine_vcpu *ev, void *to, size_t room)
{
	struct soft *c = soft(ev);
	struct saved *s = calloc(1, sizeof(*s) + MSRS * sizeof(struct saved_msr) +
					    ENTRIES * sizeof(struct saved_tlb));
	struct saved_msr *msr;
	size_t bytes;

	if (!s)
		return 0;
	msr = (struct saved_msr *)(s + 1);
	s->magic = MAGIC;
	s->regs = c->regs;
	s->shadow = !!(c->base.state & ENGINE_SHADOW);
	s->retired = c->base.retired;
	s->time = c->base.time;
	s->random = c->base.random;
	save_system(c, s);
	save_fpu(c, s);
	s->msrs = save_msrs(c, msr);
	s->entries = save_tlb(c, (struct saved_tlb *)(msr + s->msrs));
	bytes = sizeof(*s) + s->msrs * sizeof(*msr) + s->entries * sizeof(struct saved_tlb);
	s->bytes = (uint32_t)bytes;
	if (bytes <= room)
		memcpy(to, s, bytes);
	free(s);
	return bytes;
}

static bool control_ok(const struct soft *c, const struct saved *s)
{
	bool paging = s->cr0 & X86_CR0_PG;
	bool lma = s->efer & X86_EFER_LME && paging;

	if (s->cr0 & ~CR0_BITS || !(s->cr0 & X86_CR0_ET) || s->cr4 & ~CR4_BITS ||
	    s->efer & ~EFER_BITS)
		return false;
	if ((paging && !(s->cr0 & X86_CR0_PE)) || (s->cr0 & CR0_NW && !(s->cr0 & CR0_CD)))
		return false;
	if (lma != !!(s->efer & X86_EFER_LMA) || (lma && !(s->cr4 & X86_CR4_PAE)))
		return false;
	if (lma && s->cr3 >> c->paging.max_phy_addr)
		return false;
	return !(s->dr[6] >> 32) && !(s->dr[7] >> 32);
}

static bool modes_ok(const struct saved *s)
{
	unsigned int i;

	for (i = 0; i < SEGMENTS; i++)
		if (s->segment[i].attributes >> ATTRIBUTES)
			return false;
	if (s->efer & X86_EFER_LMA &&
	    s->segment[CS].attributes >> LONG & s->segment[CS].attributes >> DB & 1)
		return false;
	if (s->regs.rflags & ~RFLAGS_BITS || !(s->regs.rflags & X86_FL_FIXED))
		return false;
	return !(s->regs.rflags & X86_FL_VM && s->efer & X86_EFER_LMA) && s->shadow <= 1;
}

/* Check the FPU state, which stubs load into the host's registers. */
static bool fpu_ok(const struct soft *c, const struct saved *s)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 0xd, 0);
	uint64_t known = e ? e->eax | (uint64_t)e->edx << 32 : XCR0_X87;
	struct soft_x87_image x = {0};
	uint16_t fsw;

	memcpy(&x, s->x87, X87_HEAD);
	fsw = x.fsw;
	soft_x87_summarize(&x);
	if (x.fcw & ~(SOFT_FCW_BITS | SOFT_FCW_FIXED) || !(x.fcw & SOFT_FCW_FIXED) ||
	    x.fsw != fsw || x.reserved)
		return false;
	if (!(s->xcr0 & XCR0_X87) || s->xcr0 & ~(known | XCR0_X87))
		return false;
	if (s->xcr0 & XCR0_AVX && !(s->xcr0 & XCR0_SSE))
		return false;
	if (s->xcr0 & XCR0_512 && (!(s->xcr0 & XCR0_AVX) || (s->xcr0 & XCR0_512) != XCR0_512))
		return false;
	return !(s->mxcsr & ~SOFT_MXCSR_VALID);
}

static void load_system(struct soft *c, const struct saved *from)
{
	c->s = (struct x86_sregs){
		.cs = load_segment(&from->segment[CS]),
		.ds = load_segment(&from->segment[DS]),
		.es = load_segment(&from->segment[ES]),
		.fs = load_segment(&from->segment[FS]),
		.gs = load_segment(&from->segment[GS]),
		.ss = load_segment(&from->segment[SS]),
		.tr = load_segment(&from->segment[TR]),
		.ldt = load_segment(&from->segment[LDT]),
		.gdt = {from->gdt_base, from->gdt_limit},
		.idt = {from->idt_base, from->idt_limit},
		.cr0 = from->cr0,
		.cr2 = from->cr2,
		.cr3 = from->cr3,
		.cr4 = from->cr4,
		.efer = from->efer,
	};
	memcpy(c->dr, from->dr, sizeof(c->dr));
}

static void load_fpu(struct soft *c, const struct saved *from)
{
	c->fpu.xcr0 = from->xcr0;
	c->fpu.mxcsr = from->mxcsr;
	c->fpu.pkru = from->pkru;
	memcpy(c->fpu.k, from->k, sizeof(c->fpu.k));
	memcpy(c->fpu.zmm, from->zmm, sizeof(c->fpu.zmm));
	memcpy(c->fpu.x87, from->x87, X87_HEAD);
	memcpy(c->fpu.x87 + X87_ST, from->x87 + X87_ST, X87_BYTES - X87_ST);
}

/* Load the MSRs. Both processors must have the same MSRs. */
static bool load_msrs(struct soft *c, const struct saved_msr *from, uint32_t count)
{
	uint32_t n = 0;
	uint64_t unused;
	size_t i;

	for (i = 0; i < MSR_COUNT; i++) {
		if (!soft_msr_read(c, msr_index[i], &unused))
			continue;
		if (n == count || from[n].index != msr_index[i] || from[n].reserved ||
		    !soft_msr_write(c, msr_index[i], from[n].value))
			return false;
		n++;
	}
	return n == count;
}

/*
 * Load the TLB. An entry may be wrong for the guest, but not for the host, since it always leads to
 * RAM.
 */
static bool load_tlb(struct soft *c, const struct saved_tlb *from, uint32_t count)
{
	const uint64_t ways = (SOFT_WAYS - 1) << WAY_AT;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!soft_put_page(c, from[i].key, from[i].word & ~ways,
				   (from[i].word & ways) >> WAY_AT))
			return false;
	return true;
}

/* Ratios are one byte each, and the ratio at P1 is that of the processor. */
static bool time_ok(const struct soft *c, const struct saved *s)
{
	return s->time.ticks == c->base.time.ticks && s->time.clocks <= UINT8_MAX &&
	       !s->time.ticks == !s->time.clocks && s->time.retired <= s->retired;
}

static bool sizes_ok(const struct saved *s, size_t bytes)
{
	return s->magic == MAGIC && s->bytes == bytes && s->msrs <= MSRS && s->entries <= ENTRIES &&
	       bytes == sizeof(*s) + s->msrs * sizeof(struct saved_msr) +
				s->entries * sizeof(struct saved_tlb);
}

static int load(struct soft *c, const struct saved *s, size_t bytes)
{
	const struct saved_msr *msr = (const struct saved_msr *)(s + 1);

	if (!sizes_ok(s, bytes) || !control_ok(c, s) || !modes_ok(s) || !fpu_ok(c, s) ||
	    !time_ok(c, s))
		return -EINVAL;
	c->regs = s->regs;
	c->base.retired = s->retired;
	if (s->shadow)
		c->base.state |= ENGINE_SHADOW;
	else
		c->base.state &= ~ENGINE_SHADOW;
	c->base.time = s->time;
	c->base.random = s->random;
	load_fpu(c, s);
	load_system(c, s);
	soft_set_rflags(c, c->regs.rflags);
	soft_derive(c);
	if (!load_msrs(c, msr, s->msrs))
		return -EINVAL;
	/* Load the TLB last, because loading other state may flush it. */
	soft_flush_tlb(c);
	return load_tlb(c, (const struct saved_tlb *)(msr + s->msrs), s->entries) ? 0 : -EINVAL;
}

int soft_load(struct engine_vcpu *ev, const void *from, size_t bytes)
{
	struct saved *aligned;
	int error;

	if (bytes < sizeof(*aligned))
		return -EINVAL;
	aligned = malloc(bytes);
	if (!aligned)
		return -ENOMEM;
	memcpy(aligned, from, bytes);
	error = load(soft(ev), aligned, bytes);
	free(aligned);
	return error;
}
