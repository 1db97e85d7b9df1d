/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Operations that take TraceEn away and may give it back: SMI and RSM (33.2.9.3), GETSEC
 * and authenticated code modules (33.2.9.6). IPs are RIPs.
 */
#ifndef VPT_SYSTEM_H
#define VPT_SYSTEM_H

#include "pt.h"

VPT_BEGIN_DECLS

/*
 * SMI, outside of dual-monitor treatment (that is vpt/vmx_pt.h's): `ip` is the one that is
 * saved in SMRAM. TraceEn is saved and cleared; context() still tells of the interrupted
 * side. vpt_pt_in_smm() says whether RSM has yet to come.
 */
void vpt_pt_smi(struct vpt_pt *pt, uint64_t ip);
static inline bool vpt_pt_in_smm(const struct vpt_pt *pt)
{
	return pt->in_smm;
}

/*
 * RSM to `ip`, state restored: TraceEn as the SMI saved it. False, and nothing changed: the
 * processor shuts down, since TraceEn is set, or since what would be restored is more than
 * the model allows beside LBRs (`lbr`: IA32_DEBUGCTL.LBR or BTS as restored, see lbr.h).
 */
bool vpt_pt_rsm(struct vpt_pt *pt, uint64_t ip, bool lbr) VPT_MUST_CHECK;

/* GETSEC[SENTER] and [ENTERACCS], here or on another processor that is made to rendezvous:
 * TraceEn is cleared for good and without a packet. */
void vpt_pt_senter(struct vpt_pt *pt);

/* An ACM is set up in ACRAM: TraceEn is cleared without a packet; it is done, `ip` is next:
 * TraceEn is what it was, and timing packets tell that time has passed. */
void vpt_pt_acm_begin(struct vpt_pt *pt);
void vpt_pt_acm_end(struct vpt_pt *pt, uint64_t ip);

VPT_END_DECLS

#endif /* VPT_SYSTEM_H */
