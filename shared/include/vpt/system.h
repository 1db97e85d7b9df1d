/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Operations that clear TraceEn and may restore it: SMI and RSM (33.2.9.3), GETSEC and
 * authenticated code modules (33.2.9.6). IPs are RIPs.
 */
#ifndef VPT_SYSTEM_H
#define VPT_SYSTEM_H

#include "pt.h"

VPT_BEGIN_DECLS

/*
 * SMI, outside of dual-monitor treatment (see vpt/vmx_pt.h). SMRAM has `ip`. TraceEn is saved and
 * cleared. context() still returns the interrupted context. vpt_pt_in_smm() returns true until RSM.
 */
void vpt_pt_smi(struct vpt_pt *pt, uint64_t ip);
static inline bool vpt_pt_in_smm(const struct vpt_pt *pt)
{
	return pt->in_smm;
}

/*
 * RSM to `ip`, after the state is restored. TraceEn is restored as the SMI saved it. `lbr` is
 * IA32_DEBUGCTL.LBR or BTS as restored (lbr.h).
 *
 * Returns false with nothing changed if the processor shuts down: TraceEn is set, or the model does
 * not allow the restored TraceEn beside LBRs.
 */
bool vpt_pt_rsm(struct vpt_pt *pt, uint64_t ip, bool lbr) VPT_MUST_CHECK;

/*
 * GETSEC[SENTER] or [ENTERACCS], here or on another processor whose rendezvous includes this one.
 * Clears TraceEn without a packet. Nothing restores it.
 */
void vpt_pt_senter(struct vpt_pt *pt);

/*
 * An ACM is set up in ACRAM: vpt_pt_acm_begin() clears TraceEn without a packet. vpt_pt_acm_end()
 * restores TraceEn. The next instruction is at `ip`, and timing packets show that time has passed.
 */
void vpt_pt_acm_begin(struct vpt_pt *pt);
void vpt_pt_acm_end(struct vpt_pt *pt, uint64_t ip);

VPT_END_DECLS

#endif /* VPT_SYSTEM_H */
