/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Capability models: the PT of a processor, as its CPUID leaves enumerate it.
 *
 * A set consists of the raw leaves. A VMM can give the same words to the CPUID of the guest and to
 * the model, so that the two agree.
 */
#ifndef VPT_CAPS_H
#define VPT_CAPS_H

#include "base.h"

VPT_BEGIN_DECLS

enum vpt_cap {
#define VPT_CPUID(cap, reg, bit, tag, section, meaning) VPT_CAP_##cap,
#include "../../spec/cpuid.def"
#undef VPT_CPUID
	VPT_CAP_COUNT
};

/* The number of address ranges in the MSR map (580H-587H). */
#define VPT_MAX_RANGES 4

struct vpt_caps {
	uint32_t l14_0_eax; /* CPUID.14H.0: highest sub-leaf */
	uint32_t l14_0_ebx;
	uint32_t l14_0_ecx;
	uint32_t l14_1_eax;   /* CPUID.14H.1: ranges [2:0], MTC periods [31:16] */
	uint32_t l14_1_ebx;   /* cycle thresholds [15:0], PSB periods [31:16] */
	uint32_t l15_eax;     /* CPUID.15H: crystal ratio denominator, 0: none */
	uint32_t l15_ebx;     /* numerator */
	uint32_t l15_ecx;     /* crystal clock in Hz */
	uint32_t signature;   /* CPUID.1.EAX: family, model, stepping */
	uint8_t max_phy_addr; /* physical address bits, 32..52 */
	uint8_t lin_addr;     /* linear address bits, 48 or 57 */
	uint8_t max_nonturbo; /* MSR_PLATFORM_INFO[15:8]: P1 in bus clocks */
	uint8_t vmx_pt;	      /* IA32_VMX_MISC[14]: TraceEn is allowed in VMX */
};

/* Returns true if a capability is enumerated. `cap` is below VPT_CAP_COUNT. */
bool vpt_caps_has(const struct vpt_caps *caps, enum vpt_cap cap);

/* Returns the number of ADDRn ranges, 0..VPT_MAX_RANGES. It is 0 without IP filtering. */
unsigned int vpt_caps_ranges(const struct vpt_caps *caps);

/* Returns true if the field may have this encoding, 0..15. Zero is always legal. */
bool vpt_caps_mtc_freq_ok(const struct vpt_caps *caps, unsigned int enc);
bool vpt_caps_cyc_thresh_ok(const struct vpt_caps *caps, unsigned int enc);
bool vpt_caps_psb_freq_ok(const struct vpt_caps *caps, unsigned int enc);

/*
 * Check that a set is consistent. Returns VPT_OK or VPT_E_CAPS. On VPT_E_CAPS *why (if not NULL) is
 * a few static words about the rule that the set breaks.
 */
enum vpt_status vpt_caps_check(const struct vpt_caps *caps, const char **why) VPT_MUST_CHECK;

/*
 * Returns the built-in model "bdw", "skl", "icx" or "spr", or NULL if there is no such model. The
 * tables are constant.
 */
const struct vpt_caps *vpt_caps_model(const char *name);

/* Returns the name of the i-th built-in model, or NULL past the last. */
const char *vpt_caps_model_name(unsigned int i);

struct vpt_cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

/*
 * Answer a CPUID leaf that PT affects. The caller passes the registers that it would have returned.
 * The function changes the parts of PT: leaf 7.0 EBX[25], and leaves 14H and 15H whole. `present`
 * false hides PT: EBX[25] is clear and leaf 14H is zero. Other leaves are left alone. Returns true
 * if PT affects the leaf.
 */
bool vpt_caps_cpuid(const struct vpt_caps *caps, bool present, uint32_t leaf, uint32_t subleaf,
		    struct vpt_cpuid_regs *regs);

VPT_END_DECLS

#endif /* VPT_CAPS_H */
