// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Hold packets whose meaning depends on a later packet or on the end of the session.
 *
 * The later packet decides whether tracing resumes after an overflow, or whether TraceStop took
 * effect. It also decides whether a TIP or an event leads to code that is not traced. The packets
 * in between are held, and used in order afterwards.
 */
#include "libdecode/atom_inside.h"

/*
 * [ATOM-FILTER-FROZEN] Returns true if FilterEn is certainly set at the position. In a range
 * FilterEn is set, unless it was clear at the begin of the session and no branch has entered the
 * range since. If that is unknown, the flow is left out.
 */
static bool in_filter_for_sure(const struct dec_atom *r)
{
	return dec_atom_in_filter(&r->regs, r->lip) &&
	       (VPT_ATOM_GET(EVENTS, FILTER, r->regs.events) == VPT_ATOM_ID_ALWAYS ||
		VPT_ATOM_GET(STATUS, FILTER_EN, r->regs.status));
}

void dec_atom_release(struct dec_atom *r)
{
	struct dec_atom_said held[DEC_ATOM_HELD];
	uint64_t offset = r->offset;
	unsigned int i, n = r->nheld;

	r->nheld = 0;
	for (i = 0; i < n; i++)
		held[i] = r->held[i];
	for (i = 0; i < n; i++) {
		r->offset = held[i].offset;
		dec_atom_take(r, &held[i]);
	}
	r->offset = offset;
}

/* Report the overflow. @lossy: the decoder may have skipped instructions after it. */
static void report_overflow(struct dec_atom *r, bool lossy)
{
	struct vptd_event event = {.kind = VPTD_EVENT_OVERFLOW};
	uint64_t insns, before = r->flow->insns;

	if (r->enabled) {
		event.flags = VPTD_EV_TO;
		event.to = r->lip;
	}
	if (r->ops->resumed && r->ops->resumed(r->context, &insns)) {
		r->added += insns - before;
		r->flow->insns = insns;
		r->counts = !lossy;
	}
	dec_atom_came(r, SINCE_OVERFLOW);
	dec_atom_emit_at(r, event, r->event_offset);
}

/*
 * [ATOM-OVF-ENABLES] With FUP.BuffOvf, TriggerEn and ContextEn are set. The next packet of the
 * flow, the end of the session or a branch to the address determines FilterEn.
 */
static enum vptd_status resume(struct dec_atom *r, bool enabled)
{
	r->waits = R_NONE;
	r->enabled = enabled;
	/* [ATOM-OVF-CLEAR] */
	r->call_lost = false;
	report_overflow(r, r->dropped);
	return enabled ? dec_flow_jump(r->flow, r->lip) : VPTD_OK;
}

/* [ATOM-E2] The FUP.PGD after FUP.BuffOvf may be spurious, so PacketEn is unknown. */
static void resume_unsure(struct dec_atom *r)
{
	dec_atom_lose(r);
	report_overflow(r, true);
}

static enum vptd_status join(struct dec_atom *r)
{
	r->waits = R_NONE;
	r->enabled = true;
	dec_atom_join(r);
	dec_atom_came(r, SINCE_EVENT);
	dec_atom_emit(
		r, (struct vptd_event){.kind = VPTD_EVENT_SYNC, .flags = VPTD_EV_TO, .to = r->lip});
	return dec_flow_jump(r->flow, r->lip);
}

/* Report the held STS packets early, to free their room. */
static void report_held(struct dec_atom *r)
{
	unsigned int i, n = 0;

	for (i = 0; i < r->nheld; i++) {
		if (r->held[i].packet.kind == VPT_ATOM_PKT_STS)
			dec_atom_report_sts(r, &r->held[i]);
		else
			r->held[n++] = r->held[i];
	}
	r->nheld = n;
}

static bool hold(struct dec_atom *r, const struct dec_atom_said *said)
{
	if (r->nheld == DEC_ATOM_HELD)
		report_held(r);
	if (r->nheld == DEC_ATOM_HELD)
		return false;
	r->held[r->nheld++] = *said;
	return true;
}

/* End the wait, and use the held packets. */
static void decided(struct dec_atom *r, enum vptd_status status)
{
	if (status)
		dec_atom_failed(r, status);
	dec_atom_release(r);
}

/* Decide without a packet of the flow. */
static void decide_now(struct dec_atom *r, bool filter_en, bool stopped)
{
	switch (r->waits) {
	case R_OVF:
		decided(r, resume(r, filter_en));
		break;
	case R_OVF_PGD:
		r->waits = R_NONE;
		resume_unsure(r);
		dec_atom_release(r);
		break;
	case R_JOIN:
		decided(r, join(r));
		break;
	case R_ARRIVED:
		decided(r, dec_atom_deliver(r, stopped));
		break;
	default:
		break;
	}
}

/*
 * [ATOM-E5] Returns true if @said may be a spurious TIP. Such a TIP is that of a branch during the
 * overflow, which led to the place where the overflow ended. It follows FUP.BuffOvf at once. The
 * TIP of a loop's branch looks the same, so the loop may have run once more.
 */
static bool is_spurious(struct dec_atom *r, const struct dec_atom_said *said)
{
	if (!r->spurious || said->packet.kind != VPT_ATOM_PKT_TIP || !said->has_lip ||
	    said->lip != r->lip)
		return false;
	r->dropped = true;
	return true;
}

/* Use the first packet of the flow after FUP.BuffOvf. Returns true if the packet is held. */
static bool decide_overflow(struct dec_atom *r, const struct dec_atom_said *said)
{
	bool enabled = true;

	switch (said->packet.kind) {
	case VPT_ATOM_PKT_PGE:
		enabled = false;
		break;
	case VPT_ATOM_PKT_TNT:
	case VPT_ATOM_PKT_TIP:
	case VPT_ATOM_PKT_FAR:
		break;
	case VPT_ATOM_PKT_PGD:
		/*
		 * Only the TIP of a far transfer out of the filter proves that FUP.PGD is not
		 * spurious.
		 */
		if (r->config.errata & VPT_ATOM_E2 && !in_filter_for_sure(r) && hold(r, said)) {
			r->waits = R_OVF_PGD;
			return true;
		}
		break;
	default:
		enabled = in_filter_for_sure(r);
		break;
	}
	decided(r, resume(r, enabled));
	return false;
}

/* Give up the wait, because there is no room for another PIP. */
static void give_up(struct dec_atom *r)
{
	switch (r->waits) {
	case R_OVF:
		if (in_filter_for_sure(r)) {
			decided(r, resume(r, true));
			break;
		}
		r->waits = R_NONE;
		resume_unsure(r);
		dec_atom_release(r);
		break;
	case R_JOIN:
	case R_STOP:
		r->waits = R_NONE;
		dec_atom_release(r);
		break;
	default:
		decide_now(r, false, false);
		break;
	}
}

static bool decide(struct dec_atom *r, const struct dec_atom_said *said)
{
	enum vpt_atom_pkt_kind kind = said->packet.kind;

	if (r->waits == R_OVF && is_spurious(r, said)) {
		r->spurious = false;
		return true;
	}
	r->spurious = false;
	if (kind == VPT_ATOM_PKT_PIP || kind == VPT_ATOM_PKT_STS) {
		if (hold(r, said))
			return true;
		give_up(r);
		return false;
	}
	switch (r->waits) {
	case R_OVF:
		return decide_overflow(r, said);
	case R_OVF_PGD:
		if (kind == VPT_ATOM_PKT_TIP)
			decided(r, resume(r, true));
		else
			decide_now(r, false, false);
		return false;
	case R_JOIN:
		if (kind != VPT_ATOM_PKT_PGD) {
			decide_now(r, false, false);
			return false;
		}
		r->waits = R_NONE;
		dec_atom_release(r);
		return false;
	case R_ARRIVED:
		if (kind == VPT_ATOM_PKT_TRACE_STOP && hold(r, said))
			return true;
		decide_now(r, false, false);
		return false;
	default:
		/* [ATOM-E4] The trace continues as if TraceStop had not occurred. */
		r->waits = R_NONE;
		dec_atom_release(r);
		return false;
	}
}

/* Use a packet while FAR, EVENT or LEFT wait. Returns true if the packet is the TIP. */
static bool take_tip(struct dec_atom *r, const struct dec_atom_said *said)
{
	bool tip = said->packet.kind == VPT_ATOM_PKT_TIP;
	enum vptd_status status;

	if (vpt_atom_pkt_has_lip(said->packet.kind) && !said->has_lip) {
		status = VPTD_E_PACKET;
	} else if (said->packet.kind == VPT_ATOM_PKT_BUF_OVF && r->waits != R_LEFT) {
		/* The TIP was lost. */
		r->waits = R_NONE;
		status = VPTD_OK;
	} else {
		status = dec_atom_tip_came(r, tip ? said : NULL);
	}
	if (status)
		dec_atom_failed(r, status);
	return tip;
}

/*
 * Set the offset after the packets that led to the instructions that run now. All of these ran
 * before the packet, except the instruction that sent it.
 */
static void lead(struct dec_atom *r, const struct dec_atom_said *said)
{
	r->led = said->offset;
	if (said->packet.kind != VPT_ATOM_PKT_TNT)
		r->led -= said->packet.size;
}

void dec_atom_take(struct dec_atom *r, const struct dec_atom_said *said)
{
	enum vptd_status status;

	lead(r, said);
	while (dec_atom_holds(r)) {
		if (decide(r, said))
			return;
	}
	/* Held packets may have been used in between. */
	lead(r, said);
	if (said->packet.kind == VPT_ATOM_PKT_STS) {
		dec_atom_use_outcomes(r);
		dec_atom_report_sts(r, said);
		return;
	}
	if (r->waits != R_NONE && take_tip(r, said))
		return;
	status = dec_atom_bind(r, said);
	if (!status)
		return;
	dec_atom_failed(r, status);
	/* The flow up to here is lost, but the packet may contain the position. */
	status = dec_atom_bind(r, said);
	if (status)
		dec_atom_failed(r, status);
}

void dec_atom_decide_at_end(struct dec_atom *r, const struct vpt_atom_regs *regs,
			    enum vptd_atom_end why, uint64_t insns)
{
	bool stop = r->nheld && r->held[r->nheld - 1].packet.kind == VPT_ATOM_PKT_TRACE_STOP;
	bool filter_en = in_filter_for_sure(r);

	if (regs && why != VPTD_ATOM_STOPPED)
		filter_en = VPT_ATOM_GET(STATUS, FILTER_EN, regs->status);
	decide_now(r, filter_en,
		   stop && regs && why == VPTD_ATOM_STOPPED &&
			   (!r->counts || r->flow->insns == insns));
}
