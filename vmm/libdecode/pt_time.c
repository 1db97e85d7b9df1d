// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Take the time of a packet before and after the packet takes effect. */
#include "libdecode/pt_time.h"

#include "libdecode/pt_inside.h"

/* Events whose time is that of a packet before the packet that completes them. */
#define W_HELD_TSC (W_ALONE | W_PGD | W_VMCS | W_MWAIT)
/* All events that wait. Those added here can have the time of either packet. */
#define W_HELD (W_HELD_TSC | W_BOUND | W_OVF)

static enum vptd_status move_on(struct dec_pt *pt, const struct vpt_packet *p)
{
	struct dec_timing *t = pt->timing;
	enum vptd_status status = VPTD_OK;

	if (pt->waits & W_HELD && !t->holds) {
		t->held = t->now;
		t->held_tsc = pt->waits & W_HELD_TSC;
		t->holds = true;
	}
	if (t->binds && pt->enabled && pt->flow->nbits) {
		t->next = t->now;
		dec_time_take(&t->next, &t->config, p);
		t->has_next = true;
		status = dec_flow_drain(pt->flow);
		t->has_next = false;
		dec_timing_keep_from(t);
		t->now = t->next;
	} else {
		dec_timing_keep_from(t);
		dec_time_take(&t->now, &t->config, p);
	}
	t->behind = pt->flow->nbits != 0;
	t->first = true;
	return status == VPTD_STUCK ? VPTD_OK : status;
}

enum vptd_status dec_pt_time_before(struct dec_pt *pt, const struct vpt_packet *p)
{
	struct dec_timing *t = pt->timing;

	t->resumes = pt->waits & W_OVF;
	dec_timing_pass(t, pt->offset, p->size);
	switch (p->kind) {
	case VPT_PKT_CYC:
	case VPT_PKT_MTC:
	case VPT_PKT_TSC:
		return move_on(pt, p);
	case VPT_PKT_TMA:
	case VPT_PKT_CBR:
	case VPT_PKT_OVF:
		dec_timing_keep_from(t);
		dec_time_take(&t->now, &t->config, p);
		break;
	default:
		break;
	}
	/* A CYC does not contain the time of an MWAIT. */
	t->eligible = vpt_pkt_cyc_eligible(p->kind) && p->kind != VPT_PKT_MWAIT;
	return VPTD_OK;
}

void dec_pt_time_after(struct dec_pt *pt, const struct vpt_packet *p)
{
	struct dec_timing *t = pt->timing;
	bool at_target =
		p->kind == VPT_PKT_TIP || p->kind == VPT_PKT_TIP_PGE || p->kind == VPT_PKT_PSBEND;

	/* Everything that a PSB ends is reported before the PSB. */
	if (p->kind == VPT_PKT_PSB || p->kind == VPT_PKT_PSBEND) {
		dec_timing_keep_from(t);
		dec_time_take(&t->now, &t->config, p);
	}
	if (p->kind == VPT_PKT_PSBEND)
		t->psb_end = pt->offset;
	if ((at_target || (t->resumes && !(pt->waits & W_OVF))) && !t->behind)
		t->from_now = true;
	if (!(pt->waits & W_HELD))
		t->holds = false;
	/* Packets that are not passed to these functions are TNTs and TIPs. */
	t->eligible = true;
}
