/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Processors on which PT and last-branch records exclude one another (33.3.1.2). The
 * library has no LBRs. It knows the processors because RSM must not restore both (system.h).
 */
#ifndef VPT_LBR_H
#define VPT_LBR_H

#include "caps.h"

VPT_BEGIN_DECLS

/* Returns true if it is such a processor, by family and model. */
bool vpt_lbr_excluded(const struct vpt_caps *caps);

VPT_END_DECLS

#endif /* VPT_LBR_H */
