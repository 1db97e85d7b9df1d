// SPDX-License-Identifier: GPL-2.0-or-later
/* Read VMX transitions from a trace. */
#include "seen.h"

#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/printk.h"

#define SHOWN 40u

struct reader {
	struct seen_list *list;
	uint64_t last_ip;
	bool psb;
};

static void add(struct reader *r, enum vpt_pkt_kind kind, uint64_t value)
{
	struct seen *seen;

	if (r->list->count == SEEN_MAX) {
		r->list->whole = false;
		return;
	}
	seen = &r->list->at[r->list->count++];
	seen->kind = (uint8_t)kind;
	seen->psb = r->psb;
	seen->value = value;
}

static void add_ip(struct reader *r, const struct vpt_packet *packet)
{
	uint64_t ip = SEEN_NO_IP;

	if (vpt_ip_expand(r->last_ip, packet->ip_bytes, packet->value, &ip) == VPT_OK)
		r->last_ip = ip;
	add(r, packet->kind, ip);
}

static void take(struct reader *r, const struct vpt_packet *packet)
{
	switch (packet->kind) {
	case VPT_PKT_PSB:
		r->psb = true;
		r->last_ip = 0;
		break;
	case VPT_PKT_PSBEND:
		r->psb = false;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		add_ip(r, packet);
		break;
	case VPT_PKT_PIP:
		add(r, packet->kind, packet->value | packet->flag);
		break;
	case VPT_PKT_VMCS:
	case VPT_PKT_EVD:
		add(r, packet->kind, packet->value);
		break;
	case VPT_PKT_CFE:
		add(r, packet->kind, SEEN_CFE(packet->value, packet->aux, packet->flag));
		break;
	case VPT_PKT_OVF:
	case VPT_PKT_TRACE_STOP:
		add(r, packet->kind, 0);
		break;
	default:
		break;
	}
}

void seen_read(struct seen_list *list, const uint8_t *bytes, size_t len)
{
	struct reader r = {.list = list};
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0;

	list->count = 0;
	list->whole = true;
	while (at < len && vpt_packet_read(&parser, bytes + at, len - at, &packet) == VPT_OK) {
		take(&r, &packet);
		at += packet.size;
	}
	if (at != len)
		list->whole = false;
}

static bool same(const struct seen *got, const struct seen *want)
{
	return got->kind == want->kind && got->psb == want->psb &&
	       (got->value == want->value || want->value == SEEN_ANY);
}

unsigned int seen_count(const struct seen_list *list, const struct seen *want, unsigned int n)
{
	unsigned int at, i, count = 0;

	for (at = 0; at + n <= list->count; at++) {
		for (i = 0; i < n && same(&list->at[at + i], &want[i]); i++)
			;
		count += i == n;
	}
	return count;
}

void seen_print(const struct seen_list *list)
{
	unsigned int i;

	for (i = 0; i < list->count && i < SHOWN; i++)
		printk("  %s%s %#lx\n", list->at[i].psb ? "PSB+ " : "",
		       vpt_pkt_name((enum vpt_pkt_kind)list->at[i].kind), list->at[i].value);
	printk("  (%u in all%s)\n", list->count, list->whole ? "" : ", not whole");
}
