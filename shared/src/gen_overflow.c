// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The end of an overflow: OVF and the packets after it (33.3.8).
 *
 * An overflow ends with the first event that finds the internal buffer empty.
 */
#include "gen_packet.h"

/* The 8 bits of an MTC cannot express the loss of more MTCs than this (33.3.8.2). */
#define MTC_LOST_MAX 255u

/* [GEN-OVF BUF-PSB-END] Compression restarts, because the decoder has lost its state. */
static void put_ovf(struct vpt_pt *pt)
{
	vpti_gen_set_tnt(pt, 1);
	vpti_gen_drop_tips(pt);
	pt->buffer.overflow = false;
	vpti_gen_packet(pt, VPT_PKT_OVF, 0, false);
	pt->last_ip_valid = false;
	vpt_retstack_clear(&pt->retstack);
}

/*
 * [BUF-RESOLVE BUF-ENABLES BUF-STATE] The enables changed during the overflow as usual (33.3.8.1).
 * Only timing packets may stand between OVF and FUP, so a PSB+ reports the lost state.
 */
void vpti_gen_buffer_resolve(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_pt_buffer *buffer = &pt->buffer;
	bool state = buffer->state_lost, timing = buffer->timing_lost;
	struct vpt_context ctx;

	if (vpt_likely(!buffer->overflow) || buffer->fill)
		return;
	/* A PSB+ out of context has no PIP and no VMCS. Both stay lost until ContextEn rises. */
	buffer->state_lost = state && !pt->context_en;
	buffer->timing_lost = false;
	/* [BUF-MTC] */
	timing = timing || pt->time.mtc_last - pt->time.mtc_told >= MTC_LOST_MAX;
	put_ovf(pt);
	pt->mode_exec = VPT_MODE_UNKNOWN;
	if (pt->packet_en)
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
	if (!state && !timing)
		return;
	pt->ops->context(pt->opaque, &ctx);
	if (!state) {
		vpti_gen_timing(pt, &ctx);
		return;
	}
	vpti_gen_psb_plus(pt, &ctx, ip);
	vpti_gen_mode_alone(pt, &ctx, ip);
}

/* [BUF-DISABLE BUF-TRACESTOP] */
void vpti_gen_buffer_end(struct vpt_pt *pt)
{
	pt->buffer.fill = 0;
	if (pt->buffer.overflow)
		put_ovf(pt);
}

/*
 * [GEN-OVF] The engine itself lost packets, so the enables may be stale. A PSB+ follows if the
 * mode has changed.
 */
void vpti_gen_overflow(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;
	bool known;

	put_ovf(pt);
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_ip_form(pt, &ctx);
	vpti_gen_set_context(pt, &ctx);
	if (pt->context_en)
		vpti_gen_set_filter(pt, vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, ip)));
	vpti_gen_update(pt);
	known = vpti_gen_mode_known(pt, &ctx);
	pt->mode_exec = VPT_MODE_UNKNOWN;
	if (!pt->packet_en) {
		vpti_gen_mode_alone(pt, &ctx, ip);
		return;
	}
	vpti_gen_ip(pt, VPT_OP_FUP, ip);
	if (!known)
		vpti_gen_psb_plus(pt, &ctx, ip);
}
