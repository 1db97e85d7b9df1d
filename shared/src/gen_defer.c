// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferred TIPs (33.4.2.3).
 *
 * [DEFER-TIP] A TIP of an indirect JMP or CALL that finds outcomes gathered waits
 * with them. Every other packet sends the outcomes first, as one TNT, and after it the TIPs,
 * which are compressed in the order in which they are made, since nothing gets between.
 */
#include "gen.h"

void vpt_gen_defer_tip(struct vpt_pt *pt, uint64_t to)
{
	struct vpt_pt_defer *defer = &pt->defer;
	bool full = sizeof(defer->bytes) - defer->len < VPT_PKT_MAX;

	/* [DEFER-CYC] The time of a TIP is told by the CYC before it. */
	if (pt->tnt == 1 || full || pt->time.cyc_en) {
		vpt_gen_ip(pt, VPT_OP_TIP, to);
		return;
	}
	defer->len += (uint16_t)vpt_gen_make_ip(pt, defer->bytes + defer->len, VPT_OP_TIP, to);
	pt->tips_wait = true;
}

size_t vpt_gen_take_tips(struct vpt_pt *pt, uint8_t *buf)
{
	size_t len = pt->defer.len;

	vpt_memcpy(buf, pt->defer.bytes, len);
	vpt_gen_drop_tips(pt);
	return len;
}

void vpt_gen_drop_tips(struct vpt_pt *pt)
{
	pt->tips_wait = false;
	pt->defer.len = 0;
}
