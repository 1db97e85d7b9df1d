// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* TraceEn and TriggerEn: how a trace begins and ends, and the MSRs around it. */
#include "gen_control.h"
#include "vpt/vmx_pt.h"

#define PSB_BASE_PERIOD 2048u

static void leave_vmx(struct vpt_pt *pt)
{
	vpt_memset(&pt->vmx, 0, sizeof(pt->vmx));
	pt->vmx.vmcs = VPT_NO_VMCS;
}

static void idle(struct vpt_pt *pt)
{
	pt->gate.tnt = 1;
	vpti_gen_drop_tips(pt);
	pt->gate.tnt_full = VPT_BIT64(VPT_TNT_GATHER);
	pt->context_en = false;
	pt->filter_en = false;
	pt->last_ip_valid = false;
	pt->mode_exec = VPT_MODE_UNKNOWN;
	vpt_retstack_clear(&pt->retstack);
	vpti_gen_update(pt);
}

void vpt_pt_init(struct vpt_pt *pt, const struct vpt_caps *caps, const struct vpt_pt_ops *ops,
		 void *opaque)
{
	/* [MSR-ABSENT] */
	static const struct vpt_caps none = VPT_ZERO;

	vpt_memset(pt, 0, sizeof(*pt));
	if (!caps)
		caps = &none;
	pt->caps = caps;
	pt->ops = ops;
	pt->opaque = opaque;
	vpt_rtit_reset(&pt->rtit);
	vpt_output_init(&pt->out, caps, &ops->mem, opaque);
	pt->psb_period = PSB_BASE_PERIOD;
	leave_vmx(pt);
	idle(pt);
}

bool vpti_gen_options_ok(const struct vpt_pt_options *options)
{
	bool cyc_ok = !options->cyc_bits || (options->cyc_bits >= 8 && options->cyc_bits <= 32);
	bool buffer_ok = !options->buffer_bytes || (options->buffer_bytes >= VPT_BUFFER_MIN &&
						    options->buffer_bytes <= VPT_BUFFER_MAX);

	return cyc_ok && buffer_ok;
}

enum vpt_status vpt_pt_set_options(struct vpt_pt *pt, const struct vpt_pt_options *options)
{
	if (VPT_CTL_GET(pt->rtit.ctl, TRACE_EN) || !vpti_gen_options_ok(options))
		return VPT_E_INVAL;
	pt->options = *options;
	vpti_gen_update(pt);
	return VPT_OK;
}

void vpti_gen_load_config(struct vpt_pt *pt)
{
	uint64_t ctl = pt->rtit.ctl;

	pt->branch_en = VPT_CTL_GET(ctl, BRANCH_EN); /* [CTL-BRANCHEN] */
	pt->ret_compress = !VPT_CTL_GET(ctl, DIS_RETC);
	pt->dis_tnt = VPT_CTL_GET(ctl, DIS_TNT);
	pt->has_ranges = vpt_range_configured(&pt->rtit, VPT_ADDR_FILTER) ||
			 vpt_range_configured(&pt->rtit, VPT_ADDR_STOP);
	pt->psb_period = PSB_BASE_PERIOD << VPT_CTL_GET(ctl, PSB_FREQ);
	pt->psb_bytes = (uint32_t)VPT_STATUS_GET(pt->rtit.status, PACKET_BYTE_CNT);
	vpti_gen_time_load(pt);
}

/* [GEN-PSB-ON-ENABLE PRES-PSB-KEPT] */
static bool psb_on_enable(const struct vpt_pt *pt)
{
	if (!vpt_caps_has(pt->caps, VPT_CAP_PSB_CYC) || !pt->psb_bytes)
		return true;
	return VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI) &&
	       VPT_STATUS_GET(pt->rtit.status, PEND_PSB);
}

/* [PRES-PMI-OWED PRES-OFF] Of a full region that nobody could see to before TraceEn fell. */
static bool owes_pmi(const struct vpt_pt *pt)
{
	return VPT_CTL_GET(pt->rtit.ctl, INJECT_PSB_PMI) &&
	       VPT_STATUS_GET(pt->rtit.status, PEND_TOPA_PMI);
}

static void raise_owed_pmi(struct vpt_pt *pt)
{
	if (pt->ops->pmi)
		pt->ops->pmi(pt->opaque);
}

/* Start the output; an error or a PMI may come at once. [PRES-PMI-START] */
static void start_output(struct vpt_pt *pt)
{
	bool owed = owes_pmi(pt);
	unsigned int events = vpt_output_start(&pt->out, &pt->rtit);

	vpti_gen_output_events(pt, events);
	if (owed && !(events & VPT_OUT_INT))
		raise_owed_pmi(pt);
}

bool vpti_gen_start(struct vpt_pt *pt, struct vpt_context *ctx)
{
	idle(pt);
	vpti_gen_load_config(pt);
	if (!vpt_trigger_en(&pt->rtit)) {
		vpti_gen_sync_status(pt);
		if (owes_pmi(pt))
			raise_owed_pmi(pt);
		return false;
	}
	vpti_gen_time_start(pt);
	pt->ops->context(pt->opaque, ctx);
	vpti_gen_ip_form(pt, ctx);
	pt->context_en = vpt_context_en(&pt->rtit, ctx);
	vpti_gen_buffer_start(pt);
	/* FilterEn is still 0, and PacketEn with it, until the PSB+ is out. */
	vpti_gen_set_trigger(pt, true);
	start_output(pt);
	return pt->trigger_en;
}

bool vpti_gen_resume(struct vpt_pt *pt)
{
	pt->rtit.ctl |= VPT_CTL_MASK(TRACE_EN);
	vpti_gen_load_config(pt);
	if (!vpt_trigger_en(&pt->rtit)) {
		vpti_gen_sync_status(pt);
		return false;
	}
	vpti_gen_time_start(pt);
	vpti_gen_buffer_drain(pt);
	vpti_gen_set_trigger(pt, true);
	start_output(pt);
	return pt->trigger_en;
}

void vpti_gen_describe(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip, bool timing)
{
	if (psb_on_enable(pt))
		vpti_gen_psb_plus(pt, ctx, ip);
	else if (timing)
		vpti_gen_timing(pt, ctx);
}

/*
 * [GEN-ENABLE-ORDER] TraceEn rises (33.2.8.3, table 33-56 rows 1 and 2). The PSB+ describes the time
 * before, when PacketEn was 0, so it holds no FUP and TIP.PGE follows it.
 */
static void enable(struct vpt_pt *pt, uint64_t next_ip)
{
	struct vpt_context ctx;

	if (vpti_gen_start(pt, &ctx)) {
		vpti_gen_describe(pt, &ctx, next_ip, true);
		vpti_gen_trace_from(pt, &ctx, next_ip);
		/* The quick paths of events take none to be due already. */
		vpti_gen_psb_if_due(pt, next_ip);
	}
}

void vpti_gen_end(struct vpt_pt *pt)
{
	vpti_gen_sync_output(pt);
	vpt_output_end(&pt->out);
	if (pt->trigger_en)
		vpti_gen_set_trigger(pt, false);
}

/*
 * [GEN-DISABLE] TraceEn falls (table 33-56 row 3).
 *
 * [VMX-ENTRY-FALL VMX-EXIT-FALL] Inside a VM entry the source is the instruction after the one
 * that enters. The source of a VM exit was sent when the exit began.
 */
static void disable(struct vpt_pt *pt, uint64_t ip)
{
	if (pt->trigger_en) {
		vpti_gen_flush_tnt(pt);
		if (pt->packet_en) {
			if (!pt->vmx.leaving)
				vpti_gen_ip(pt, VPT_OP_FUP, pt->vmx.moving ? pt->vmx.next : ip);
			vpti_gen_ip_suppressed(pt, VPT_OP_TIP_PGD);
		}
		vpti_gen_buffer_end(pt);
		vpti_gen_note_pending_psb(pt);
	}
	vpti_gen_end(pt);
}

void vpt_pt_warm_reset(struct vpt_pt *pt)
{
	vpti_gen_put_whole_tnt(pt);
	if (VPT_CTL_GET(pt->rtit.ctl, TRACE_EN)) {
		if (pt->trigger_en)
			vpti_gen_note_pending_psb(pt);
		vpti_gen_end(pt);
	}
	vpt_rtit_warm_reset(&pt->rtit, pt->caps);
	/* [SYS-RESET] */
	pt->in_smm = pt->smm_trace_en = pt->acm_trace_en = false;
	leave_vmx(pt);
	idle(pt);
}

enum vpt_fault vpt_pt_rdmsr(struct vpt_pt *pt, uint32_t msr, uint64_t *value)
{
	vpti_gen_put_whole_tnt(pt);
	vpti_gen_sync_status(pt);
	if (pt->out.kind != VPT_OUTPUT_NONE)
		vpt_output_sync(&pt->out, &pt->rtit);
	return vpt_rtit_read(&pt->rtit, pt->caps, msr, value);
}

/*
 * [CTL-RESTART] The trace ends under the old settings and begins under the new ones; a
 * host that changes settings of a running trace gets both.
 */
void vpti_gen_set_ctl(struct vpt_pt *pt, uint64_t ctl, uint64_t ip, uint64_t next_ip)
{
	bool was = VPT_CTL_GET(pt->rtit.ctl, TRACE_EN), is = VPT_CTL_GET(ctl, TRACE_EN);

	if (was && is && ctl == pt->rtit.ctl)
		return;
	if (was)
		disable(pt, ip);
	pt->rtit.ctl = ctl;
	pt->vmx.rising = is && pt->vmx.moving;
	if (is && !pt->vmx.moving)
		enable(pt, next_ip);
}

/* [VMX-NO-PT SMM-NOT-VMX] */
static bool ctl_locked_by_vmx(const struct vpt_pt *pt, uint64_t ctl, enum vpt_access who)
{
	return vpti_gen_ctl_is_locked(pt) &&
	       (who == VPT_ACCESS_GUEST || VPT_CTL_GET(ctl, TRACE_EN));
}

enum vpt_fault vpt_pt_wrmsr(struct vpt_pt *pt, uint32_t msr, uint64_t value, enum vpt_access who,
			    uint64_t ip, uint64_t next_ip)
{
	struct vpt_rtit after;

	vpti_gen_put_whole_tnt(pt);
	vpti_gen_sync_status(pt);
	after = pt->rtit;
	if (vpt_rtit_write(&after, pt->caps, msr, value, who) != VPT_FAULT_NONE)
		return VPT_FAULT_GP;
	if (msr != VPT_MSR_CTL) {
		pt->rtit = after;
		return VPT_FAULT_NONE;
	}
	if (ctl_locked_by_vmx(pt, after.ctl, who))
		return VPT_FAULT_GP;
	if (after.ctl != pt->rtit.ctl)
		vpti_gen_now(pt);
	vpti_gen_set_ctl(pt, after.ctl, ip, next_ip);
	return VPT_FAULT_NONE;
}

void vpt_pt_flush(struct vpt_pt *pt)
{
	vpti_gen_flush_tnt(pt);
	/* [GEN-PSB-PERIOD] The next event sends the PSB that is due now, so the gate must not take it. */
	if (pt->psb_bytes >= pt->psb_period)
		vpti_gen_update(pt);
	vpt_output_flush(&pt->out);
}

void vpt_pt_commit(struct vpt_pt *pt)
{
	vpti_gen_put_whole_tnt(pt);
	vpt_output_flush(&pt->out);
}
