// SPDX-License-Identifier: GPL-2.0-or-later
/* What packets say, with PacketEn and without. */
#include "atom_inside.h"
#include "trace/atom_session.h"
#include "vpt/atom.h"

/* The next flow packet behind the one at hand, or what there is instead. */
void vpt_atomd_behind(const struct vpt_atom_decoder *a, struct vpt_atom_said *said)
{
	struct vpt_atom_stream ahead = a->stream;

	vpt_atom_stream_flow(&ahead, said);
}

bool vpt_atomd_is_packet(const struct vpt_atom_said *said, enum vpt_atom_pkt_kind kind)
{
	return said->what == VPT_ATOM_SAYS_PACKET && said->packet.kind == kind;
}

/*
 * TraceStop ends the session. [ATOM-E4] One in an overflow does not always, and then the trace
 * goes on as if there was none.
 */
static bool stops(const struct vpt_atom_decoder *a)
{
	struct vpt_atom_said said;

	vpt_atomd_behind(a, &said);
	return said.what != VPT_ATOM_SAYS_PACKET && said.what != VPT_ATOM_SAYS_BAD &&
	       !vpt_atomd_ends_changed(a);
}

/*
 * [ATOM-FILTER-FROZEN] In a range FilterEn is set, unless it was clear as the session began and
 * no branch has led there since. Where that is not known the flow is left out.
 */
static bool in_filter_for_sure(const struct vpt_atom_decoder *a)
{
	const struct vpt_atom_regs *regs = &a->stream.regs;

	return vpt_atomd_in_filter(regs, a->next.lip) &&
	       (VPT_ATOM_GET(EVENTS, FILTER, regs->events) == VPT_ATOM_ID_ALWAYS ||
		VPT_ATOM_GET(STATUS, FILTER_EN, regs->status));
}

/*
 * [ATOM-E2] Returns true if the packet behind FUP.BuffOvf is a FUP.PGD that may be spurious. Only
 * the TIP of a far transfer out of the filter proves that it is not.
 */
static bool may_be_extra_pgd(const struct vpt_atom_decoder *a)
{
	struct vpt_atom_stream ahead = a->stream;
	struct vpt_atom_said said;

	if (!(a->errata & VPT_ATOM_E2) || in_filter_for_sure(a))
		return false;
	vpt_atom_stream_flow(&ahead, &said);
	if (!vpt_atomd_is_packet(&said, VPT_ATOM_PKT_PGD))
		return false;
	vpt_atom_stream_flow(&ahead, &said);
	return !vpt_atomd_is_packet(&said, VPT_ATOM_PKT_TIP);
}

/*
 * [ATOM-OVF-ENABLES] With FUP.BuffOvf there is TriggerEn and ContextEn. FilterEn is as the next
 * packet of the flow tells, or as the session's end has it, or as a branch to there makes it.
 */
static bool enabled_behind_overflow(const struct vpt_atom_decoder *a)
{
	const struct vpt_session *end = vpt_atomd_end(a);
	struct vpt_atom_said said;
	struct vpt_atom_regs regs;

	vpt_atomd_behind(a, &said);
	if (said.what == VPT_ATOM_SAYS_ENDS && end && end->end != VPT_END_TRACE_STOP) {
		vpt_atom_session_get(end, &regs);
		return VPT_ATOM_GET(STATUS, FILTER_EN, regs.status);
	}
	if (said.what == VPT_ATOM_SAYS_PACKET) {
		switch (said.packet.kind) {
		case VPT_ATOM_PKT_PGE:
			return false;
		case VPT_ATOM_PKT_TNT:
		case VPT_ATOM_PKT_TIP:
		case VPT_ATOM_PKT_FAR:
		case VPT_ATOM_PKT_PGD:
			return true;
		default:
			break;
		}
	}
	return in_filter_for_sure(a);
}

/*
 * [ATOM-E5] The TIP of a branch in an overflow that led to where that was over. Returns whether
 * there is one. It looks like that of a loop's branch, so that the loop may have run once more.
 */
static bool drop_spurious_tip(struct vpt_atom_decoder *a, uint64_t lip)
{
	struct vpt_atom_stream ahead = a->stream;
	struct vpt_atom_said said;

	do {
		vpt_atom_stream_read(&ahead, &said);
	} while (vpt_atomd_is_packet(&said, VPT_ATOM_PKT_PSB));
	if (!vpt_atomd_is_packet(&said, VPT_ATOM_PKT_TIP) || !said.has_lip || said.lip != lip)
		return false;
	a->stream = ahead;
	return true;
}

/* FUP.BuffOvf. */
bool vpt_atomd_overflow(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	uint64_t lip = a->next.lip;
	bool dropped, lost;

	if (!a->next.has_lip) {
		vpt_atomd_use(a);
		vpt_atomd_fail(a, item, "the place where an overflow ends is not known");
		return true;
	}
	dropped = (a->errata & VPT_ATOM_E5) && drop_spurious_tip(a, lip);
	lost = may_be_extra_pgd(a);
	vpt_atomd_lose(a);
	if (!lost) {
		a->enabled = enabled_behind_overflow(a);
		a->lost = a->joins = false;
		a->resumed = true;
		/* [ATOM-OVF-CLEAR] */
		a->call_lost = false;
	}
	vpt_atomd_use(a);
	a->ip = lip;
	vpt_atomd_event_item(a, item, VPT_FLOW_OVERFLOW);
	item->has_to = a->enabled;
	item->to = a->enabled ? lip : 0;
	item->value = dropped || lost ? 2 : 1;
	return true;
}

bool vpt_atomd_enabled_at(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	if (a->lost)
		vpt_atomd_join(a);
	a->enabled = true;
	a->ip = a->next.lip;
	a->ran = false;
	a->will_run = true; /* [ATOM-STOP] */
	a->resumed = false;
	a->jumped = false;
	a->lost = a->joins = false;
	vpt_atomd_use(a);
	vpt_atomd_event_item(a, item, VPT_FLOW_ENABLED);
	item->has_to = true;
	item->to = a->ip;
	return true;
}

bool vpt_atomd_paging(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	a->paging = a->next.packet.flag;
	a->paging_known = true;
	vpt_atomd_use(a);
	vpt_atomd_event_item(a, item, VPT_FLOW_PAGING);
	item->value = a->next.packet.value;
	return true;
}

bool vpt_atomd_disabled(struct vpt_atom_decoder *a, struct vpt_item *item, bool has_to, uint64_t to)
{
	a->enabled = false;
	a->jumped = false;
	vpt_atomd_event_item(a, item, VPT_FLOW_DISABLED);
	item->has_to = has_to;
	item->to = has_to ? to : 0;
	return true;
}

/* The outcomes of a TNT, without those that a trace before this one left behind. */
void vpt_atomd_take_outcomes(struct vpt_atom_decoder *a, uint64_t bits, unsigned int n)
{
	unsigned int drop = a->stale < n ? a->stale : n;

	a->stale = 0;
	a->noutcomes = (uint8_t)(n - drop);
	a->outcomes = (uint8_t)bits;
}

/* TraceStop, where nothing is traced (any more). */
static bool trace_stop(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	bool real = stops(a);

	vpt_atomd_use(a);
	if (real)
		vpt_atomd_event_item(a, item, VPT_FLOW_STOP);
	return real;
}

/* A packet without PacketEn. */
bool vpt_atomd_outside(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	switch (a->next.packet.kind) {
	case VPT_ATOM_PKT_TNT:
		vpt_atomd_take_outcomes(a, a->next.packet.value, a->next.packet.bits);
		vpt_atomd_use(a);
		if (!a->noutcomes)
			return false;
		a->noutcomes = 0;
		vpt_atomd_fail(a, item, "outcomes, but nothing is traced");
		return true;
	case VPT_ATOM_PKT_PGE:
		return vpt_atomd_enabled_at(a, item);
	case VPT_ATOM_PKT_PGD:
		/* [ATOM-E2] */
		vpt_atomd_use(a);
		return false;
	case VPT_ATOM_PKT_BUF_OVF:
		return vpt_atomd_overflow(a, item);
	case VPT_ATOM_PKT_PIP:
		return vpt_atomd_paging(a, item);
	case VPT_ATOM_PKT_TRACE_STOP:
		return trace_stop(a, item);
	default:
		vpt_atomd_use(a);
		vpt_atomd_fail(a, item, "a transfer, but nothing is traced");
		return true;
	}
}

/* Is this MOV to CR0 the one that changed paging? 64-bit code cannot. */
static bool changed_paging(const struct vpt_atom_decoder *a)
{
	const struct vpt_atom_packet *pip = &a->next.packet;

	if (a->code->mode == 64)
		return false;
	if (a->paging_known)
		return pip->flag != a->paging;
	/* The CR3 is what it was. */
	return (pip->value & ~UINT64_C(0xfff)) == (a->code->space & ~UINT64_C(0xfff));
}

/* Walked to FUP.PGD, by falling through, or where an event came. */
static bool left(struct vpt_atom_decoder *a)
{
	a->wait = VPT_ATOM_WAIT_LEFT;
	a->from = a->ip;
	a->by_insn = a->ran && a->may_leave;
	a->soft_int = false;
	vpt_atomd_use(a);
	return false;
}

/* All outcomes are used up: what does the next packet say? */
bool vpt_atomd_inside(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	switch (a->next.packet.kind) {
	case VPT_ATOM_PKT_TNT:
		vpt_atomd_take_outcomes(a, a->next.packet.value, a->next.packet.bits);
		vpt_atomd_use(a);
		return false;
	case VPT_ATOM_PKT_BUF_OVF:
		return vpt_atomd_overflow(a, item);
	case VPT_ATOM_PKT_PGE:
		vpt_atomd_fail(a, item, "FUP.PGE, but there is PacketEn already");
		return true;
	case VPT_ATOM_PKT_TRACE_STOP:
		if (stops(a))
			return vpt_atomd_tail(a, item);
		vpt_atomd_use(a);
		return false;
	case VPT_ATOM_PKT_FAR:
		if (a->ip != a->next.lip)
			return vpt_atomd_walk(a, item);
		a->from = a->ip;
		a->soft_int = false;
		a->wait = VPT_ATOM_WAIT_EVENT;
		vpt_atomd_use(a);
		return false;
	case VPT_ATOM_PKT_PGD:
		if (a->ip == a->next.lip)
			return left(a);
		/* [ATOM-PGD-IP ATOM-NEAR-LEAVES] It has what comes behind the branch. */
		if (a->jumped && a->jumped_next == a->next.lip &&
		    !vpt_atomd_in_filter(&a->stream.regs, a->ip)) {
			vpt_atomd_use(a);
			return vpt_atomd_disabled(a, item, true, a->ip);
		}
		return vpt_atomd_walk(a, item);
	case VPT_ATOM_PKT_PIP:
		/* [ATOM-PIP ATOM-CR3-ORDER] */
		if (a->ran &&
		    (a->did == VPT_GOES_CR3 || (a->did == VPT_GOES_CR0 && changed_paging(a)))) {
			a->did = VPT_GOES_ON;
			return vpt_atomd_paging(a, item);
		}
		return vpt_atomd_walk(a, item);
	default:
		return vpt_atomd_walk(a, item);
	}
}

/* An event came to where the trace was stopped by a TraceStop, so that it ended it. */
static bool stopped_there(const struct vpt_atom_decoder *a)
{
	const struct vpt_session *end = vpt_atomd_end(a);
	struct vpt_atom_said said;

	vpt_atomd_behind(a, &said);
	if (!vpt_atomd_is_packet(&said, VPT_ATOM_PKT_TRACE_STOP) || !end ||
	    end->end != VPT_END_TRACE_STOP)
		return false;
	return a->counts ? end->insns == a->insns
			 : vpt_atomd_stops_at(&a->stream.regs, a->next.lip, true);
}

static bool event(struct vpt_atom_decoder *a, struct vpt_item *item, bool has_to)
{
	bool goes_on = a->enabled;

	vpt_atomd_event_item(a, item, goes_on ? VPT_FLOW_ASYNC_BRANCH : VPT_FLOW_ASYNC_DISABLED);
	item->ip = a->from;
	item->has_to = has_to;
	item->to = has_to ? a->next.lip : 0;
	item->insns = a->soft_int;
	a->ran = false;
	a->will_run = false;
	a->resumed = false;
	a->jumped = false;
	return true;
}

/* What was walked to: the packet behind it has been read. */
bool vpt_atomd_settle(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	bool tip = vpt_atomd_next_is(a, VPT_ATOM_PKT_TIP);
	enum vpt_atom_wait wait = a->wait;

	a->wait = VPT_ATOM_WAIT_NONE;
	if (wait == VPT_ATOM_WAIT_LEFT) {
		a->enabled = false;
		if (tip)
			vpt_atomd_use(a);
		/* Of what falls through there is no TIP. */
		if (a->by_insn && (!tip || a->did == VPT_GOES_FAR))
			return vpt_atomd_disabled(a, item, tip, a->next.lip);
		return event(a, item, tip);
	}
	if (!tip) {
		/* It was lost. */
		if (vpt_atomd_next_is(a, VPT_ATOM_PKT_BUF_OVF) || vpt_atomd_ends_lost(a))
			return false;
		vpt_atomd_fail(a, item, "a far transfer has no TIP");
		return true;
	}
	a->ip = a->next.lip;
	a->enabled = wait != VPT_ATOM_WAIT_EVENT || !stopped_there(a);
	vpt_atomd_use(a);
	return wait == VPT_ATOM_WAIT_EVENT && event(a, item, true);
}
