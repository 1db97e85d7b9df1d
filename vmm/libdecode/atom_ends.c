// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Begin and end sessions. Few packets mark these places. */
#include "libdecode/atom_inside.h"

/* Use these registers for the packets that follow. */
static void use_registers(struct dec_atom *r, const struct vpt_atom_regs *regs)
{
	struct dec_flow *f = r->flow;

	r->regs = *regs;
	r->last = (uint32_t)VPT_ATOM_GET(LAST_LIP, LIP, regs->last_lip);
	r->last_known = VPT_ATOM_GET(LAST_LIP, VALID, regs->last_lip);
	/* [ATOM-STALE-TNT] */
	r->stale = (uint8_t)dec_atom_gathered(regs->tnt_buff);
	r->call_lost = false;
	f->has_retc = VPT_ATOM_GET(CTL, CMPRS_RET, regs->ctl);
	dec_flow_clear_stack(f);
	if (VPT_ATOM_GET(LAST_CALL_NLIP, VALID, regs->last_call_nlip))
		dec_flow_push(f, vpt_atom_canonical(
					 VPT_ATOM_GET(LAST_CALL_NLIP, NLIP, regs->last_call_nlip)));
}

/*
 * Handle a change of the registers at an unknown instruction. The next packet leads past that
 * instruction, but a CALL before that would set the wrong LAST_CALL_NLIP.
 */
static void change(struct dec_atom *r, const struct vpt_atom_regs *regs)
{
	if (r->was_lossy) {
		/* [ATOM-OVF-SET] Software ended the overflow, and no packet has the position. */
		if (!VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, regs->status))
			dec_atom_lose(r);
	} else if (r->enabled && !r->counts && regs->last_call_nlip != r->last_call_nlip) {
		dec_atom_lose(r);
		dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_OVERFLOW});
	}
}

void dec_atom_begin(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns)
{
	bool counts = insns != DEC_ATOM_NO_COUNT;

	if (!counts)
		insns = r->flow->insns;
	r->skips = false;
	r->carry.n = 0;
	if (r->continues) {
		use_registers(r, regs);
		r->counts = r->counts && counts;
		dec_atom_set_count(r, insns);
		change(r, regs);
	} else {
		dec_atom_forget(r);
		r->nheld = 0;
		use_registers(r, regs);
		dec_atom_set_count(r, insns);
		dec_atom_came(r, SINCE_EVENT);
		r->counts = counts;
		r->lost = r->joins = r->no_tip = false;
	}
	r->continues = false;
}

/*
 * Returns true if TraceStop ended the session before the instruction at the position. TraceStop may
 * have been held until the end of an overflow, or a branch or an event has entered its range.
 */
static bool stopped_here(const struct dec_atom *r, uint64_t insns, enum vptd_atom_end why)
{
	bool ran = dec_atom_ran(r), resumed = r->since == SINCE_OVERFLOW && !ran;
	enum dec_insn_kind did = dec_atom_did(r);

	if (why != VPTD_ATOM_STOPPED)
		return false;
	if (r->counts)
		return resumed && r->flow->insns == insns;
	if (resumed)
		return true;
	/* [ATOM-STOP] The instruction at FUP.PGE has run. Otherwise that packet would not exist. */
	if (r->since == SINCE_ENABLED && !ran)
		return false;
	return (!ran || dec_atom_jumped(r) || did == DEC_INSN_FAR_JUMP ||
		did == DEC_INSN_FAR_CALL || did == DEC_INSN_FAR_RETURN) &&
	       dec_atom_stops_at(&r->regs, r->flow->ip, true);
}

/* [ATOM-DEC-TAIL] PacketEn is set as the session ends: use outcomes that were never sent. */
static enum vptd_status tail(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns,
			     enum vptd_atom_end why, bool lossy)
{
	const struct vptd_event disabled = {.kind = VPTD_EVENT_DISABLED};
	enum vptd_status status =
		dec_atom_outcomes(r, regs->tnt_buff, dec_atom_gathered(regs->tnt_buff));

	if (!status)
		status = dec_atom_drain(r);
	if (status)
		return status;
	if (lossy) {
		dec_atom_forget(r);
		return VPTD_OK;
	}
	if (stopped_here(r, insns, why)) {
		r->enabled = false;
		if (dec_atom_ran(r))
			dec_atom_disabled(r, disabled, r->led);
		return VPTD_OK;
	}
	if (!r->counts)
		status = dec_atom_count_back(r, insns, why);
	if (!status && r->counts)
		status = dec_atom_to_count(r, insns);
	/* [ATOM-CTL-LIVE] */
	if (status || why == VPTD_ATOM_CHANGED)
		return status;
	if (r->counts) {
		dec_atom_disabled(r, disabled, r->led);
		return VPTD_OK;
	}
	dec_atom_forget(r);
	dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_OVERFLOW});
	return VPTD_OK;
}

/* Handle a missing TIP. A FUP.PGD may have none, or packets are being lost. */
static enum vptd_status no_tip(struct dec_atom *r, bool lossy)
{
	bool left = r->waits == R_LEFT;

	if (r->waits == R_NONE || r->waits == R_STOP)
		return VPTD_OK;
	if (lossy && !left) {
		dec_atom_forget(r);
		return VPTD_OK;
	}
	return dec_atom_tip_came(r, NULL);
}

void dec_atom_end(struct dec_atom *r, const struct vpt_atom_regs *regs, uint64_t insns,
		  enum vptd_atom_end why)
{
	bool lossy = VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, regs->status), stops;
	enum vptd_status status;

	/* No exact counter is known: use any value that is large enough. */
	if (insns == DEC_ATOM_NO_COUNT) {
		r->counts = false;
		insns = r->flow->insns + UINT32_MAX;
	}
	dec_atom_cut(r);
	dec_atom_decide_at_end(r, regs, why, insns);
	if (r->waits != R_STOP)
		r->led = r->offset;
	stops = r->waits == R_STOP && why != VPTD_ATOM_CHANGED;
	status = no_tip(r, lossy);
	r->waits = R_NONE;
	if (!status && r->enabled)
		status = tail(r, regs, insns, why, lossy && !stops);
	if (status)
		dec_atom_failed(r, status);
	else if (stops)
		dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_STOP});
	dec_atom_release(r);
	/* FUP.PGE and the packets after it may be lost. */
	if (lossy)
		dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_OVERFLOW});
	r->continues = why == VPTD_ATOM_CHANGED;
	r->was_lossy = lossy;
	r->last_call_nlip = regs->last_call_nlip;
}

void dec_atom_finish(struct dec_atom *r)
{
	bool stops;
	enum vptd_status status;

	dec_atom_decide_at_end(r, NULL, VPTD_ATOM_ENDED, 0);
	r->led = r->offset;
	stops = r->waits == R_STOP && !r->enabled;
	status = r->waits == R_LEFT ? dec_atom_tip_came(r, NULL) : VPTD_OK;
	if (!status && r->enabled && r->waits == R_NONE)
		status = dec_atom_drain(r);
	if (status)
		dec_atom_failed(r, status);
	if (stops)
		dec_atom_emit(r, (struct vptd_event){.kind = VPTD_EVENT_STOP});
	r->waits = R_NONE;
	dec_atom_release(r);
	dec_atom_reset(r);
}
