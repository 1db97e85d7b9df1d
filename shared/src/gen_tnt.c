// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Send the gathered branch outcomes as TNT packets (33.4.2.1). */
#include "gen_bytes.h"

/*
 * [DEFER-TIP DEFER-WHOLE] Deferred TIPs follow one TNT packet. The TNT and the TIPs are one put,
 * so an overflow loses either all of them or none.
 */
static VPT_COLD void flush_with_tips(struct vpt_pt *pt, uint64_t tnt)
{
	uint8_t buf[VPT_PKT_MAX + VPT_DEFER_BYTES];
	bool quick = !pt->put_slow && (size_t)(pt->out.end - pt->out.cur) > sizeof(buf);
	uint8_t *to = quick ? pt->out.cur : buf;
	size_t len;

	if (vpt_msb(tnt) > VPT_TNT8_MAX)
		len = vpt_encode_tnt64(to, tnt);
	else
		len = vpt_encode_tnt8(to, tnt);
	len += vpti_gen_take_tips(pt, to + len);
	if (quick) {
		pt->psb_bytes += (uint32_t)len;
		pt->out.cur += len;
	} else {
		vpti_gen_put(pt, buf, len);
	}
}

void vpti_gen_flush_tnt(struct vpt_pt *pt)
{
	uint64_t tnt = pt->gate.tnt;
	uint8_t buf[VPT_PKT_MAX];

	if (tnt == 1)
		return;
	vpti_gen_set_tnt(pt, 1);
	if (pt->dis_tnt) /* [GEN-DISTNT] An open gate gathers outcomes that nobody sends. */
		return;
	if (vpt_unlikely(pt->tips_wait)) {
		flush_with_tips(pt, tnt);
		return;
	}
	vpti_gen_put(pt, buf, vpti_gen_encode_tnt(buf, tnt));
}
