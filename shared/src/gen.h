/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside of the packet generator: shared by pt.c, gen_*.c and nothing else. */
#ifndef VPT_SRC_GEN_H
#define VPT_SRC_GEN_H

#include "vpt/encode.h"
#include "vpt/pt.h"
#include "vpt/vmx.h"

VPT_BEGIN_DECLS

/* What of a VMCS pointer is sent (table 33-34). */
#define VPT_VMCS_POINTER VPT_MASK64(51, 12)

/* Act on what the output says of bytes just put: STOP, INT, error. */
void vpt_gen_output_events(struct vpt_pt *pt, unsigned int events) VPT_COLD;

/* Append a packet to the trace. */
static inline void vpt_gen_put(struct vpt_pt *pt, const uint8_t *bytes, size_t len)
{
	unsigned int events;

	/* The packet before this one of the same event may have ended the trace. */
	if (vpt_unlikely(!pt->trigger_en))
		return;
	pt->psb_bytes += (uint32_t)len;
	events = vpt_output_put(&pt->out, bytes, len);
	if (vpt_unlikely(events != VPT_OUT_OK))
		vpt_gen_output_events(pt, events);
}

/* Send gathered branch outcomes, if any. Every other packet does so first. */
void vpt_gen_flush_tnt(struct vpt_pt *pt);

/* Send a packet that is not hot. */
void vpt_gen_packet(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, bool flag);

/* Send an IP packet; `ip` is a RIP. */
void vpt_gen_ip(struct vpt_pt *pt, enum vpt_ip_opcode op, uint64_t ip);
/* Send an IP packet without a payload, since the IP is out of context. */
void vpt_gen_ip_suppressed(struct vpt_pt *pt, enum vpt_ip_opcode op);

void vpt_gen_pip(struct vpt_pt *pt, const struct vpt_context *ctx);
/* The same with NR as the caller has it, for VM entries. */
void vpt_gen_pip_nr(struct vpt_pt *pt, const struct vpt_context *ctx, bool nr);
/* The current VMCS pointer, if ContextEn. */
void vpt_gen_vmcs(struct vpt_pt *pt);
/* MODE.Exec, if the decoder does not know the mode yet (33.4.2.8). */
void vpt_gen_mode_exec(struct vpt_pt *pt, const struct vpt_context *ctx);

/* TSC and CBR, as on enabling without a PSB+ (33.2.8.3). */
void vpt_gen_timing(struct vpt_pt *pt, const struct vpt_context *ctx);

/* PSB+ at `ip`, the next instruction's (33.3.7). */
void vpt_gen_psb_plus(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);
/* The same if PSBFreq's worth of bytes went out since the last one. */
void vpt_gen_psb_if_due(struct vpt_pt *pt, uint64_t ip);

/* Does the decoder know the mode that `ctx` is in? */
bool vpt_gen_mode_known(const struct vpt_pt *pt, const struct vpt_context *ctx);

/*
 * Begin a trace, TraceEn being set, in three steps: start the output, asking for the
 * context; describe the state by PSB+, or by timing packets if `timing`; and begin at
 * `ip`: TraceStop, FilterEn, TIP.PGE. The first two return TriggerEn, without which
 * there is nothing more to be done.
 */
bool vpt_gen_start(struct vpt_pt *pt, struct vpt_context *ctx);
bool vpt_gen_announce(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip, bool timing);
void vpt_gen_arrive(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);

/*
 * Arrive at `to` by a far transfer whose FUP and PIP are out, with ContextEn as it is
 * there and PacketEn (`was`) as it was before: TIP, TIP.PGE, TIP.PGD, TraceStop.
 */
void vpt_gen_land(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to, bool was);

/* IA32_RTIT_CTL becomes `ctl`, which was checked: what WRMSR does after its checks. */
void vpt_gen_set_ctl(struct vpt_pt *pt, uint64_t ctl, uint64_t ip, uint64_t next_ip);

/* Output and STATUS end; STATUS and the output registers are exact. */
void vpt_gen_end(struct vpt_pt *pt);

/* Take over CPL-independent parts of a context: how IPs are to be formed. */
void vpt_gen_ip_form(struct vpt_pt *pt, const struct vpt_context *ctx);

/* Take what CTL says, and PacketByteCnt, into the form the generator looks at. */
void vpt_gen_load_config(struct vpt_pt *pt);

/* Work out PacketEn and the fast path from the single enables. */
void vpt_gen_update(struct vpt_pt *pt);

/* TriggerEn falls by `status_bit`, VPT_STATUS_MASK(STOPPED) or (ERROR). */
void vpt_gen_halt(struct vpt_pt *pt, uint64_t status_bit);

VPT_END_DECLS

#endif /* VPT_SRC_GEN_H */
