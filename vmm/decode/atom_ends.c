// SPDX-License-Identifier: GPL-2.0-or-later
/* Where sessions begin and end, which few packets tell. */
#include "atom_inside.h"
#include "trace/atom_session.h"

const struct vpt_session *vpt_atomd_end(const struct vpt_atom_decoder *a)
{
	const struct vpt_atom_stream *s = &a->stream;

	return s->session < s->nperiods ? s->periods[s->session].end : NULL;
}

bool vpt_atomd_ends_changed(const struct vpt_atom_decoder *a)
{
	return vpt_atomd_end(a) && vpt_atomd_end(a)->end == VPT_END_CHANGED;
}

void vpt_atomd_forget_flow(struct vpt_atom_decoder *a)
{
	a->enabled = false;
	a->noutcomes = 0;
	a->wait = VPT_ATOM_WAIT_NONE;
	a->jumped = false;
	a->ran = false;
	a->will_run = false;
	a->resumed = false;
	a->in_tail = false;
	a->counts = false;
}

/* Packets and registers are those of `session` now; whether the flow goes on is not said. */
static void enter(struct vpt_atom_decoder *a, size_t session)
{
	const struct vpt_session *start = a->stream.periods[session].start;
	const struct vpt_atom_regs *regs = &a->stream.regs;

	vpt_atom_stream_enter(&a->stream, session);
	/* [ATOM-STALE-TNT] */
	a->stale = (uint8_t)vpt_atomd_outcomes(regs->tnt_buff);
	a->call_known = VPT_ATOM_GET(LAST_CALL_NLIP, VALID, regs->last_call_nlip);
	a->call_lost = false;
	a->call_next = vpt_atom_canonical(VPT_ATOM_GET(LAST_CALL_NLIP, NLIP, regs->last_call_nlip));
	a->insns = start->insns;
	a->in_tail = false;
}

/* A session that begins with TriggerEn rising tells all that there is to know. */
void vpt_atomd_enter_afresh(struct vpt_atom_decoder *a, size_t session)
{
	vpt_atomd_forget_flow(a);
	enter(a, session);
	a->counts = true;
	a->lost = false;
	a->joins = false;
}

/* Nothing tells where execution is until a packet with an IP comes. */
void vpt_atomd_lose(struct vpt_atom_decoder *a)
{
	vpt_atomd_forget_flow(a);
	a->call_known = false;
	a->lost = a->joins = true;
}

void vpt_atomd_join(struct vpt_atom_decoder *a)
{
	a->lost = a->joins = false;
	a->call_known = false;
	a->call_lost = true;
}

/* [ATOM-OVF-SET] Software ended an overflow: no packet tells where execution is. */
static void ended_silently(struct vpt_atom_decoder *a)
{
	if (VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, a->stream.regs.status))
		return;
	vpt_atomd_lose(a);
}

/* ENDS was said, and all of the session is told. */
void vpt_atomd_leave_session(struct vpt_atom_decoder *a)
{
	struct vpt_atom_stream *s = &a->stream;
	bool lossy = vpt_atomd_ends_lost(a);

	vpt_atomd_use(a);
	if (s->session + 1 >= s->nperiods) {
		a->over = true;
	} else if (vpt_atomd_ends_changed(a)) {
		enter(a, s->session + 1);
		if (lossy)
			ended_silently(a);
	} else {
		vpt_atomd_enter_afresh(a, s->session + 1);
	}
}

/* Are there bits that were never sent? [ATOM-DEC-TAIL] */
static void take_tail(struct vpt_atom_decoder *a, const struct vpt_session *end)
{
	struct vpt_atom_regs regs;

	vpt_atom_session_get(end, &regs);
	vpt_atomd_take_outcomes(a, regs.tnt_buff, vpt_atomd_outcomes(regs.tnt_buff));
	a->in_tail = true;
}

bool vpt_atomd_ends_lost(const struct vpt_atom_decoder *a)
{
	struct vpt_atom_regs regs;

	if (a->next.what != VPT_ATOM_SAYS_ENDS || !vpt_atomd_end(a))
		return false;
	vpt_atom_session_get(vpt_atomd_end(a), &regs);
	return VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, regs.status);
}

/*
 * Where packets were lost, the counter of instructions is not known. Derive it from the instruction
 * that ended the session, if the code has only one that can have done so.
 */
static void count_back(struct vpt_atom_decoder *a, const struct vpt_session *end)
{
	unsigned int n = 0;

	if (end->end == VPT_END_TRACE_STOP)
		n = vpt_atomd_to_stop(a);
	else if (a->guest && (end->end == VPT_END_DISABLED || end->end == VPT_END_CHANGED))
		n = vpt_atomd_to_wrmsr(a);
	a->counts = n && n <= end->insns;
	if (a->counts)
		a->insns = end->insns - n;
}

/*
 * End a session that a write of a register ended at an unknown instruction. The next packet of the
 * next session takes execution past that instruction. If the write changed LAST_CALL_NLIP, a CALL
 * before it would set the wrong value, so the flow is lost. Returns true if @item was made.
 */
static bool change_registers(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	struct vpt_atom_regs before;

	vpt_atom_session_get(vpt_atomd_end(a), &before);
	vpt_atomd_leave_session(a);
	if (a->counts || a->over || a->stream.regs.last_call_nlip == before.last_call_nlip)
		return false;
	vpt_atomd_lose(a);
	vpt_atomd_event_item(a, item, VPT_FLOW_OVERFLOW);
	return true;
}

/* The flow is lost from here on. */
static bool ends_unknown(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	vpt_atomd_forget_flow(a);
	vpt_atomd_event_item(a, item, VPT_FLOW_OVERFLOW);
	return true;
}

/*
 * Has TraceStop ended the session before the instruction at a->ip? It may have been held until an
 * overflow was over, or a branch or an event has led into its range.
 */
static bool stopped_here(const struct vpt_atom_decoder *a, const struct vpt_session *end)
{
	if (end->end != VPT_END_TRACE_STOP)
		return false;
	if (a->counts)
		return a->resumed && !a->ran && a->insns == end->insns;
	if (a->resumed && !a->ran)
		return true;
	return !a->will_run && (!a->ran || a->jumped || a->did == VPT_GOES_FAR) &&
	       vpt_atomd_stops_at(&a->stream.regs, a->ip, true);
}

bool vpt_atomd_tail(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	const struct vpt_session *end = vpt_atomd_end(a);

	if (!end) {
		a->over = true;
		return false;
	}
	if (!a->in_tail) {
		take_tail(a, end);
		return false;
	}
	if (vpt_atomd_ends_lost(a)) {
		vpt_atomd_forget_flow(a);
		return false;
	}
	if (stopped_here(a, end)) {
		a->enabled = false;
		return a->ran && vpt_atomd_disabled(a, item, false, 0);
	}
	if (!a->counts)
		count_back(a, end);
	if (a->counts && a->insns < end->insns)
		return vpt_atomd_walk(a, item);
	/* [ATOM-CTL-LIVE] */
	if (end->end == VPT_END_CHANGED)
		return change_registers(a, item);
	return a->counts ? vpt_atomd_disabled(a, item, false, 0) : ends_unknown(a, item);
}
