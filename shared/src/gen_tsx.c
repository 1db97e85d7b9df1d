// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Transactions (33.2.9.1, 33.2.9.2). */
#include "gen_kinds.h"

/* Payload of MODE.TSX. */
enum { TSX_NONE = 0, TSX_IN = 1, TSX_ABORTED = 2 };

/* [TSX-BEGIN TSX-COMMIT TSX-FILTER] */
static void report(struct vpt_pt *pt, uint64_t mode, uint64_t ip)
{
	/* [TSX-NO-EVENT] Event trace has nothing to add. */
	if (!pt->branch_en || !pt->context_en)
		return;
	vpti_gen_packet(pt, VPT_PKT_MODE_TSX, mode, false);
	if (pt->packet_en)
		vpti_gen_ip(pt, VPT_OP_FUP, ip);
}

/* [TSX-ABORT TSX-ABORT-EDGE] */
static void abort_tx(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;
	bool was = pt->packet_en;

	report(pt, TSX_ABORTED, event->from);
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_ip_form(pt, &ctx);
	vpti_gen_set_context(pt, &ctx);
	vpti_gen_enter_target(pt, &ctx, event->to, was);
}

void vpti_gen_tsx(struct vpt_pt *pt, const struct vpt_event *event)
{
	if (event->kind == VPT_EV_TSX_ABORT)
		abort_tx(pt, event);
	else
		report(pt, event->kind == VPT_EV_TSX_BEGIN ? TSX_IN : TSX_NONE, event->from);
}
