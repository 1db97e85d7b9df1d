/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Numbers and fields of the IA32_RTIT_* MSRs, made from spec/. VPT_MSR_<name> is a number.
 * VPT_CTL_<field> and VPT_STATUS_<field> have _SHIFT and _WIDTH, and VPT_CTL_MASK() and
 * VPT_STATUS_MASK() give the mask in place.
 */
#ifndef VPT_MSR_H
#define VPT_MSR_H

#include "base.h"

enum vpt_msr {
#define VPT_MSR(name, index, tag, section, meaning) VPT_MSR_##name = (index),
#include "../../spec/msrs.def"
#undef VPT_MSR
};

/* The block of MSR numbers that the architecture reserves for PT. */
#define VPT_MSR_FIRST 0x560u
#define VPT_MSR_LAST  0x59fu

enum vpt_rtit_shift {
#define VPT_CTL(name, lo, width, needs, tag, section, meaning) \
	VPT_CTL_##name##_SHIFT = (lo), VPT_CTL_##name##_WIDTH = (width),
#include "../../spec/rtit_ctl.def"
#define VPT_STATUS(name, lo, width, access, needs, tag, section, meaning) \
	VPT_STATUS_##name##_SHIFT = (lo), VPT_STATUS_##name##_WIDTH = (width),
#include "../../spec/rtit_status.def"
#undef VPT_STATUS
};

#define VPT_FIELD_MASK(reg, name)                                               \
	VPT_MASK64(VPT_##reg##_##name##_SHIFT + VPT_##reg##_##name##_WIDTH - 1, \
		   VPT_##reg##_##name##_SHIFT)
#define VPT_CTL_MASK(name)    VPT_FIELD_MASK(CTL, name)
#define VPT_STATUS_MASK(name) VPT_FIELD_MASK(STATUS, name)
/* The value of a field, moved down to bit 0. */
#define VPT_CTL_GET(ctl, name)	     (((ctl)&VPT_CTL_MASK(name)) >> VPT_CTL_##name##_SHIFT)
#define VPT_STATUS_GET(status, name) (((status)&VPT_STATUS_MASK(name)) >> VPT_STATUS_##name##_SHIFT)

/* Values of an ADDRn_CFG field (table 33-6). */
enum vpt_addr_cfg {
	VPT_ADDR_UNUSED = 0,
	VPT_ADDR_FILTER = 1,
	VPT_ADDR_STOP = 2,
};

/* OUTPUT_MASK_PTRS (table 33-9). */
#define VPT_MASK_PTRS_LOW	   0x7full
#define VPT_MASK_PTRS_TABLE_SHIFT  7
#define VPT_MASK_PTRS_OFFSET_SHIFT 32

#endif /* VPT_MSR_H */
