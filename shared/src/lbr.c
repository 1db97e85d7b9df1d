// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Processors that have either PT or last-branch records (33.3.1.2). */
#include "vpt/lbr.h"

#define MSR_LBR_SELECT	    0x1c8u
#define MSR_LASTBRANCH_TOS  0x1c9u
#define MSR_LER_FROM_LIP    0x1ddu
#define MSR_LER_TO_LIP	    0x1deu
#define MSR_LASTBRANCH_FROM 0x680u
#define MSR_LASTBRANCH_TO   0x6c0u
#define MSR_LBR_INFO	    0xdc0u

/* [LBR-MODELS] */
bool vpt_lbr_excluded(const struct vpt_caps *caps)
{
	static const uint8_t models[] = {0x3d, 0x47, 0x4e, 0x4f, 0x56, 0x5e};
	uint32_t family = caps->signature >> 8 & 15;
	uint32_t model = (caps->signature >> 12 & 0xf0) | (caps->signature >> 4 & 15);
	unsigned int i;

	if (family != 6)
		return false;
	for (i = 0; i < sizeof(models); i++) {
		if (models[i] == model)
			return true;
	}
	return false;
}

/* [LBR-SUSPEND] */
bool vpt_lbr_suspended(const struct vpt_caps *caps, const struct vpt_rtit *rtit)
{
	return (rtit->ctl & VPT_CTL_MASK(TRACE_EN)) && vpt_lbr_excluded(caps);
}

/* [LBR-MSRS] */
bool vpt_lbr_msr(uint32_t msr, unsigned int lbrs)
{
	switch (msr) {
	case MSR_LBR_SELECT:
	case MSR_LASTBRANCH_TOS:
	case MSR_LER_FROM_LIP:
	case MSR_LER_TO_LIP:
		return true;
	default:
		break;
	}
	/* Below the first of them the difference is large. */
	return msr - MSR_LASTBRANCH_FROM < lbrs || msr - MSR_LASTBRANCH_TO < lbrs ||
	       msr - MSR_LBR_INFO < lbrs;
}
