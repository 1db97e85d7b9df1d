// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Transitions: what the trace unit sends when execution reaches a new IP (33.2.5, 33.4.1, 33.7).
 *
 * A transition updates ContextEn, FilterEn and PacketEn, and sends TIP, TIP.PGE or TIP.PGD.
 */
#include "gen_move.h"

/* [GEN-PGE] */
void vpti_gen_packet_en_rises(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to)
{
	vpti_gen_mode_exec(pt, ctx);
	vpti_gen_ip(pt, VPT_OP_TIP_PGE, to);
}

/* [GEN-PGD GEN-RETC-RESET] No RET is compressed across code that is not traced. */
void vpti_gen_packet_en_falls(struct vpt_pt *pt, bool with_ip, uint64_t to)
{
	if (with_ip)
		vpti_gen_ip(pt, VPT_OP_TIP_PGD, to);
	else
		vpti_gen_ip_suppressed(pt, VPT_OP_TIP_PGD);
	vpt_retstack_clear(&pt->retstack);
}

void vpti_gen_trace_stop(struct vpt_pt *pt)
{
	vpti_gen_set_filter(pt, false);
	vpti_gen_buffer_end(pt);
	vpti_gen_packet(pt, VPT_PKT_TRACE_STOP, 0, false);
	vpti_gen_halt(pt, VPT_STATUS_MASK(STOPPED));
}

void vpti_gen_trace_from(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip)
{
	if (vpti_gen_stops_at(pt, ip)) {
		vpti_gen_trace_stop(pt);
		return;
	}
	/* [EN-FILTER-IDLE] Out of context FilterEn can rise only where nothing filters. */
	if (pt->context_en)
		vpti_gen_set_filter(pt, vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, ip)));
	else
		vpti_gen_set_filter(pt, !vpt_range_configured(&pt->rtit, VPT_ADDR_FILTER));
	vpti_gen_update(pt);
	if (pt->packet_en)
		vpti_gen_packet_en_rises(pt, ctx, ip);
	else
		vpti_gen_mode_alone(pt, ctx, ip);
}

void vpti_gen_enter_target(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to, bool was)
{
	if (vpti_gen_stops_at(pt, to)) {
		if (was)
			vpti_gen_packet_en_falls(pt, true, to);
		vpti_gen_trace_stop(pt);
		return;
	}
	if (pt->context_en)
		vpti_gen_set_filter(pt, vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, to)));
	vpti_gen_update(pt);
	if (was && pt->packet_en) {
		vpti_gen_mode_exec(pt, ctx);
		vpti_gen_ip(pt, VPT_OP_TIP, to);
	} else if (was) {
		vpti_gen_packet_en_falls(pt, pt->context_en, to);
	} else if (pt->packet_en) {
		vpti_gen_packet_en_rises(pt, ctx, to);
	} else {
		vpti_gen_mode_alone(pt, ctx, to);
	}
}

/* [GEN-FAR] The order is [CFE,] [FUP,] [PIP,] [MODE.Exec,] and TIP, TIP.PGE or TIP.PGD. */
void vpti_gen_far(struct vpt_pt *pt, const struct vpt_event *event, bool fup)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;
	bool events = VPT_CTL_GET(pt->rtit.ctl, EVENT_EN);

	if (vpt_unlikely(events))
		vpti_gen_event_out(pt, event, was && fup);
	if (was && fup) /* [GEN-FUP-IP] The engine reports the IP. */
		vpti_gen_ip(pt, VPT_OP_FUP, event->from);
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_ip_form(pt, &ctx);
	vpti_gen_set_context(pt, &ctx);
	if (vpt_unlikely(events))
		vpti_gen_event_in(pt, event, was_context);
	if (event->flags & VPT_EVF_CR3)
		vpti_gen_pip(pt, &ctx);
	vpti_gen_enter_target(pt, &ctx, event->to, was);
}

/* [GEN-CR3] FilterEn changes only if ContextEn rises (33.4.2.9). */
void vpti_gen_cr3_write(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;

	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_set_context(pt, &ctx);
	vpti_gen_pip(pt, &ctx);
	if (vpti_gen_stops_at(pt, event->to)) {
		if (was)
			vpti_gen_packet_en_falls(pt, false, 0);
		vpti_gen_trace_stop(pt);
		return;
	}
	if (pt->context_en && !was_context)
		vpti_gen_set_filter(pt,
				    vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, event->to)));
	vpti_gen_update(pt);
	if (was && !pt->packet_en)
		vpti_gen_packet_en_falls(pt, false, 0);
	else if (!was && pt->packet_en)
		vpti_gen_packet_en_rises(pt, &ctx, event->to);
	else
		vpti_gen_mode_alone(pt, &ctx, event->to);
}
