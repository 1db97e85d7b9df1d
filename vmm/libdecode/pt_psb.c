// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Handle PSB+: the state of the trace where decoding begins, and a check elsewhere (33.3.7). */
#include "libdecode/pt_inside.h"

void dec_pt_psb(struct dec_pt *pt)
{
	enum vptd_status status = VPTD_OK;

	/* An INIT sent the FUP. Until the SIPI's TIP.PGE nothing is traced (table 33-55, row 23). */
	if (pt->enabled && pt->waits & W_FUP && !(pt->waits & W_PSB))
		status = dec_pt_pgd(pt, 0, true);
	if (pt->synced) {
		if (!status)
			status = dec_pt_use_outcomes(pt);
		dec_pt_drop_waiting(pt);
	}
	/* The flow up to here is lost, but decoding can resume at this PSB. */
	if (status)
		dec_pt_desync(pt, status);
	pt->last_ip = 0;
	pt->waits = (pt->waits & (W_OVF | W_APL12)) | W_PSB;
}

static enum vptd_status begin(struct dec_pt *pt, bool on)
{
	pt->synced = true;
	pt->enabled = on;
	dec_flow_clear_stack(pt->flow);
	dec_pt_use_status(pt);
	on = on && !pt->blind;
	pt->enabled = on;
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_SYNC,
					    .flags = on ? VPTD_EV_TO : 0,
					    .to = on ? pt->fup : 0});
	return on ? dec_flow_jump(pt->flow, pt->fup) : VPTD_OK;
}

/* Check a PSB+ while a guest without code runs. The packets of its VM exit may have been lost. */
static enum vptd_status check_blind(struct dec_pt *pt, bool on)
{
	dec_pt_use_status(pt);
	if (pt->blind || !on)
		return VPTD_OK;
	pt->enabled = true;
	dec_pt_emit(pt, (struct vptd_event){
				.kind = VPTD_EVENT_SYNC, .flags = VPTD_EV_TO, .to = pt->fup});
	return dec_flow_jump(pt->flow, pt->fup);
}

/* Run to the address in the PSB+, and only then use its state. MODE is the mode at the FUP. */
static enum vptd_status check(struct dec_pt *pt, bool on)
{
	enum vptd_status status = VPTD_OK;
	bool entered, moves;

	/* Tracing did not resume after the overflow, whatever its FUP said. */
	if (!on && pt->waits & W_APL12) {
		pt->enabled = false;
		dec_flow_stop(pt->flow);
	}
	/* A TIP.PGE with the address follows. */
	if (on && !pt->enabled && dec_pt_has(pt, DEC_BDM70)) {
		pt->waits &= ~(uint32_t)W_MODE;
		dec_pt_use_status(pt);
		return VPTD_OK;
	}
	if (pt->blind)
		return check_blind(pt, on);
	if (on != pt->enabled)
		return VPTD_E_PACKET;
	if (on)
		status = dec_flow_goto(pt->flow, pt->fup, &entered);
	if (status)
		return status;
	/* RETs are not compressed across a PSB (33.4.2.2), and CALLs may have retired before it. */
	dec_flow_clear_stack(pt->flow);
	moves = pt->waits & W_PIP && (pt->pip_cr3 != pt->cr3 || pt->pip_nr != pt->nr);
	dec_pt_use_status(pt);
	if (on && pt->blind) {
		pt->enabled = false;
		dec_flow_stop(pt->flow);
		return VPTD_OK;
	}
	/* After an overflow this PSB+ may be the first packet that identifies the code here. */
	if (on && (moves || pt->flow->cur->mode != pt->flow->mode))
		return dec_flow_jump(pt->flow, pt->fup);
	return VPTD_OK;
}

/*
 * A FUP or TIP.PGE has the address at which tracing resumes. SKD010: the FUP may be that of the
 * PSB+.
 */
static enum vptd_status behind_overflow(struct dec_pt *pt, bool on)
{
	enum vptd_status status;

	dec_pt_use_status(pt);
	pt->waits &= W_OVF;
	if (!on || !dec_pt_has(pt, DEC_SKD010))
		return VPTD_OK;
	status = dec_pt_resume(pt, pt->fup);
	if (dec_pt_has(pt, DEC_BDM70))
		pt->waits |= W_BDM70;
	return status;
}

enum vptd_status dec_pt_psbend(struct dec_pt *pt)
{
	bool on = pt->waits & W_FUP && !pt->config.no_flow;
	enum vptd_status status = VPTD_OK;

	if (!(pt->waits & W_PSB))
		return VPTD_E_PACKET;
	if (!pt->synced)
		status = begin(pt, on);
	else if (pt->waits & W_OVF)
		return behind_overflow(pt, on);
	else
		status = check(pt, on);
	pt->waits &= W_OVF;
	if (on && dec_pt_has(pt, DEC_BDM70))
		pt->waits |= W_BDM70;
	if (status && on) {
		/* The flow up to here is lost, but the PSB+ contains the position. */
		dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_ERROR,
						    .flags = VPTD_EV_IP,
						    .ip = pt->flow->ip,
						    .value = status});
		status = begin(pt, on);
	}
	return status;
}
