// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a stream into a list of packets, changes packets, and writes the list. */
#include "lib/erratum_inside.h"

#include <stdlib.h>
#include <string.h>

uint32_t erratum_below(struct erratum_stream *s, uint32_t n)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ z >> 31) >> 16) % n;
}

bool erratum_has_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD ||
	       kind == VPT_PKT_FUP;
}

bool erratum_is_timing(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_PAD || kind == VPT_PKT_TSC || kind == VPT_PKT_MTC ||
	       kind == VPT_PKT_TMA || kind == VPT_PKT_CYC || kind == VPT_PKT_CBR;
}

struct erratum_packet *erratum_insert(struct erratum_stream *s, size_t before)
{
	struct erratum_packet *p;

	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		s->packet = realloc(s->packet, s->room * sizeof(*s->packet));
		MUST(s->packet);
	}
	p = &s->packet[before];
	memmove(p + 1, p, (s->count - before) * sizeof(*p));
	s->count++;
	memset(p, 0, sizeof(*p));
	p->at = p->end = before ? p[-1].end : 0;
	return p;
}

void erratum_remove(struct erratum_stream *s, size_t i)
{
	memmove(&s->packet[i], &s->packet[i + 1], (s->count - i - 1) * sizeof(*s->packet));
	s->count--;
}

void erratum_read(struct erratum_stream *s, const struct walk_result *walk, uint64_t seed)
{
	struct vpt_parser parser = {0};
	uint64_t last_ip = 0;
	bool in_psb = false;
	size_t at = 0;

	memset(s, 0, sizeof(*s));
	s->random = seed;
	while (at < walk->trace_len) {
		struct erratum_packet *p = erratum_insert(s, s->count);

		MUST(vpt_packet_read(&parser, walk->trace + at, walk->trace_len - at, &p->p) ==
		     VPT_OK);
		p->at = at;
		at += p->p.size;
		p->end = at;
		memcpy(p->raw, walk->trace + p->at, p->p.size);
		if (p->p.kind == VPT_PKT_PSB)
			last_ip = 0;
		p->in_psb = in_psb;
		in_psb = p->p.kind == VPT_PKT_PSB ||
			 (in_psb && p->p.kind != VPT_PKT_PSBEND && p->p.kind != VPT_PKT_OVF);
		if (erratum_has_ip(p->p.kind) && p->p.ip_bytes != VPT_IP_SUPPRESSED) {
			MUST(vpt_ip_expand(last_ip, p->p.ip_bytes, p->p.value, &last_ip) == VPT_OK);
			p->ip = last_ip;
		}
	}
}

void erratum_free(struct erratum_stream *s)
{
	free(s->packet);
	free(s->bytes);
	free(s->written);
}

/* The last IP that both processor and decoder know. It is unknown after an OVF. */
struct last_ip {
	uint64_t ip;
	bool known;
};

/* Choose a form that the decoder can expand to the address. */
static void compress(struct erratum_stream *s, struct vpt_packet *p, uint64_t ip,
		     const struct last_ip *last)
{
	static const uint8_t forms[] = {VPT_IP_UPDATE_16, VPT_IP_UPDATE_32, VPT_IP_SEXT_48,
					VPT_IP_UPDATE_48, VPT_IP_FULL};
	static const uint8_t bits[] = {16, 32, 48, 48, 64};
	uint64_t expanded;
	unsigned int i;

	do {
		i = erratum_below(s, 5);
		p->ip_bytes = forms[i];
		p->value = bits[i] == 64 ? ip : ip & ((UINT64_C(1) << bits[i]) - 1);
	} while (vpt_ip_expand(last->ip, p->ip_bytes, p->value, &expanded) || expanded != ip ||
		 (!last->known && p->ip_bytes != VPT_IP_SEXT_48 && p->ip_bytes != VPT_IP_FULL));
}

static size_t write_one(struct erratum_stream *s, struct erratum_packet *p, struct last_ip *last,
			uint8_t *to)
{
	size_t n;

	if (p->p.kind == VPT_PKT_PSB || p->p.kind == VPT_PKT_OVF)
		*last = (struct last_ip){0, p->p.kind == VPT_PKT_PSB};
	if (p->wrong || (p->at != p->end && !erratum_has_ip(p->p.kind))) {
		memcpy(to, p->raw, p->p.size);
		return p->p.size;
	}
	if (erratum_has_ip(p->p.kind) && p->p.ip_bytes != VPT_IP_SUPPRESSED) {
		compress(s, &p->p, p->ip, last);
		*last = (struct last_ip){p->ip, true};
	}
	n = vpt_packet_write(to, &p->p);
	MUST(n);
	return n;
}

void erratum_write(struct erratum_stream *s)
{
	struct last_ip last = {0, true};
	size_t i;

	s->bytes = malloc((s->count + 1) * VPT_PKT_MAX);
	s->written = malloc((s->count + 1) * sizeof(*s->written));
	MUST(s->bytes && s->written);
	s->len = 0;
	for (i = 0; i < s->count; i++) {
		s->len += write_one(s, &s->packet[i], &last, s->bytes + s->len);
		s->written[i] = s->len;
	}
}

size_t erratum_packet_at(const struct erratum_stream *s, size_t offset)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->written[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count ? low : s->count - 1;
}

const struct walk_item *erratum_item_before(const struct walk_result *walk, size_t at)
{
	size_t low = 0, high = walk->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->items[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &walk->items[low - 1] : NULL;
}
