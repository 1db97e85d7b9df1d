/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The capabilities of PT that a guest may see on a host. */
#include "vpt/usage.h"

#define VPTI_MAP_HIGH  0xffff0000u
#define VPTI_MAP_SHIFT 16

enum vpti_cap_bit {
#define VPT_CPUID(cap, reg, bit, tag, section, meaning) VPT_CAP_BIT_##cap = (bit),
#include "../spec/cpuid.def"
#undef VPT_CPUID
};

static unsigned int vpti_least_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* A capability with a map is offered only if both maps have encoding 0: [CAPS-ZERO-ENCODING]. */
static bool vpti_has_zero(uint32_t map)
{
	return map & 1;
}

/* Sub-leaf 1, and without what it has to describe the capabilities that need it. */
static void vpti_cut_leaf_14_1(const struct vpt_caps *host, const struct vpt_caps *wish,
			       struct vpt_caps *guest)
{
	const uint32_t eax = host->l14_1_eax & wish->l14_1_eax;
	const uint32_t ebx = host->l14_1_ebx & wish->l14_1_ebx;
	const unsigned int ranges = vpti_least_of(vpt_caps_ranges(host), vpt_caps_ranges(wish));
	const bool there = host->l14_0_eax && wish->l14_0_eax;

	guest->l14_0_eax = there;
	if (!there || !ranges)
		guest->l14_0_ebx &= ~(1u << VPT_CAP_BIT_IP_FILTER);
	/* [CAPS-MTC-RATIO] */
	if (!there || !vpti_has_zero(eax >> VPTI_MAP_SHIFT) || !host->l15_eax)
		guest->l14_0_ebx &= ~(1u << VPT_CAP_BIT_MTC);
	if (!there || !vpti_has_zero(ebx >> VPTI_MAP_SHIFT) || !vpti_has_zero(ebx))
		guest->l14_0_ebx &= ~(1u << VPT_CAP_BIT_PSB_CYC);

	guest->l14_1_eax = vpt_caps_has(guest, VPT_CAP_IP_FILTER) ? ranges : 0;
	guest->l14_1_eax |= vpt_caps_has(guest, VPT_CAP_MTC) ? eax & VPTI_MAP_HIGH : 0;
	guest->l14_1_ebx = vpt_caps_has(guest, VPT_CAP_PSB_CYC) ? ebx : 0;
}

/* Capabilities that both have; those that spec/cpuid.def does not know, neither has. */
static void vpti_cut_leaf_14_0(const struct vpt_caps *host, const struct vpt_caps *wish,
			       struct vpt_caps *guest)
{
#define VPT_CPUID(cap, reg, bit, tag, section, meaning) guest->reg |= 1u << (bit);
#include "../spec/cpuid.def"
#undef VPT_CPUID
	guest->l14_0_ebx &= host->l14_0_ebx & wish->l14_0_ebx;
	guest->l14_0_ecx &= host->l14_0_ecx & (wish->l14_0_ecx | 1u << VPT_CAP_BIT_LIP);
	/* The transport is the platform's: whoever writes there is not told apart. */
	guest->l14_0_ecx &= ~(1u << VPT_CAP_BIT_FABRIC);
	if (!vpt_caps_has(guest, VPT_CAP_TOPA))
		guest->l14_0_ecx &= ~(1u << VPT_CAP_BIT_TOPA_MULTI);
}

enum vpt_status vpt_usage_guest_caps(const struct vpt_caps *host, const struct vpt_caps *wish,
				     struct vpt_caps *guest)
{
	struct vpt_caps cut;

	/* [VMX-GUEST-CAPS] */
	vpt_memset(&cut, 0, sizeof(cut));
	vpti_cut_leaf_14_0(host, wish, &cut);
	vpti_cut_leaf_14_1(host, wish, &cut);
	cut.l15_eax = host->l15_eax;
	cut.l15_ebx = host->l15_ebx;
	cut.l15_ecx = host->l15_ecx;
	cut.max_nonturbo = host->max_nonturbo;
	cut.signature = wish->signature;
	cut.max_phy_addr = (uint8_t)vpti_least_of(host->max_phy_addr, wish->max_phy_addr);
	cut.lin_addr = (uint8_t)vpti_least_of(host->lin_addr, wish->lin_addr);
	cut.vmx_pt = host->vmx_pt && wish->vmx_pt;
	if (vpt_caps_check(&cut, NULL) != VPT_OK)
		return VPT_E_CAPS;
	*guest = cut;
	return VPT_OK;
}
