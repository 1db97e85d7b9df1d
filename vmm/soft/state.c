// SPDX-License-Identifier: GPL-2.0-or-later
/* System state, and what follows from it for decoding and for memory. */
#include "soft/state.h"

static uint32_t fpu_mode(const struct vpt_soft *c)
{
	uint64_t cr4 = c->s.cr4, xcr0 = c->fpu.xcr0;
	uint32_t mode = 0;

	if (c->s.cr0 & (VPT_CR0_EM | VPT_CR0_TS))
		mode |= VPT_BLOCK_NO_FPU;
	if (!(cr4 & VPT_CR4_OSFXSR))
		mode |= VPT_BLOCK_NO_SSE;
	if (!(cr4 & VPT_CR4_OSXSAVE) || (xcr0 & 6) != 6)
		mode |= VPT_BLOCK_NO_AVX;
	if (!(cr4 & VPT_CR4_OSXSAVE) || (xcr0 & 0xe6) != 0xe6)
		mode |= VPT_BLOCK_NO_AVX512;
	return mode;
}

static uint32_t code_mode(const struct vpt_soft *c)
{
	uint32_t mode = c->bits == 64	? VPT_BLOCK_BITS64
			: c->bits == 32 ? VPT_BLOCK_BITS32
					: VPT_BLOCK_BITS16;

	if (c->cpl == 3)
		mode |= VPT_BLOCK_USER;
	if (c->bits != 64 && c->s.ss.db)
		mode |= VPT_BLOCK_STACK32;
	if (c->s.cr0 & VPT_CR0_PE && !(c->r[VPT_R_RFLAGS] & VPT_FL_VM))
		mode |= VPT_BLOCK_PROTECTED;
	return mode;
}

/* Is every access to be looked at? */
static bool looks_at_all(const struct vpt_soft *c)
{
	uint64_t dr7 = c->dr[7];
	unsigned int i;

	if (c->cpl == 3 && c->s.cr0 & VPT_CR0_AM && c->r[VPT_R_RFLAGS] & VPT_FL_AC)
		return true;
	for (i = 0; i < 4; i++)
		if (dr7 >> (2 * i) & 3 && dr7 >> (16 + 4 * i) & 1)
			return true;
	return false;
}

static enum vpt_tlb_set tlb_set(const struct vpt_soft *c)
{
	if (looks_at_all(c))
		return VPT_TLB_SLOW;
	if (c->cpl == 3)
		return VPT_TLB_USER;
	return c->r[VPT_R_RFLAGS] & VPT_FL_AC ? VPT_TLB_KERNEL_AC : VPT_TLB_KERNEL;
}

/* Does translation work as it did? */
static bool same_paging(const struct vpt_soft *c)
{
	return c->paging.cr0 == c->s.cr0 && c->paging.cr3 == c->s.cr3 &&
	       c->paging.cr4 == c->s.cr4 && c->paging.efer == c->s.efer;
}

void vpt_soft_derive(struct vpt_soft *c)
{
	bool same = same_paging(c);
	uint32_t limit;
	uint64_t base;

	if (c->s.efer & VPT_EFER_LME && c->s.cr0 & VPT_CR0_PG)
		c->s.efer |= VPT_EFER_LMA;
	else
		c->s.efer &= ~VPT_EFER_LMA;
	c->long_mode = c->s.efer & VPT_EFER_LMA;
	c->cpl = c->s.cr0 & VPT_CR0_PE ? c->s.ss.dpl & 3 : 0;
	c->bits = c->long_mode && c->s.cs.l ? 64 : c->s.cs.db ? 32 : 16;
	c->mode = code_mode(c) | fpu_mode(c);
	c->paging.cr0 = c->s.cr0;
	c->paging.cr3 = c->s.cr3;
	c->paging.cr4 = c->s.cr4;
	c->paging.efer = c->s.efer;
	c->paging.cpl = c->cpl;
	c->tlb = c->tlbs[tlb_set(c)];
	if (!same)
		vpt_soft_flush_tlb(c);
	base = c->bits == 64 ? 0 : c->s.cs.base;
	limit = c->bits == 64 ? ~0u : c->s.cs.limit;
	if (base != c->cs_base || limit != c->cs_limit) {
		c->cs_base = base;
		c->cs_limit = limit;
		vpt_soft_unlink(c);
	}
	/* Links of each mode stand beside those of the others. */
	c->gen = (c->gen & ~(uint64_t)((1u << VPT_BLOCK_MODE_BITS) - 1)) | c->mode;
}

int vpt_soft_get_sregs(struct vpt_engine_vcpu *ev, struct vpt_sregs *sregs)
{
	*sregs = vpt_soft(ev)->s;
	return 0;
}

int vpt_soft_set_sregs(struct vpt_engine_vcpu *ev, const struct vpt_sregs *sregs)
{
	struct vpt_soft *c = vpt_soft(ev);

	c->s = *sregs;
	vpt_soft_derive(c);
	return 0;
}

int vpt_soft_get_dr(struct vpt_engine_vcpu *ev, unsigned int n, uint64_t *value)
{
	*value = vpt_soft(ev)->dr[n & 7];
	return 0;
}

int vpt_soft_set_dr(struct vpt_engine_vcpu *ev, unsigned int n, uint64_t value)
{
	vpt_soft(ev)->dr[n & 7] = value;
	return 0;
}

void vpt_soft_clock(struct vpt_engine_vcpu *ev, struct vpt_clock *now, uint64_t *tsc)
{
	*now = vpt_time_clock(&ev->time, ev->retired);
	*tsc = now->tsc + ev->time.offset;
}
