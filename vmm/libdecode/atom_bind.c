// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bind packets: with PacketEn, without PacketEn, and while the position is unknown (table 19). */
#include "libdecode/atom_inside.h"

enum vptd_status dec_atom_outcomes(struct dec_atom *r, uint64_t bits, unsigned int n)
{
	unsigned int drop = r->stale < n ? r->stale : n;
	enum vptd_status status;

	/* [ATOM-STALE-TNT] The oldest outcomes belong to an earlier trace. */
	r->stale = 0;
	n -= drop;
	if (!n)
		return VPTD_OK;
	if (!r->enabled)
		return VPTD_E_PACKET;
	status = dec_flow_outcomes(r->flow, bits & VPT_MASK64(n - 1, 0), n);
	return status || !r->config.at_once ? status : dec_atom_drain(r);
}

static enum vptd_status enable(struct dec_atom *r, uint64_t lip)
{
	if (r->lost)
		dec_atom_join(r);
	r->enabled = true;
	dec_atom_came(r, SINCE_ENABLED);
	dec_atom_emit(
		r, (struct vptd_event){.kind = VPTD_EVENT_ENABLED, .flags = VPTD_EV_TO, .to = lip});
	return dec_flow_jump(r->flow, lip);
}

/* [ATOM-PIP] The MOV has retired, if it is traced. */
static enum vptd_status paging(struct dec_atom *r, const struct vpt_atom_packet *pip)
{
	uint64_t key = r->ops->space ? r->ops->space(r->context, pip->value) : pip->value;

	r->paging = pip->flag;
	r->cr3 = pip->value;
	if (dec_code_select(r->flow->code, key))
		return VPTD_E_MEMORY;
	dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_PAGING, .value = pip->value});
	return r->enabled && !r->waits ? dec_flow_jump(r->flow, r->flow->ip) : VPTD_OK;
}

/* [ATOM-OVF-ENABLES] FUP.BuffOvf: later packets decide whether tracing resumes. */
static enum vptd_status overflow(struct dec_atom *r, const struct dec_atom_said *said)
{
	dec_atom_lose(r);
	r->lost = r->joins = false;
	r->lip = said->lip;
	r->event_offset = said->offset;
	r->waits = R_OVF;
	r->spurious = r->config.errata & VPT_ATOM_E5;
	r->dropped = false;
	return VPTD_OK;
}

/* Find the position. After a PSB a TIP gives the position, unless it leaves the traced region. */
static enum vptd_status find(struct dec_atom *r, const struct dec_atom_said *said)
{
	bool after_pgd = r->no_tip;

	r->no_tip = false;
	switch (said->packet.kind) {
	case VPT_ATOM_PKT_PGE:
		return said->has_lip ? enable(r, said->lip) : VPTD_OK;
	case VPT_ATOM_PKT_BUF_OVF:
		return said->has_lip ? overflow(r, said) : VPTD_OK;
	case VPT_ATOM_PKT_TIP:
		if (said->has_lip && r->joins && !after_pgd) {
			r->lip = said->lip;
			r->waits = R_JOIN;
		}
		return VPTD_OK;
	case VPT_ATOM_PKT_PGD:
		r->no_tip = true;
		return VPTD_OK;
	case VPT_ATOM_PKT_PIP:
		return paging(r, &said->packet);
	case VPT_ATOM_PKT_TNT:
		r->stale = 0;
		return VPTD_OK;
	default:
		return VPTD_OK;
	}
}

/* Use a packet while the position and PacketEn are known. */
static enum vptd_status use(struct dec_atom *r, const struct dec_atom_said *said)
{
	enum vptd_status status = VPTD_OK;

	switch (said->packet.kind) {
	case VPT_ATOM_PKT_TNT:
		return dec_atom_outcomes(r, said->packet.value, said->packet.bits);
	case VPT_ATOM_PKT_TIP:
		return r->enabled ? dec_atom_to_tip(r, said->lip) : VPTD_E_PACKET;
	case VPT_ATOM_PKT_FAR:
		return r->enabled ? dec_atom_to_fup(r, said->lip, false) : VPTD_E_PACKET;
	case VPT_ATOM_PKT_PGE:
		return r->enabled ? VPTD_E_PACKET : enable(r, said->lip);
	case VPT_ATOM_PKT_PGD:
		/* [ATOM-E2] */
		return r->enabled ? dec_atom_to_fup(r, said->lip, true) : VPTD_OK;
	case VPT_ATOM_PKT_PIP:
		if (r->enabled)
			status = dec_atom_to_pip(r, &said->packet);
		return status ? status : paging(r, &said->packet);
	case VPT_ATOM_PKT_BUF_OVF:
		status = dec_atom_drain_fast(r);
		return status ? status : overflow(r, said);
	case VPT_ATOM_PKT_TRACE_STOP:
		r->waits = R_STOP;
		return VPTD_OK;
	default:
		return VPTD_E_PACKET;
	}
}

enum vptd_status dec_atom_bind(struct dec_atom *r, const struct dec_atom_said *said)
{
	if (r->lost)
		return find(r, said);
	if (vpt_atom_pkt_has_lip(said->packet.kind) && !said->has_lip)
		return VPTD_E_PACKET;
	return use(r, said);
}

enum vptd_status dec_atom_deliver(struct dec_atom *r, bool stopped)
{
	uint64_t to = r->event.to;

	r->waits = R_NONE;
	r->enabled = !stopped;
	r->event.kind = stopped ? VPTD_EVENT_ASYNC_DISABLED : VPTD_EVENT_ASYNC_BRANCH;
	dec_atom_came(r, SINCE_EVENT);
	dec_atom_emit_at(r, r->event, r->event_offset);
	if (!stopped)
		return dec_flow_jump(r->flow, to);
	r->flow->cur = NULL;
	return VPTD_OK;
}

/* Flags of the event of an INT n at the event's address. */
#define SOFT_INT (VPTD_EV_SOFT_INT | VPTD_EV_RAN)

static bool is_far(enum dec_insn_kind kind)
{
	return kind == DEC_INSN_FAR_JUMP || kind == DEC_INSN_FAR_CALL ||
	       kind == DEC_INSN_FAR_RETURN;
}

/* Report FUP.PGD, and the TIP if a far transfer or an event left the filter. */
static void left(struct dec_atom *r, const struct dec_atom_said *tip)
{
	struct vptd_event event = {.flags = tip ? VPTD_EV_TO : 0, .to = tip ? tip->lip : 0};
	uint64_t offset = tip ? tip->offset : r->event_offset;

	/* An instruction that falls through to code outside of the filter has no TIP. */
	if (r->by_insn && (!tip || is_far(dec_atom_did(r)))) {
		event.kind = VPTD_EVENT_DISABLED;
		dec_atom_disabled(r, event, offset);
		return;
	}
	event.kind = VPTD_EVENT_ASYNC_DISABLED;
	event.flags |= VPTD_EV_IP | (r->soft_int ? SOFT_INT : 0);
	event.ip = r->from;
	dec_atom_came(r, SINCE_EVENT);
	dec_atom_disabled(r, event, offset);
}

enum vptd_status dec_atom_tip_came(struct dec_atom *r, const struct dec_atom_said *tip)
{
	uint8_t waited = r->waits;
	struct dec_block *by = r->flow->cur;

	r->waits = R_NONE;
	if (waited == R_LEFT) {
		left(r, tip);
		return VPTD_OK;
	}
	if (!tip)
		return VPTD_E_PACKET;
	if (waited == R_FAR)
		return dec_flow_enter(r->flow, by, tip->lip);
	r->event = (struct vptd_event){
		.flags = VPTD_EV_IP | VPTD_EV_TO | (r->soft_int ? SOFT_INT : 0),
		.ip = r->from,
		.to = tip->lip,
	};
	r->event_offset = tip->offset;
	if (!dec_atom_stops_at(&r->regs, tip->lip, true))
		return dec_atom_deliver(r, false);
	r->waits = R_ARRIVED;
	return VPTD_OK;
}
