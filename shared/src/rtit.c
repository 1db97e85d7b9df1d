/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The IA32_RTIT_* registers. The tables of spec/ have each field; all other bits are reserved, and
 * a write that sets one raises #GP.
 */
#include "vpt/rtit.h"

/* The capability that a field requires: the `needs` column of the field tables. */
enum vpti_need {
#define VPT_CPUID(cap, reg, bit, tag, section, meaning) VPTI_NEED_##cap = VPT_CAP_##cap,
#include "../spec/cpuid.def"
#undef VPT_CPUID
	VPTI_NEED_RANGE0 = VPT_CAP_COUNT,
	VPTI_NEED_RANGE1,
	VPTI_NEED_RANGE2,
	VPTI_NEED_RANGE3,
	VPTI_NEED_ALWAYS,
};

struct vpti_field {
	uint64_t mask;
	enum vpti_need need;
};

static const struct vpti_field vpti_ctl_fields[] = {
#define VPT_CTL(name, lo, width, needs, tag, section, meaning) \
	{VPT_CTL_MASK(name), VPTI_NEED_##needs},
#include "../spec/rtit_ctl.def"
};

static const struct vpti_field vpti_status_fields[] = {
#define VPT_STATUS(name, lo, width, access, needs, tag, section, meaning) \
	{VPT_STATUS_MASK(name), VPTI_NEED_##needs},
#include "../spec/rtit_status.def"
#undef VPT_STATUS
};

/* [STATUS-RO] what only the processor changes */
#define VPTI_READ_ONLY_RO(mask) (mask)
#define VPTI_READ_ONLY_RW(mask) 0
static const uint64_t vpti_status_read_only = 0
#define VPT_STATUS(name, lo, width, access, needs, tag, section, meaning) \
	| VPTI_READ_ONLY_##access(VPT_STATUS_MASK(name))
#include "../spec/rtit_status.def"
#undef VPT_STATUS
	;

/* CR3_MATCH and OUTPUT_BASE (33.2.8.6, table 33-8): low bits that must be 0. */
#define VPTI_CR3_MATCH_RESERVED	  0x1full
#define VPTI_OUTPUT_BASE_RESERVED 0x7full

static bool vpti_need_met(const struct vpt_caps *caps, enum vpti_need need)
{
	if (need == VPTI_NEED_ALWAYS)
		return true;
	if (need >= VPTI_NEED_RANGE0)
		return vpt_caps_ranges(caps) > (unsigned int)need - VPTI_NEED_RANGE0;
	return vpt_caps_has(caps, (enum vpt_cap)need);
}

static uint64_t vpti_defined_bits(const struct vpt_caps *caps, const struct vpti_field *fields,
				  size_t count)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (vpti_need_met(caps, fields[i].need))
			mask |= fields[i].mask;
	}
	return mask;
}

uint64_t vpt_rtit_ctl_mask(const struct vpt_caps *caps)
{
	return vpti_defined_bits(caps, vpti_ctl_fields,
				 sizeof(vpti_ctl_fields) / sizeof(vpti_ctl_fields[0]));
}

uint64_t vpt_rtit_status_mask(const struct vpt_caps *caps)
{
	return vpti_defined_bits(caps, vpti_status_fields,
				 sizeof(vpti_status_fields) / sizeof(vpti_status_fields[0]));
}

void vpt_rtit_reset(struct vpt_rtit *rtit)
{
	/* [MSR-COLD-RESET] */
	vpt_memset(rtit, 0, sizeof(*rtit));
	rtit->output_mask_ptrs = VPT_MASK_PTRS_LOW;
}

void vpt_rtit_warm_reset(struct vpt_rtit *rtit, const struct vpt_caps *caps)
{
	/* [MSR-WARM-RESET] */
	if (!vpt_caps_has(caps, VPT_CAP_IP_FILTER)) {
		vpt_rtit_reset(rtit);
		return;
	}
	/*
	 * [MSR-WARM-KEEP] TriggerEn is the only STATUS bit that follows from
	 * TraceEn: ContextEn and FilterEn do not move without it (33.2.6).
	 */
	rtit->ctl &= ~VPT_CTL_MASK(TRACE_EN);
	rtit->status &= ~VPT_STATUS_MASK(TRIGGER_EN);
}

/* [MSR-ABSENT] a processor without PT has a leaf 14H of zeroes */
static bool vpti_pt_absent(const struct vpt_caps *caps)
{
	return !caps->l14_0_ebx && !caps->l14_0_ecx;
}

/* Index of an ADDRn_A or ADDRn_B in vpt_rtit.addr; other MSRs give large ones. */
static uint32_t vpti_addr_index(uint32_t msr)
{
	return msr - VPT_MSR_ADDR0_A;
}

bool vpt_rtit_exists(const struct vpt_caps *caps, uint32_t msr)
{
	if (vpti_pt_absent(caps))
		return false;

	switch (msr) {
	case VPT_MSR_CTL:
	case VPT_MSR_STATUS:
		return true;
	case VPT_MSR_OUTPUT_BASE:
	case VPT_MSR_OUTPUT_MASK_PTRS:
		/* [MSR-OUTPUT-EXISTS] */
		return vpt_caps_has(caps, VPT_CAP_TOPA) || vpt_caps_has(caps, VPT_CAP_SINGLE_RANGE);
	case VPT_MSR_CR3_MATCH:
		/* [MSR-CR3-EXISTS] */
		return vpt_caps_has(caps, VPT_CAP_CR3_FILTER);
	default:
		/* [MSR-ADDR-EXISTS] [MSR-UNLISTED] */
		return vpti_addr_index(msr) < 2 * vpt_caps_ranges(caps);
	}
}

/* [CTL-ENCODING] */
static bool vpti_ctl_encodings_ok(const struct vpt_caps *caps, uint64_t ctl)
{
	return vpt_caps_mtc_freq_ok(caps, (unsigned int)VPT_CTL_GET(ctl, MTC_FREQ)) &&
	       vpt_caps_cyc_thresh_ok(caps, (unsigned int)VPT_CTL_GET(ctl, CYC_THRESH)) &&
	       vpt_caps_psb_freq_ok(caps, (unsigned int)VPT_CTL_GET(ctl, PSB_FREQ));
}

/* [CTL-ADDRCFG-RESERVED] */
static bool vpti_addr_cfgs_ok(uint64_t ctl)
{
	return VPT_CTL_GET(ctl, ADDR0_CFG) <= VPT_ADDR_STOP &&
	       VPT_CTL_GET(ctl, ADDR1_CFG) <= VPT_ADDR_STOP &&
	       VPT_CTL_GET(ctl, ADDR2_CFG) <= VPT_ADDR_STOP &&
	       VPT_CTL_GET(ctl, ADDR3_CFG) <= VPT_ADDR_STOP;
}

/* [CTL-NO-OUTPUT] Only a write that sets TraceEn needs an output. */
static bool vpti_output_ok(const struct vpt_caps *caps, uint64_t ctl)
{
	const uint64_t other = VPT_CTL_MASK(TOPA) | VPT_CTL_MASK(FABRIC_EN);

	return !(ctl & VPT_CTL_MASK(TRACE_EN)) || (ctl & other) ||
	       vpt_caps_has(caps, VPT_CAP_SINGLE_RANGE);
}

bool vpt_rtit_ctl_ok(const struct vpt_caps *caps, uint64_t ctl)
{
	bool ok = !(ctl & ~vpt_rtit_ctl_mask(caps));

#define VPT_CTL_RULE(holds, tag, section, rule) ok = ok && (holds);
#include "../spec/rtit_ctl.def"
	return ok;
}

/* Bits 63..n; none where there is no bit n. */
static uint64_t vpti_bits_from(unsigned int n)
{
	return n < 64 ? ~(uint64_t)0 << n : 0;
}

/* [MSR-BASE-LOW] [MSR-BASE-WIDTH] */
static bool vpti_output_base_ok(const struct vpt_caps *caps, uint64_t base)
{
	return !(base & (VPTI_OUTPUT_BASE_RESERVED | vpti_bits_from(caps->max_phy_addr)));
}

/* [MSR-ADDR-CANONICAL] */
static bool core_canonical(const struct vpt_caps *caps, uint64_t addr)
{
	const uint64_t top = vpti_bits_from(caps->lin_addr - 1u);

	return (addr & top) == 0 || (addr & top) == top;
}

/* [MSR-RESERVED] Is this a value the register can take, whoever writes it? */
static bool vpti_value_ok(const struct vpt_caps *caps, uint32_t msr, uint64_t value)
{
	switch (msr) {
	case VPT_MSR_CTL:
		return vpt_rtit_ctl_ok(caps, value);
	case VPT_MSR_STATUS:
		return !(value & ~vpt_rtit_status_mask(caps));
	case VPT_MSR_OUTPUT_BASE:
		return vpti_output_base_ok(caps, value);
	case VPT_MSR_OUTPUT_MASK_PTRS:
		return true;
	case VPT_MSR_CR3_MATCH:
		/* [MSR-CR3-LOW] */
		return !(value & VPTI_CR3_MATCH_RESERVED);
	default:
		return core_canonical(caps, value);
	}
}

/* [MSR-TRACEEN-LOCK] Does tracing keep a guest from writing this? */
static bool vpti_locked(const struct vpt_rtit *rtit, uint32_t msr, uint64_t value)
{
	if (!(rtit->ctl & VPT_CTL_MASK(TRACE_EN)))
		return false;
	if (msr != VPT_MSR_CTL)
		return true;
	/* [CTL-SAME-VALUE] [CTL-DISABLE-CHANGE] */
	return value != rtit->ctl && (value & VPT_CTL_MASK(TRACE_EN));
}

static uint64_t vpti_new_status(uint64_t old, uint64_t value, enum vpt_access who)
{
	const uint64_t kept = who == VPT_ACCESS_GUEST ? vpti_status_read_only : 0;

	return (value & ~kept) | (old & kept);
}

static void vpti_store(struct vpt_rtit *rtit, uint32_t msr, uint64_t value, enum vpt_access who)
{
	switch (msr) {
	case VPT_MSR_CTL:
		rtit->ctl = value;
		break;
	case VPT_MSR_STATUS:
		rtit->status = vpti_new_status(rtit->status, value, who);
		break;
	case VPT_MSR_OUTPUT_BASE:
		rtit->output_base = value;
		break;
	case VPT_MSR_OUTPUT_MASK_PTRS:
		/* [MSR-MASK-LOW] */
		rtit->output_mask_ptrs = value | VPT_MASK_PTRS_LOW;
		break;
	case VPT_MSR_CR3_MATCH:
		rtit->cr3_match = value;
		break;
	default:
		rtit->addr[vpti_addr_index(msr)] = value;
		break;
	}
}

enum vpt_fault vpt_rtit_read(const struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr,
			     uint64_t *value)
{
	if (!vpt_rtit_exists(caps, msr))
		return VPT_FAULT_GP;

	switch (msr) {
	case VPT_MSR_CTL:
		*value = rtit->ctl;
		break;
	case VPT_MSR_STATUS:
		*value = rtit->status;
		break;
	case VPT_MSR_OUTPUT_BASE:
		*value = rtit->output_base;
		break;
	case VPT_MSR_OUTPUT_MASK_PTRS:
		*value = rtit->output_mask_ptrs;
		break;
	case VPT_MSR_CR3_MATCH:
		*value = rtit->cr3_match;
		break;
	default:
		*value = rtit->addr[vpti_addr_index(msr)];
		break;
	}
	return VPT_FAULT_NONE;
}

enum vpt_fault vpt_rtit_write(struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr,
			      uint64_t value, enum vpt_access who)
{
	if (!vpt_rtit_exists(caps, msr) || !vpti_value_ok(caps, msr, value))
		return VPT_FAULT_GP;
	if (who == VPT_ACCESS_GUEST && vpti_locked(rtit, msr, value))
		return VPT_FAULT_GP;

	/* [MSR-ATOMIC] nothing was touched before this */
	vpti_store(rtit, msr, value, who);
	return VPT_FAULT_NONE;
}
