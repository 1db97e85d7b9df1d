// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Changes of flow into packets: which ones, in which order (33.4.1, 33.7). */
#include "gen_event_trace.h"

/* What a near branch sends while PacketEn stays set. */
enum near_kind { NEAR_COND, NEAR_DIRECT, NEAR_INDIRECT, NEAR_RET };

void vpti_gen_update(struct vpt_pt *pt)
{
	bool open;

	/* [GEN-BRANCHEN] */
	pt->packet_en = pt->trigger_en && pt->context_en && pt->filter_en && pt->branch_en;
	pt->slow = pt->time.cyc_en || pt->time.mtc_en || pt->options.buffer_bytes;
	/* [GEN-RETC-LIP] Quick paths take a RIP for a LIP, so they need a base of 0. */
	open = pt->packet_en && !pt->has_ranges && !pt->dis_tnt && !pt->slow &&
	       !pt->options.defer_tips && !pt->ip_base;
	pt->gate.state = (open ? VPT_GATE_OPEN : 0) | (pt->packet_en ? VPT_GATE_PACKET_EN : 0) |
			 (pt->trigger_en ? VPT_GATE_ARMED | VPT_GATE_TRIGGER_EN : 0) |
			 (VPT_CTL_GET(pt->rtit.ctl, EVENT_EN) ? VPT_GATE_INTR_FLAG : 0) |
			 (pt->slow ? VPT_GATE_MAY_LOSE : 0);
	pt->put_slow = !pt->trigger_en || pt->options.buffer_bytes;
	/* [BUF-STATE] ContextEn has risen: the PSB+ with what was lost comes with this event. */
	if (vpt_unlikely(pt->buffer.state_lost) && pt->context_en && !pt->buffer.overflow)
		pt->psb_bytes = pt->psb_period;
}

void vpti_gen_ip_form(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	bool wide = ctx->cs_l && ctx->lma;

	pt->ip_base = vpt_caps_has(pt->caps, VPT_CAP_LIP) && !wide ? ctx->cs_base : 0;
	pt->ip_mask = wide ? ~(uint64_t)0 : 0xffffffffu;
}

static void add_tnt(struct vpt_pt *pt, bool taken)
{
	if (pt->dis_tnt) /* [GEN-DISTNT] */
		return;
	if (pt->gate.tnt ==
	    1) { /* [GEN-CYC-TNT] The first outcome is the one whose time is told. */
		vpti_gen_eligible(pt);
		if (vpt_unlikely(!pt->trigger_en))
			return;
	}
	pt->gate.tnt = pt->gate.tnt << 1 | (uint64_t)taken;
	if (pt->gate.tnt >= pt->gate.tnt_full)
		vpti_gen_flush_tnt(pt);
}

void vpt_pt_tnt_due(struct vpt_pt *pt, uint64_t ip)
{
	vpti_gen_flush_tnt(pt);
	vpti_gen_psb_if_due(pt, ip);
}

/* [GEN-PGE] */
static void packet_en_rises(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to)
{
	vpti_gen_mode_exec(pt, ctx);
	vpti_gen_ip(pt, VPT_OP_TIP_PGE, to);
}

/* [GEN-PGD GEN-RETC-RESET] No RET is compressed across what is not traced. */
static void packet_en_falls(struct vpt_pt *pt, bool with_ip, uint64_t to)
{
	if (with_ip)
		vpti_gen_ip(pt, VPT_OP_TIP_PGD, to);
	else
		vpti_gen_ip_suppressed(pt, VPT_OP_TIP_PGD);
	vpt_retstack_clear(&pt->retstack);
}

/* [GEN-TRACESTOP] Arrival in a TraceStop range while in context (33.2.5.3). */
static bool stops_at(const struct vpt_pt *pt, uint64_t to)
{
	return pt->has_ranges && pt->context_en &&
	       vpt_range_hit(&pt->rtit, VPT_ADDR_STOP, vpti_gen_payload_ip(pt, to));
}

static void trace_stop(struct vpt_pt *pt)
{
	pt->filter_en = false;
	vpti_gen_buffer_end(pt);
	vpti_gen_packet(pt, VPT_PKT_TRACE_STOP, 0, false);
	/* The output may have ended the trace on that very packet. */
	if (pt->trigger_en)
		vpti_gen_halt(pt, VPT_STATUS_MASK(STOPPED));
}

void vpti_gen_arrive(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip)
{
	if (stops_at(pt, ip)) {
		trace_stop(pt);
		return;
	}
	/* [EN-FILTER-IDLE] Out of context FilterEn can rise only where nothing filters. */
	if (pt->context_en)
		pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, ip));
	else
		pt->filter_en = !vpt_range_configured(&pt->rtit, VPT_ADDR_FILTER);
	vpti_gen_update(pt);
	if (pt->packet_en)
		packet_en_rises(pt, ctx, ip);
	else
		vpti_gen_mode_alone(pt, ctx, ip);
}

static void near_inside(struct vpt_pt *pt, enum near_kind kind, const struct vpt_event *event)
{
	switch (kind) {
	case NEAR_COND:
		add_tnt(pt, event->flags & VPT_EVF_TAKEN);
		break;
	case NEAR_RET:
		/* [GEN-RETC] */
		if (pt->ret_compress &&
		    vpt_retstack_match(&pt->retstack, vpti_gen_payload_ip(pt, event->to)))
			add_tnt(pt, true);
		else
			vpti_gen_ip(pt, VPT_OP_TIP, event->to); /* [DEFER-RET] */
		break;
	case NEAR_INDIRECT:
		vpti_gen_tip(pt, event->to);
		break;
	case NEAR_DIRECT:
		break;
	}
}

/*
 * A near branch cannot change ContextEn, but its target can lie on the other side
 * of a filter. [EN-FILTER-TAKEN] A branch not taken is no reason to compare.
 */
static VPT_COLD void near_ranges(struct vpt_pt *pt, enum near_kind kind,
				 const struct vpt_event *event)
{
	bool was = pt->packet_en, was_filter = pt->filter_en;

	if (kind == NEAR_COND && !(event->flags & VPT_EVF_TAKEN)) {
		if (was)
			near_inside(pt, kind, event);
		return;
	}
	/* [GEN-TRACESTOP-OVERLAP] */
	if (stops_at(pt, event->to)) {
		if (was)
			packet_en_falls(pt, kind != NEAR_COND, event->to);
		if (pt->trigger_en)
			trace_stop(pt);
		return;
	}
	pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, event->to));
	vpti_gen_update(pt);
	if (was && pt->packet_en) {
		near_inside(pt, kind, event);
	} else if (was) {
		/* [GEN-PGD-COND] The binary tells where a Jcc goes. */
		packet_en_falls(pt, kind != NEAR_COND, event->to);
	} else if (pt->filter_en && !was_filter) {
		struct vpt_context ctx;

		pt->ops->context(pt->opaque, &ctx);
		if (pt->packet_en)
			packet_en_rises(pt, &ctx, event->to);
		else
			vpti_gen_mode_alone(pt, &ctx, event->to);
	}
}

static inline void near_branch(struct vpt_pt *pt, enum near_kind kind,
			       const struct vpt_event *event)
{
	if (vpt_unlikely(pt->has_ranges)) {
		if (pt->context_en)
			near_ranges(pt, kind, event);
	} else if (pt->packet_en) {
		near_inside(pt, kind, event);
	}
}

/*
 * [GEN-CALL] A CALL counts for RET compression if a decoder sees it, so not when
 * it enters the traced region. One to the next instruction is no call at all.
 */
static void call(struct vpt_pt *pt, enum near_kind kind, const struct vpt_event *event)
{
	bool was = pt->packet_en;
	bool counts = kind == NEAR_INDIRECT || event->to != event->next;

	near_branch(pt, kind, event);
	if (was && pt->packet_en && pt->ret_compress && counts)
		vpt_retstack_push(&pt->retstack, vpti_gen_payload_ip(pt, event->next));
}

void vpti_gen_land(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to, bool was)
{
	if (stops_at(pt, to)) {
		if (was)
			packet_en_falls(pt, true, to);
		if (pt->trigger_en)
			trace_stop(pt);
		return;
	}
	if (pt->context_en)
		pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, to));
	vpti_gen_update(pt);
	if (was && pt->packet_en) {
		vpti_gen_mode_exec(pt, ctx);
		vpti_gen_ip(pt, VPT_OP_TIP, to);
	} else if (was) {
		packet_en_falls(pt, pt->context_en, to);
	} else if (pt->packet_en) {
		packet_en_rises(pt, ctx, to);
	} else {
		vpti_gen_mode_alone(pt, ctx, to);
	}
}

/*
 * [GEN-FAR] Far transfers and asynchronous events: [CFE,] [FUP,] [PIP,] [MODE.Exec,] and
 * TIP, or what stands for it where PacketEn changes.
 */
void vpti_gen_far(struct vpt_pt *pt, const struct vpt_event *event, bool fup)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;
	bool events = VPT_CTL_GET(pt->rtit.ctl, EVENT_EN);

	if (vpt_unlikely(events))
		vpti_gen_event_out(pt, event, was && fup);
	if (was && fup) /* [GEN-FUP-IP] what the engine reports */
		vpti_gen_ip(pt, VPT_OP_FUP, event->from);
	pt->ops->context(pt->opaque, &ctx);
	if (!pt->trigger_en)
		return;
	vpti_gen_ip_form(pt, &ctx);
	pt->context_en = vpt_context_en(&pt->rtit, &ctx);
	if (vpt_unlikely(events))
		vpti_gen_event_in(pt, event, was_context);
	if (event->flags & VPT_EVF_CR3)
		vpti_gen_pip(pt, &ctx);
	vpti_gen_land(pt, &ctx, event->to, was);
}

/*
 * [GEN-CR3] MOV CR3 is no branch: it can move ContextEn, and it is looked at for
 * TraceStop (33.4.2.9), but FilterEn is worked out anew only as ContextEn rises.
 */
static void cr3_write(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;

	pt->ops->context(pt->opaque, &ctx);
	pt->context_en = vpt_context_en(&pt->rtit, &ctx);
	vpti_gen_pip(pt, &ctx);
	if (!pt->trigger_en)
		return;
	if (stops_at(pt, event->to)) {
		if (was)
			packet_en_falls(pt, false, 0);
		if (pt->trigger_en)
			trace_stop(pt);
		return;
	}
	if (pt->context_en && !was_context)
		pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, event->to));
	vpti_gen_update(pt);
	if (was && !pt->packet_en)
		packet_en_falls(pt, false, 0);
	else if (!was && pt->packet_en)
		packet_en_rises(pt, &ctx, event->to);
	else
		vpti_gen_mode_alone(pt, &ctx, event->to);
}

/* What is seldom, and nothing of branch trace. */
static VPT_COLD void dispatch_other(struct vpt_pt *pt, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_PTWRITE:
		vpti_gen_ptwrite(pt, event);
		break;
	case VPT_EV_INTR_FLAG:
		vpti_gen_intr_flag(pt, event);
		break;
	case VPT_EV_SLEEP:
		vpti_gen_sleep(pt, event);
		break;
	case VPT_EV_WAKE:
		vpti_gen_wake(pt, event);
		break;
	case VPT_EV_TSX_BEGIN:
	case VPT_EV_TSX_COMMIT:
	case VPT_EV_TSX_ABORT:
		vpti_gen_tsx(pt, event);
		break;
	case VPT_EV_INIT:
		vpti_gen_init(pt, event);
		break;
	case VPT_EV_SIPI:
		vpti_gen_sipi(pt, event);
		break;
	case VPT_EV_SHUTDOWN:
		vpti_gen_shutdown(pt, event);
		break;
	case VPT_EV_ENCLAVE:
	case VPT_EV_AEX:
		vpti_gen_enclave(pt, event);
		break;
	case VPT_EV_UINTR:
	case VPT_EV_UIRET:
		vpti_gen_uintr(pt, event);
		break;
	default:
		break;
	}
}

static VPT_ALWAYS_INLINE void dispatch(struct vpt_pt *pt, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_COND:
		near_branch(pt, NEAR_COND, event);
		break;
	case VPT_EV_JMP:
		near_branch(pt, NEAR_DIRECT, event);
		break;
	case VPT_EV_CALL:
		call(pt, NEAR_DIRECT, event);
		break;
	case VPT_EV_JMP_INDIRECT:
		near_branch(pt, NEAR_INDIRECT, event);
		break;
	case VPT_EV_CALL_INDIRECT:
		call(pt, NEAR_INDIRECT, event);
		break;
	case VPT_EV_RET:
		near_branch(pt, NEAR_RET, event);
		break;
	case VPT_EV_FAR:
		vpti_gen_far(pt, event, false);
		break;
	case VPT_EV_SOFT_INT:
	case VPT_EV_ASYNC:
		vpti_gen_far(pt, event, true);
		break;
	case VPT_EV_CR3:
		cr3_write(pt, event);
		break;
	case VPT_EV_CBR:
		vpti_gen_cbr(pt, event);
		break;
	case VPT_EV_OVERFLOW:
		vpti_gen_overflow(pt, event->to);
		break;
	default:
		dispatch_other(pt, event);
		break;
	}
}

void vpt_pt_tick(struct vpt_pt *pt, uint64_t ip)
{
	if (!pt->trigger_en || !pt->slow)
		return;
	vpti_gen_now(pt);
	vpti_gen_buffer_resolve(pt, ip);
	vpti_gen_psb_if_due(pt, ip);
}

/* Where the trace unit has to do with each event: before it and after it. */
static VPT_NOINLINE void slow_event(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (event->kind == VPT_EV_CBR && event->flags & VPT_EVF_STOPPED)
		vpti_gen_time_stop(pt);
	else
		vpti_gen_now(pt);
	if (!pt->trigger_en)
		return;
	dispatch(pt, event);
	if (pt->buffer.overflow)
		vpti_gen_buffer_resolve(pt, event->to);
	vpti_gen_psb_if_due(pt, event->to);
}

void vpt_pt_event(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (!pt->trigger_en)
		return;
	if (vpt_unlikely(pt->slow)) {
		slow_event(pt, event);
		return;
	}
	dispatch(pt, event);
	vpti_gen_psb_if_due(pt, event->to);
}
