// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* INIT, SIPI, shutdown, SMM and authenticated code modules. */
#include "gen_control.h"
#include "gen_kinds.h"

#include "vpt/lbr.h"
#include "vpt/system.h"

/* C1, as MWAIT names it. */
enum { MWAIT_C1 = 0 };

/* [SYS-INIT-WAIT] No TIP: where execution goes on SIPI will tell. */
static void wait_for_sipi(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;

	vpti_gen_event_out(pt, event, was);
	if (was)
		vpti_gen_ip(pt, VPT_OP_FUP, event->from);
	pt->ops->context(pt->opaque, &ctx);
	/* INIT changes the context first, and then nothing is executed. */
	ctx.wait_for_sipi = false;
	vpti_gen_set_context(pt, &ctx);
	vpti_gen_event_in(pt, event, was_context);
	if (event->flags & VPT_EVF_CR3) /* [SYS-INIT-PIP] */
		vpti_gen_pip(pt, &ctx);
	if (was && !pt->context_en)
		vpti_gen_ip_suppressed(pt, VPT_OP_TIP_PGD);
	ctx.wait_for_sipi = true;
	vpti_gen_set_context(pt, &ctx);
	vpt_retstack_clear(&pt->retstack);
	vpti_gen_update(pt);
}

/* [SYS-INIT] */
void vpti_gen_init(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (event->flags & VPT_EVF_WAIT)
		wait_for_sipi(pt, event);
	else
		vpti_gen_far(pt, event, true);
}

/* SIPI comes to a processor that waits, so with PacketEn clear. */
void vpti_gen_sipi(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;
	bool was = pt->packet_en, was_context = pt->context_en;

	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_ip_form(pt, &ctx);
	vpti_gen_set_context(pt, &ctx);
	/* [SYS-SIPI-EVENT] */
	if ((was_context || pt->context_en) && vpti_gen_event_en(pt))
		vpti_gen_cfe(pt, VPTI_CFE_SIPI, event->vector, false);
	if (event->flags & VPT_EVF_CR3)
		vpti_gen_pip(pt, &ctx);
	vpti_gen_enter_target(pt, &ctx, event->to, was);
}

void vpti_gen_shutdown(struct vpt_pt *pt, const struct vpt_event *event)
{
	/* [SYS-SHUTDOWN SYS-SHUTDOWN-POWER] */
	vpti_gen_event_out(pt, event, false);
	vpti_gen_power_enter(pt, MWAIT_C1, event->from, false);
}

static bool trace_en(const struct vpt_pt *pt)
{
	return VPT_CTL_GET(pt->rtit.ctl, TRACE_EN);
}

static void clear_trace_en(struct vpt_pt *pt, uint64_t ip)
{
	vpti_gen_set_ctl(pt, pt->rtit.ctl & ~VPT_CTL_MASK(TRACE_EN), ip, ip);
}

/* [SMM-SMI] */
void vpt_pt_smi(struct vpt_pt *pt, uint64_t ip)
{
	if (pt->in_smm)
		return;
	vpti_gen_now(pt);
	/* [SMM-SMI-EVENT] */
	if (vpti_gen_event_en(pt) && pt->context_en) {
		if (pt->packet_en)
			vpti_gen_cfe(pt, VPTI_CFE_SMI, 0, false);
		else
			vpti_gen_cfe_at(pt, VPTI_CFE_SMI, 0, ip);
	}
	pt->smm_trace_en = trace_en(pt);
	clear_trace_en(pt, ip);
	pt->in_smm = true;
}

/* [SMM-RSM] As for any enabling, CFE.RSM being the first thing that is told of the context. */
static void resume_trace(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;

	pt->rtit.ctl |= VPT_CTL_MASK(TRACE_EN);
	if (!vpti_gen_start(pt, &ctx))
		return;
	vpti_gen_describe(pt, &ctx, ip, true);
	/* [SMM-RSM-EVENT] */
	if (pt->context_en && vpti_gen_event_en(pt))
		vpti_gen_cfe(pt, VPTI_CFE_RSM, 0, false);
	vpti_gen_trace_from(pt, &ctx, ip);
}

bool vpt_pt_rsm(struct vpt_pt *pt, uint64_t ip, bool lbr)
{
	/* [SMM-RSM-TRACEEN] */
	if (trace_en(pt))
		return false;
	/* [SMM-RSM-LBR] */
	if (pt->smm_trace_en && lbr && vpt_lbr_excluded(pt->caps))
		return false;
	pt->in_smm = false;
	if (pt->smm_trace_en) {
		pt->smm_trace_en = false;
		resume_trace(pt, ip);
	}
	return true;
}

/* TraceEn falls, and no TIP.PGD tells. What was gathered is of instructions that retired. */
static void stop_silently(struct vpt_pt *pt)
{
	if (pt->trigger_en) {
		vpti_gen_now(pt);
		vpti_gen_flush_tnt(pt);
		vpti_gen_note_pending_psb(pt);
	}
	vpti_gen_end(pt);
	pt->rtit.ctl &= ~VPT_CTL_MASK(TRACE_EN);
}

/* [SYS-SENTER] */
void vpt_pt_senter(struct vpt_pt *pt)
{
	if (trace_en(pt))
		stop_silently(pt);
}

/* [SYS-ACM] The decoder is to notice nothing, so compression and the enables stay as they are. */
void vpt_pt_acm_begin(struct vpt_pt *pt)
{
	if (!trace_en(pt))
		return;
	stop_silently(pt);
	pt->acm_trace_en = true;
}

void vpt_pt_acm_end(struct vpt_pt *pt, uint64_t ip)
{
	struct vpt_context ctx;

	if (!pt->acm_trace_en)
		return;
	pt->acm_trace_en = false;
	if (trace_en(pt) || !vpti_gen_resume(pt))
		return;
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_timing(pt, &ctx);
	/* Packets may have been on their way to being lost as the ACM began. */
	vpti_gen_buffer_resolve(pt, ip);
	vpti_gen_psb_if_due(pt, ip);
}
