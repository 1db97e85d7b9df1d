// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timing packets of the Atom trace unit (4.2.12 to 4.2.15). STS has 40 bits of the TSC, and MTC
 * has 8 bits. Cycle counts are parts of packets. They need ContextEn, and FilterEn unless LESS_PKTS
 * is set.
 */
#include "decode/timeline_scan.h"
#include "vpt/atom.h"

#define STS_BITS 40

static bool on(const struct decode_timeline_scan *s, uint64_t mask)
{
	return s->ctl & mask;
}

/* Returns the first TSC from the last known one on that has `value` at bit `shift`. */
static uint64_t extend(const struct decode_timeline_scan *s, uint64_t value, unsigned int shift,
		       unsigned int bits)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1, last = s->tsc >> shift;

	return (last + ((value - last) & mask)) << shift;
}

/* [ATOM-STS ATOM-SLEEP] The time before STS may not have been counted. */
static void sts(struct decode_timeline_scan *s, const struct vpt_atom_packet *p)
{
	s->tsc = extend(s, p->value, 0, STS_BITS);
	s->has_tsc = true;
	s->begun = false;
	s->now.relative = false;
	decode_scan_ratio(s, p->aux & 0xff);
	decode_scan_anchor(s, s->tsc, s->tsc, true);
}

/*
 * [ATOM-MTC] [ATOM-E7] The first MTC since TriggerEn rose may be wrong. An overflow can lose more
 * MTCs than 8 bits count.
 */
static void mtc(struct decode_timeline_scan *s, const struct vpt_atom_packet *p)
{
	unsigned int shift = 7 + 2 * p->aux;
	bool lies = s->first_mtc && s->config.errata & VPT_ATOM_E7;

	s->first_mtc = false;
	if (lies)
		return;
	if (!s->has_tsc && !s->has_relative) {
		s->has_relative = true;
		s->now.relative = true;
	}
	s->tsc = extend(s, p->value, shift, 8);
	decode_scan_anchor(s, s->tsc, s->now.lost == s->base_lost ? s->tsc : DECODE_NEVER, false);
	s->base_lost = s->now.lost;
	/* No MTC is sent during sleep, which STS ends. */
	if (on(s, VPT_ATOM_MASK(CTL, MTC_EN)) && on(s, VPT_ATOM_MASK(CTL, STS_EN)) &&
	    !on(s, VPT_ATOM_MASK(CTL, LESS_PKTS)))
		s->now.next = s->tsc + (UINT64_C(1) << shift);
}

/* [ATOM-E6] With the erratum, a count that is not 0 is one too low. */
static uint64_t clocks(const struct decode_timeline_scan *s, uint32_t cycles)
{
	return cycles + (cycles && s->config.errata & VPT_ATOM_E6);
}

/* Time without cycle counts has no bounds. [ATOM-CYC-COUNTS] */
static void uncounted(struct decode_timeline_scan *s)
{
	s->now.wild++;
	s->now.lost++;
}

static bool packet(struct decode_timeline_scan *s, const struct vpt_atom_packet *p)
{
	switch (p->kind) {
	case VPT_ATOM_PKT_STS:
		sts(s, p);
		return true;
	case VPT_ATOM_PKT_MTC:
		mtc(s, p);
		return s->now.anchor;
	case VPT_ATOM_PKT_PSB:
		return false;
	case VPT_ATOM_PKT_BUF_OVF:
		decode_scan_lost(s);
		break;
	case VPT_ATOM_PKT_PGE:
		uncounted(s);
		break;
	case VPT_ATOM_PKT_TNT:
		/* A partial TNT is sent with the packet after it. */
		if (p->bits < VPT_ATOM_TNT_MAX)
			return false;
		break;
	default:
		break;
	}
	s->fresh = false;
	s->now.flow = true;
	s->now.eligible = p->has_cycles;
	if (!p->has_cycles)
		s->now.wild++;
	return true;
}

/* Without STS and MTC, time is relative to this point. */
static void begin_relative(struct decode_timeline_scan *s)
{
	if (s->has_tsc || s->has_relative ||
	    on(s, VPT_ATOM_MASK(CTL, STS_EN) | VPT_ATOM_MASK(CTL, MTC_EN)))
		return;
	s->has_relative = true;
	s->now.relative = true;
	decode_scan_anchor(s, 0, 0, false);
}

static size_t take(struct decode_timeline_scan *s, const uint8_t *bytes, size_t len, bool *marks)
{
	struct vpt_atom_packet p;

	s->now.counted = on(s, VPT_ATOM_MASK(CTL, CYCLE_ACC));
	if (vpt_atom_packet_read(bytes, len, s->now.counted, &p) != VPT_OK)
		return 0;
	if (p.kind != VPT_ATOM_PKT_PSB)
		begin_relative(s);
	if (p.has_cycles)
		decode_scan_cycles(s, clocks(s, p.cycles));
	*marks = packet(s, &p);
	return p.size;
}

static void enter(struct decode_timeline_scan *s, const struct decode_timeline_session *session)
{
	if (session->goes_on)
		return;
	decode_scan_gap(s);
	s->first_mtc = true;
}

const struct decode_timeline_system decode_timeline_atom = {
	.take = take,
	.enter = enter,
	.find_psb = vpt_atom_packet_find_psb,
};
