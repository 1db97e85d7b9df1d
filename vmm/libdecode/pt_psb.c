// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PSB+: the state of the trace where decoding begins, and a check where it goes on (33.3.7). */
#include "libdecode/pt_inside.h"

void dec_pt_psb(struct dec_pt *pt)
{
	enum dec_status status = DEC_OK;

	if (pt->synced) {
		status = dec_pt_settle(pt);
		dec_pt_drop_alone(pt);
	}
	/* What came before is lost, but decoding can begin anew right here. */
	if (status)
		dec_pt_desync(pt, status);
	/* No RET is compressed across a PSB (33.4.2.2). */
	dec_flow_clear_stack(pt->flow);
	pt->last_ip = 0;
	pt->waits = (pt->waits & W_OVF) | W_PSB;
}

static void use_status(struct dec_pt *pt)
{
	if (pt->waits & W_VMCS) {
		pt->vmcs = pt->psb_vmcs;
		dec_pt_emit(pt, (struct dec_event){.kind = DEC_EVENT_VMCS,
						   .flags = DEC_EV_STATUS,
						   .value = pt->vmcs});
	}
	if (pt->waits & W_PIP)
		dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, DEC_EV_STATUS);
	if (pt->waits & W_MODE)
		dec_pt_use_mode(pt, pt->mode_exec, DEC_EV_STATUS);
	if (pt->waits & W_TSX)
		dec_pt_emit(pt, (struct dec_event){.kind = DEC_EVENT_TSX,
						   .flags = DEC_EV_STATUS,
						   .value = pt->tsx});
}

static enum dec_status begin(struct dec_pt *pt, bool on)
{
	pt->synced = true;
	pt->enabled = on;
	use_status(pt);
	dec_pt_emit(pt, (struct dec_event){.kind = DEC_EVENT_SYNC,
					   .flags = on ? DEC_EV_TO : 0,
					   .to = on ? pt->fup : 0});
	return on ? dec_flow_jump(pt->flow, pt->fup) : DEC_OK;
}

/* Execution comes to the PSB's address before its state can count: MODE is that at the FUP. */
static enum dec_status check(struct dec_pt *pt, bool on)
{
	enum dec_status status = DEC_OK;
	bool entered;

	/* TIP.PGE follows, and tells where. */
	if (on && !pt->enabled && dec_pt_has(pt, DEC_BDM70)) {
		pt->waits &= ~(uint32_t)W_MODE;
		use_status(pt);
		return DEC_OK;
	}
	if (on != pt->enabled)
		return DEC_E_PACKET;
	if (on)
		status = dec_flow_goto(pt->flow, pt->fup, &entered);
	if (status)
		return status;
	use_status(pt);
	return DEC_OK;
}

enum dec_status dec_pt_psbend(struct dec_pt *pt)
{
	bool on = pt->waits & W_FUP && !pt->config.no_flow;
	enum dec_status status = DEC_OK;

	if (!(pt->waits & W_PSB))
		return DEC_E_PACKET;
	if (!pt->synced)
		status = begin(pt, on);
	/* Behind an overflow a PSB+ tells its state, and a FUP or TIP.PGE where tracing resumes. */
	else if (pt->waits & W_OVF)
		use_status(pt);
	else
		status = check(pt, on);
	pt->waits &= W_OVF;
	if (on && dec_pt_has(pt, DEC_BDM70))
		pt->waits |= W_BDM70;
	if (status && on) {
		/* What led here is lost, but the PSB+ says where execution is. */
		dec_pt_emit(pt, (struct dec_event){.kind = DEC_EVENT_ERROR,
						   .flags = DEC_EV_IP,
						   .ip = pt->flow->ip,
						   .value = status});
		status = begin(pt, on);
	}
	return status;
}
