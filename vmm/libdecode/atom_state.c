// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Report events, and set and clear the position of execution. */
#include "libdecode/atom_inside.h"

void dec_atom_emit_at(struct dec_atom *r, struct vptd_event event, uint64_t offset)
{
	event.offset = offset;
	if (r->ops->event)
		r->ops->event(r->context, &event);
}

void dec_atom_report_sts(struct dec_atom *r, const struct dec_atom_said *sts)
{
	const struct vptd_event event = {.kind = VPTD_EVENT_CBR, .value = sts->packet.aux & 0xffu};

	dec_atom_emit_at(r, event, sts->offset);
}

void dec_atom_disabled(struct dec_atom *r, struct vptd_event event, uint64_t offset)
{
	r->enabled = false;
	r->flow->cur = NULL;
	dec_atom_emit_at(r, event, offset);
}

void dec_atom_forget(struct dec_atom *r)
{
	struct dec_flow *f = r->flow;

	/* The return address stays, because a register holds it. */
	f->cur = NULL;
	f->bits = 0;
	f->nbits = 0;
	r->enabled = false;
	r->counts = false;
	r->waits = R_NONE;
	dec_atom_came(r, SINCE_EVENT);
}

void dec_atom_lose(struct dec_atom *r)
{
	dec_atom_forget(r);
	dec_flow_clear_stack(r->flow);
	r->lost = r->joins = true;
}

void dec_atom_join(struct dec_atom *r)
{
	r->lost = r->joins = false;
	dec_flow_clear_stack(r->flow);
	r->call_lost = true;
}

void dec_atom_set_count(struct dec_atom *r, uint64_t insns)
{
	struct dec_flow *f = r->flow;
	bool ran = dec_atom_ran(r), is_last = r->by_insns == f->insns;

	r->added += insns - f->insns;
	f->insns = insns;
	r->since_insns = ran ? ~insns : insns;
	r->by_insns = is_last ? insns : ~insns;
}

void dec_atom_reset(struct dec_atom *r)
{
	dec_atom_forget(r);
	dec_flow_clear_stack(r->flow);
	vpt_atom_regs_reset(&r->regs);
	r->lost = r->skips = true;
	r->joins = r->no_tip = r->call_lost = r->continues = r->last_known = false;
	r->flow->has_retc = false;
	r->stale = 0;
	r->paging = DEC_ATOM_UNKNOWN;
	r->nheld = 0;
	r->carry.n = 0;
}

/* Returns true if a RET returns from a CALL that retired while packets were lost. */
static bool lost_at_ret(const struct dec_atom *r, enum vptd_status status)
{
	const struct dec_flow *f = r->flow;

	return status == VPTD_E_RETURN && r->call_lost && !f->depth && f->nbits && f->bits >> 63;
}

/* Run up to the branch that lacks an outcome or a target. */
static void run_to_branch(struct dec_atom *r, enum vptd_status status)
{
	bool there;

	if (r->enabled && r->flow->cur && r->waits == R_NONE &&
	    (status == VPTD_E_NO_OUTCOME || status == VPTD_E_NO_TARGET || status == VPTD_E_RETURN))
		(void)dec_flow_advance(r->flow, DEC_ATOM_NOWHERE, UINT64_MAX, &there);
}

/* Use all earlier outcomes before a packet that may not occur here. */
static enum vptd_status use_outcomes(struct dec_atom *r, enum vptd_status status)
{
	enum vptd_status before;

	if (status != VPTD_E_PACKET || !r->enabled || r->waits != R_NONE)
		return status;
	before = dec_atom_drain(r);
	return before ? before : status;
}

void dec_atom_failed(struct dec_atom *r, enum vptd_status status)
{
	const struct dec_flow *f = r->flow;

	status = use_outcomes(r, status);
	run_to_branch(r, status);
	if (lost_at_ret(r, status)) {
		dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_OVERFLOW});
		dec_atom_lose(r);
		return;
	}
	dec_atom_emit(r, (struct vptd_event){
				 .kind = VPTD_EVENT_ERROR,
				 .flags = r->enabled && f->cur ? VPTD_EV_IP : 0,
				 .ip = r->enabled && f->cur ? f->ip : 0,
				 .value = status,
			 });
	dec_atom_forget(r);
	r->lost = true;
	r->joins = false;
}

/* STS and PSB follow all instructions whose outcomes precede them. */
void dec_atom_use_outcomes(struct dec_atom *r)
{
	enum vptd_status status = r->enabled && r->waits == R_NONE ? dec_atom_drain(r) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}
