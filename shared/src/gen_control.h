/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* TraceEn and the options, above the transitions. */
#ifndef VPTI_SRC_GEN_CONTROL_H
#define VPTI_SRC_GEN_CONTROL_H

#include "gen_move.h"

VPT_BEGIN_DECLS

/* Start the output and load the context, TraceEn being set. Returns TriggerEn. */
bool vpti_gen_start(struct vpt_pt *pt, struct vpt_context *ctx);

/* Describe the state by a PSB+, or by timing packets if `timing` is set. */
void vpti_gen_describe(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip, bool timing);

/* Set TraceEn again after an ACM, and continue the trace. Returns TriggerEn. */
bool vpti_gen_resume(struct vpt_pt *pt);

/*
 * Set IA32_RTIT_CTL to the valid value `ctl`. If the trace may end, the caller has called
 * vpti_gen_now().
 */
void vpti_gen_set_ctl(struct vpt_pt *pt, uint64_t ctl, uint64_t ip, uint64_t next_ip);

/* [VMX-NO-PT SMM-NOT-VMX] Returns true if VMX operation locks IA32_RTIT_CTL. */
static inline bool vpti_gen_ctl_is_locked(const struct vpt_pt *pt)
{
	return pt->vmx.on && !pt->in_smm && !pt->caps->vmx_pt;
}

/* End the output. STATUS and the output registers are exact afterwards. */
void vpti_gen_end(struct vpt_pt *pt);

/* Load the settings of CTL and PacketByteCnt. */
void vpti_gen_load_config(struct vpt_pt *pt);

/* Returns true if `options` are valid. */
bool vpti_gen_options_ok(const struct vpt_pt_options *options);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_CONTROL_H */
