// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver of PT: programs the registers, starts and stops traces. */
#include "drv.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"

#define CPUID_7_EBX_PT VPT_BIT64(25)
/* Larger than any buffer here: a position outside the tables ends the walk. */
#define BYTES_MAX (1ull << 30)

bool guest_drv_probe(struct guest_drv *drv)
{
	struct vpt_caps *caps = &drv->caps;
	struct cpuid_regs r;
	uint32_t leaves = cpuid(0, 0).eax;

	memset(drv, 0, sizeof(*drv));
	if (leaves < 0x14 || !(cpuid(7, 0).ebx & CPUID_7_EBX_PT))
		return false;
	r = cpuid(0x14, 0);
	caps->l14_0_eax = r.eax;
	caps->l14_0_ebx = r.ebx;
	caps->l14_0_ecx = r.ecx;
	if (caps->l14_0_eax >= 1) {
		r = cpuid(0x14, 1);
		caps->l14_1_eax = r.eax;
		caps->l14_1_ebx = r.ebx;
	}
	if (leaves >= 0x15) {
		r = cpuid(0x15, 0);
		caps->l15_eax = r.eax;
		caps->l15_ebx = r.ebx;
		caps->l15_ecx = r.ecx;
	}
	caps->signature = cpuid(1, 0).eax;
	r = cpuid(0x80000008, 0);
	caps->max_phy_addr = (uint8_t)r.eax;
	caps->lin_addr = (uint8_t)(r.eax >> 8);
	return true;
}

void guest_drv_output_topa(struct guest_drv *drv, const uint64_t *table)
{
	drv->output_base = (uintptr_t)table;
	drv->output_mask_ptrs = VPT_MASK_PTRS_LOW;
	drv->output_ctl = VPT_CTL_MASK(TOPA);
}

void guest_drv_output_single(struct guest_drv *drv, const void *base, uint64_t bytes)
{
	drv->output_base = (uintptr_t)base;
	drv->output_mask_ptrs = bytes - 1;
	drv->output_ctl = 0;
}

bool guest_drv_range(struct guest_drv *drv, unsigned int n, enum vpt_addr_cfg cfg,
		     const void *first, const void *last)
{
	unsigned int shift = VPT_CTL_ADDR0_CFG_SHIFT + 4 * n;

	if (n >= vpt_caps_ranges(&drv->caps))
		return false;
	drv->addr[2 * n] = (uintptr_t)first;
	drv->addr[2 * n + 1] = (uintptr_t)last;
	drv->filter_ctl &= ~((uint64_t)0xf << shift);
	drv->filter_ctl |= (uint64_t)cfg << shift;
	return true;
}

bool guest_drv_cr3(struct guest_drv *drv, uint64_t cr3)
{
	if (!vpt_caps_has(&drv->caps, VPT_CAP_CR3_FILTER))
		return false;
	drv->cr3_match = cr3;
	drv->filter_ctl |= VPT_CTL_MASK(CR3_FILTER);
	return true;
}

noinline bool guest_drv_resume(struct guest_drv *drv, uint64_t ctl)
{
	return wrmsr_safe(VPT_MSR_CTL,
			  VPT_CTL_MASK(TRACE_EN) | drv->output_ctl | drv->filter_ctl | ctl);
}

noinline bool guest_drv_start(struct guest_drv *drv, uint64_t ctl)
{
	bool ok = wrmsr_safe(VPT_MSR_STATUS, 0) &&
		  wrmsr_safe(VPT_MSR_OUTPUT_BASE, drv->output_base) &&
		  wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS, drv->output_mask_ptrs);
	unsigned int i;

	if (drv->filter_ctl & VPT_CTL_MASK(CR3_FILTER))
		ok = ok && wrmsr_safe(VPT_MSR_CR3_MATCH, drv->cr3_match);
	for (i = 0; i < 2 * vpt_caps_ranges(&drv->caps); i++)
		ok = ok && wrmsr_safe(VPT_MSR_ADDR0_A + i, drv->addr[i]);
	/* Write CTL last: with TraceEn set, the others cannot be written (33.3.2.1). */
	return ok && guest_drv_resume(drv, ctl);
}

noinline uint64_t guest_drv_stop(struct guest_drv *drv)
{
	/* Keep the other bits of CTL, as 33.2.8.2 requires for a clean stop. */
	wrmsr(VPT_MSR_CTL, rdmsr(VPT_MSR_CTL) & ~VPT_CTL_MASK(TRACE_EN));
	drv->status = rdmsr(VPT_MSR_STATUS);
	drv->end_base = rdmsr(VPT_MSR_OUTPUT_BASE);
	drv->end_mask_ptrs = rdmsr(VPT_MSR_OUTPUT_MASK_PTRS);
	return drv->status;
}

uint64_t guest_drv_bytes(const struct guest_drv *drv)
{
	uint64_t from = drv->output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
	uint64_t to = drv->end_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;

	if (drv->output_ctl & VPT_CTL_MASK(TOPA))
		return guest_topa_copy(guest_topa_pos(drv->output_base, drv->output_mask_ptrs),
				       guest_topa_pos(drv->end_base, drv->end_mask_ptrs), NULL,
				       BYTES_MAX);
	return (to - from) & (uint32_t)drv->output_mask_ptrs;
}
