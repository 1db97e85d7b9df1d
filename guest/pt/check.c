// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the checks of a guest's own PT trace. */
#include "check.h"

#include "lib/guest.h"
#include "lib/mem.h"

static bool is_quiet(enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_PAD:
	case VPT_PKT_TSC:
	case VPT_PKT_TMA:
	case VPT_PKT_MTC:
	case VPT_PKT_CYC:
	case VPT_PKT_CBR:
		return true;
	default:
		return false;
	}
}

void guest_scan(struct guest_scan *scan, const uint8_t *buf, size_t len)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0;
	bool any = false;

	memset(scan, 0, sizeof(*scan));
	while (at < len) {
		scan->end = vpt_packet_read(&parser, buf + at, len - at, &packet);
		if (scan->end != VPT_OK)
			break;
		scan->count[packet.kind]++;
		if (packet.kind == VPT_PKT_TNT_8 || packet.kind == VPT_PKT_TNT_64)
			scan->tnt_bits += packet.bits;
		if (!is_quiet(packet.kind)) {
			if (!any)
				scan->first = packet.kind;
			scan->last = packet.kind;
			any = true;
		}
		at += packet.size;
	}
	scan->parsed = at;
}

struct flow_reader {
	struct vpt_parser parser;
	uint64_t last_ip;
	bool in_psb;
	struct guest_flow_list list;
};

static uint64_t expand(struct flow_reader *r, const struct vpt_packet *packet)
{
	uint64_t ip;

	if (vpt_ip_expand(r->last_ip, packet->ip_bytes, packet->value, &ip) != VPT_OK)
		return GUEST_FLOW_NO_IP;
	r->last_ip = ip;
	return ip;
}

static void take(struct flow_reader *r, const struct vpt_packet *packet)
{
	unsigned int bit;
	uint64_t ip;

	switch (packet->kind) {
	case VPT_PKT_PSB:
		r->in_psb = true;
		r->last_ip = 0;
		break;
	case VPT_PKT_PSBEND:
		r->in_psb = false;
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		for (bit = packet->bits; bit-- > 0;)
			guest_flow_add(&r->list, VPT_PKT_TNT_8, packet->value >> bit & 1);
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		ip = expand(r, packet);
		if (!r->in_psb)
			guest_flow_add(&r->list, packet->kind, ip);
		break;
	case VPT_PKT_PIP:
		if (!r->in_psb)
			guest_flow_add(&r->list, packet->kind, packet->value);
		break;
	case VPT_PKT_TRACE_STOP:
	case VPT_PKT_OVF:
		r->in_psb = false;
		guest_flow_add(&r->list, packet->kind, 0);
		break;
	default:
		break;
	}
}

size_t guest_flow_read(const uint8_t *buf, size_t len, struct guest_flow *flow, size_t max)
{
	struct flow_reader r = {.list = {.flow = flow, .max = max}};
	struct vpt_packet packet;
	size_t at = 0;

	while (vpt_packet_read(&r.parser, buf + at, len - at, &packet) == VPT_OK) {
		take(&r, &packet);
		at += packet.size;
	}
	return r.list.count;
}

static const char *name_of(unsigned int kind)
{
	return vpt_pkt_name((enum vpt_pkt_kind)kind);
}

bool guest_flow_report(const uint8_t *buf, size_t len, const struct guest_flow *want, size_t count,
		       const char *what)
{
	struct guest_flow got[32];
	struct guest_flow_list list = {.flow = got, .max = ARRAY_SIZE(got)};

	list.count = guest_flow_read(buf, len, got, list.max);
	return guest_flow_same(&list, want, count, name_of, what);
}
