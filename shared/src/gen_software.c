// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets that software puts into the trace (33.2.2). */
#include "gen_kinds.h"

/* [PTW-DEPENDS PTW-SIZE PTW-FUP] */
void vpti_gen_ptwrite(struct vpt_pt *pt, const struct vpt_event *event)
{
	bool wide = event->flags & VPT_EVF_WIDE;
	bool fup = VPT_CTL_GET(pt->rtit.ctl, FUP_ON_PTW);
	struct vpt_packet packet;

	if (!pt->context_en || !pt->filter_en || !VPT_CTL_GET(pt->rtit.ctl, PTW_EN))
		return;
	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_PTW;
	packet.bits = wide ? 64 : 32;
	packet.value = wide ? event->value : (uint32_t)event->value;
	packet.flag = fup;
	vpti_gen_write(pt, &packet);
	if (fup)
		vpti_gen_ip(pt, VPT_OP_FUP, event->from);
}
