/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The part of the quick path (gen_quick.c) that is inline in the reports of branches. */
#ifndef VPTI_SRC_GEN_QUICK_H
#define VPTI_SRC_GEN_QUICK_H

#include "gen_bytes.h"

VPT_BEGIN_DECLS

/* More than a TNT, a CYC and a TIP take. */
#define VPTI_QUICK_BYTES 32u

/* The greatest value of vpt_gate.tnt whose outcomes are one byte. */
#define VPTI_TNT8_LAST (VPT_BIT64(VPT_TNT8_MAX + 1) - 1)

static inline bool vpti_gen_has_room(const struct vpt_pt *pt)
{
	return pt->last_ip_valid && (size_t)(pt->out.end - pt->out.cur) > VPTI_QUICK_BYTES &&
	       pt->psb_bytes + VPTI_QUICK_BYTES < pt->psb_period;
}

static inline void vpti_gen_advance(struct vpt_pt *pt, size_t len)
{
	pt->psb_bytes += (uint32_t)len;
	pt->out.cur += len;
}

static inline void vpti_gen_put_le16(uint8_t *buf, uint64_t value)
{
	uint16_t low = (uint16_t)value;

	if (VPT_STORES_LE)
		vpt_memcpy(buf, &low, 2);
	else
		vpt_put_le(buf, value, 2);
}

/*
 * Put a TIP within 4 GiB of the last IP, after up to six outcomes. Neither their presence nor the
 * length of the TIP is easy to predict, so no branch depends on them. A store that turns out not to
 * be needed is overwritten by the next one, and none reaches beyond the packet. Returns false, and
 * puts nothing, if the TIP is further away.
 */
static inline bool vpti_gen_put_near_tip(struct vpt_pt *pt, uint64_t to)
{
	uint64_t tnt = pt->gate.tnt, diff = to ^ pt->last_ip;
	unsigned int gathered = tnt != 1, wide = diff > 0xffff;
	uint8_t *buf = pt->out.cur;

	if (vpt_unlikely(diff >> 32))
		return false;
	buf[0] = vpt_tnt8(tnt);
	buf += gathered;
	buf[0] = (uint8_t)(VPT_OP_TIP | (VPT_IP_UPDATE_16 + wide) << 5);
	vpti_gen_put_le16(buf + 1, to);
	vpti_gen_put_le16(buf + 1 + 2 * wide, to >> (16 * wide));
	pt->gate.tnt = 1;
	pt->last_ip = to;
	vpti_gen_advance(pt, gathered + 3 + 2 * wide);
	return true;
}

void vpti_gen_put_quick_tnt(struct vpt_pt *pt);

/* Put any TIP, after up to six outcomes. */
void vpti_gen_put_far_tip(struct vpt_pt *pt, uint64_t to);

/* Send a TIP if the gate has no special case and the TIP is a short one. */
static inline bool vpti_gen_quick_tip(struct vpt_pt *pt, uint64_t to)
{
	if (vpt_unlikely(!(pt->gate.state & VPT_GATE_TIP) || !vpti_gen_has_room(pt) ||
			 pt->gate.tnt > VPTI_TNT8_LAST))
		return false;
	return vpti_gen_put_near_tip(pt, to & pt->ip_mask);
}

/*
 * [DEFER-TIP] Keep a TIP with the outcomes before it. Nothing is put, so no PSB can become due. Returns
 * false if the TIP cannot wait.
 */
static inline bool vpti_gen_quick_defer(struct vpt_pt *pt, uint64_t to)
{
	struct vpt_pt_defer *defer = &pt->defer;
	uint8_t *buf = defer->bytes + defer->len;

	if (pt->gate.tnt == 1 || sizeof(defer->bytes) - defer->len < VPT_PKT_MAX)
		return false;
	defer->len +=
		(uint16_t)vpt_encode_ip(buf, VPT_OP_TIP, vpt_ip_compress(to, pt->last_ip), to);
	pt->last_ip = to;
	pt->tips_wait = true;
	return true;
}

/*
 * Send the TIP that vpti_gen_quick_tip() has not sent, if the gate is open, the TIP needs no time and
 * there is room for it.
 */
static inline bool vpti_gen_other_tip(struct vpt_pt *pt, uint64_t to)
{
	if (!vpt_gate_is_open(&pt->gate) || !vpti_gen_has_room(pt) || pt->time.cyc_en)
		return false;
	to &= pt->ip_mask;
	if (pt->dis_tnt) /* [GEN-DISTNT] */
		pt->gate.tnt = 1;
	else if (pt->options.defer_tips)
		return vpti_gen_quick_defer(pt, to);
	else if (pt->gate.tnt > VPTI_TNT8_LAST)
		vpti_gen_put_quick_tnt(pt);
	if (!vpti_gen_put_near_tip(pt, to))
		vpti_gen_put_far_tip(pt, to);
	return true;
}

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_QUICK_H */
