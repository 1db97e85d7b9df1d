// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Indirect branches where nothing can come of them but their packets: a byte of TNT
 * bits, perhaps, and a TIP, with room for both and no PSB due.
 */
#include "gen.h"

/* More than both take. */
#define QUICK_BYTES 16u

static bool is_quick(const struct vpt_pt *pt)
{
	/* Up to six outcomes are one short packet. */
	return pt->fast && pt->tnt < VPT_BIT64(VPT_TNT8_MAX + 1) && pt->last_ip_valid &&
	       (size_t)(pt->out.end - pt->out.cur) > QUICK_BYTES &&
	       pt->psb_bytes + QUICK_BYTES < pt->psb_period;
}

/* [GEN-TNT-ORDER GEN-LAST-IP] */
static void put_tip(struct vpt_pt *pt, uint64_t to)
{
	uint8_t buf[VPT_PKT_MAX];
	size_t len = 0;

	if (pt->tnt != 1) {
		len = vpt_encode_tnt8(buf, pt->tnt);
		pt->tnt = 1;
	}
	to = (to + pt->ip_base) & pt->ip_mask;
	len += vpt_encode_ip(buf + len, VPT_OP_TIP, vpt_ip_compress(to, pt->last_ip), to);
	pt->last_ip = to;
	pt->psb_bytes += (uint32_t)len;
	vpt_copy_short(pt->out.cur, buf, len);
	pt->out.cur += len;
}

bool vpt_pt_quick_jmp_indirect(struct vpt_pt *pt, uint64_t to)
{
	if (vpt_unlikely(!is_quick(pt)))
		return false;
	put_tip(pt, to);
	return true;
}

bool vpt_pt_quick_call_indirect(struct vpt_pt *pt, uint64_t to, uint64_t next)
{
	if (vpt_unlikely(!is_quick(pt)))
		return false;
	put_tip(pt, to);
	if (pt->ret_compress) /* [GEN-CALL] */
		vpt_retstack_push(&pt->retstack, next);
	return true;
}

bool vpt_pt_quick_ret_tip(struct vpt_pt *pt, uint64_t to)
{
	/* One that can be a TNT bit, but for which there is no room, is not for here. */
	if (vpt_unlikely(!is_quick(pt)) ||
	    (pt->ret_compress && pt->retstack.depth &&
	     pt->retstack.ip[(pt->retstack.top - 1) % VPT_RETSTACK_SIZE] == to))
		return false;
	put_tip(pt, to);
	if (pt->ret_compress)
		pt->retstack.depth = 0;
	return true;
}
