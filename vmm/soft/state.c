// SPDX-License-Identifier: GPL-2.0-or-later
/* Get and set the system state, and derive the modes of decoding and of memory accesses from it. */
#include "soft/state.h"
#include "soft/system.h"
#include "soft/tlb.h"

/* The bits that translations depend on. A change of one flushes all translations. */
#define CR0_PAGING (X86_CR0_PG | X86_CR0_WP)
#define CR4_PAGING                                                                                 \
	(X86_CR4_PSE | X86_CR4_PAE | SOFT_CR4_PGE | X86_CR4_LA57 | SOFT_CR4_PCIDE | X86_CR4_SMEP | \
	 X86_CR4_SMAP | SOFT_CR4_PKE)
#define EFER_PAGING (X86_EFER_LMA | X86_EFER_NXE)

static uint32_t fpu_mode(const struct soft *c)
{
	uint64_t cr4 = c->s.cr4, xcr0 = c->fpu.xcr0;
	uint32_t mode = 0;

	if (c->s.cr0 & (X86_CR0_EM | X86_CR0_TS))
		mode |= SOFT_BLOCK_NO_FPU;
	if (!(cr4 & X86_CR4_OSFXSR))
		mode |= SOFT_BLOCK_NO_SSE;
	if (!(cr4 & X86_CR4_OSXSAVE) || (xcr0 & 6) != 6)
		mode |= SOFT_BLOCK_NO_AVX;
	if (!(cr4 & X86_CR4_OSXSAVE) || (xcr0 & 0xe6) != 0xe6)
		mode |= SOFT_BLOCK_NO_AVX512;
	return mode;
}

static uint32_t code_mode(const struct soft *c)
{
	uint32_t mode = c->bits == 64	? SOFT_BLOCK_BITS64
			: c->bits == 32 ? SOFT_BLOCK_BITS32
					: SOFT_BLOCK_BITS16;

	if (c->cpl == 3)
		mode |= SOFT_BLOCK_USER;
	if (c->cpl == 1)
		mode |= SOFT_BLOCK_CPL1;
	if (c->cpl == 2)
		mode |= SOFT_BLOCK_CPL2;
	if (c->bits != 64 && c->s.ss.ar & X86_AR_DB)
		mode |= SOFT_BLOCK_STACK32;
	if (c->s.cr0 & X86_CR0_PE && !(c->r[SOFT_R_RFLAGS] & X86_FL_VM))
		mode |= SOFT_BLOCK_PROTECTED;
	if (c->base.state & ENGINE_BRANCHES)
		mode |= SOFT_BLOCK_BRANCHES;
	return mode;
}

/* Return true if alignment checks or data breakpoints make every access take the slow path. */
static bool reads_all(const struct soft *c)
{
	uint64_t dr7 = c->dr[7];
	unsigned int i;

	if (c->cpl == 3 && c->s.cr0 & X86_CR0_AM && c->r[SOFT_R_RFLAGS] & X86_FL_AC)
		return true;
	for (i = 0; i < 4; i++)
		if (dr7 >> (2 * i) & 3 && dr7 >> (16 + 4 * i) & 1)
			return true;
	return false;
}

static enum soft_tlb_set tlb_set(const struct soft *c)
{
	if (reads_all(c))
		return SOFT_TLB_SLOW;
	if (c->cpl == 3)
		return SOFT_TLB_USER;
	return c->r[SOFT_R_RFLAGS] & X86_FL_AC ? SOFT_TLB_KERNEL_AC : SOFT_TLB_KERNEL;
}

/* Return true if the registers that control paging have not changed since the last derivation. */
static bool same_paging(const struct soft *c)
{
	return !((c->paging.cr0 ^ c->s.cr0) & CR0_PAGING) && c->paging.cr3 == c->s.cr3 &&
	       !((c->paging.cr4 ^ c->s.cr4) & CR4_PAGING) &&
	       !((c->paging.efer ^ c->s.efer) & EFER_PAGING);
}

void soft_derive(struct soft *c)
{
	bool same;
	uint32_t limit;
	uint64_t base;

	if (c->s.efer & X86_EFER_LME && c->s.cr0 & X86_CR0_PG)
		c->s.efer |= X86_EFER_LMA;
	else
		c->s.efer &= ~X86_EFER_LMA;
	same = same_paging(c);
	c->cpl = c->s.cr0 & X86_CR0_PE ? x86_segment_dpl(&c->s.ss) : 0;
	c->bits = soft_long_mode(c) && c->s.cs.ar & X86_AR_L ? 64
		  : c->s.cs.ar & X86_AR_DB		     ? 32
							     : 16;
	c->mode = code_mode(c) | fpu_mode(c);
	c->paging.cr0 = c->s.cr0;
	c->paging.cr3 = c->s.cr3;
	c->paging.cr4 = c->s.cr4;
	c->paging.efer = c->s.efer;
	c->paging.cpl = c->cpl;
	c->set = tlb_set(c);
	soft_choose_tlb(c);
	if (!same)
		soft_flush_tlb(c);
	base = c->bits == 64 ? 0 : c->s.cs.base;
	limit = c->bits == 64 ? ~0u : c->s.cs.limit;
	if (base != c->cs_base || limit != c->cs_limit) {
		c->cs_base = base;
		c->cs_limit = limit;
		soft_unlink(c);
	}
	/* A link is valid only in its own mode, and is valid again when that mode returns. */
	c->gen = (c->gen & ~(uint64_t)((1u << SOFT_BLOCK_MODE_BITS) - 1)) | c->mode;
}

int soft_get_sregs(struct engine_vcpu *ev, struct x86_sregs *sregs)
{
	*sregs = soft(ev)->s;
	return 0;
}

int soft_set_sregs(struct engine_vcpu *ev, const struct x86_sregs *sregs)
{
	struct soft *c = soft(ev);

	c->s = *sregs;
	soft_derive(c);
	return 0;
}

int soft_get_dr(struct engine_vcpu *ev, unsigned int n, uint64_t *value)
{
	*value = soft(ev)->dr[n & 7];
	return 0;
}

int soft_set_dr(struct engine_vcpu *ev, unsigned int n, uint64_t value)
{
	soft(ev)->dr[n & 7] = value;
	return 0;
}

void soft_clock(struct engine_vcpu *ev, struct vpt_clock *now, uint64_t *tsc)
{
	*now = engine_time_clock(&ev->time, ev->retired);
	*tsc = now->tsc + ev->time.offset;
}
