// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Save and load a processor as plain data. Blocks and links are left out, since they follow from
 * RAM. The second-level TLB is saved, because its content is visible to a guest. A stale entry lasts
 * until the guest invalidates it, and an access through an entry does not set the accessed bit again.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/state.h"
#include "soft/state.h"
#include "soft/system.h"
#include "soft/tlb.h"
#include "soft/x87.h"

#define PAGE	(X86_PAGE_SIZE - 1)
#define ENTRIES ((size_t)(SOFT_DATA_ROWS + SOFT_CODE_ROWS + 3 * SOFT_WHOLE_ROWS) * SOFT_WAYS)

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

/* An entry of the second-level TLB. The way is in two bits of `word`. */
#define WAY_AT 7

static void save_system(const struct soft *c, struct engine_state *to)
{
	engine_state_put_sregs(to, &c->s);
	memcpy(to->dr, c->dr, sizeof(to->dr));
}

static void save_fpu(const struct soft *c, struct engine_state *to)
{
	to->xcr0 = c->fpu.xcr0;
	to->mxcsr = c->fpu.mxcsr;
	to->pkru = c->fpu.pkru;
	memcpy(to->k, c->fpu.k, sizeof(to->k));
	memcpy(to->zmm, c->fpu.zmm, sizeof(to->zmm));
	memcpy(to->x87, c->fpu.x87, ENGINE_STATE_X87_HEAD);
	memcpy(to->x87 + ENGINE_STATE_X87_ST, c->fpu.x87 + ENGINE_STATE_X87_ST,
	       ENGINE_STATE_X87_BYTES - ENGINE_STATE_X87_ST);
}

static uint32_t save_msrs(struct soft *c, struct engine_state_msr *to)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < engine_state_msr_count; i++) {
		to[n] = (struct engine_state_msr){.index = engine_state_msr[i]};
		n += soft_msr_read(c, engine_state_msr[i], &to[n].value);
	}
	return n;
}

static uint32_t save_tlb(const struct soft *c, struct engine_state_tlb *to)
{
	const struct soft_page *page[] = {c->pages.data, c->pages.code, c->pages.whole[0]};
	const unsigned int count[] = {SOFT_DATA_ROWS * SOFT_WAYS, SOFT_CODE_ROWS * SOFT_WAYS,
				      3 * SOFT_WHOLE_ROWS * SOFT_WAYS};
	uint32_t n = 0;
	unsigned int part, i;

	for (part = 0; part < 3; part++)
		for (i = 0; i < count[part]; i++)
			if (soft_has_page(c, &page[part][i]))
				to[n++] = (struct engine_state_tlb){
					.key = page[part][i].key,
					.word = page[part][i].word | i % SOFT_WAYS << WAY_AT,
				};
	return n;
}

size_t soft_save(struct engine_vcpu *ev, void *to, size_t room)
{
	struct soft *c = soft(ev);
	struct engine_state *s =
		calloc(1, sizeof(*s) + ENGINE_STATE_MSRS * sizeof(struct engine_state_msr) +
				  ENTRIES * sizeof(struct engine_state_tlb));
	struct engine_state_msr *msr;
	size_t bytes;

	if (!s)
		return 0;
	msr = (struct engine_state_msr *)(s + 1);
	s->magic = ENGINE_STATE_MAGIC;
	s->regs = c->regs;
	s->shadow = !!(c->base.state & ENGINE_SHADOW);
	s->retired = c->base.retired;
	s->time = c->base.time;
	s->random = c->base.random;
	save_system(c, s);
	save_fpu(c, s);
	s->msrs = save_msrs(c, msr);
	s->entries = save_tlb(c, (struct engine_state_tlb *)(msr + s->msrs));
	bytes = sizeof(*s) + s->msrs * sizeof(*msr) + s->entries * sizeof(struct engine_state_tlb);
	s->bytes = (uint32_t)bytes;
	if (bytes <= room)
		memcpy(to, s, bytes);
	free(s);
	return bytes;
}

static bool control_ok(const struct soft *c, const struct engine_state *s)
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

static bool modes_ok(const struct engine_state *s)
{
	unsigned int i;

	for (i = 0; i < ENGINE_STATE_SEGMENTS; i++)
		if (s->segment[i].attributes >> ENGINE_STATE_ATTRIBUTES)
			return false;
	if (s->efer & X86_EFER_LMA &&
	    s->segment[ENGINE_STATE_CS].attributes >> ENGINE_STATE_LONG &
		    s->segment[ENGINE_STATE_CS].attributes >> ENGINE_STATE_DB & 1)
		return false;
	if (s->regs.rflags & ~RFLAGS_BITS || !(s->regs.rflags & X86_FL_FIXED))
		return false;
	return !(s->regs.rflags & X86_FL_VM && s->efer & X86_EFER_LMA) && s->shadow <= 1;
}

/* Check the FPU state, which stubs load into the host's registers. */
static bool fpu_ok(const struct soft *c, const struct engine_state *s)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 0xd, 0);
	uint64_t known = e ? e->eax | (uint64_t)e->edx << 32 : XCR0_X87;
	struct soft_x87_image x = {0};
	uint16_t fsw;

	memcpy(&x, s->x87, ENGINE_STATE_X87_HEAD);
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

static void load_system(struct soft *c, const struct engine_state *from)
{
	engine_state_get_sregs(from, &c->s);
	memcpy(c->dr, from->dr, sizeof(c->dr));
}

static void load_fpu(struct soft *c, const struct engine_state *from)
{
	c->fpu.xcr0 = from->xcr0;
	c->fpu.mxcsr = from->mxcsr;
	c->fpu.pkru = from->pkru;
	memcpy(c->fpu.k, from->k, sizeof(c->fpu.k));
	memcpy(c->fpu.zmm, from->zmm, sizeof(c->fpu.zmm));
	memcpy(c->fpu.x87, from->x87, ENGINE_STATE_X87_HEAD);
	memcpy(c->fpu.x87 + ENGINE_STATE_X87_ST, from->x87 + ENGINE_STATE_X87_ST,
	       ENGINE_STATE_X87_BYTES - ENGINE_STATE_X87_ST);
}

/* Load an MSR. If this processor lacks the MSR, its only possible value is 0. */
static bool load_msr(struct soft *c, uint32_t index, const struct engine_state_msr *from)
{
	uint64_t unused;

	if (!soft_msr_read(c, index, &unused))
		return !from || !from->value;
	return from && soft_msr_load(c, index, from->value);
}

static bool load_msrs(struct soft *c, const struct engine_state_msr *from, uint32_t count)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < engine_state_msr_count; i++) {
		const uint32_t index = engine_state_msr[i];
		const bool found = n < count && from[n].index == index && !from[n].reserved;

		if (!load_msr(c, index, found ? &from[n] : NULL))
			return false;
		n += found;
	}
	return n == count;
}

/*
 * Load the TLB. An entry may be wrong for the guest, but not for the host, since it always leads to
 * RAM.
 */
static bool load_tlb(struct soft *c, const struct engine_state_tlb *from, uint32_t count)
{
	const uint64_t ways = (SOFT_WAYS - 1) << WAY_AT;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!soft_put_page(c, from[i].key, from[i].word & ~ways,
				   (from[i].word & ways) >> WAY_AT))
			return false;
	return true;
}

static bool sizes_ok(const struct engine_state *s, size_t bytes)
{
	return s->magic == ENGINE_STATE_MAGIC && s->bytes == bytes &&
	       s->msrs <= ENGINE_STATE_MSRS && s->entries <= ENTRIES &&
	       bytes == sizeof(*s) + s->msrs * sizeof(struct engine_state_msr) +
				s->entries * sizeof(struct engine_state_tlb);
}

static int load(struct soft *c, const struct engine_state *s, size_t bytes)
{
	const struct engine_state_msr *msr = (const struct engine_state_msr *)(s + 1);

	if (!sizes_ok(s, bytes) || !control_ok(c, s) || !modes_ok(s) || !fpu_ok(c, s) ||
	    !engine_state_time_ok(s, &c->base.time))
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
	return load_tlb(c, (const struct engine_state_tlb *)(msr + s->msrs), s->entries) ? 0
											 : -EINVAL;
}

int soft_load(struct engine_vcpu *ev, const void *from, size_t bytes)
{
	struct engine_state *aligned;
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
