// SPDX-License-Identifier: GPL-2.0-or-later
/* Report the packets of a stream without TNT packets. */
#include "judge/bare.h"

#include <string.h>

void judge_bare_init(struct judge_bare *b, const uint8_t *bytes, size_t len)
{
	memset(b, 0, sizeof(*b));
	b->bytes = bytes;
	b->len = len;
}

static void set_event(struct decode_item *item, enum decode_flow_event event, uint64_t value)
{
	item->kind = DECODE_ITEM_EVENT;
	item->event = (uint8_t)event;
	item->value = value;
}

static void set_to(struct decode_item *item, const uint64_t *ip)
{
	item->has_to = ip != NULL;
	item->to = ip ? *ip : 0;
}

/*
 * Hold back a packet before its FUP. The packet is reported with the FUP, or once the FUP is
 * missing.
 */
static bool hold(struct judge_bare *b, struct decode_item *item, bool fup)
{
	if (!fup)
		return true;
	b->held = *item;
	return false;
}

/* Complete the held packet with its FUP. Returns false if no packet is held. */
static bool give_fup(struct judge_bare *b, uint64_t ip, struct decode_item *item)
{
	if (b->held.kind == DECODE_ITEM_END)
		return false;
	*item = b->held;
	b->held.kind = DECODE_ITEM_END;
	if (item->event == DECODE_FLOW_OVERFLOW)
		set_to(item, &ip);
	else
		item->ip = ip;
	return true;
}

/* Process an IP packet. `ip` is NULL if the packet has no IP. */
static bool ip_packet(struct judge_bare *b, const struct vpt_packet *p, const uint64_t *ip,
		      struct decode_item *item)
{
	bool fup = b->has_fup;

	switch (p->kind) {
	case VPT_PKT_FUP:
		if (!ip || b->in_psb)
			return false;
		if (give_fup(b, *ip, item))
			return true;
		b->has_fup = true;
		b->fup = *ip;
		return false;
	case VPT_PKT_TIP:
		if (!ip)
			return false;
		set_event(item, fup ? DECODE_FLOW_ASYNC_BRANCH : DECODE_FLOW_TARGET, 0);
		break;
	case VPT_PKT_TIP_PGE:
		set_event(item, DECODE_FLOW_ENABLED, 0);
		fup = false;
		break;
	default:
		set_event(item, fup ? DECODE_FLOW_ASYNC_DISABLED : DECODE_FLOW_DISABLED, 0);
		break;
	}
	b->has_fup = false;
	item->ip = fup ? b->fup : 0;
	set_to(item, ip);
	return true;
}

static bool expand(struct judge_bare *b, const struct vpt_packet *p, uint64_t *ip)
{
	bool whole = p->ip_bytes == VPT_IP_SEXT_48 || p->ip_bytes == VPT_IP_FULL;

	if (vpt_ip_expand(b->last_ip, p->ip_bytes, p->value, ip) != VPT_OK)
		return false;
	b->last_ip = *ip;
	b->has_last = b->has_last || whole;
	return b->has_last;
}

static unsigned int mode_bits(uint64_t value)
{
	return value & 1 ? 64 : value & 2 ? 32 : 16;
}

/*
 * Process a packet that changes neither flow nor mode of the decoder. Returns false if it reports
 * nothing yet.
 */
static bool event_packet(struct judge_bare *b, const struct vpt_packet *p, struct decode_item *item)
{
	item->status = b->in_psb;
	switch (p->kind) {
	case VPT_PKT_PIP:
		set_event(item, DECODE_FLOW_PAGING, p->value);
		return true;
	case VPT_PKT_VMCS:
		set_event(item, DECODE_FLOW_VMCS, p->value);
		return true;
	case VPT_PKT_MODE_EXEC:
		set_event(item, DECODE_FLOW_EXEC_MODE, mode_bits(p->value));
		return true;
	case VPT_PKT_MODE_TSX:
		set_event(item, DECODE_FLOW_TSX, p->value & 3);
		/* The FUP of an abort has a TIP. */
		return hold(b, item, !b->in_psb && !(p->value & 2));
	case VPT_PKT_PTW:
		set_event(item, DECODE_FLOW_PTWRITE, p->value);
		return hold(b, item, p->flag);
	case VPT_PKT_EXSTOP:
		set_event(item, DECODE_FLOW_EXSTOP, 0);
		return hold(b, item, p->flag);
	case VPT_PKT_MWAIT:
		set_event(item, DECODE_FLOW_MWAIT, p->value);
		return true;
	case VPT_PKT_PWRE:
		set_event(item, DECODE_FLOW_PWRE, p->value >> 4);
		return true;
	case VPT_PKT_PWRX:
		set_event(item, DECODE_FLOW_PWRX, p->value >> 4);
		return true;
	case VPT_PKT_CBR:
		set_event(item, DECODE_FLOW_CBR, p->value);
		return true;
	case VPT_PKT_MNT:
		set_event(item, DECODE_FLOW_MNT, p->value);
		return true;
	default:
		return false;
	}
}

/* Process a packet. Returns false if it reports nothing yet. */
static bool packet(struct judge_bare *b, const struct vpt_packet *p, struct decode_item *item)
{
	uint64_t ip;

	switch (p->kind) {
	case VPT_PKT_PSB:
		/* PSB clears the last IP, which is then known (33.4.2.1). */
		b->in_psb = b->has_last = true;
		b->last_ip = 0;
		return false;
	case VPT_PKT_PSBEND:
		b->in_psb = false;
		return false;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		return ip_packet(b, p, expand(b, p, &ip) ? &ip : NULL, item);
	case VPT_PKT_OVF:
		b->in_psb = b->has_fup = false;
		b->last_ip = 0;
		set_event(item, DECODE_FLOW_OVERFLOW, 0);
		return hold(b, item, b->branches);
	case VPT_PKT_TRACE_STOP:
		set_event(item, DECODE_FLOW_STOP, 0);
		return true;
	default:
		return event_packet(b, p, item);
	}
}

static bool is_timing(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_PAD || kind == VPT_PKT_TSC || kind == VPT_PKT_TMA ||
	       kind == VPT_PKT_MTC || kind == VPT_PKT_CYC || kind == VPT_PKT_CBR;
}

/* Report the held packet without a FUP if another packet follows. */
static bool let_go(struct judge_bare *b, const struct vpt_packet *p, struct decode_item *item)
{
	if (b->held.kind == DECODE_ITEM_END || p->kind == VPT_PKT_FUP || is_timing(p->kind))
		return false;
	*item = b->held;
	b->held.kind = DECODE_ITEM_END;
	return true;
}

static void lose_sync(struct judge_bare *b, struct decode_item *item)
{
	size_t rest = b->len - b->at - 1;

	item->kind = DECODE_ITEM_ERROR;
	item->text = "no packet begins like this";
	item->offset = b->at;
	b->at += 1 + vpt_packet_find_psb(b->bytes + b->at + 1, rest);
	memset(&b->parser, 0, sizeof(b->parser));
	b->has_fup = b->in_psb = b->has_last = false;
	b->held.kind = DECODE_ITEM_END;
}

void judge_bare_next(struct judge_bare *b, struct decode_item *item)
{
	struct vpt_packet p;

	if (!b->synced)
		b->at = vpt_packet_find_psb(b->bytes, b->len);
	b->synced = true;
	while (b->at < b->len) {
		struct vpt_parser parser = b->parser;
		enum vpt_status status =
			vpt_packet_read(&parser, b->bytes + b->at, b->len - b->at, &p);

		memset(item, 0, sizeof(*item));
		if (status == VPT_E_BAD_PACKET) {
			lose_sync(b, item);
			return;
		}
		if (status != VPT_OK) /* The stream ends within a packet. */
			break;
		item->offset = b->at;
		if (let_go(b, &p, item))
			return;
		b->parser = parser;
		b->at += p.size;
		item->offset = b->at;
		if (packet(b, &p, item)) {
			item->offset = b->at;
			return;
		}
	}
	memset(item, 0, sizeof(*item));
	if (b->held.kind != DECODE_ITEM_END) {
		*item = b->held;
		b->held.kind = DECODE_ITEM_END;
	}
	item->offset = b->len;
	b->at = b->len;
}
