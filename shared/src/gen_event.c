// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Changes of flow into packets: which ones, in which order (33.4.1, 33.7). */
#include "gen_kinds.h"
#include "gen_quick.h"

/* The packets of a near branch, while PacketEn stays set. */
enum near_kind { NEAR_COND, NEAR_DIRECT, NEAR_INDIRECT, NEAR_RET };

static void add_tnt(struct vpt_pt *pt, bool taken)
{
	if (pt->dis_tnt) { /* [GEN-DISTNT] */
		pt->gate.tnt = 1;
		return;
	}
	if (pt->gate.tnt ==
	    1) { /* [GEN-CYC-TNT] The first outcome is the one whose time is told. */
		vpti_gen_eligible(pt);
		if (vpt_unlikely(!pt->trigger_en))
			return;
	}
	vpti_gen_set_tnt(pt, pt->gate.tnt << 1 | (uint64_t)taken);
	vpti_gen_put_whole_tnt(pt);
}

/* An open gate has taken an outcome for which the clock must be read. Report it as an event. */
static VPT_COLD void take_back(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_event event;
	bool taken = pt->gate.tnt & 1;

	pt->gate.tnt >>= 1;
	vpt_event_cond(&event, 0, ip, 0, taken);
	vpt_pt_event(pt, &event);
}

void vpt_pt_tnt_due(struct vpt_pt *pt, uint64_t ip)
{
	if (vpt_unlikely(pt->slow)) {
		take_back(pt, ip);
		return;
	}
	vpti_gen_flush_tnt(pt);
	vpti_gen_psb_if_due(pt, ip);
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
	if (vpti_gen_stops_at(pt, event->to)) {
		if (was)
			vpti_gen_packet_en_falls(pt, kind != NEAR_COND, event->to);
		vpti_gen_trace_stop(pt);
		return;
	}
	pt->filter_en = vpt_filter_en(&pt->rtit, vpti_gen_payload_ip(pt, event->to));
	vpti_gen_update(pt);
	if (was && pt->packet_en) {
		near_inside(pt, kind, event);
	} else if (was) {
		/* [GEN-PGD-COND] The binary tells where a Jcc goes. */
		vpti_gen_packet_en_falls(pt, kind != NEAR_COND, event->to);
	} else if (pt->filter_en && !was_filter) {
		struct vpt_context ctx;

		pt->ops->context(pt->opaque, &ctx);
		if (pt->packet_en)
			vpti_gen_packet_en_rises(pt, &ctx, event->to);
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

/* Rare events that are not branches. */
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
		vpti_gen_cr3_write(pt, event);
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

/* Slow path: timing packets or the buffer model need work before and after each event. */
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
	if (pt->ops->keeps_due && !vpti_gen_is_armed(pt))
		vpti_gen_arm(pt);
}

static VPT_NOINLINE void full_event(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (vpt_unlikely(pt->slow)) {
		slow_event(pt, event);
		return;
	}
	dispatch(pt, event);
	vpti_gen_psb_if_due(pt, event->to);
}

/* An indirect JMP which is not the usual case below. */
static VPT_NOINLINE void other_tip(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (!vpti_gen_other_tip(pt, event->to))
		full_event(pt, event);
}

/* Most events of an open gate send a TIP and nothing else. */
void vpt_pt_event(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (!pt->trigger_en)
		return;
	if (event->kind == VPT_EV_JMP_INDIRECT && !pt->slow) {
		if (!vpti_gen_quick_tip(pt, event->to))
			other_tip(pt, event);
		return;
	}
	full_event(pt, event);
}
