// SPDX-License-Identifier: GPL-2.0-or-later
/* Read packets one by one, with their groups and their time. */
#include "export/scan.h"

#define TSC_BITS 56

void export_scan_segment(struct export_scan *s, uint64_t begin, uint64_t end)
{
	s->at = begin;
	s->len = (size_t)end;
	s->group = begin;
	s->in_psb = false;
	s->parser = (struct vpt_parser){0};
}

/* Extend the seven bytes of the TSC in the packet (33.4.2.11). */
static uint64_t whole_tsc(const struct export_scan *s, uint64_t value)
{
	uint64_t tsc = (s->tsc & ~VPT_MASK64(TSC_BITS - 1, 0)) | value;

	if (s->has_tsc && tsc < s->tsc && s->tsc - tsc > 1ull << (TSC_BITS - 1))
		tsc += 1ull << TSC_BITS;
	return tsc;
}

/* Take a TSC, TMA or MTC packet. An MTC does not set the time back. */
static void take_time(struct export_scan *s, struct vpt_packet p)
{
	const struct dec_time_config config = {
		.crystal_num = s->caps->l15_ebx,
		.crystal_den = s->caps->l15_eax,
		.mtc_freq = (uint8_t)s->mtc_freq,
	};
	uint64_t tsc;

	if (p.kind == VPT_PKT_TSC)
		p.value = whole_tsc(s, p.value);
	dec_time_take(&s->time, &config, &p);
	if (!s->time.at_anchor)
		return;
	tsc = dec_time_tsc(&s->time, &config);
	if (p.kind == VPT_PKT_TSC || tsc > s->tsc)
		s->tsc = tsc;
	s->has_tsc = true;
}

static void note(struct export_scan *s, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_PSB:
		s->in_psb = true;
		break;
	case VPT_PKT_PSBEND:
		s->in_psb = false;
		s->group = s->at;
		break;
	case VPT_PKT_TSC:
	case VPT_PKT_TMA:
	case VPT_PKT_MTC:
		take_time(s, *p);
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
		s->group = s->at;
		break;
	case VPT_PKT_OVF:
		s->in_psb = false;
		break;
	default:
		break;
	}
}

static void skip_bad(struct export_scan *s)
{
	uint64_t next = s->at + 1;

	next += vpt_packet_find_psb(s->bytes + next, s->len - (size_t)next);
	s->at = next;
	s->group = next;
	s->in_psb = false;
	s->parser = (struct vpt_parser){0};
}

bool export_scan_next(struct export_scan *s, struct vpt_packet *packet, uint64_t *at)
{
	while (s->at < s->len) {
		if (vpt_packet_read(&s->parser, s->bytes + s->at, s->len - (size_t)s->at, packet) ==
		    VPT_OK) {
			*at = s->at;
			s->at += packet->size;
			note(s, packet);
			return true;
		}
		skip_bad(s);
	}
	return false;
}

uint64_t export_scan_start(const uint8_t *bytes, size_t len, bool *bits16)
{
	static const struct vpt_caps none;
	struct export_scan s = {.bytes = bytes, .len = len, .caps = &none};
	uint64_t at, start = EXPORT_SCAN_NONE;
	struct vpt_packet p;

	*bits16 = false;
	while (export_scan_next(&s, &p, &at)) {
		if (p.kind == VPT_PKT_PSB && start == EXPORT_SCAN_NONE)
			start = at;
		/* Neither CS.L & LMA nor CS.D is set (33.4.2.8). */
		if (p.kind == VPT_PKT_MODE_EXEC && !(p.value & 3)) {
			*bits16 = true;
			start = EXPORT_SCAN_NONE;
		}
	}
	return start;
}
