/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Capability models: which PT a processor has, as its CPUID leaves tell it.
 *
 * A set is the raw leaves and nothing else, so a VMM can hand the same words
 * to the guest's CPUID and to the model, and the two cannot disagree.
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

/* The most address ranges the MSR map has room for (580H-587H). */
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

/* Is a capability enumerated? `cap` below VPT_CAP_COUNT. */
bool vpt_caps_has(const struct vpt_caps *caps, enum vpt_cap cap);

/* Number of ADDRn ranges, 0..VPT_MAX_RANGES; 0 without IP filtering. */
unsigned int vpt_caps_ranges(const struct vpt_caps *caps);

/* May the field hold this encoding? Encodings 0..15; zero is always legal. */
bool vpt_caps_mtc_freq_ok(const struct vpt_caps *caps, unsigned int enc);
bool vpt_caps_cyc_thresh_ok(const struct vpt_caps *caps, unsigned int enc);
bool vpt_caps_psb_freq_ok(const struct vpt_caps *caps, unsigned int enc);

/*
 * Does a set make sense as a whole? VPT_OK or VPT_E_CAPS; then *why (if not
 * NULL) says in a few static words which rule it breaks, for a message.
 */
enum vpt_status vpt_caps_check(const struct vpt_caps *caps, const char **why) VPT_MUST_CHECK;

/*
 * Built-in models, `name` being "bdw", "skl", "icx" or "spr". NULL when there is
 * no such model. The tables are constant and never change.
 */
const struct vpt_caps *vpt_caps_model(const char *name);

/* The i-th built-in model's name, NULL past the last. */
const char *vpt_caps_model_name(unsigned int i);

struct vpt_cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

/*
 * Answer a CPUID leaf that PT shapes. Takes the registers the VMM would have
 * returned and changes what PT owns: leaf 7.0 EBX[25], leaves 14H and 15H
 * whole. `present` false hides PT: EBX[25] clear, leaf 14H zero. Other leaves
 * are left alone. Returns true if the leaf is one that PT shapes.
 */
bool vpt_caps_cpuid(const struct vpt_caps *caps, bool present, uint32_t leaf, uint32_t subleaf,
		    struct vpt_cpuid_regs *regs);

VPT_END_DECLS

#endif /* VPT_CAPS_H */
