// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check a trace without TNTs. No decoder can follow such a trace, but its targets must be those of
 * the executed branches, in order.
 */
#include "lib/walk_inside.h"

#include <string.h>

#include "vpt/packet.h"

struct targets {
	const struct walk_result *walk;
	size_t next; /* first item that may have the next target */
	bool in_psb;
	bool begun; /* the first PSB+ is over, or there is nothing before it */
	uint64_t last_ip;
};

/* Return the next item whose address is in a packet, or count if there is none. */
static size_t next_arrival(const struct targets *t)
{
	const struct walk_item *items = t->walk->items;
	size_t i = t->next;

	while (i < t->walk->count && !items[i].begins && !(i && items[i - 1].tip))
		i++;
	return i;
}

static bool enter(struct targets *t, const struct vpt_packet *packet, uint64_t ip)
{
	const struct walk_result *walk = t->walk;
	size_t i = next_arrival(t);
	bool begins = packet->kind == VPT_PKT_TIP_PGE;

	t->next = i + 1;
	/* The walk ended with the branch to this target. */
	if (i >= walk->count)
		return i == walk->count;
	return walk->items[i].begins == begins && walk->items[i].ip == ip;
}

/* Process a packet. Return false if its target is not where execution went. */
static bool take(struct targets *t, const struct vpt_packet *packet)
{
	switch (packet->kind) {
	case VPT_PKT_PSB:
		t->in_psb = true;
		t->last_ip = 0;
		return true;
	case VPT_PKT_PSBEND:
		t->in_psb = false;
		t->begun = true;
		return true;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		return false;
	case VPT_PKT_FUP:
		/* The FUP of the first PSB+ is the address of the first item. */
		t->next += !t->begun;
		/* fall through */
	case VPT_PKT_TIP_PGD:
		(void)!vpt_ip_expand(t->last_ip, packet->ip_bytes, packet->value, &t->last_ip);
		return true;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
		return vpt_ip_expand(t->last_ip, packet->ip_bytes, packet->value, &t->last_ip) ==
			       VPT_OK &&
		       !t->in_psb && enter(t, packet, t->last_ip);
	default:
		return true;
	}
}

bool walk_targets(const struct walk_config *config, const struct walk_result *walk, char *why,
		  size_t size)
{
	struct targets t = {.walk = walk, .begun = !walk->first};
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at;

	(void)config;
	while (walk->first && t.next < walk->count && walk->items[t.next].at <= walk->first)
		t.next++;
	for (at = walk->first; at < walk->trace_len; at += packet.size) {
		if (vpt_packet_read(&parser, walk->trace + at, walk->trace_len - at, &packet) !=
		    VPT_OK)
			break;
		if (!take(&t, &packet)) {
			snprintf(why, size, "%s at %#zx leads to %llx; item %zu of %zu",
				 vpt_pkt_name(packet.kind), at, (unsigned long long)t.last_ip,
				 t.next, walk->count);
			return false;
		}
	}
	if (!walk->full && (at != walk->trace_len || next_arrival(&t) < walk->count)) {
		snprintf(why, size, "a target is missing: item %zu of %zu", next_arrival(&t),
			 walk->count);
		return false;
	}
	return true;
}
