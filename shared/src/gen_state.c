// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The lowest layer of the generator: the enables, STATUS and the end of tracing.
 *
 * Nothing here sends a packet, so every other file of the generator may call these functions.
 */
#include "gen_state.h"

#define BYTE_CNT_MAX VPT_MASK64(VPT_STATUS_PACKET_BYTE_CNT_WIDTH - 1, 0)

void vpti_gen_update(struct vpt_pt *pt)
{
	uint32_t timed;
	bool branch, open, tip;

	/* [GEN-BRANCHEN] */
	pt->packet_en = pt->trigger_en && pt->context_en && pt->filter_en && pt->branch_en;
	pt->slow = pt->time.cyc_en || pt->time.mtc_en || pt->options.buffer_bytes;
	/*
	 * [GEN-RETC-LIP] Quick paths take a RIP for a LIP, so they need a base of 0. A PSB that is due
	 * is sent by the next event.
	 */
	timed = pt->gate.state & VPT_GATE_TIMED;
	branch = pt->trigger_en && (!pt->slow || timed) && !pt->ip_base &&
		 pt->psb_bytes < pt->psb_period;
	/* With ranges the unit compares each target. */
	open = branch && pt->packet_en && !pt->has_ranges;
	/* [DEFER-TIP] A deferred TIP is no quick one. */
	branch = branch && !pt->options.defer_tips;
	tip = open && branch && !pt->time.cyc_en && !pt->dis_tnt;
	pt->gate.state = (open ? VPT_GATE_OPEN : 0) | (branch ? VPT_GATE_BRANCH : 0) | timed |
			 (tip ? VPT_GATE_TIP : 0) | (pt->packet_en ? VPT_GATE_PACKET_EN : 0) |
			 (pt->trigger_en ? VPT_GATE_ARMED | VPT_GATE_TRIGGER_EN : 0) |
			 (VPT_CTL_GET(pt->rtit.ctl, EVENT_EN) ? VPT_GATE_INTR_FLAG : 0) |
			 (pt->options.buffer_bytes ? VPT_GATE_MAY_LOSE : 0);
	pt->put_slow = !pt->trigger_en || pt->options.buffer_bytes;
	/* [BUF-STATE] ContextEn has risen, so this event sends a PSB+ with the lost state. */
	if (vpt_unlikely(pt->buffer.state_lost) && pt->context_en && !pt->buffer.overflow)
		pt->psb_bytes = pt->psb_period;
}

void vpti_gen_ip_form(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	bool wide = ctx->cs_l && ctx->lma;

	pt->ip_base = vpt_caps_has(pt->caps, VPT_CAP_LIP) && !wide ? ctx->cs_base : 0;
	pt->ip_mask = wide ? ~(uint64_t)0 : 0xffffffffu;
}

/* [STATUS-FROZEN] The register belongs to software while TraceEn is clear. */
void vpti_gen_sync_status(struct vpt_pt *pt)
{
	uint64_t live = VPT_STATUS_MASK(FILTER_EN) | VPT_STATUS_MASK(CONTEXT_EN) |
			VPT_STATUS_MASK(TRIGGER_EN) | VPT_STATUS_MASK(PACKET_BYTE_CNT);
	uint64_t count = pt->psb_bytes;

	if (!VPT_CTL_GET(pt->rtit.ctl, TRACE_EN) || pt->vmx.rising)
		return;
	/* [GEN-BYTE-CNT] The field is narrower than the longest period, so it saturates. */
	if (count > BYTE_CNT_MAX)
		count = BYTE_CNT_MAX;
	if (!vpt_caps_has(pt->caps, VPT_CAP_PSB_CYC))
		count = 0;
	pt->rtit.status &= ~live;
	pt->rtit.status |= (uint64_t)pt->filter_en << VPT_STATUS_FILTER_EN_SHIFT |
			   (uint64_t)pt->context_en << VPT_STATUS_CONTEXT_EN_SHIFT |
			   (uint64_t)pt->trigger_en << VPT_STATUS_TRIGGER_EN_SHIFT |
			   count << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
}

/* STATUS is updated before the callback, which may add the reason. */
void vpti_gen_set_trigger(struct vpt_pt *pt, bool trigger_en)
{
	pt->trigger_en = trigger_en;
	vpti_gen_update(pt);
	vpti_gen_sync_status(pt);
	if (pt->ops->trigger)
		pt->ops->trigger(pt->opaque, trigger_en);
}

/* [GEN-PEND-PSB PRES-PSB-CAUSES] The end of the trace prevents a PSB+ that is due. */
void vpti_gen_note_pending_psb(struct vpt_pt *pt)
{
	if (VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI) && pt->psb_bytes >= pt->psb_period)
		pt->rtit.status |= VPT_STATUS_MASK(PEND_PSB);
}

void vpti_gen_sync_output(struct vpt_pt *pt)
{
	if (pt->out.kind == VPT_OUTPUT_NONE)
		return;
	vpt_output_flush(&pt->out);
	vpt_output_sync(&pt->out, &pt->rtit);
}

/* The output registers are exact afterwards. TraceEn stays set until software clears it. */
void vpti_gen_halt(struct vpt_pt *pt, uint64_t status_bit)
{
	if (!pt->trigger_en)
		return;
	pt->rtit.status |= status_bit;
	pt->gate.tnt = 1;
	vpti_gen_drop_tips(pt);
	vpti_gen_note_pending_psb(pt);
	vpti_gen_sync_output(pt);
	vpti_gen_set_trigger(pt, false);
}

/*
 * STOP, INT and errors take effect at once, also between two packets of one event. To defer them to
 * the end of the event would be wrong, because no packet may be written behind a full STOP region
 * (33.2.7.2). The code that sends the other packets of the event need not test TriggerEn: those
 * packets are dropped [EN-FROZEN].
 */
void vpti_gen_output_events(struct vpt_pt *pt, unsigned int events)
{
	/* [GEN-STOP-BEFORE-INT] The handler of the PMI finds Stopped set. */
	if (events & VPT_OUT_ERROR)
		vpti_gen_halt(pt, VPT_STATUS_MASK(ERROR));
	else if (events & VPT_OUT_STOP)
		vpti_gen_halt(pt, VPT_STATUS_MASK(STOPPED));
	if (events & VPT_OUT_INT) {
		/* [GEN-PEND-PMI] */
		if (VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI))
			pt->rtit.status |= VPT_STATUS_MASK(PEND_TOPA_PMI);
		if (pt->ops->pmi)
			pt->ops->pmi(pt->opaque);
	}
}
