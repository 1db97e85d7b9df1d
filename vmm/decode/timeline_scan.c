// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline_scan.h"

#include <string.h>

#include "vpt/msr.h"

#define TSC_BITS 56
#define CTC_MASK 0xffffu
/* Core clocks from which on spans tell the ratio better than CBR does. */
#define CALIBRATED 1024
/* More core clocks than that in one CYC are not true. */
#define CYC_MAX (UINT64_C(1) << 40)

__extension__ typedef unsigned __int128 u128;

uint64_t vpt_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	u128 q = (u128)a * b / c;

	return q > VPT_NEVER ? VPT_NEVER : (uint64_t)q;
}

static bool on(const struct vpt_timeline_scan *s, uint64_t mask)
{
	return !s->config.nsessions || (s->ctl & mask);
}

static unsigned int mtc_freq(const struct vpt_timeline_scan *s)
{
	return (unsigned int)VPT_CTL_GET(s->ctl, MTC_FREQ);
}

/* The least clocks between two CYCs (33.3.6.3). */
static uint64_t threshold(const struct vpt_timeline_scan *s)
{
	unsigned int enc = (unsigned int)VPT_CTL_GET(s->ctl, CYC_THRESH);

	return enc ? UINT64_C(1) << (enc - 1) : 0;
}

/* Parts of ticks in `cycles` at a ratio. */
static uint64_t parts(const struct vpt_timeline_scan *s, uint64_t cycles, unsigned int ratio)
{
	return vpt_muldiv(cycles, s->config.caps->max_nonturbo * VPT_TICK, ratio);
}

static void set_ratio(struct vpt_timeline_scan *s, unsigned int ratio)
{
	if (s->cbr != ratio) {
		s->cal_cycles = s->cal_ticks = 0;
		s->has_span = false;
	}
	s->cbr = ratio;
	s->cbr_sure = true;
	/* The clocks until now may have been of any ratio if none was known, but of a
	 * session that begins there were none. */
	if (s->fresh) {
		s->cbr_min = s->cbr_max = ratio;
	} else if (s->cbr_max) {
		s->cbr_min = ratio < s->cbr_min ? ratio : s->cbr_min;
		s->cbr_max = ratio > s->cbr_max ? ratio : s->cbr_max;
	}
	/* It may be a sleep that this ends, and how long it was nothing tells. */
	if (!s->in_psb && s->has_relative && !s->has_tsc) {
		s->vague = s->has_base;
		s->now.wild++;
		s->now.lost++;
	}
}

static uint64_t estimate(const struct vpt_timeline_scan *s, uint64_t cycles)
{
	if (s->cal_cycles >= CALIBRATED && s->cal_ticks < VPT_NEVER / VPT_TICK)
		return vpt_muldiv(cycles, s->cal_ticks * VPT_TICK, s->cal_cycles);
	if (s->cbr && s->config.caps->max_nonturbo)
		return parts(s, cycles, s->cbr);
	return cycles * VPT_TICK;
}

/* How long may it be since the last CYC, at a packet that has none? */
static void set_slack(struct vpt_timeline_scan *s)
{
	uint64_t n = threshold(s);

	/* Where a clock edge lies between two others is not told either. */
	n = n ? n : 1;
	s->now.slack = s->cbr_min > 1 ? parts(s, n, s->cbr_min - 1) + VPT_TICK : 0;
	if (s->cbr_min <= 1)
		s->now.wild++;
}

static void cyc(struct vpt_timeline_scan *s, uint64_t cycles)
{
	bool known = s->cbr_min && s->config.caps->max_nonturbo && cycles < CYC_MAX;

	if (cycles >= CYC_MAX)
		cycles = CYC_MAX;
	s->now.cycles += cycles;
	s->now.ticks += estimate(s, cycles);
	if (known)
		s->now.least += parts(s, cycles, s->cbr_max + 1);
	if (known && s->cbr_min > 1)
		s->now.most += parts(s, cycles, s->cbr_min - 1) + 1;
	else
		s->now.wild++;
	s->cbr_min = s->cbr_max = s->cbr_sure ? s->cbr : 0;
}

static void learn_span(struct vpt_timeline_scan *s)
{
	const struct vpt_mark *a = &s->span, *b = &s->now;
	bool whole = s->has_span && !b->alone && a->lost == b->lost && b->counted && a->counted;

	if (whole && b->tsc_lo > a->tsc_lo && b->cycles > a->cycles) {
		s->cal_cycles += b->cycles - a->cycles;
		s->cal_ticks += b->tsc_lo - a->tsc_lo;
	}
	s->span = *b;
	s->has_span = true;
}

/* It is now between `lo` and `hi`. */
static void set_anchor(struct vpt_timeline_scan *s, uint64_t lo, uint64_t hi, bool alone)
{
	s->now.anchor = true;
	s->now.alone = alone;
	s->now.tsc_lo = lo;
	s->now.tsc_hi = hi;
	s->now.next = VPT_NEVER;
	s->now.wild += alone;
	learn_span(s);
}

/* So many TSC ticks are `art` crystal clocks, rounded down; up if `up`. */
static uint64_t crystal(const struct vpt_timeline_scan *s, uint64_t art, bool up)
{
	const struct vpt_caps *caps = s->config.caps;
	uint64_t all = vpt_muldiv(art, caps->l15_ebx, caps->l15_eax);
	uint64_t rest = art * caps->l15_ebx % caps->l15_eax;

	return all + (up && rest);
}

static bool has_crystal(const struct vpt_timeline_scan *s)
{
	return s->config.caps->l15_eax && s->config.caps->l15_ebx;
}

/* The TSC at `ticks` of the crystal clock from base. */
static uint64_t at_crystal(const struct vpt_timeline_scan *s, int64_t ticks, bool up)
{
	if (ticks >= 0)
		return s->base + crystal(s, (uint64_t)ticks, up);
	return s->base - crystal(s, (uint64_t)-ticks, !up);
}

/* The next MTC is not sent before this, and not later if none is lost. */
static void set_next(struct vpt_timeline_scan *s)
{
	if (!s->has_base || s->vague || !on(s, VPT_CTL_MASK(MTC_EN)))
		return;
	s->now.next = at_crystal(s, s->ticks + ((int64_t)1 << mtc_freq(s)), true);
}

static void take_tsc(struct vpt_timeline_scan *s, uint64_t value)
{
	uint64_t high = s->tsc >> TSC_BITS << TSC_BITS;
	uint64_t tsc = high | value;
	bool alone = !s->in_psb || s->begun;

	/* It has wrapped, and was not set back. */
	if (s->has_tsc && tsc < s->tsc && s->tsc - tsc > UINT64_C(1) << (TSC_BITS - 1))
		tsc += UINT64_C(1) << TSC_BITS;
	s->tsc = tsc;
	s->has_tsc = true;
	s->begun = false;
	s->has_base = false;
	s->vague = false;
	s->now.relative = false;
	set_anchor(s, tsc, tsc, alone);
}

static void tma(struct vpt_timeline_scan *s, unsigned int ctc, unsigned int fast)
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
	set_anchor(s, s->tsc, s->tsc, false);
	set_next(s);
}

static void mtc(struct vpt_timeline_scan *s, uint8_t ctc)
{
	unsigned int mask = (1u << s->ctc_bits) - 1;
	unsigned int periods = (unsigned int)(ctc - s->ctc) & mask;

	if (!has_crystal(s))
		return;
	if (!s->has_base) {
		if (s->has_tsc || on(s, VPT_CTL_MASK(TSC_EN)))
			return;
		s->has_base = true;
		s->base = s->has_relative ? s->span.tsc_lo + s->now.ticks / VPT_TICK -
						    s->span.ticks / VPT_TICK
					  : 0;
		s->ticks = 0;
		s->now.relative = true;
		s->has_relative = true;
		periods = 0;
	} else if (s->ctc_bits < 8) {
		/* TMA has the lower half of the clock only. */
		periods = periods ? periods : mask + 1;
		s->vague = s->vague || s->base_lost != s->now.lost;
	}
	s->ctc = ctc;
	s->ctc_bits = 8;
	s->ticks += (int64_t)periods << mtc_freq(s);
	set_anchor(s, at_crystal(s, s->ticks, false),
		   s->vague ? VPT_NEVER : at_crystal(s, s->ticks, true), false);
	set_next(s);
}

static void overflow(struct vpt_timeline_scan *s)
{
	s->in_psb = false;
	s->now.lost++;
	s->now.wild++;
	/* A change of the ratio may be among what is lost, which the last CYCs counted. */
	s->now.least = s->told_least;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
}

/* TraceEn was clear for some time. */
static void next_session(struct vpt_timeline_scan *s)
{
	s->ctl = s->config.sessions[s->session++].ctl;
	s->begun = true;
	s->fresh = true;
	s->now.wild++;
	s->now.lost++;
	s->cbr_sure = false;
	s->cbr_min = s->cbr_max = 0;
	if (on(s, VPT_CTL_MASK(TSC_EN)))
		return;
	/* Nothing will ever tell how long. */
	s->vague = s->has_base;
}

/* Of those, the ones that are the time of an instruction or event. */
static bool is_eligible(enum vpt_pkt_kind kind)
{
	return kind != VPT_PKT_MTC && kind != VPT_PKT_TSC && kind != VPT_PKT_MWAIT &&
	       vpt_pkt_cyc_eligible(kind);
}

/* Does an event begin with it that goes on with packets that are eligible? */
static bool begins_event(struct vpt_timeline_scan *s, const struct vpt_packet *p)
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

/* Take a packet in; true if it makes a mark. */
static bool packet(struct vpt_timeline_scan *s, const struct vpt_packet *p)
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
		cyc(s, p->value);
		return false;
	case VPT_PKT_CBR:
		set_ratio(s, (unsigned int)p->value);
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
		overflow(s);
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

/* Neither TSC nor MTC will come: CYC alone counts, from here on. */
static void begin_relative(struct vpt_timeline_scan *s)
{
	if (s->has_tsc || s->has_relative || !s->config.nsessions ||
	    (s->ctl & (VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN))))
		return;
	s->has_relative = true;
	s->now.relative = true;
	set_anchor(s, 0, 0, false);
}

void vpt_timeline_scan_init(struct vpt_timeline_scan *s, const struct vpt_timeline_config *config)
{
	memset(s, 0, sizeof(*s));
	s->config = *config;
	s->begun = true;
	s->fresh = true;
	s->ctc_bits = 8;
	if (config->nsessions)
		s->ctl = config->sessions[s->session++].ctl;
}

bool vpt_timeline_scan_next(struct vpt_timeline_scan *s, struct vpt_mark *mark)
{
	const struct vpt_timeline_config *c = &s->config;
	struct vpt_packet p;

	while (s->at < c->len) {
		while (s->session < c->nsessions && c->sessions[s->session].at <= s->at)
			next_session(s);
		s->now.anchor = s->now.alone = s->now.flow = s->now.eligible = false;
		s->now.joins = false;
		if (vpt_packet_read(&s->parser, c->bytes + s->at, c->len - s->at, &p) != VPT_OK) {
			memset(&s->parser, 0, sizeof(s->parser));
			s->at += 1 + vpt_packet_find_psb(c->bytes + s->at + 1, c->len - s->at - 1);
			overflow(s);
			continue;
		}
		if (!s->in_psb && p.kind != VPT_PKT_PSB)
			begin_relative(s);
		s->at += p.size;
		s->now.counted = on(s, VPT_CTL_MASK(CYC_EN));
		if (!packet(s, &p) && !s->now.anchor)
			continue;
		if (s->now.counted)
			set_slack(s);
		else
			s->now.wild++;
		s->now.end = s->at;
		s->told_least = s->now.least;
		*mark = s->now;
		return true;
	}
	return false;
}
