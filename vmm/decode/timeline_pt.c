// SPDX-License-Identifier: GPL-2.0-or-later
/* The timing packets of Intel PT. */
#include <string.h>

#include "decode/timeline_scan.h"
#include "vpt/msr.h"

#define TSC_BITS 56
#define CTC_MASK 0xffffu

static bool on(const struct decode_timeline_scan *s, uint64_t mask)
{
	return !s->config.nsessions || (s->ctl & mask);
}

static unsigned int mtc_freq(const struct decode_timeline_scan *s)
{
	return (unsigned int)VPT_CTL_GET(s->ctl, MTC_FREQ);
}

/* Return the least number of clocks between two CYCs (33.3.6.3). */
static uint64_t threshold(const struct decode_timeline_scan *s)
{
	unsigned int enc = (unsigned int)VPT_CTL_GET(s->ctl, CYC_THRESH);

	return enc ? UINT64_C(1) << (enc - 1) : 0;
}

/* Convert `art` crystal clocks to TSC ticks, rounded up if `up` and else down. */
static uint64_t crystal(const struct decode_timeline_scan *s, uint64_t art, bool up)
{
	const struct vpt_caps *caps = s->config.caps;
	uint64_t all = decode_muldiv(art, caps->l15_ebx, caps->l15_eax);
	uint64_t rest = art * caps->l15_ebx % caps->l15_eax;

	return all + (up && rest);
}

static bool has_crystal(const struct decode_timeline_scan *s)
{
	return s->config.caps->l15_eax && s->config.caps->l15_ebx;
}

/* Returns the TSC at `ticks` crystal clocks after base. */
static uint64_t at_crystal(const struct decode_timeline_scan *s, int64_t ticks, bool up)
{
	if (ticks >= 0)
		return s->base + crystal(s, (uint64_t)ticks, up);
	return s->base - crystal(s, (uint64_t)-ticks, !up);
}

/* Compute when the next MTC is due. */
static void set_next(struct decode_timeline_scan *s)
{
	if (!s->has_base || s->vague || !on(s, VPT_CTL_MASK(MTC_EN)))
		return;
	s->now.next = at_crystal(s, s->ticks + ((int64_t)1 << mtc_freq(s)), true);
}

static void take_tsc(struct decode_timeline_scan *s, uint64_t value)
{
	uint64_t high = s->tsc >> TSC_BITS << TSC_BITS;
	uint64_t tsc = high | value;
	bool alone = !s->in_psb || s->begun;

	/* The TSC wrapped. A smaller step back is a write of the TSC. */
	if (s->has_tsc && tsc < s->tsc && s->tsc - tsc > UINT64_C(1) << (TSC_BITS - 1))
		tsc += UINT64_C(1) << TSC_BITS;
	s->tsc = tsc;
	s->has_tsc = true;
	s->begun = false;
	s->has_base = false;
	s->vague = false;
	s->now.relative = false;
	decode_scan_anchor(s, tsc, tsc, alone);
}

static void tma(struct decode_timeline_scan *s, unsigned int ctc, unsigned int fast)
{
	unsigned int freq = mtc_freq(s);

	if (!has_crystal(s) || !s->has_tsc || s->now.relative)
		return;
	s->has_base = true;
	s->vague = false;
	s->base = s->tsc - fast;
	s->ticks = -(int64_t)(ctc & ((1u << freq) - 1));
	s->ctc = (uint8_t)(ctc >> freq);
	s->ctc_bits = freq > 8 ? 16 - freq : 8;
	s->base_lost = s->now.lost;
	decode_scan_anchor(s, s->tsc, s->tsc, false);
	set_next(s);
}

static void mtc(struct decode_timeline_scan *s, uint8_t ctc)
{
	unsigned int mask = (1u << s->ctc_bits) - 1;
	unsigned int periods = (unsigned int)(ctc - s->ctc) & mask;

	if (!has_crystal(s))
		return;
	if (!s->has_base) {
		if (s->has_tsc || on(s, VPT_CTL_MASK(TSC_EN)))
			return;
		s->has_base = true;
		s->base = s->has_relative ? s->span.tsc_lo + s->now.ticks / DECODE_TICK -
						    s->span.ticks / DECODE_TICK
					  : 0;
		s->ticks = 0;
		s->now.relative = true;
		s->has_relative = true;
		periods = 0;
	} else if (s->ctc_bits < 8) {
		/* TMA has only the lower 16 bits of the crystal clock. */
		periods = periods ? periods : mask + 1;
		s->vague = s->vague || s->base_lost != s->now.lost;
	}
	s->ctc = ctc;
	s->ctc_bits = 8;
	s->ticks += (int64_t)periods << mtc_freq(s);
	decode_scan_anchor(s, at_crystal(s, s->ticks, false),
			   s->vague ? DECODE_NEVER : at_crystal(s, s->ticks, true), false);
	set_next(s);
}

/* Returns true if the packet has the time of an instruction or event. */
static bool is_eligible(enum vpt_pkt_kind kind)
{
	return kind != VPT_PKT_MTC && kind != VPT_PKT_TSC && kind != VPT_PKT_MWAIT &&
	       vpt_pkt_cyc_eligible(kind);
}

/* Returns true if a packet that is not eligible begins an event whose next packet is. */
static bool begins_event(struct decode_timeline_scan *s, const struct vpt_packet *p)
{
	bool bound = s->bound;

	s->bound = false;
	switch (p->kind) {
	case VPT_PKT_FUP:
		return !bound;
	case VPT_PKT_CFE:
	case VPT_PKT_EVD:
	case VPT_PKT_MWAIT:
	case VPT_PKT_PWRE:
		return true;
	case VPT_PKT_PTW:
	case VPT_PKT_EXSTOP:
	case VPT_PKT_BEP:
	case VPT_PKT_TRIG:
		s->bound = p->flag;
		return false;
	case VPT_PKT_OVF:
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		s->bound = true;
		return false;
	default:
		return false;
	}
}

/* Apply a packet. Returns true if it makes a mark. */
static bool packet(struct decode_timeline_scan *s, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_TSC:
		take_tsc(s, p->value);
		return true;
	case VPT_PKT_TMA:
		tma(s, (unsigned int)p->value & CTC_MASK, p->aux);
		return s->now.anchor;
	case VPT_PKT_MTC:
		mtc(s, (uint8_t)p->value);
		return s->now.anchor;
	case VPT_PKT_CYC:
		decode_scan_cycles(s, p->value);
		return false;
	case VPT_PKT_CBR:
		decode_scan_ratio(s, (unsigned int)p->value);
		return false;
	case VPT_PKT_PSB:
		s->in_psb = true;
		return false;
	case VPT_PKT_PSBEND:
		s->in_psb = false;
		return false;
	case VPT_PKT_PAD:
		return false;
	case VPT_PKT_OVF:
		decode_scan_lost(s);
		break;
	default:
		if (s->in_psb)
			return false;
		break;
	}
	s->fresh = false;
	s->now.flow = true;
	s->now.eligible = is_eligible(p->kind);
	s->now.joins = begins_event(s, p);
	return true;
}

/* Without TSC and MTC, CYC counts time relative to this point. */
static void begin_relative(struct decode_timeline_scan *s)
{
	if (s->has_tsc || s->has_relative || !s->config.nsessions ||
	    (s->ctl & (VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN))))
		return;
	s->has_relative = true;
	s->now.relative = true;
	decode_scan_anchor(s, 0, 0, false);
}

static size_t take(struct decode_timeline_scan *s, const uint8_t *bytes, size_t len, bool *marks)
{
	struct vpt_packet p;

	if (vpt_packet_read(&s->parser, bytes, len, &p) != VPT_OK) {
		memset(&s->parser, 0, sizeof(s->parser));
		return 0;
	}
	if (!s->in_psb && p.kind != VPT_PKT_PSB)
		begin_relative(s);
	s->now.counted = on(s, VPT_CTL_MASK(CYC_EN));
	*marks = packet(s, &p);
	return p.size;
}

/* Start a session. TraceEn was clear before it. */
static void enter(struct decode_timeline_scan *s, const struct decode_timeline_session *session)
{
	(void)session;
	s->threshold = threshold(s);
	if (s->session == 1)
		return;
	decode_scan_gap(s);
	/* Without TSC packets the length of the gap is not known. */
	if (!on(s, VPT_CTL_MASK(TSC_EN)))
		s->vague = s->has_base;
}

const struct decode_timeline_system decode_timeline_pt = {
	.take = take,
	.enter = enter,
	.find_psb = vpt_packet_find_psb,
};
