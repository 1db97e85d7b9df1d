// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Convert timing packets to a TSC value with bounds. */
#include "libdecode/time.h"

/* The number of parts of a TSC tick. Clocks are counted in these parts. */
#define TICK 256u
/* The number of core clocks from which on anchors give a better ratio than CBR. */
#define CALIBRATED 1024u
/* A CYC with more core clocks is invalid. */
#define CYC_MAX (UINT64_C(1) << 40)
/* More ticks of the crystal clock are invalid. */
#define CRYSTAL_MAX (INT64_C(1) << 56)

__extension__ typedef unsigned __int128 u128;

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns a * b / c, rounded down or up. @c is not 0. */
static uint64_t muldiv(uint64_t a, uint64_t b, uint64_t c, bool up)
{
	uint64_t more = up ? c - 1 : 0, product;
	u128 q;

	if (!__builtin_mul_overflow(a, b, &product) && product <= UINT64_MAX - more)
		return (product + more) / c;
	q = ((u128)a * b + more) / c;
	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

static uint64_t ticks_up(uint64_t parts)
{
	return parts / TICK + (parts % TICK != 0);
}

/* Returns the parts of ticks in @clocks at a core:bus ratio that is not 0. */
static uint64_t parts_of(const struct dec_time_config *c, uint64_t clocks, unsigned int ratio,
			 bool up)
{
	return muldiv(clocks, (uint64_t)c->max_nonturbo * TICK, ratio, up);
}

static uint64_t estimate(const struct dec_time *t, const struct dec_time_config *c, uint64_t clocks)
{
	if (t->cal_clocks >= CALIBRATED)
		return muldiv(clocks, t->cal_ticks * TICK, t->cal_clocks, false);
	return t->cbr_guess ? parts_of(c, clocks, t->cbr_guess, false) : 0;
}

/*
 * Return the minimum and the maximum of the open clocks. open_most() returns false if there is no
 * upper bound.
 */
static uint64_t open_least(const struct dec_time *t, const struct dec_time_config *c,
			   uint64_t clocks)
{
	return t->cbr ? parts_of(c, sub(clocks, t->drop), t->cbr + 1u, false) : 0;
}

static bool open_most(const struct dec_time *t, const struct dec_time_config *c, uint64_t clocks,
		      uint64_t *most)
{
	*most = 0;
	if (!clocks)
		return true;
	if (t->cbr <= 1 || !c->max_nonturbo)
		return false;
	*most = parts_of(c, clocks, t->cbr - 1u, true);
	return true;
}

/* Convert the open clocks, because the ratio changes. */
static void close_clocks(struct dec_time *t, const struct dec_time_config *c)
{
	uint64_t most;

	t->parts = add(t->parts, estimate(t, c, t->clocks));
	t->least = add(t->least, open_least(t, c, t->clocks));
	t->no_most = t->no_most || !open_most(t, c, t->clocks, &most);
	t->most = add(t->most, t->no_most ? 0 : most);
	t->drop = sub(t->drop, t->clocks);
	t->clocks = t->told_clocks = 0;
	t->told_least = t->least;
}

/* Add core clocks during which the ratio was anything from cbr_min to cbr_max. */
static void mixed_cycles(struct dec_time *t, const struct dec_time_config *c, uint64_t n)
{
	t->parts = add(t->parts, estimate(t, c, n));
	if (t->cbr_min)
		t->least = add(t->least, parts_of(c, sub(n, t->drop), t->cbr_max + 1u, false));
	if (t->cbr_min > 1 && c->max_nonturbo)
		t->most = add(t->most, parts_of(c, n, t->cbr_min - 1u, true));
	else
		t->no_most = true;
	t->drop = sub(t->drop, n);
	t->cbr_min = t->cbr_max = t->cbr;
}

static void cycles(struct dec_time *t, const struct dec_time_config *c, uint64_t n)
{
	if (n >= CYC_MAX) {
		n = CYC_MAX;
		t->no_most = true;
	}
	t->cycles += n;
	t->psb_cycles += t->in_psb ? n : 0;
	t->span += n;
	if (!t->in_cycs) {
		t->told_clocks = t->clocks;
		t->told_least = t->least;
	}
	if (t->cbr && t->cbr_min == t->cbr && t->cbr_max == t->cbr)
		t->clocks = add(t->clocks, n);
	else
		mixed_cycles(t, c, n);
}

void dec_time_end_cycs(struct dec_time *t, const struct dec_time_cycs *cycs)
{
	t->in_cycs = cycs->in_cycs;
	if (!cycs->any)
		return;
	t->at_anchor = false;
	t->cycles += cycs->clocks;
	t->psb_cycles += t->in_psb ? cycs->clocks : 0;
	t->span += cycs->clocks;
	if (cycs->tells) {
		t->told_clocks = add(t->clocks, cycs->told);
		t->told_least = t->least;
	}
	t->clocks = add(t->clocks, cycs->clocks);
}

static void no_calibration(struct dec_time *t)
{
	t->cal_clocks = t->cal_ticks = 0;
	t->spans = false;
}

static void ratio(struct dec_time *t, const struct dec_time_config *c, uint8_t value)
{
	bool whole;

	if (t->cbr == value)
		return;
	close_clocks(t, c);
	whole = t->spans && !t->span;
	no_calibration(t);
	t->spans = whole;
	t->cbr = value;
	t->cbr_guess = value ? value : t->cbr_guess;
	/*
	 * A PSB+ repeats the ratio. Elsewhere the next CYC has clocks at both ratios, or at any
	 * ratio if one of them is unknown.
	 */
	if (t->in_psb || !value) {
		t->cbr_min = t->cbr_max = value;
	} else if (t->cbr_min) {
		t->cbr_min = value < t->cbr_min ? value : t->cbr_min;
		t->cbr_max = value > t->cbr_max ? value : t->cbr_max;
	}
}

/* The TSC is between @lo and @hi. @alone: the time since the last anchor was not counted. */
static void anchor(struct dec_time *t, const struct dec_time_config *c, uint64_t lo, uint64_t hi,
		   bool alone)
{
	if (t->known && t->spans && !alone && !t->lost && lo > t->lo && t->span &&
	    t->cal_ticks < UINT64_MAX / TICK / 2 && lo - t->lo < UINT64_MAX / TICK / 2) {
		t->cal_clocks = add(t->cal_clocks, t->span);
		t->cal_ticks += lo - t->lo;
	}
	t->known = t->at_anchor = true;
	t->lo = lo;
	t->hi = hi;
	t->next = DEC_NO_BOUND;
	t->clocks = t->told_clocks = 0;
	t->parts = t->least = t->most = t->told_least = 0;
	t->no_most = false;
	t->drop = c->threshold ? c->threshold : 1;
	t->span = 0;
	t->spans = c->cyc;
	t->lost = false;
	t->has_tsc = false;
}

static uint64_t crystal(const struct dec_time_config *c, uint64_t n, bool up)
{
	return muldiv(n, c->crystal_num, c->crystal_den, up);
}

/* Returns the TSC at @ticks of the crystal clock, counted from `base`. */
static uint64_t at_crystal(const struct dec_time *t, const struct dec_time_config *c, int64_t ticks,
			   bool up)
{
	if (ticks >= 0)
		return add(t->base, crystal(c, (uint64_t)ticks, up));
	return sub(t->base, crystal(c, (uint64_t)-ticks, !up));
}

static void set_next(struct dec_time *t, const struct dec_time_config *c)
{
	if (c->mtc && t->has_base && !t->vague)
		t->next = add(at_crystal(t, c, t->ticks + ((int64_t)1 << c->mtc_freq), true),
			      t->width);
}

static void take_tsc(struct dec_time *t, const struct dec_time_config *c, uint64_t tsc)
{
	t->has_base = false;
	t->vague = false;
	t->psb_tsc = true;
	anchor(t, c, tsc, tsc, !t->in_psb);
	t->has_tsc = true;
}

static void take_tma(struct dec_time *t, const struct dec_time_config *c, unsigned int ctc,
		     unsigned int fast)
{
	if (!c->crystal_num || !c->crystal_den || !t->has_tsc || t->lost)
		return;
	t->has_base = true;
	t->vague = false;
	t->base = sub(t->lo, fast);
	t->width = 0;
	t->ticks = -(int64_t)(ctc & ((1u << c->mtc_freq) - 1));
	t->ctc = (uint8_t)(ctc >> c->mtc_freq);
	/* TMA has 16 bits of the crystal clock. */
	t->ctc_bits = c->mtc_freq > 8 ? (uint8_t)(16 - c->mtc_freq) : 8;
	set_next(t, c);
}

/*
 * Start from the TSC packet if no TMA has tied the clock to the TSC. The first MTC follows within
 * one period.
 */
static void first_mtc(struct dec_time *t, const struct dec_time_config *c)
{
	uint64_t period = crystal(c, UINT64_C(1) << c->mtc_freq, true);
	uint64_t lo = dec_time_lo(t, c), hi = min(add(t->lo, period), dec_time_hi(t, c));

	t->has_base = true;
	t->base = lo;
	t->width = sub(hi, lo);
	t->ticks = 0;
}

/*
 * [TIME-MTC] Take an MTC. The number of periods between two MTCs is the difference of their
 * payloads (33.4.2.12).
 */
static void take_mtc(struct dec_time *t, const struct dec_time_config *c, uint8_t ctc)
{
	unsigned int mask, periods;

	if (!c->crystal_num || !c->crystal_den || (!t->has_base && (!t->has_tsc || t->lost)))
		return;
	mask = (1u << t->ctc_bits) - 1;
	periods = (unsigned int)(ctc - t->ctc) & mask;
	if (!t->has_base) {
		first_mtc(t, c);
		periods = 0;
	} else if (t->ctc_bits < 8) {
		periods = periods ? periods : mask + 1;
		t->vague = t->vague || t->lost;
	}
	t->ctc = ctc;
	t->ctc_bits = 8;
	if (t->ticks < CRYSTAL_MAX)
		t->ticks += (int64_t)periods << c->mtc_freq;
	anchor(t, c, at_crystal(t, c, t->ticks, false),
	       t->vague ? DEC_NO_BOUND : add(at_crystal(t, c, t->ticks, true), t->width), false);
	set_next(t, c);
}

static void begin_psb(struct dec_time *t, const struct dec_time_config *c)
{
	t->in_psb = true;
	t->psb_tsc = false;
	t->psb_cycles = 0;
	/* Nothing after the PSB may depend on packets before it. */
	no_calibration(t);
	ratio(t, c, 0);
	t->cbr_guess = 0;
}

/* End a PSB+. A PSB+ without TSC means that there is no time. */
static void end_psb(struct dec_time *t)
{
	if (t->in_psb && !t->psb_tsc) {
		t->known = false;
		t->has_base = t->has_tsc = false;
	}
	t->in_psb = false;
}

static void overflow(struct dec_time *t, const struct dec_time_config *c)
{
	end_psb(t);
	/*
	 * The lost packets may include a change of the ratio, and the last CYCs may include clocks
	 * after that change.
	 */
	if (t->in_cycs) {
		t->clocks = t->told_clocks;
		t->least = t->told_least;
	}
	ratio(t, c, 0);
	t->spans = false;
	t->no_most = true;
	t->lost = true;
	t->next = DEC_NO_BOUND;
}

void dec_time_forget(struct dec_time *t)
{
	uint64_t cycles_until_now = t->cycles;

	*t = (struct dec_time){.cycles = cycles_until_now};
}

void dec_time_take(struct dec_time *t, const struct dec_time_config *c, const struct vpt_packet *p)
{
	t->at_anchor = false;
	switch (p->kind) {
	case VPT_PKT_CYC:
		cycles(t, c, p->value);
		t->in_cycs = true;
		return;
	case VPT_PKT_MTC:
		take_mtc(t, c, (uint8_t)p->value);
		break;
	case VPT_PKT_TSC:
		take_tsc(t, c, p->value);
		break;
	case VPT_PKT_TMA:
		take_tma(t, c, (unsigned int)p->value & 0xffff, p->aux);
		break;
	case VPT_PKT_CBR:
		ratio(t, c, (uint8_t)p->value);
		break;
	case VPT_PKT_PSB:
		begin_psb(t, c);
		break;
	case VPT_PKT_PSBEND:
		end_psb(t);
		break;
	case VPT_PKT_OVF:
		overflow(t, c);
		break;
	default:
		break;
	}
	t->in_cycs = false;
}

uint64_t dec_time_lo(const struct dec_time *t, const struct dec_time_config *c)
{
	uint64_t least = add(t->least, open_least(t, c, t->clocks));

	/* Ticks are whole, and so are clocks: either end can be one tick off. */
	return add(t->lo, sub(least / TICK, 1));
}

uint64_t dec_time_until(const struct dec_time *t)
{
	return t->next == DEC_NO_BOUND ? DEC_NO_BOUND : sub(t->next, 1);
}

uint64_t dec_time_hi(const struct dec_time *t, const struct dec_time_config *c)
{
	uint64_t hi = dec_time_until(t), most, slack;

	if (!c->cyc || t->no_most || t->hi == DEC_NO_BOUND || t->cbr_min <= 1 || !c->max_nonturbo ||
	    !open_most(t, c, t->clocks, &most))
		return hi;
	/* An eligible packet without a CYC comes less than the threshold after the last one. */
	slack = parts_of(c, c->threshold ? c->threshold : 1, t->cbr_min - 1u, true);
	return min(hi, add(t->hi, add(ticks_up(add(add(t->most, most), slack)), 1)));
}

uint64_t dec_time_tsc(const struct dec_time *t, const struct dec_time_config *c)
{
	uint64_t middle = t->hi == DEC_NO_BOUND ? t->lo : t->lo + (t->hi - t->lo) / 2;

	return add(middle, add(t->parts, estimate(t, c, t->clocks)) / TICK);
}
