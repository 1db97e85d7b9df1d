// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deferred TIPs (33.4.2.3).
 *
 * [DEFER-TIP] A TIP of an indirect JMP or CALL that finds outcomes gathered waits
 * with them. Every other packet sends the outcomes first, as one TNT, and after it the TIPs,
 * which are compressed in the order in which they are made, since nothing gets between.
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
