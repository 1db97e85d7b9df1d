// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the address spaces and the areas of code in the packets of a trace. */
#include "pt/seen.h"

#include <string.h>

static void note_cr3(struct tracer_seen *s, uint64_t cr3)
{
	size_t i;

	for (i = 0; i < s->spaces; i++)
		if (s->cr3[i] == cr3)
			return;
	if (s->spaces < TRACER_SEEN_CR3S)
		s->cr3[s->spaces++] = cr3;
}

/* Note a page of the lower half of the address space, which is that of ring 3. */
static void note_place(struct tracer_seen *s)
{
	const struct tracer_seen_place place = {s->space, s->ip & ~(uint64_t)0xfff};
	size_t i;

	if (!s->space || s->ip >> 63)
		return;
	for (i = s->places; i--;)
		if (s->place[i].cr3 == place.cr3 && s->place[i].vaddr == place.vaddr)
			return;
	if (s->places < TRACER_SEEN_PLACES)
		s->place[s->places++] = place;
}

static void note_ip(struct tracer_seen *s, const struct vpt_packet *packet)
{
	uint64_t area;
	size_t i;

	if (vpt_ip_expand(s->ip, packet->ip_bytes, packet->value, &s->ip))
		return;
	note_place(s);
	area = s->ip >> TRACER_SEEN_SHIFT;
	if (s->last < s->areas && s->area[s->last] == area)
		return;
	for (i = 0; i < s->areas; i++) {
		if (s->area[i] == area) {
			s->last = i;
			return;
		}
	}
	if (s->areas < TRACER_SEEN_AREAS)
		s->area[s->areas++] = area;
}

static void note(struct tracer_seen *s, const struct vpt_packet *packet)
{
	switch (packet->kind) {
	case VPT_PKT_PIP:
		note_cr3(s, packet->value);
		s->space = packet->value & ~(uint64_t)0xfff;
		break;
	case VPT_PKT_PSB:
		s->ip = 0;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		note_ip(s, packet);
		break;
	default:
		break;
	}
}

/* Parse the complete packets in `len` bytes. Returns the number of parsed bytes. */
static size_t parse(struct tracer_seen *s, const uint8_t *bytes, size_t len)
{
	struct vpt_packet packet;
	size_t at = 0;

	while (at < len) {
		enum vpt_status status = VPT_E_BAD_PACKET;

		if (s->state == TRACER_SEEN_SYNCED)
			status = vpt_packet_read(&s->parser, bytes + at, len - at, &packet);
		if (status == VPT_E_EOS)
			break;
		if (status != VPT_OK) {
			memset(&s->parser, 0, sizeof(s->parser));
			at += vpt_packet_find_psb(bytes + at, len - at);
			s->state = at < len ? TRACER_SEEN_SYNCED : TRACER_SEEN_LOST;
			if (s->state == TRACER_SEEN_SYNCED)
				continue;
			/* The next bytes may complete a PSB with the last of these. */
			return len - (len < VPT_PKT_MAX ? len : VPT_PKT_MAX - 1);
		}
		note(s, &packet);
		at += packet.size;
	}
	return at;
}

void tracer_seen_feed(struct tracer_seen *s, const uint8_t *bytes, size_t len)
{
	/* Complete the packet whose first bytes are left from the previous call. */
	while (s->rests && len) {
		size_t was = s->rests, more = sizeof(s->rest) - was, used;

		if (more > len)
			more = len;
		memcpy(s->rest + was, bytes, more);
		used = parse(s, s->rest, was + more);
		if (used >= was) {
			bytes += used - was;
			len -= used - was;
			s->rests = 0;
			break;
		}
		bytes += more;
		len -= more;
		s->rests = was + more - used;
		memmove(s->rest, s->rest + used, s->rests);
	}
	if (len) {
		size_t used = parse(s, bytes, len);

		s->rests = len - used;
		memcpy(s->rest, bytes + used, s->rests);
	}
}

void tracer_seen_lost(struct tracer_seen *s)
{
	s->state = TRACER_SEEN_LOST;
	s->rests = 0;
	s->space = 0;
}

bool tracer_seen_near(const struct tracer_seen *s, uint64_t vaddr)
{
	const uint64_t area = vaddr >> TRACER_SEEN_SHIFT;
	size_t i;

	for (i = 0; i < s->areas; i++)
		if (area == s->area[i])
			return true;
	return s->areas == TRACER_SEEN_AREAS;
}
