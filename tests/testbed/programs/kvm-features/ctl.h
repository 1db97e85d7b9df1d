/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of IA32_RTIT_CTL, less TraceEn and what chooses the output. */
#ifndef BED_KVM_FEATURES_CTL_H
#define BED_KVM_FEATURES_CTL_H

#include "vpt/msr.h"

#define CTL_BRANCHES \
	(VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(DIS_RETC))
#define CTL_TIMED (CTL_BRANCHES | VPT_CTL_MASK(TSC_EN))

#endif /* BED_KVM_FEATURES_CTL_H */
