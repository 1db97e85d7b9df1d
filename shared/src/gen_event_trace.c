// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Event trace (33.4.2.29, 33.4.2.30): CFE and EVD, and which FUP is whose. */
#include "gen_event_trace.h"

bool vpt_gen_event_en(const struct vpt_pt *pt)
{
	return pt->trigger_en && VPT_CTL_GET(pt->rtit.ctl, EVENT_EN);
}

void vpt_gen_cfe(struct vpt_pt *pt, enum vpt_cfe_type type, uint8_t vector, bool ip)
{
	uint8_t buf[VPT_PKT_MAX];
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_CFE;
	packet.value = (uint64_t)type;
	packet.aux = vector;
	packet.flag = ip;
	vpt_gen_flush_tnt(pt);
	vpt_gen_put(pt, buf, vpt_packet_write(buf, &packet));
}

void vpt_gen_cfe_at(struct vpt_pt *pt, enum vpt_cfe_type type, uint8_t vector, uint64_t ip)
{
	vpt_gen_cfe(pt, type, vector, true);
	vpt_gen_ip(pt, VPT_OP_FUP, ip);
}

void vpt_gen_evd(struct vpt_pt *pt, enum vpt_evd_type type, uint64_t payload)
{
	uint8_t buf[VPT_PKT_MAX];
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_EVD;
	packet.value = payload;
	packet.aux = (uint16_t)type;
	vpt_gen_flush_tnt(pt);
	vpt_gen_put(pt, buf, vpt_packet_write(buf, &packet));
}
