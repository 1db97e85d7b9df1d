/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Processors on which PT and last-branch records exclude one another (33.3.1.2): while
 * TraceEn is set LBR, LER, BTS and BTM stand still, their registers read as 0 and drop
 * writes; when it is cleared the LBR array is reset.
 */
#ifndef VPT_LBR_H
#define VPT_LBR_H

#include "rtit.h"

VPT_BEGIN_DECLS

/* Is it such a processor, by family and model? */
bool vpt_lbr_excluded(const struct vpt_caps *caps);

/* Are LBRs suspended now? */
bool vpt_lbr_suspended(const struct vpt_caps *caps, const struct vpt_rtit *rtit);

/* Is this MSR one of those that then read as 0? `lbrs`: entries of the model's LBR stack. */
bool vpt_lbr_msr(uint32_t msr, unsigned int lbrs);

VPT_END_DECLS

#endif /* VPT_LBR_H */
