/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Capability sets: what they enumerate, whether they make sense, how CPUID shows them. */
#include "vpt/caps.h"

#include "text.h"

#define VPTI_LEAF_FEATURES 0x07u
#define VPTI_LEAF_PT	   0x14u
#define VPTI_LEAF_TSC	   0x15u
#define VPTI_FEATURE_PT	   (1u << 25)

/* CPUID.14H.1 (table 33-12). */
#define VPTI_RANGES_MASK     0x7u
#define VPTI_RANGES_RESERVED 0xfff8u
#define VPTI_MTC_MAP_SHIFT   16
#define VPTI_CYC_MAP_SHIFT   0
#define VPTI_PSB_MAP_SHIFT   16
#define VPTI_MAP_MASK	     0xffffu

static const struct {
	const char *name;
	struct vpt_caps caps;
} vpti_models[] = {
	{"bdw",
	 {
		 .l14_0_eax = 0,
		 .l14_0_ebx = 0x1,
		 .l14_0_ecx = 0x1,
		 .l14_1_eax = 0,
		 .l14_1_ebx = 0,
		 .l15_eax = 0,
		 .l15_ebx = 0,
		 .l15_ecx = 0,
		 .signature = 0x306d4,
		 .max_phy_addr = 39,
		 .lin_addr = 48,
		 .max_nonturbo = 24,
		 .vmx_pt = 0,
	 }},
	/* Leaf 15H as it reads once the crystal, which the part leaves at 0, is filled in. */
	{"skl",
	 {
		 .l14_0_eax = 1,
		 .l14_0_ebx = 0xf,
		 .l14_0_ecx = 0x7,
		 .l14_1_eax = 0x02490002,
		 .l14_1_ebx = 0x003f3fff,
		 .l15_eax = 2,
		 .l15_ebx = 284,
		 .l15_ecx = 24000000,
		 .signature = 0x506e3,
		 .max_phy_addr = 39,
		 .lin_addr = 48,
		 .max_nonturbo = 34,
		 .vmx_pt = 1,
	 }},
	/*
	 * These two have five-level paging. A write to ADDRn is checked against the width that
	 * the processor has, whatever CR4.LA57 is.
	 */
	{"icx",
	 {
		 .l14_0_eax = 1,
		 .l14_0_ebx = 0xf,
		 .l14_0_ecx = 0x7,
		 .l14_1_eax = 0x02490002,
		 .l14_1_ebx = 0x003f1fff,
		 .l15_eax = 2,
		 .l15_ebx = 208,
		 .l15_ecx = 25000000,
		 .signature = 0x606a6,
		 .max_phy_addr = 52,
		 .lin_addr = 57,
		 .max_nonturbo = 26,
		 .vmx_pt = 1,
	 }},
	{"spr",
	 {
		 .l14_0_eax = 1,
		 .l14_0_ebx = 0x1df,
		 .l14_0_ecx = 0x7,
		 .l14_1_eax = 0x02490002,
		 .l14_1_ebx = 0x003f003f,
		 .l15_eax = 2,
		 .l15_ebx = 160,
		 .l15_ecx = 25000000,
		 .signature = 0x806f8,
		 .max_phy_addr = 52,
		 .lin_addr = 57,
		 .max_nonturbo = 20,
		 .vmx_pt = 1,
	 }},
};

#define VPTI_MODEL_COUNT (sizeof(vpti_models) / sizeof(vpti_models[0]))

bool vpt_caps_has(const struct vpt_caps *caps, enum vpt_cap cap)
{
	switch (cap) {
#define VPT_CPUID(name, reg, bit, tag, section, meaning) \
	case VPT_CAP_##name:                             \
		return caps->reg >> (bit)&1;
#include "../spec/cpuid.def"
#undef VPT_CPUID
	case VPT_CAP_COUNT:
		break;
	}
	return false;
}

unsigned int vpt_caps_ranges(const struct vpt_caps *caps)
{
	unsigned int ranges = caps->l14_1_eax & VPTI_RANGES_MASK;

	if (!vpt_caps_has(caps, VPT_CAP_IP_FILTER))
		return 0;
	/* [CAPS-RANGES-MAX] the count has room for more than there are MSRs */
	return ranges < VPT_MAX_RANGES ? ranges : VPT_MAX_RANGES;
}

/*
 * One bit per encoding in a half of a sub-leaf 1 register.
 * [CAPS-ZERO-ENCODING] All fields are 0 after reset, so 0 is legal in any map.
 */
static bool vpti_encoding_ok(uint32_t map, unsigned int enc)
{
	return enc == 0 || (enc < 16 && (map >> enc & 1));
}

bool vpt_caps_mtc_freq_ok(const struct vpt_caps *caps, unsigned int enc)
{
	uint32_t map = caps->l14_1_eax >> VPTI_MTC_MAP_SHIFT & VPTI_MAP_MASK;

	return vpti_encoding_ok(vpt_caps_has(caps, VPT_CAP_MTC) ? map : 0, enc);
}

bool vpt_caps_cyc_thresh_ok(const struct vpt_caps *caps, unsigned int enc)
{
	uint32_t map = caps->l14_1_ebx >> VPTI_CYC_MAP_SHIFT & VPTI_MAP_MASK;

	return vpti_encoding_ok(vpt_caps_has(caps, VPT_CAP_PSB_CYC) ? map : 0, enc);
}

bool vpt_caps_psb_freq_ok(const struct vpt_caps *caps, unsigned int enc)
{
	uint32_t map = caps->l14_1_ebx >> VPTI_PSB_MAP_SHIFT & VPTI_MAP_MASK;

	return vpti_encoding_ok(vpt_caps_has(caps, VPT_CAP_PSB_CYC) ? map : 0, enc);
}

/* A set with every capability that spec/cpuid.def knows, and nothing else. */
static struct vpt_caps vpti_caps_known(void)
{
	struct vpt_caps known;

	vpt_memset(&known, 0, sizeof(known));
#define VPT_CPUID(name, reg, bit, tag, section, meaning) known.reg |= 1u << (bit);
#include "../spec/cpuid.def"
#undef VPT_CPUID
	return known;
}

/* The checks return what is wrong, or NULL. */
static const char *vpti_check_leaf_14_0(const struct vpt_caps *caps)
{
	const struct vpt_caps known = vpti_caps_known();

	/* [CAPS-SUBLEAF] */
	if (caps->l14_0_eax > 1)
		return "CPUID.14H.0:EAX promises sub-leaves above 1";
	/* [CAPS-EBX-RESERVED] */
	if (caps->l14_0_ebx & ~known.l14_0_ebx)
		return "CPUID.14H.0:EBX sets a reserved bit";
	/* [CAPS-ECX-RESERVED] */
	if (caps->l14_0_ecx & ~known.l14_0_ecx)
		return "CPUID.14H.0:ECX sets a reserved bit";
	/* [CAPS-OUTPUT] */
	if (!vpt_caps_has(caps, VPT_CAP_TOPA) && !vpt_caps_has(caps, VPT_CAP_SINGLE_RANGE) &&
	    !vpt_caps_has(caps, VPT_CAP_FABRIC))
		return "no output scheme is enumerated";
	/* [CAPS-MENTRY-TOPA] */
	if (vpt_caps_has(caps, VPT_CAP_TOPA_MULTI) && !vpt_caps_has(caps, VPT_CAP_TOPA))
		return "multiple ToPA entries without ToPA";
	return NULL;
}

/* [CAPS-ZERO-ENCODING] A map that enumerates anything enumerates encoding 0. */
static const char *vpti_check_maps(const struct vpt_caps *caps)
{
	uint32_t mtc_map = caps->l14_1_eax >> VPTI_MTC_MAP_SHIFT & VPTI_MAP_MASK;
	uint32_t cyc_map = caps->l14_1_ebx >> VPTI_CYC_MAP_SHIFT & VPTI_MAP_MASK;
	uint32_t psb_map = caps->l14_1_ebx >> VPTI_PSB_MAP_SHIFT & VPTI_MAP_MASK;

	if (mtc_map && !(mtc_map & 1))
		return "MTC periods lack encoding 0, which reset leaves in MTCFreq";
	if (cyc_map && !(cyc_map & 1))
		return "cycle thresholds lack encoding 0, which reset leaves in CycThresh";
	if (psb_map && !(psb_map & 1))
		return "PSB frequencies lack encoding 0, which reset leaves in PSBFreq";
	return NULL;
}

static const char *vpti_check_leaf_14_1(const struct vpt_caps *caps)
{
	uint32_t ranges = caps->l14_1_eax & VPTI_RANGES_MASK;
	bool mtc_map = caps->l14_1_eax >> VPTI_MTC_MAP_SHIFT & VPTI_MAP_MASK;
	bool cyc_map = caps->l14_1_ebx >> VPTI_CYC_MAP_SHIFT & VPTI_MAP_MASK;
	bool psb_map = caps->l14_1_ebx >> VPTI_PSB_MAP_SHIFT & VPTI_MAP_MASK;

	/* [CAPS-SUBLEAF1] */
	if (caps->l14_0_eax < 1 && (caps->l14_1_eax || caps->l14_1_ebx))
		return "CPUID.14H.1 is used but CPUID.14H.0:EAX says it is not there";
	/* [CAPS-EAX1-RESERVED] */
	if (caps->l14_1_eax & VPTI_RANGES_RESERVED)
		return "CPUID.14H.1:EAX sets a reserved bit";
	/* [CAPS-RANGES-MAX] */
	if (ranges > VPT_MAX_RANGES)
		return "more address ranges than there are MSRs for";
	/* [CAPS-RANGES-IPFILTER] */
	if (vpt_caps_has(caps, VPT_CAP_IP_FILTER) != (ranges > 0))
		return "address ranges and IP filtering need each other";
	/* [CAPS-MTC-MAP] */
	if (vpt_caps_has(caps, VPT_CAP_MTC) != mtc_map)
		return "MTC periods and MTC need each other";
	/* [CAPS-CYC-MAP] */
	if (vpt_caps_has(caps, VPT_CAP_PSB_CYC) != cyc_map)
		return "cycle thresholds and cycle-accurate mode need each other";
	/* [CAPS-PSB-MAP] */
	if (vpt_caps_has(caps, VPT_CAP_PSB_CYC) != psb_map)
		return "PSB frequencies and configurable PSB need each other";
	return vpti_check_maps(caps);
}

static const char *vpti_check_processor(const struct vpt_caps *caps)
{
	/* [CAPS-RATIO] */
	if (!caps->l15_eax != !caps->l15_ebx)
		return "CPUID.15H has one half of the crystal ratio";
	/* [CAPS-MTC-RATIO] */
	if (vpt_caps_has(caps, VPT_CAP_MTC) && !caps->l15_eax)
		return "MTC packets without a crystal ratio in CPUID.15H";
	/* [CAPS-CRYSTAL] */
	if (caps->l15_eax && caps->l15_ebx <= caps->l15_eax)
		return "CPUID.15H has a crystal no slower than the TSC";
	/* [CAPS-MAXPHYADDR] */
	if (caps->max_phy_addr < 32 || caps->max_phy_addr > 52)
		return "physical address width is not 32 to 52 bits";
	/* [CAPS-LINADDR] */
	if (caps->lin_addr != 48 && caps->lin_addr != 57)
		return "linear address width is neither 48 nor 57 bits";
	/* [CAPS-VMX] */
	if (caps->vmx_pt > 1)
		return "IA32_VMX_MISC[14] is a single bit";
	return NULL;
}

enum vpt_status vpt_caps_check(const struct vpt_caps *caps, const char **why)
{
	const char *wrong = vpti_check_leaf_14_0(caps);

	if (!wrong)
		wrong = vpti_check_leaf_14_1(caps);
	if (!wrong)
		wrong = vpti_check_processor(caps);
	if (!wrong)
		return VPT_OK;
	if (why)
		*why = wrong;
	return VPT_E_CAPS;
}

const struct vpt_caps *vpt_caps_model(const char *name)
{
	size_t i;

	for (i = 0; i < VPTI_MODEL_COUNT; i++) {
		if (vpti_same_text(vpti_models[i].name, name))
			return &vpti_models[i].caps;
	}
	return NULL;
}

const char *vpt_caps_model_name(unsigned int i)
{
	return i < VPTI_MODEL_COUNT ? vpti_models[i].name : NULL;
}

static struct vpt_cpuid_regs vpti_cpuid_leaf_14(const struct vpt_caps *caps, uint32_t subleaf)
{
	struct vpt_cpuid_regs regs = {0, 0, 0, 0};

	if (subleaf == 0) {
		regs.eax = caps->l14_0_eax;
		regs.ebx = caps->l14_0_ebx;
		regs.ecx = caps->l14_0_ecx;
	} else if (subleaf == 1) {
		regs.eax = caps->l14_1_eax;
		regs.ebx = caps->l14_1_ebx;
	}
	return regs;
}

bool vpt_caps_cpuid(const struct vpt_caps *caps, bool present, uint32_t leaf, uint32_t subleaf,
		    struct vpt_cpuid_regs *regs)
{
	const struct vpt_cpuid_regs none = {0, 0, 0, 0};
	const struct vpt_cpuid_regs ratio = {caps->l15_eax, caps->l15_ebx, caps->l15_ecx, 0};

	switch (leaf) {
	case VPTI_LEAF_FEATURES:
		if (subleaf != 0)
			return false;
		/* [CAPS-FEATURE] */
		regs->ebx &= ~VPTI_FEATURE_PT;
		regs->ebx |= present ? VPTI_FEATURE_PT : 0;
		return true;
	case VPTI_LEAF_PT:
		/* [CAPS-LEAF14] */
		*regs = present ? vpti_cpuid_leaf_14(caps, subleaf) : none;
		return true;
	case VPTI_LEAF_TSC:
		/* [CAPS-LEAF15] the ratio is the TSC's: it does not go away with PT */
		*regs = ratio;
		return true;
	default:
		return false;
	}
}
