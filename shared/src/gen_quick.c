// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The quick path of indirect branches. A branch takes this path if it sends only a TIP and at most
 * one byte of TNT. Both must have room, and no PSB may be due.
 */
#include "gen_bytes.h"

/* More than the TNT and the TIP take. */
#define QUICK_BYTES 16u

static bool is_quick(const struct vpt_pt *pt)
{
	/* Up to six outcomes are one short packet. */
	return vpt_gate_is_open(&pt->gate) && pt->gate.tnt < VPT_BIT64(VPT_TNT8_MAX + 1) &&
	       pt->last_ip_valid && (size_t)(pt->out.end - pt->out.cur) > QUICK_BYTES &&
	       pt->psb_bytes + QUICK_BYTES < pt->psb_period;
}

/* [GEN-TNT-ORDER GEN-LAST-IP] The packets of vpt_encode_tnt8() and vpt_encode_ip(). */
static inline void put_tip(struct vpt_pt *pt, uint64_t to)
{
	enum vpt_ip_bytes ip_bytes;
	uint64_t low, high;
	size_t len;

	to &= pt->ip_mask; /* The CS base is 0, see vpti_gen_update(). */
	ip_bytes = vpt_ip_compress(to, pt->last_ip);
	len = 1 + vpt_ip_payload(ip_bytes);
	low = to << 8 | (unsigned int)ip_bytes << 5 | VPT_OP_TIP;
	high = to >> 56;
	if (pt->gate.tnt != 1) {
		high = high << 8 | low >> 56;
		low = low << 8 | vpt_tnt8(pt->gate.tnt);
		len++;
		pt->gate.tnt = 1;
	}
	pt->last_ip = to;
	pt->psb_bytes += (uint32_t)len;
	vpt_put_short(pt->out.cur, low, high, len);
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
