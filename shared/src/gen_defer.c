// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferred TIPs (33.4.2.3).
 *
 * [DEFER-TIP] If outcomes are waiting, the TIP of an indirect JMP or CALL waits with them. Before
 * any other packet, the outcomes are sent as one TNT, and then the TIPs. No packet with an IP comes
 * between these TIPs, so each is compressed against the one before it.
 */
#include "gen_bytes.h"

size_t vpti_gen_take_tips(struct vpt_pt *pt, uint8_t *buf)
{
	size_t len = pt->defer.len;

	vpt_memcpy(buf, pt->defer.bytes, len);
	vpti_gen_drop_tips(pt);
	return len;
}

void vpti_gen_drop_tips(struct vpt_pt *pt)
{
	pt->tips_wait = false;
	pt->defer.len = 0;
}
