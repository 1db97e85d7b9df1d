/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Packets of the generator with their compression, and the end of an overflow. */
#ifndef VPTI_SRC_GEN_PACKET_H
#define VPTI_SRC_GEN_PACKET_H

#include "gen_timing.h"

VPT_BEGIN_DECLS

/* The bits of a VMCS pointer that a packet has (table 33-34). */
#define VPTI_VMCS_POINTER VPT_MASK64(51, 12)

/* Send an IP packet. `ip` is a RIP. */
void vpti_gen_ip(struct vpt_pt *pt, enum vpt_ip_opcode op, uint64_t ip);

/* Defer a TIP, or send it where none may be deferred. */
void vpti_gen_defer_tip(struct vpt_pt *pt, uint64_t to);

/* Send an IP packet without a payload, because the IP is out of context. */
void vpti_gen_ip_suppressed(struct vpt_pt *pt, enum vpt_ip_opcode op);

/* Send a TIP of a near JMP or CALL. */
static inline void vpti_gen_tip(struct vpt_pt *pt, uint64_t to)
{
	if (vpt_unlikely(pt->options.defer_tips))
		vpti_gen_defer_tip(pt, to);
	else
		vpti_gen_ip(pt, VPT_OP_TIP, to);
}

/* Send a PIP. The second function has NR of the caller, for VM entries. */
void vpti_gen_pip(struct vpt_pt *pt, const struct vpt_context *ctx);
void vpti_gen_pip_nr(struct vpt_pt *pt, const struct vpt_context *ctx, bool nr);

/* Send the current VMCS pointer, if ContextEn is set. */
void vpti_gen_vmcs(struct vpt_pt *pt);

/* Returns true if the decoder knows the mode of `ctx`. */
bool vpti_gen_mode_known(const struct vpt_pt *pt, const struct vpt_context *ctx);

/* Send MODE.Exec, if the decoder does not know the mode (33.4.2.8). */
void vpti_gen_mode_exec(struct vpt_pt *pt, const struct vpt_context *ctx);

/* Without BranchEn, send MODE.Exec and a FUP at `ip` for event trace. */
void vpti_gen_mode_alone(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);

/* Send a PSB+ at `ip`, the IP of the next instruction (33.3.7). */
void vpti_gen_psb_plus(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);
void vpti_gen_psb_due(struct vpt_pt *pt, uint64_t ip);

/* [GEN-PSB-PERIOD] Send a PSB+ if PSBFreq bytes went out since the last PSB. */
static inline void vpti_gen_psb_if_due(struct vpt_pt *pt, uint64_t ip)
{
	if (vpt_unlikely(pt->psb_bytes >= pt->psb_period))
		vpti_gen_psb_due(pt, ip);
}

/* End an overflow if the internal buffer is empty. `ip` is the next IP. */
void vpti_gen_buffer_resolve(struct vpt_pt *pt, uint64_t ip);

/* Empty the internal buffer at the end of a trace. Send OVF if packets were lost. */
void vpti_gen_buffer_end(struct vpt_pt *pt);

/* Send OVF and the packets after it, at `ip` (33.3.8). */
void vpti_gen_overflow(struct vpt_pt *pt, uint64_t ip);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_PACKET_H */
