// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bind TIP.PGD to the instruction or event that left the traced region (33.4.2.5, 33.7). */
#include "libdecode/edges.h"
#include "libdecode/pt_inside.h"

static void disable(struct dec_pt *pt, struct vptd_event event)
{
	dec_pt_emit(pt, event);
	dec_pt_use_pending(pt);
	pt->enabled = false;
	dec_flow_stop(pt->flow);
}

/* Count the branch out of the traced region as an edge, if its target is known. */
static void count_sender(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	struct dec_block *block = pt->flow->cur;

	switch ((enum dec_end)block->end) {
	case DEC_END_COND:
	case DEC_END_JUMP:
	case DEC_END_CALL:
		block->hits[DEC_TAKEN] += pt->flow->weight;
		return;
	default:
		if (pt->flow->edges && !suppressed)
			dec_edges_add(pt->flow->edges, block->id, ip, 1);
	}
}

static enum vptd_status sync_disabled(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	enum vptd_status status = dec_pt_use_outcomes(pt);

	if (!status)
		status = dec_pt_seek_sender(pt, pt->flow, ip, suppressed);
	if (!status)
		status = dec_flow_finish(pt->flow);
	if (status)
		return status;
	count_sender(pt, ip, suppressed);
	/* The instruction and its changes of state have retired. */
	dec_pt_use_bound(pt);
	dec_pt_use_pending(pt);
	disable(pt, (struct vptd_event){.kind = VPTD_EVENT_DISABLED,
					.flags = suppressed ? 0 : VPTD_EV_TO,
					.to = ip});
	return VPTD_OK;
}

static bool leaves_context(const struct dec_pt *pt)
{
	return pt->config.cr3_filter && pt->cr3 != pt->config.cr3_match;
}

/* Report a TIP.PGD where no flow is decoded. */
static enum vptd_status disabled_alone(struct dec_pt *pt, bool fup, uint64_t ip, bool suppressed)
{
	struct vptd_event event = {
		.kind = fup ? VPTD_EVENT_ASYNC_DISABLED : VPTD_EVENT_DISABLED,
		.flags = (uint8_t)((fup ? VPTD_EV_IP : 0) | (suppressed ? 0 : VPTD_EV_TO)),
		.ip = fup ? pt->fup : 0,
		.to = suppressed ? 0 : ip,
	};

	return dec_pt_branch_alone(pt, event);
}

enum vptd_status dec_pt_pgd(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	enum vptd_status status;
	bool fup, after_cr3 = pt->waits & W_CR3;
	uint8_t flags;

	if (pt->waits & W_PSB)
		return VPTD_E_PACKET;
	if (pt->waits & W_DOUBT) {
		status = dec_pt_end_doubt(pt, true, ip, suppressed);
		if (status)
			return status;
	}
	fup = pt->waits & W_FUP;
	pt->waits &= ~(uint32_t)(W_FUP | W_CR3);
	if (pt->waits & W_OVF && (dec_pt_has(pt, DEC_APL11) || dec_pt_has(pt, DEC_SKD010)))
		return VPTD_OK;
	if (pt->blind)
		return VPTD_OK;
	if (!pt->enabled)
		return disabled_alone(pt, fup, ip, suppressed);
	if (fup) {
		status = dec_pt_run_to_fup(pt, suppressed, &flags);
		if (status)
			return status;
		dec_pt_use_event_bound(pt);
		if (!suppressed)
			flags |= VPTD_EV_TO;
		/*
		 * The VM entry left the traced region. No event interrupted the instruction after
		 * it.
		 */
		if (flags & VPTD_EV_VM_ENTRY)
			disable(pt, (struct vptd_event){
					    .kind = VPTD_EVENT_DISABLED, .flags = flags, .to = ip});
		else
			disable(pt, (struct vptd_event){.kind = VPTD_EVENT_ASYNC_DISABLED,
							.flags = flags | VPTD_EV_IP,
							.ip = pt->fup,
							.to = ip});
		return VPTD_OK;
	}
	if (suppressed && after_cr3) {
		/*
		 * The MOV CR3 ended tracing if it left the context, or if there is no code after
		 * it.
		 */
		if (leaves_context(pt) || !pt->flow->cur->insns) {
			disable(pt, (struct vptd_event){.kind = VPTD_EVENT_DISABLED});
			return VPTD_OK;
		}
		/*
		 * If a TraceStop follows, the MOV CR3 sent the TIP.PGD. Otherwise a later branch
		 * did.
		 */
		pt->waits |= W_PGD;
		return VPTD_OK;
	}
	return sync_disabled(pt, ip, suppressed);
}

enum vptd_status dec_pt_pgd_now(struct dec_pt *pt, enum vpt_pkt_kind next)
{
	pt->waits &= ~(uint32_t)W_PGD;
	if (next != VPT_PKT_TRACE_STOP)
		return sync_disabled(pt, 0, true);
	disable(pt, (struct vptd_event){.kind = VPTD_EVENT_DISABLED});
	return VPTD_OK;
}
