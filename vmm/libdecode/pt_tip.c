// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bind FUP, TIP, TIP.PGE and OVF to the addresses of execution (33.4.2). */
#include "libdecode/pt_inside.h"

static bool is_ptwrite(const struct dec_pt *pt)
{
	return pt->alone.n == 1 && pt->alone.at[0].kind == VPTD_EVENT_PTWRITE &&
	       pt->flow->cur->end == DEC_END_PTWRITE && dec_flow_at_end(pt->flow);
}

/* IRET, UIRET and VM entries send their own address, and the branch is theirs (table 33-50). */
static bool is_transfer(const struct dec_pt *pt)
{
	const struct vptd_event *last;

	if (!pt->alone.n)
		return false;
	last = &pt->alone.at[pt->alone.n - 1];
	return last->kind == VPTD_EVENT_CFE &&
	       (last->value == CFE_IRET || last->value == CFE_UIRET ||
		last->value == CFE_VMENTRY) &&
	       pt->flow->cur->end == DEC_END_FAR && dec_flow_at_end(pt->flow);
}

/*
 * Handle the FUP of events that have one of their own: execution reaches @ip and stays there. A
 * PTWRITE sends its own address, and has run.
 */
static enum vptd_status fup_alone(struct dec_pt *pt, uint64_t ip)
{
	enum vptd_status status = VPTD_OK;
	bool entered;

	if (pt->enabled) {
		status = dec_pt_use_outcomes(pt);
		if (!status)
			status = dec_flow_goto(pt->flow, ip, &entered);
		if (!status && is_ptwrite(pt))
			status = dec_flow_through(pt->flow, DEC_FALL);
	}
	if (status)
		return status;
	dec_pt_place_alone(pt, ip, pt->enabled && is_transfer(pt));
	return VPTD_OK;
}

/*
 * Handle MODE.Exec with a FUP of its own: RFLAGS.IF has changed (table 33-59, row 22). Only a
 * branch changes the mode, but the mode may differ after packets were disabled.
 */
static enum vptd_status interrupt_flag(struct dec_pt *pt, uint64_t ip)
{
	bool mode = dec_pt_wait_for_iflag(pt);
	enum vptd_status status = fup_alone(pt, ip);

	dec_pt_set_mode(pt, pt->mode_exec);
	return !status && mode && pt->enabled ? dec_flow_jump(pt->flow, ip) : status;
}

enum vptd_status dec_pt_fup(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	if (suppressed)
		return VPTD_E_PACKET;
	if (pt->waits & W_TRIG) {
		dec_pt_end_trig(pt, &ip);
		return VPTD_OK;
	}
	if (pt->waits & W_PSB) {
		pt->fup = ip;
		pt->waits |= W_FUP;
		return VPTD_OK;
	} else if (pt->waits & W_ALONE && !(pt->waits & W_OVF && dec_pt_shows_where(pt))) {
		return fup_alone(pt, ip);
	} else if (pt->waits & W_OVF) {
		return dec_pt_resume_at_fup(pt, ip);
	} else if (pt->waits & W_MODE && pt->config.event_en && !pt->blind &&
		   !(pt->waits & (W_FUP | W_ABORT))) {
		return interrupt_flag(pt, ip);
	}
	pt->fup = ip;
	pt->waits |= W_FUP;
	return VPTD_OK;
}

/*
 * Handle a TIP while the code that runs is not available. The PIP of a VM exit ends this state. A
 * MODE waits for the PIP, since it may be the last packet with the mode of the code after the VM
 * exit.
 */
static enum vptd_status blind_branch(struct dec_pt *pt, uint64_t ip)
{
	dec_pt_use_bound(pt);
	if (!(pt->waits & W_PIP))
		return VPTD_OK;
	dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, 0);
	pt->waits &= ~(uint32_t)W_PIP;
	if (pt->blind)
		return VPTD_OK;
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_ENABLED, .flags = VPTD_EV_TO, .to = ip});
	dec_pt_use_pending(pt);
	pt->enabled = true;
	return dec_flow_jump(pt->flow, ip);
}

/* Stop the flow, because the last branch, such as a VM entry, led to unavailable code. */
static void go_blind(struct dec_pt *pt)
{
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_DISABLED, .flags = VPTD_EV_VM_ENTRY});
	pt->enabled = false;
	dec_flow_stop(pt->flow);
}

static enum vptd_status async_branch(struct dec_pt *pt, uint64_t ip)
{
	enum vptd_status status;
	uint8_t flags;

	pt->waits &= ~(uint32_t)W_FUP;
	if (pt->blind)
		return blind_branch(pt, ip);
	if (!pt->enabled)
		return dec_pt_branch_alone(pt, (struct vptd_event){.kind = VPTD_EVENT_ASYNC_BRANCH,
								   .flags = VPTD_EV_IP | VPTD_EV_TO,
								   .ip = pt->fup,
								   .to = ip});
	status = dec_pt_run_to_fup(pt, false, &flags);
	if (status)
		return status;
	dec_pt_use_event_bound(pt);
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_ASYNC_BRANCH,
					    .flags = flags | VPTD_EV_IP | VPTD_EV_TO,
					    .ip = pt->fup,
					    .to = ip});
	dec_pt_use_pending(pt);
	if (pt->blind) {
		go_blind(pt);
		return VPTD_OK;
	}
	return dec_flow_jump(pt->flow, ip);
}

enum vptd_status dec_pt_tip(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	struct dec_block *by;
	enum vptd_status status;

	if (pt->waits & W_PSB || suppressed)
		return VPTD_E_PACKET;
	if (pt->waits & W_DOUBT) {
		status = dec_pt_end_doubt(pt, false, ip, false);
		if (status)
			return status;
	}
	if (pt->waits & W_FUP)
		return async_branch(pt, ip);
	if (pt->waits & W_OVF && dec_pt_has(pt, DEC_SKD010))
		return dec_pt_resume(pt, ip);
	if (pt->blind)
		return blind_branch(pt, ip);
	if (!pt->enabled)
		return dec_pt_branch_alone(pt, (struct vptd_event){.kind = VPTD_EVENT_TARGET,
								   .flags = VPTD_EV_TO,
								   .to = ip});
	status = dec_flow_drain(pt->flow);
	if (status > VPTD_STUCK)
		return status;
	status = dec_flow_branch(pt->flow, &by);
	if (status)
		return status;
	dec_pt_use_bound(pt);
	dec_pt_use_pending(pt);
	if (pt->blind) {
		go_blind(pt);
		return VPTD_OK;
	}
	return dec_flow_enter(pt->flow, by, ip);
}

enum vptd_status dec_pt_pge(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	bool mode = pt->waits & W_MODE;
	enum vptd_status status;

	if (pt->waits & W_PSB || suppressed)
		return VPTD_E_PACKET;
	if (pt->enabled && pt->waits & W_FUP) {
		/* INIT sent the FUP, and SIPI the TIP.PGE (table 33-55, rows 23 and 24). */
		status = dec_pt_pgd(pt, 0, true);
		if (status)
			return status;
	}
	if (pt->enabled && !(pt->waits & (W_BDM70 | W_APL12)))
		return VPTD_E_PACKET;
	dec_pt_end_overflow(pt);
	pt->waits &= ~(uint32_t)(W_FUP | W_MODE | W_APL12 | W_BDM70);
	dec_pt_use_bound(pt);
	dec_pt_use_pending(pt);
	/* Code that is not traced has entered a guest without code. */
	if (pt->blind)
		return VPTD_OK;
	pt->enabled = !pt->config.no_flow;
	dec_flow_clear_stack(pt->flow);
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_ENABLED, .flags = VPTD_EV_TO, .to = ip});
	if (mode)
		dec_pt_use_mode(pt, pt->mode_exec, 0);
	return pt->enabled ? dec_flow_jump(pt->flow, ip) : VPTD_OK;
}

enum vptd_status dec_pt_overflow(struct dec_pt *pt)
{
	enum vptd_status status = pt->waits & W_PSB ? VPTD_OK : dec_pt_use_outcomes(pt);

	/* The FUP that events wait for was lost. The next FUP is the overflow's. */
	dec_pt_drop_waiting(pt);
	dec_pt_end_overflow(pt);
	/* The flow up to here is lost, but decoding can resume after the overflow. */
	if (status)
		dec_pt_desync(pt, status);
	/* The rest of a PSB+ is lost, but its earlier packets remain valid. */
	if (pt->waits & W_PSB)
		dec_pt_use_status(pt);
	pt->synced = true;
	pt->waits = W_OVF;
	pt->overflow_offset = pt->offset;
	pt->mode_told = DEC_PT_UNKNOWN;
	pt->last_ip = 0;
	pt->enabled = false;
	pt->block_type = 0;
	dec_flow_stop(pt->flow);
	return VPTD_OK;
}
