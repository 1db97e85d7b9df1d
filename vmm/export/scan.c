// SPDX-License-Identifier: GPL-2.0-or-later
#include "scan.h"

#define TSC_BITS 56

void vpt_scan_segment(struct vpt_scan *s, uint64_t begin, uint64_t end)
{
	s->at = begin;
	s->len = (size_t)end;
	s->group = begin;
	s->in_psb = false;
	s->parser = (struct vpt_parser){0};
}

/* The packet has seven bytes of the TSC (33.4.2.11). */
static void take_tsc(struct vpt_scan *s, uint64_t value)
{
	uint64_t high = s->tsc & ~(UINT64_MAX >> (64 - TSC_BITS));
	uint64_t tsc = high | value;

	if (s->has_tsc && tsc < s->tsc && s->tsc - tsc > 1ull << (TSC_BITS - 1))
		tsc += 1ull << TSC_BITS;
	s->tsc = tsc;
	s->has_tsc = true;
	s->has_tma = false;
}

/* TSC ticks for so many CTC ticks (33.8.3.1). */
static uint64_t ctc_ticks(const struct vpt_scan *s, uint64_t ctc)
{
	return (uint64_t)((unsigned __int128)ctc * s->caps->l15_ebx / s->caps->l15_eax);
}

static void take_tma(struct vpt_scan *s, const struct vpt_packet *p)
{
	uint64_t rest = p->value & ((1u << s->mtc_freq) - 1);

	/* TMA has not all the bits of CTC that an MTC shows when MTCFreq is above 8. */
	if (!s->has_tsc || !s->caps->l15_eax || !s->caps->l15_ebx || s->mtc_freq > 8)
		return;
	s->ctc_tsc = s->tsc - p->aux - ctc_ticks(s, rest);
	s->ctc = 0;
	s->mtc = (uint8_t)(p->value >> s->mtc_freq);
	s->has_tma = true;
}

static void take_mtc(struct vpt_scan *s, uint8_t mtc)
{
	unsigned int ticks = (uint8_t)(mtc - s->mtc);
	uint64_t tsc;

	if (!s->has_tma)
		return;
	s->ctc += (uint64_t)(ticks ? ticks : 256) << s->mtc_freq;
	s->mtc = mtc;
	tsc = s->ctc_tsc + ctc_ticks(s, s->ctc);
	if (tsc > s->tsc)
		s->tsc = tsc;
}

static void note(struct vpt_scan *s, const struct vpt_packet *p)
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
		take_tsc(s, p->value);
		break;
	case VPT_PKT_TMA:
		take_tma(s, p);
		break;
	case VPT_PKT_MTC:
		take_mtc(s, (uint8_t)p->value);
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

static void skip_bad(struct vpt_scan *s)
{
	uint64_t next = s->at + 1;

	next += vpt_packet_find_psb(s->bytes + next, s->len - (size_t)next);
	s->at = next;
	s->group = next;
	s->in_psb = false;
	s->parser = (struct vpt_parser){0};
}

bool vpt_scan_next(struct vpt_scan *s, struct vpt_packet *packet, uint64_t *at)
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

uint64_t vpt_scan_start(const uint8_t *bytes, size_t len, bool *bits16)
{
	static const struct vpt_caps none;
	struct vpt_scan s = {.bytes = bytes, .len = len, .caps = &none};
	uint64_t at, start = VPT_SCAN_NONE;
	struct vpt_packet p;

	*bits16 = false;
	while (vpt_scan_next(&s, &p, &at)) {
		if (p.kind == VPT_PKT_PSB && start == VPT_SCAN_NONE)
			start = at;
		/* Neither CS.L & LMA nor CS.D (33.4.2.8). */
		if (p.kind == VPT_PKT_MODE_EXEC && !(p.value & 3)) {
			*bits16 = true;
			start = VPT_SCAN_NONE;
		}
	}
	return start;
}
