// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Power event trace (33.2.3, table 33-57) and changes of frequency. */
#include "gen_kinds.h"

/*
 * [PWR-STATE] C-states are numbered as MWAIT's hints number them: f0 is C0 itself. Its
 * sub-states have no hints of their own; here C0.1 is f1, and C0.2 is f2.
 */
#define CSTATE_C0_1 0xf1u

/* [PWR-SHALLOW] */
static bool is_shallow(uint8_t cstate)
{
	return (cstate | 1) == CSTATE_C0_1;
}

static bool reports(const struct vpt_pt *pt)
{
	return VPT_CTL_GET(pt->rtit.ctl, PWR_EVT_EN);
}

/* [PWR-EXSTOP-IP] */
static void stop_at(struct vpt_pt *pt, uint64_t ip)
{
	vpti_gen_packet(pt, VPT_PKT_EXSTOP, 0, pt->context_en);
	if (pt->context_en)
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
}

void vpti_gen_power_enter(struct vpt_pt *pt, uint8_t cstate, uint64_t ip, bool hw)
{
	bool was = pt->time.asleep;

	if (is_shallow(cstate))
		return;
	if (reports(pt)) {
		vpti_gen_packet(pt, VPT_PKT_PWRE, cstate, hw); /* [PWR-ENTRY PWR-HW] */
		if (!was)				       /* [PWR-AGAIN] */
			stop_at(pt, ip);
	}
	vpti_gen_time_sleep(pt);
}

void vpti_gen_sleep(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_packet packet;

	/* [PWR-MWAIT] */
	if (event->flags & VPT_EVF_MWAIT && !is_shallow(event->cstate) && pt->context_en &&
	    reports(pt)) {
		vpt_memset(&packet, 0, sizeof(packet));
		packet.kind = VPT_PKT_MWAIT;
		packet.value = event->value & 0xff;
		packet.aux = event->ext & 3;
		vpti_gen_write(pt, &packet);
	}
	vpti_gen_power_enter(pt, event->cstate, event->from, event->flags & VPT_EVF_HW);
}

/* [PWR-TIMING] */
static void report_time(struct vpt_pt *pt)
{
	struct vpt_context ctx;

	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_timing(pt, &ctx);
}

/* [PWR-WAKE] */
void vpti_gen_wake(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_packet packet;

	if (is_shallow(event->cstate))
		return;
	vpti_gen_time_wake(pt);
	report_time(pt);
	if (!reports(pt))
		return;
	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_PWRX;
	packet.value = (event->cstate & 0xf0u) | event->deepest >> 4;
	packet.aux = event->wake & 0xf;
	vpti_gen_write(pt, &packet);
}

/* [PWR-FREQUENCY] */
void vpti_gen_cbr(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;

	vpti_gen_disarm(pt);
	if (event->flags & VPT_EVF_STOPPED) {
		if (reports(pt))
			stop_at(pt, event->from);
		report_time(pt);
		return;
	}
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_packet(pt, VPT_PKT_CBR, ctx.cbr, false);
}
