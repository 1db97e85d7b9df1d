// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Use the packets of RTIT one by one, and find the flow again where it is lost. */
#include "libdecode/atom.h"

#include <string.h>

#include "libdecode/atom_inside.h"

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

void dec_atom_init(struct dec_atom *r, struct dec_flow *flow, const struct dec_atom_config *config,
		   const struct dec_atom_ops *ops, void *context)
{
	memset(r, 0, sizeof(*r));
	r->flow = flow;
	r->config = *config;
	r->ops = ops;
	r->context = context;
	flow->last_call = true;
	flow->pops = false;
	r->added = flow->insns;
	dec_atom_reset(r);
}

enum vptd_status dec_atom_use_space(struct dec_atom *r, uint64_t key, uint64_t cr3,
				    unsigned int mode)
{
	r->cr3 = cr3;
	r->flow->mode = (uint8_t)mode;
	return dec_code_select(r->flow->code, key) ? VPTD_E_MEMORY : VPTD_OK;
}

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

/* Does a RET return from a CALL that retired where packets were lost? */
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

/* A packet that may not come here is behind all outcomes that came before: use those first. */
static enum vptd_status use_outcomes(struct dec_atom *r, enum vptd_status status)
{
	enum vptd_status before;

	if (status != VPTD_E_PACKET || !r->enabled || r->waits != R_NONE)
		return status;
	before = dec_atom_settle(r);
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

/* STS and PSB are behind all instructions whose outcomes came before. */
static void settle(struct dec_atom *r)
{
	enum vptd_status status = r->enabled && r->waits == R_NONE ? dec_atom_settle(r) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}

/* A packet that FAR, EVENT or LEFT wait for. Returns true if it is the TIP. */
static bool take_tip(struct dec_atom *r, const struct dec_atom_said *said)
{
	bool tip = said->packet.kind == VPT_ATOM_PKT_TIP;
	enum vptd_status status;

	if (vpt_atom_pkt_has_lip(said->packet.kind) && !said->has_lip) {
		status = VPTD_E_PACKET;
	} else if (said->packet.kind == VPT_ATOM_PKT_BUF_OVF && r->waits != R_LEFT) {
		/* It was lost. */
		r->waits = R_NONE;
		status = VPTD_OK;
	} else {
		status = dec_atom_tip_came(r, tip ? said : NULL);
	}
	if (status)
		dec_atom_failed(r, status);
	return tip;
}

/* What runs up to a packet ran before it, but for the instruction that sent it. */
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
		if (dec_atom_decide(r, said))
			return;
	}
	/* Packets that were held may have been used in between. */
	lead(r, said);
	if (said->packet.kind == VPT_ATOM_PKT_STS) {
		settle(r);
		dec_atom_report_sts(r, said);
		return;
	}
	if (r->waits != R_NONE && take_tip(r, said))
		return;
	status = dec_atom_bind(r, said);
	if (!status)
		return;
	dec_atom_failed(r, status);
	/* What led here is lost, but the packet may say where execution is. */
	status = dec_atom_bind(r, said);
	if (status)
		dec_atom_failed(r, status);
}

/* Is there a position, and a block of code for it, that execution continues from? */
static bool has_position(const struct dec_atom *r)
{
	return r->enabled && r->flow->cur && (r->waits == R_NONE || r->waits == R_STOP);
}

void dec_atom_catch_up(struct dec_atom *r)
{
	enum vptd_status status = has_position(r) ? dec_atom_settle(r) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}

void dec_atom_look_again(struct dec_atom *r)
{
	enum vptd_status status = has_position(r) ? dec_flow_jump(r->flow, r->flow->ip) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}

void dec_atom_packet(struct dec_atom *r, const struct dec_atom_said *said)
{
	switch (said->packet.kind) {
	case VPT_ATOM_PKT_PSB:
		/* [ATOM-DEC-PSB] To a decoder in step it says nothing. */
		settle(r);
		r->joins = r->lost;
		break;
	case VPT_ATOM_PKT_MTC:
	case VPT_ATOM_PKT_PCC:
		r->spurious = false;
		break;
	default:
		dec_atom_take(r, said);
	}
}

void dec_atom_bad(struct dec_atom *r)
{
	dec_atom_decide_at_end(r, NULL, VPTD_ATOM_ENDED, 0);
	settle(r);
	dec_atom_failed(r, VPTD_E_PACKET);
	dec_atom_release(r);
	r->last_known = false;
}
