// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What time a decoder takes it to be against what time it was: the library's packets of
 * random events under a clock that is known.
 */
#include "lib/suite.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/timeline.h"
#include "lib/plain.h"
#include "libdecode/time.h"
#include "vpt/encode.h"
#include "vpt/msr.h"
#include "vpt/pt.h"

enum { RAM = 1 << 20, EVENTS = 4000, BITS = EVENTS + 1, P1 = 24 };

#define TSC_MASK ((UINT64_C(1) << 56) - 1)

/* So many parts is a tick. */
#define PARTS UINT64_C(720720)

struct setup {
	const char *name;
	bool tsc, mtc, cyc;
	uint8_t freq, thresh; /* encodings */
	bool ratios;	      /* the core clock changes, and a CBR tells */
	bool sleeps;
	uint32_t buffer;	/* bytes, 0: never an overflow */
	unsigned int gap;	/* core clocks between events, at most */
	uint64_t offset;	/* software's, between TSC and ART */
	uint64_t begin;		/* TSC */
	uint32_t eax, ebx;	/* CPUID.15H, 0: 1 and 24 */
	bool restarts;		/* TraceEn falls and rises */
	unsigned int tolerance; /* ticks, of the estimate where nothing is lost; 0: any */
};

struct truth {
	size_t begin, end; /* bytes of one event */
	uint64_t tsc;
	uint64_t cycles;
};

struct machine {
	const struct setup *setup;
	struct vpt_pt pt;
	struct vpt_caps caps;
	struct vpt_context ctx;
	uint64_t cycles, parts; /* the clock */
	uint64_t random;
	unsigned int cbr;
	struct truth truth[EVENTS + 1];
	size_t ntruth;
	uint64_t bits[BITS]; /* when outcomes were */
	size_t nbits;
	struct decode_timeline_session sessions[EVENTS];
	size_t nsessions;
	uint8_t ram[RAM];
};

static uint64_t tsc_of(const struct machine *m)
{
	return m->parts / PARTS;
}

static bool ram_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	struct machine *m = opaque;

	memcpy(dst, m->ram + gpa, len);
	return true;
}

static bool ram_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct machine *m = opaque;

	memcpy(m->ram + gpa, src, len);
	return true;
}

static void *ram_map(void *opaque, uint64_t gpa, size_t *len)
{
	struct machine *m = opaque;

	*len = RAM - gpa;
	return m->ram + gpa;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	struct machine *m = opaque;

	*ctx = m->ctx;
	ctx->tsc = tsc_of(m) + m->setup->offset;
	ctx->cbr = (uint8_t)m->cbr;
}

static void now(void *opaque, struct vpt_clock *clock)
{
	struct machine *m = opaque;

	clock->cycles = m->cycles;
	clock->tsc = tsc_of(m);
}

static unsigned int below(struct machine *m, unsigned int n)
{
	return (unsigned int)(plain_next(&m->random) >> 16) % n;
}

static void pass(struct machine *m, uint64_t cycles)
{
	m->cycles += cycles;
	m->parts += cycles * P1 * PARTS / m->cbr;
}

static size_t position(const struct machine *m)
{
	if (m->pt.out.kind == VPT_OUTPUT_NONE)
		return (size_t)(m->pt.rtit.output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT);
	return (size_t)(m->pt.out.cur - m->ram);
}

static void event(struct machine *m, const struct vpt_event *e)
{
	struct truth *t = &m->truth[m->ntruth++];

	t->begin = position(m);
	t->tsc = tsc_of(m) + m->setup->offset;
	t->cycles = m->cycles;
	vpt_pt_event(&m->pt, e);
	t->end = position(m);
}

static void ctl(struct machine *m, uint64_t value)
{
	struct truth *t = &m->truth[m->ntruth++];

	t->begin = position(m);
	t->tsc = tsc_of(m) + m->setup->offset;
	t->cycles = m->cycles;
	if (value)
		m->sessions[m->nsessions++] =
			(struct decode_timeline_session){.at = position(m), .ctl = value};
	ck_assert_int_eq(vpt_pt_wrmsr(&m->pt, VPT_MSR_CTL, value, VPT_ACCESS_HOST, 0x1000, 0x1000),
			 VPT_FAULT_NONE);
	t->end = position(m);
}

static uint64_t ctl_of(const struct setup *s)
{
	uint64_t value = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
			 VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(PTW_EN);

	value |= s->tsc ? VPT_CTL_MASK(TSC_EN) : 0;
	value |= s->mtc ? VPT_CTL_MASK(MTC_EN) : 0;
	value |= s->cyc ? VPT_CTL_MASK(CYC_EN) : 0;
	value |= (uint64_t)s->freq << VPT_CTL_MTC_FREQ_SHIFT;
	value |= (uint64_t)s->thresh << VPT_CTL_CYC_THRESH_SHIFT;
	return value;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = ram_read, .write = ram_write, .map = ram_map},
	.context = context,
	.clock = now,
};

static void start(struct machine *m, const struct setup *s, uint64_t seed)
{
	struct vpt_pt_options options = {.buffer_bytes = s->buffer, .buffer_drain = 200};

	m->setup = s;
	m->random = seed;
	m->cbr = P1;
	m->parts = s->begin * PARTS;
	m->caps = *vpt_caps_model("spr");
	m->caps.l14_1_eax |= 0xffff0000;
	m->caps.l14_1_ebx |= 0xffff;
	m->caps.max_nonturbo = P1;
	m->caps.l15_eax = s->eax ? s->eax : 1;
	m->caps.l15_ebx = s->ebx ? s->ebx : 24;
	m->ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .cbr = P1};
	vpt_pt_init(&m->pt, &m->caps, &ops, m);
	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &options), VPT_OK);
	ck_assert_int_eq(vpt_pt_wrmsr(&m->pt, VPT_MSR_OUTPUT_BASE, 0, VPT_ACCESS_HOST, 0, 0),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(
		vpt_pt_wrmsr(&m->pt, VPT_MSR_OUTPUT_MASK_PTRS, RAM - 1, VPT_ACCESS_HOST, 0, 0),
		VPT_FAULT_NONE);
	pass(m, below(m, 1000));
	ctl(m, ctl_of(s));
}

static void sleep_and_wake(struct machine *m)
{
	struct vpt_event e = {.kind = VPT_EV_SLEEP, .cstate = 0x20, .from = 0x1000, .to = 0x1000};

	event(m, &e);
	m->parts += (uint64_t)below(m, 1u << below(m, 20)) * PARTS;
	if (m->setup->ratios)
		m->cbr = 8 + below(m, 30);
	e.kind = VPT_EV_WAKE;
	e.wake = VPT_WAKE_INTERRUPT;
	event(m, &e);
}

static void restart(struct machine *m)
{
	ctl(m, 0);
	m->parts += (uint64_t)below(m, 100000) * PARTS;
	ctl(m, ctl_of(m->setup));
}

static void outcome(struct machine *m)
{
	struct vpt_event e = {.kind = VPT_EV_COND, .from = 0x1000, .to = 0x2000};

	e.flags = below(m, 2) ? VPT_EVF_TAKEN : 0;
	m->bits[m->nbits++] = tsc_of(m) + m->setup->offset;
	event(m, &e);
}

static void step(struct machine *m)
{
	struct vpt_event e = {.from = 0x1000, .to = 0x1000 + below(m, 0x10000)};
	unsigned int what = below(m, 200);

	pass(m, below(m, 8) ? below(m, 8) : below(m, m->setup->gap));
	if (m->setup->sleeps && what == 0) {
		sleep_and_wake(m);
	} else if (m->setup->restarts && what == 1) {
		restart(m);
	} else if (m->setup->ratios && what < 3) {
		e.kind = VPT_EV_CBR;
		m->cbr = 8 + below(m, 30);
		event(m, &e);
	} else if (what < 120) {
		outcome(m);
	} else if (what < 130) {
		e.kind = VPT_EV_PTWRITE;
		event(m, &e);
	} else if (what < 140) {
		e.kind = VPT_EV_ASYNC;
		event(m, &e);
	} else {
		e.kind = VPT_EV_JMP_INDIRECT;
		event(m, &e);
	}
}

struct check {
	struct machine *m;
	struct decode_timeline *line;
	struct vpt_parser parser;
	size_t at, truth, bit;
	uint64_t known, bounded, total; /* packets */
	uint64_t worst, width;		/* error, and hi - lo */
	struct decode_timeline_sum sum;
	bool has_zero;
	uint64_t zero; /* what a relative time counts from */
	/* The same of libvptdecode, which does not look ahead. */
	struct dec_time_config ours_config;
	struct dec_time ours;
	uint64_t ours_known, ours_bounded, ours_worst, ours_width;
};

/* The time that an MTC stands for: the last one with its payload. */
static uint64_t mtc_time(const struct machine *m, uint64_t tsc, uint64_t payload)
{
	unsigned int freq = m->setup->freq;
	uint64_t count = vpt_clock_art(&m->caps, tsc - m->setup->offset) >> freq;

	count -= (count - payload) & 0xff;
	return vpt_clock_tsc(&m->caps, count << freq) + m->setup->offset;
}

static void verdict(struct check *k, const struct vpt_packet *p, const struct decode_when *w,
		    uint64_t truth)
{
	const char *name = k->m->setup->name;
	uint64_t error;

	k->total++;
	if (!w->known)
		return;
	k->known++;
	if (w->relative) {
		if (!k->has_zero)
			k->zero = truth - w->tsc;
		k->has_zero = true;
		truth -= k->zero;
	}
	ck_assert_msg(w->lo <= truth && truth <= w->hi,
		      "%s: %s at %zx: %llu is not between %llu and %llu (%llu)", name,
		      vpt_pkt_name(p->kind), k->at, (unsigned long long)truth,
		      (unsigned long long)w->lo, (unsigned long long)w->hi,
		      (unsigned long long)w->tsc);
	ck_assert(w->lo <= w->tsc && w->tsc <= w->hi && w->hi <= w->until);
	error = truth > w->tsc ? truth - w->tsc : w->tsc - truth;
	k->worst = error > k->worst ? error : k->worst;
	if (w->hi == UINT64_MAX)
		return;
	k->bounded++;
	k->width = w->hi - w->lo > k->width ? w->hi - w->lo : k->width;
}

static struct dec_time_config ours_config(const struct machine *m)
{
	const struct setup *s = m->setup;

	return (struct dec_time_config){
		.crystal_num = m->caps.l15_ebx,
		.crystal_den = m->caps.l15_eax,
		.max_nonturbo = m->caps.max_nonturbo,
		.mtc_freq = s->freq,
		.mtc = s->mtc,
		.cyc = s->cyc,
		.threshold = s->thresh ? 1ull << (s->thresh - 1) : 0,
	};
}

/* Bounds of libvptdecode hold the truth, in the 56 bits of the last TSC packet. */
static void our_verdict(struct check *k, const struct vpt_packet *p, uint64_t truth)
{
	const struct dec_time_config *c = &k->ours_config;
	const struct dec_time *t = &k->ours;
	uint64_t lo, hi, tsc, error;
	bool eligible;

	if (!t->known)
		return;
	eligible = vpt_pkt_cyc_eligible(p->kind) && p->kind != VPT_PKT_MWAIT;
	lo = dec_time_lo(t, c);
	hi = eligible ? dec_time_hi(t, c) : dec_time_until(t);
	tsc = dec_time_tsc(t, c);
	if (truth > TSC_MASK && lo <= TSC_MASK && tsc < TSC_MASK / 2)
		truth &= TSC_MASK;
	ck_assert_msg(lo <= truth && truth <= hi,
		      "%s: libvptdecode, %s at %zx: %llu is not between %llu and %llu (%llu)",
		      k->m->setup->name, vpt_pkt_name(p->kind), k->at, (unsigned long long)truth,
		      (unsigned long long)lo, (unsigned long long)hi, (unsigned long long)tsc);
	k->ours_known++;
	/* Other packets have no CYC of their own. An event is reported at a packet that has one. */
	if (!eligible)
		return;
	tsc = tsc < lo ? lo : tsc > hi ? hi : tsc;
	error = truth > tsc ? truth - tsc : tsc - truth;
	k->ours_worst = error > k->ours_worst ? error : k->ours_worst;
	if (hi == DEC_NO_BOUND)
		return;
	k->ours_bounded++;
	k->ours_width = hi - lo > k->ours_width ? hi - lo : k->ours_width;
}

/* The packet at k->at, of which `t` is the event. */
static void check_packet(struct check *k, const struct vpt_packet *p, const struct truth *t)
{
	struct machine *m = k->m;
	uint64_t truth = t->tsc;
	struct decode_when w;

	decode_timeline_packet(k->line, k->at + p->size, &w);
	dec_time_take(&k->ours, &k->ours_config, p);
	switch (p->kind) {
	case VPT_PKT_PSB:
	case VPT_PKT_PSBEND:
	case VPT_PKT_PAD:
	case VPT_PKT_CYC:
	case VPT_PKT_CBR:
		return;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		if (m->setup->buffer) /* Which outcomes are lost is not kept account of. */
			return;
		truth = m->bits[k->bit];
		k->bit += p->bits;
		ck_assert_uint_le(k->bit, m->nbits);
		if (w.known && !w.relative)
			ck_assert_uint_le(m->bits[k->bit - 1], w.until);
		break;
	case VPT_PKT_MTC:
		truth = mtc_time(m, t->tsc, p->value);
		break;
	default:
		break;
	}
	verdict(k, p, &w, truth);
	our_verdict(k, p, truth);
}

static void check_all(struct check *k)
{
	struct machine *m = k->m;
	size_t len = position(m);

	while (k->at < len) {
		struct vpt_packet p;

		ck_assert_int_eq(vpt_packet_read(&k->parser, m->ram + k->at, len - k->at, &p),
				 VPT_OK);
		while (m->truth[k->truth].end <= k->at)
			k->truth++;
		check_packet(k, &p, &m->truth[k->truth]);
		k->at += p.size;
	}
	if (!m->setup->buffer && !m->pt.gate.tnt)
		ck_assert_uint_eq(k->bit, m->nbits);
}

static void run(const struct setup *s, uint64_t seed, struct check *total)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct check k = {.m = m};
	struct decode_timeline_config config = {.bytes = m->ram, .caps = &m->caps};
	unsigned int i;

	ck_assert_ptr_nonnull(m);
	start(m, s, seed);
	k.ours_config = ours_config(m);
	for (i = 0; i < EVENTS / 3; i++)
		step(m);
	config.len = position(m);
	config.sessions = m->sessions;
	config.nsessions = m->nsessions;
	k.line = decode_timeline_new(&config);
	ck_assert_ptr_nonnull(k.line);
	check_all(&k);
	decode_timeline_sum(k.line, &total->sum);
	total->total += k.total;
	total->known += k.known;
	total->bounded += k.bounded;
	total->worst = k.worst > total->worst ? k.worst : total->worst;
	total->width = k.width > total->width ? k.width : total->width;
	total->ours_known += k.ours_known;
	total->ours_bounded += k.ours_bounded;
	total->ours_worst = k.ours_worst > total->ours_worst ? k.ours_worst : total->ours_worst;
	total->ours_width = k.ours_width > total->ours_width ? k.ours_width : total->ours_width;
	decode_timeline_free(k.line);
	free(m);
}

#define ALL .tsc = true, .mtc = true, .cyc = true

static const struct setup setups[] = {
	{"TSC alone", .tsc = true, .gap = 1000},
	{"MTC", .tsc = true, .mtc = true, .freq = 3, .gap = 1000, .tolerance = 24 * 8},
	{"MTC, ratios, sleep", .tsc = true, .mtc = true, .freq = 3, .gap = 1000, .ratios = true,
	 .sleeps = true, .tolerance = 24 * 8},
	{"CYC and TSC", .tsc = true, .cyc = true, .gap = 100, .tolerance = 3},
	{"CYC, ratios", .tsc = true, .cyc = true, .gap = 100, .ratios = true},
	{"CYC alone", .cyc = true, .gap = 100},
	{"MTC alone", .mtc = true, .freq = 3, .gap = 100, .tolerance = 24 * 8},
	{"MTC alone, sleep", .mtc = true, .freq = 3, .gap = 100, .sleeps = true},
	{"MTC and CYC alone", .mtc = true, .cyc = true, .freq = 3, .gap = 100, .ratios = true},
	{"all", ALL, .freq = 3, .gap = 100, .tolerance = 3},
	{"all, long gaps", ALL, .freq = 3, .gap = 100000, .tolerance = 3},
	{"all, ratios", ALL, .freq = 3, .gap = 100, .ratios = true},
	{"all, ratios, sleep", ALL, .freq = 3, .gap = 100, .ratios = true, .sleeps = true},
	{"all, restarts", ALL, .freq = 3, .gap = 1000, .ratios = true, .restarts = true},
	{"threshold", ALL, .freq = 3, .thresh = 6, .gap = 100, .tolerance = 70},
	{"threshold, ratios", ALL, .freq = 3, .thresh = 8, .gap = 100, .ratios = true},
	{"overflow", ALL, .freq = 0, .gap = 50, .buffer = 128},
	{"overflow, ratios, sleep", ALL, .freq = 5, .gap = 50, .buffer = 200, .ratios = true,
	 .sleeps = true},
	{"ratio of 7 to 3", ALL, .freq = 3, .gap = 200, .eax = 3, .ebx = 7, .ratios = true},
	{"ratio of 7 to 3, MTC", .tsc = true, .mtc = true, .freq = 6, .gap = 200, .eax = 3,
	 .ebx = 7},
	{"software's offset", ALL, .freq = 3, .gap = 100, .offset = 0x123456789, .tolerance = 3},
	{"TSC wraps", ALL, .freq = 3, .gap = 1000, .begin = (1ull << 56) - 100000, .tolerance = 3},
};

enum { SETUPS = sizeof(setups) / sizeof(setups[0]), SEEDS = 20 };

START_TEST(true_time)
{
	const struct setup *s = &setups[_i];
	struct check total = {0};
	unsigned int seed;

	for (seed = 0; seed < SEEDS; seed++)
		run(s, seed * 1000 + (unsigned int)_i, &total);
	printf("%-24s %7llu packets, %7llu known, %7llu bounded, error %llu, width %llu\n", s->name,
	       (unsigned long long)total.total, (unsigned long long)total.known,
	       (unsigned long long)total.bounded, (unsigned long long)total.worst,
	       (unsigned long long)total.width);
	printf("    libvptdecode: %7llu known, %7llu bounded, error %llu, width %llu\n",
	       (unsigned long long)total.ours_known, (unsigned long long)total.ours_bounded,
	       (unsigned long long)total.ours_worst, (unsigned long long)total.ours_width);
	ck_assert_uint_gt(total.known, 0);
	if (s->tolerance)
		ck_assert_uint_le(total.worst, s->tolerance);
	/* Without TSC packets there is no time at all. */
	ck_assert_int_eq(total.ours_known > 0, s->tsc);
	if (s->tolerance)
		ck_assert_uint_le(total.ours_worst, s->tolerance);
}
END_TEST

/* MTC of each frequency, with and without CYC, as far as TMA and MTC overlap. */
START_TEST(frequencies)
{
	struct setup s = {
		.name = "frequencies",
		.tsc = true,
		.mtc = true,
		.freq = (uint8_t)(_i / 2),
		.cyc = _i & 1,
		.gap = 200u << _i / 4,
		.ratios = true,
		.sleeps = true,
		.offset = 1000,
	};
	struct check total = {0};
	unsigned int seed;

	for (seed = 0; seed < SEEDS; seed++)
		run(&s, seed, &total);
	ck_assert_uint_eq(total.known, total.total);
	/* A period of MTC. */
	ck_assert_uint_lt(total.worst, 24ull << s.freq);
}
END_TEST

START_TEST(thresholds)
{
	struct setup s = {
		.name = "thresholds",
		.tsc = true,
		.mtc = true,
		.cyc = true,
		.freq = 9,
		.thresh = (uint8_t)_i,
		.gap = 300,
	};
	uint64_t clocks = _i ? 1ull << (_i - 1) : 1;
	struct check total = {0};
	unsigned int seed;

	for (seed = 0; seed < SEEDS; seed++)
		run(&s, seed, &total);
	ck_assert_uint_eq(total.known, total.total);
	/* What CYC leaves open at this packet and at the two that tell the time. */
	ck_assert_uint_le(total.worst, 2 * clocks);
	ck_assert_uint_lt(total.worst, 24ull << s.freq);
}
END_TEST

/* The core clock against TSC, by CYC between two times that are known (33.8.3.4). */
START_TEST(frequency)
{
	struct setup s = {.name = "frequency", ALL, .freq = 3, .gap = 100};
	struct machine *m = calloc(1, sizeof(*m));
	struct decode_timeline_config config = {.bytes = m->ram, .caps = &m->caps};
	const unsigned int ratio = 6 + 5 * (unsigned int)_i;
	struct decode_timeline_sum sum;
	struct decode_timeline *line;
	struct decode_when w;
	unsigned int i;

	start(m, &s, 1);
	m->cbr = ratio;
	event(m, &(struct vpt_event){.kind = VPT_EV_CBR, .from = 0x1000, .to = 0x1000});
	for (i = 0; i < EVENTS / 4; i++)
		step(m);
	config.len = position(m);
	config.sessions = m->sessions;
	config.nsessions = m->nsessions;
	line = decode_timeline_new(&config);
	ck_assert_ptr_nonnull(line);
	decode_timeline_packet(line, config.len, &w);
	decode_timeline_sum(line, &sum);
	ck_assert_uint_gt(sum.cycles, 1000);
	/* To a thousandth. */
	ck_assert_uint_le(
		llabs((long long)(sum.cycles * P1 * 1000 / sum.ticks) - (long long)ratio * 1000),
		ratio);
	ck_assert_uint_le(m->cycles - w.cycles, 5000);
	decode_timeline_free(line);
	free(m);
}
END_TEST

/* libipt on the same stream: events as they come, and each branch that was. */
struct other {
	struct pt_query_decoder *qry;
	struct machine *m;
	struct decode_timeline *line;
	uint64_t worst, apart; /* its error, and how far we are from one another */
	unsigned int compared;
};

static void drain(struct other *o, int status)
{
	struct pt_event ev;

	while (status >= 0 && (status & pts_event_pending))
		status = pt_qry_event(o->qry, &ev, sizeof(ev));
	ck_assert_int_ge(status, 0);
}

static void compare_times(struct other *o, uint64_t truth)
{
	uint64_t theirs, offset, apart, error;
	uint32_t lost_mtc, lost_cyc, ratio;
	struct decode_when w;

	ck_assert_int_eq(pt_qry_time(o->qry, &theirs, &lost_mtc, &lost_cyc), 0);
	ck_assert_int_eq(pt_qry_get_offset(o->qry, &offset), 0);
	ck_assert_int_eq(pt_qry_core_bus_ratio(o->qry, &ratio), 0);
	ck_assert_uint_eq(ratio, o->m->cbr);
	ck_assert_uint_eq(lost_mtc + lost_cyc, 0);

	decode_timeline_flow(o->line, offset, &w);
	ck_assert(w.known);
	apart = w.tsc > theirs ? w.tsc - theirs : theirs - w.tsc;
	error = truth > theirs ? truth - theirs : theirs - truth;
	o->apart = apart > o->apart ? apart : o->apart;
	o->worst = error > o->worst ? error : o->worst;
	o->compared++;
}

static void follow(struct other *o, const bool *indirect, unsigned int n)
{
	uint64_t ip;
	unsigned int i, t;
	int status = pt_qry_sync_forward(o->qry, &ip);

	drain(o, status);
	for (i = 0; i < n; i++) {
		int taken;

		status = indirect[i] ? pt_qry_indirect_branch(o->qry, &ip)
				     : pt_qry_cond_branch(o->qry, &taken);
		/* What the last packets say may be in the processor still. */
		if (status == -pte_eos)
			break;
		ck_assert_int_ge(status, 0);
		/* Of a TNT only the first outcome has a time; TIPs do. */
		t = 1 + i;
		if (indirect[i])
			compare_times(o, o->m->truth[t].tsc);
		drain(o, status);
	}
	ck_assert_uint_gt(o->compared, n / 4);
}

static const struct {
	struct setup s;
	uint64_t apart; /* ticks */
} libipts[] = {
	{{"TSC alone", .tsc = true, .gap = 300}, 0},
	{{"MTC", .tsc = true, .mtc = true, .freq = 3, .gap = 300}, 0},
	{{"MTC, seldom", .tsc = true, .mtc = true, .freq = 6, .gap = 300}, 0},
	{{"CYC", .tsc = true, .cyc = true, .gap = 300}, 2},
	{{"all", ALL, .freq = 3, .gap = 300}, 2},
	{{"all, seldom", ALL, .freq = 9, .gap = 300}, 2},
	{{"threshold", ALL, .freq = 3, .thresh = 6, .gap = 300}, 64},
};

START_TEST(as_libipt)
{
	struct other o = {.m = calloc(1, sizeof(*o.m))};
	struct decode_timeline_config config = {.bytes = o.m->ram, .caps = &o.m->caps};
	static bool indirect[EVENTS];
	struct pt_config c;
	unsigned int i;

	start(o.m, &libipts[_i].s, 5);
	for (i = 0; i < EVENTS - 10; i++) {
		struct vpt_event e = {.kind = VPT_EV_JMP_INDIRECT, .from = 0x1000};

		pass(o.m, below(o.m, 8) ? below(o.m, 8) : below(o.m, libipts[_i].s.gap));
		indirect[i] = below(o.m, 3) == 0;
		if (indirect[i]) {
			e.to = 0x1000 + below(o.m, 0x10000);
			event(o.m, &e);
		} else {
			outcome(o.m);
		}
	}
	config.len = position(o.m);
	config.sessions = o.m->sessions;
	config.nsessions = o.m->nsessions;
	o.line = decode_timeline_new(&config);
	pt_config_init(&c);
	c.begin = o.m->ram;
	c.end = o.m->ram + config.len;
	c.cpuid_0x15_eax = o.m->caps.l15_eax;
	c.cpuid_0x15_ebx = o.m->caps.l15_ebx;
	c.mtc_freq = libipts[_i].s.freq;
	c.nom_freq = P1;
	o.qry = pt_qry_alloc_decoder(&c);
	ck_assert_ptr_nonnull(o.qry);
	follow(&o, indirect, EVENTS - 10);
	printf("libipt, %-16s error %llu, from ours %llu\n", libipts[_i].s.name,
	       (unsigned long long)o.worst, (unsigned long long)o.apart);
	/* Version 2.1 estimates between TSC packets otherwise than 2.0. */
	if (LIBIPT_VERSION < 0x201 || (!libipts[_i].s.mtc && !libipts[_i].s.cyc))
		ck_assert_uint_le(o.apart, libipts[_i].apart);
	pt_qry_free_decoder(o.qry);
	decode_timeline_free(o.line);
	free(o.m);
}
END_TEST

/* Whatever the bytes are, it comes to an end, and the bounds hold the estimate. */
START_TEST(hostile)
{
	uint64_t random = (uint64_t)_i;
	static uint8_t bytes[20000];
	struct decode_timeline_session sessions[3];
	struct vpt_caps caps = *vpt_caps_model("skl");
	struct decode_timeline_config config = {
		.bytes = bytes,
		.len = sizeof(bytes),
		.caps = &caps,
		.sessions = sessions,
		.nsessions = (size_t)(_i % 4),
	};
	struct decode_timeline *line;
	struct decode_when w;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++) {
		uint64_t x = plain_next(&random);

		/* Mostly timing packets. */
		bytes[i] = x % 3 ? (uint8_t)(x >> 8) : "\x19\x59\x03\x07\x02\x73\x0d"[x % 7];
	}
	for (i = 0; i < 3; i++)
		sessions[i] = (struct decode_timeline_session){.at = i * 5000,
							       .ctl = plain_next(&random)};
	if (_i & 1) {
		caps.l15_eax = (uint32_t)plain_next(&random);
		caps.l15_ebx = (uint32_t)plain_next(&random);
		caps.max_nonturbo = (uint8_t)plain_next(&random);
	}
	line = decode_timeline_new(&config);
	ck_assert_ptr_nonnull(line);
	for (i = 0; i < sizeof(bytes) + 10; i += 3) {
		decode_timeline_flow(line, i, &w);
		if (!w.known)
			continue;
		ck_assert_uint_le(w.lo, w.tsc);
		ck_assert_uint_le(w.tsc, w.hi);
		ck_assert_uint_le(w.hi, w.until);
	}
	decode_timeline_free(line);
}
END_TEST

/* Without a ratio in CPUID.15H there is no ART, and no part of a tick of it. */
START_TEST(no_ratio)
{
	static const uint64_t values[] = {0, 1, 511, 512, 1000000, ~0ull};
	const struct vpt_caps *bdw = vpt_caps_model("bdw");
	size_t i;

	ck_assert(!vpt_clock_has_art(bdw));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		ck_assert_uint_eq(vpt_clock_art(bdw, values[i]), 0);
		ck_assert_uint_eq(vpt_clock_tsc(bdw, values[i]), 0);
		ck_assert_uint_eq(vpt_clock_fast(bdw, values[i]), 0);
	}
}
END_TEST

TEST_SUITE("clock", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_LOOP(tcase, SETUPS, true_time);
	TEST_LOOP(tcase, 32, frequencies);
	TEST_LOOP(tcase, 16, thresholds);
	TEST_LOOP(tcase, 8, frequency);
	TEST_ROWS(tcase, as_libipt, libipts);
	TEST_LOOP(tcase, 200, hostile);
	TEST_ADD(tcase, no_ratio);
}
