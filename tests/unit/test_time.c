// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timing packets against the clocks that they tell of: what a decoder may conclude by 33.3.6
 * and 33.8.3 from random traces, and what libipt does.
 */
#include "lib/suite.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "vpt/pt.h"

enum {
	REGION = 0x400000,
	ROOM = 0x400000, /* of output */
	RAM = REGION + ROOM,
	EVENTS = 4000,
	START_IP = 0x400000,
};

/* What happened when, and where its packets end. */
struct mark {
	uint64_t cycles, tsc, to;
	size_t end;
	enum vpt_event_kind kind;
};

struct machine {
	struct vpt_pt pt;
	struct vpt_caps caps;
	struct vpt_context ctx;
	struct vpt_clock clock;
	uint64_t num, den;		  /* TSC ticks in a core clock */
	uint64_t ratio_cycles, ratio_tsc; /* since when */
	uint64_t start_cycles;
	uint64_t outcome[EVENTS]; /* core clocks of outcomes */
	struct mark mark[EVENTS];
	unsigned int marks, outcomes;
	uint8_t ram[RAM];
};

/* For what is asked of each packet: ck_assert() tells the runner where it is, each time. */
#define MUST(condition)                                         \
	do {                                                    \
		if (!(condition))                               \
			ck_abort_msg("not so: %s", #condition); \
	} while (0)

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct machine *m = opaque;

	MUST(gpa <= RAM && len <= RAM - gpa);
	memcpy(m->ram + gpa, src, len);
	return true;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	struct machine *m = opaque;

	MUST(gpa <= RAM && len <= RAM - gpa);
	memcpy(dst, m->ram + gpa, len);
	return true;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct machine *)opaque)->ctx;
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	*now = ((struct machine *)opaque)->clock;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.clock = report_time,
};

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void advance(struct machine *m, uint64_t cycles)
{
	m->clock.cycles += cycles;
	m->clock.tsc = m->ratio_tsc + (m->clock.cycles - m->ratio_cycles) * m->num / m->den;
	m->ctx.tsc = m->clock.tsc;
}

static void set_ratio(struct machine *m, uint64_t num, uint64_t den)
{
	m->num = num;
	m->den = den;
	m->ratio_cycles = m->clock.cycles;
	m->ratio_tsc = m->clock.tsc;
}

/* A machine that is to be used up by one trace. Each MTCFreq and threshold is there. */
static struct machine *machine_new(uint64_t p_num, uint64_t p_den)
{
	struct machine *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->caps = *vpt_caps_model("skl");
	m->caps.l15_ebx = (uint32_t)p_num;
	m->caps.l15_eax = (uint32_t)p_den;
	m->caps.l14_1_eax |= 0xffff0000u;
	m->caps.l14_1_ebx |= 0xffffu;
	m->ctx = (struct vpt_context){
		.cr3 = 0x1000, .cs_l = true, .lma = true, .cbr = m->caps.max_nonturbo};
	vpt_pt_init(&m->pt, &m->caps, &ops, m);
	set_ratio(m, 1, 1);
	return m;
}

static void wrmsr(struct machine *m, uint32_t msr, uint64_t value)
{
	MUST(vpt_pt_wrmsr(&m->pt, msr, value, VPT_ACCESS_GUEST, START_IP - 8, START_IP) ==
	     VPT_FAULT_NONE);
}

static size_t produced(struct machine *m)
{
	uint64_t ptrs = 0;

	MUST(vpt_pt_rdmsr(&m->pt, VPT_MSR_OUTPUT_MASK_PTRS, &ptrs) == VPT_FAULT_NONE);
	MUST(ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT < ROOM - 0x1000);
	return ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

static struct mark *mark(struct machine *m, enum vpt_event_kind kind, uint64_t to)
{
	struct mark *at = &m->mark[m->marks++];

	MUST(m->marks <= EVENTS);
	*at = (struct mark){m->clock.cycles, m->clock.tsc, to, produced(m), kind};
	return at;
}

static void begin(struct machine *m, uint64_t ctl)
{
	wrmsr(m, VPT_MSR_OUTPUT_BASE, REGION);
	wrmsr(m, VPT_MSR_OUTPUT_MASK_PTRS, ROOM - 1);
	m->start_cycles = m->clock.cycles;
	wrmsr(m, VPT_MSR_CTL,
	      ctl | VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN));
	mark(m, VPT_EV_COUNT, START_IP);
}

static void end(struct machine *m)
{
	wrmsr(m, VPT_MSR_CTL, m->pt.rtit.ctl & ~VPT_CTL_MASK(TRACE_EN));
	mark(m, VPT_EV_COUNT, 0);
}

static void event(struct machine *m, enum vpt_event_kind kind, unsigned int flags, uint64_t to)
{
	struct vpt_event event = {
		.kind = (uint8_t)kind, .flags = (uint8_t)flags, .from = START_IP, .to = to};

	if (kind == VPT_EV_COND && m->pt.packet_en)
		m->outcome[m->outcomes++] = m->clock.cycles;
	vpt_pt_event(&m->pt, &event);
	mark(m, kind, to);
}

/* How far a reader is. `fresh`: the last CYC applies to the eligible packet that comes. */
struct reader {
	uint64_t cycles;
	unsigned int outcomes;
	uint64_t mtcs;
	bool fresh;
};

struct rules {
	unsigned int threshold; /* in clocks */
	unsigned int mtc_freq;
	uint64_t most;	/* that a CYC can hold */
	uint64_t slack; /* clocks that an MTC may be off */
};

/* 33.3.6.2: an eligible packet of this clock. */
static void eligible(struct reader *r, const struct rules *rules, uint64_t cycles, uint64_t slack)
{
	MUST(r->cycles <= cycles + slack);
	if (r->fresh)
		MUST(cycles <= r->cycles + slack);
	else
		MUST(cycles - r->cycles < (rules->threshold ? rules->threshold : 1));
	r->fresh = false;
}

/* The core clock at which the ART came to a count, with this ratio from the beginning. */
static uint64_t when(const struct machine *m, uint64_t art)
{
	uint64_t tsc = (art * m->caps.l15_ebx + m->caps.l15_eax - 1) / m->caps.l15_eax;

	return m->ratio_cycles + ((tsc - m->ratio_tsc) * m->den + m->num - 1) / m->num;
}

static void mtc(const struct machine *m, struct reader *r, const struct rules *rules,
		const struct vpt_packet *packet)
{
	MUST(packet->value == (++r->mtcs & 0xff));
	eligible(r, rules, when(m, r->mtcs << rules->mtc_freq), rules->slack);
}

static void tnt(const struct machine *m, struct reader *r, const struct rules *rules,
		const struct vpt_packet *packet)
{
	unsigned int i;

	MUST(packet->bits <= (rules->most ? 6 : 47));
	eligible(r, rules, m->outcome[r->outcomes], 0);
	for (i = 0; i < packet->bits; i++)
		MUST(m->outcome[r->outcomes + i] >= r->cycles);
	r->outcomes += packet->bits;
	MUST(r->outcomes <= m->outcomes);
}

static uint64_t art(const struct machine *m, uint64_t tsc)
{
	return tsc * m->caps.l15_eax / m->caps.l15_ebx;
}

static void cyc(struct reader *r, const struct rules *rules, const struct vpt_packet *packet)
{
	MUST(packet->value >= (rules->threshold ? rules->threshold : 1));
	MUST(packet->value <= rules->most);
	r->cycles += packet->value;
	r->fresh = true;
}

/* One packet of what happened at `at`. */
static void read_packet(const struct machine *m, struct reader *r, const struct rules *rules,
			const struct vpt_packet *packet, const struct mark *at)
{
	switch (packet->kind) {
	case VPT_PKT_CYC:
		cyc(r, rules, packet);
		break;
	case VPT_PKT_MTC:
		mtc(m, r, rules, packet);
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		if (rules->most)
			tnt(m, r, rules, packet);
		break;
	case VPT_PKT_TSC:
		MUST(packet->value == at->tsc);
		eligible(r, rules, at->cycles, 0);
		break;
	case VPT_PKT_TMA:
		MUST(packet->value == (art(m, at->tsc) & 0xffff));
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_PIP:
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		if (rules->most)
			eligible(r, rules, at->cycles, 0);
		break;
	default:
		break;
	}
}

/* The whole trace, from where CTL was written. */
static struct reader read_trace(const struct machine *m, const struct rules *rules)
{
	struct reader r = {.cycles = m->start_cycles};
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	unsigned int i = 0;
	size_t pos = 0;

	r.mtcs = art(m, m->mark[0].tsc) >> rules->mtc_freq;
	while (pos < m->mark[m->marks - 1].end) {
		MUST(vpt_packet_read(&parser, m->ram + REGION + pos, ROOM - pos, &packet) ==
		     VPT_OK);
		while (pos >= m->mark[i].end)
			i++;
		read_packet(m, &r, rules, &packet, &m->mark[i]);
		pos += packet.size;
	}
	return r;
}

/* Something, in or out of context. */
static void some_event(struct machine *m, uint32_t *seed)
{
	uint64_t to = START_IP + next(seed) % 4096;
	uint32_t what = next(seed) % 64;

	if (what < 32) {
		event(m, VPT_EV_COND, what & 1 ? VPT_EVF_TAKEN : 0, to);
	} else if (what < 50) {
		event(m, VPT_EV_JMP_INDIRECT, 0, to);
	} else if (what < 54) {
		event(m, VPT_EV_JMP, 0, to);
	} else if (what < 56) {
		m->ctx.cr3 += 0x1000;
		event(m, VPT_EV_CR3, 0, to);
	} else if (what < 60) {
		m->ctx.cpl ^= 3;
		event(m, VPT_EV_FAR, VPT_EVF_CR3, to);
	} else {
		vpt_pt_tick(&m->pt, to);
		mark(m, VPT_EV_COUNT, to);
	}
}

/* Seldom far, never further than 200 MTCs, or 240 counters of 8 bits. */
static uint64_t some_clocks(uint32_t *seed, const struct machine *m, unsigned int mtc_freq)
{
	uint64_t clocks = next(seed) % 4 ? next(seed) % 12 : 0;
	uint64_t period = ((uint64_t)m->caps.l15_ebx << mtc_freq) / m->caps.l15_eax;
	uint64_t most = period * 200 * m->den / m->num;

	if (!(next(seed) % 16))
		clocks = next(seed) % 3000;
	if (!(next(seed) % 128))
		clocks = next(seed) % 60000;
	return clocks < most ? clocks : most;
}

static const struct setup {
	uint64_t p_num, p_den; /* CPUID.15H */
	uint64_t num, den;     /* TSC to core clock */
	uint64_t ctl;
	unsigned int cyc_bits;
	uint64_t slack;
} setups[] = {
	{142, 1, 1, 1, VPT_CTL_MASK(CYC_EN), 0, 0},
	{142, 1, 1, 1, VPT_CTL_MASK(MTC_EN), 0, 0},
	{142, 1, 1, 1, VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN), 0, 0},
	{168, 2, 1, 1, VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN), 0, 0},
	{100, 1, 3, 1, VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN), 10, 0},
	{208, 2, 4, 1, VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(DIS_RETC), 8, 0},
	/* Where a core clock is no whole number of ticks the library cannot know better. */
	{511, 3, 7, 10, VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN), 0, 2},
};

#define SETUPS (sizeof(setups) / sizeof(setups[0]))
enum { ENCODINGS = 16 };

/* Each MTCFreq with a threshold, of which each comes too. */
static uint64_t control(const struct setup *setup, unsigned int enc, unsigned int thresh)
{
	uint64_t ctl = setup->ctl;

	if (ctl & VPT_CTL_MASK(MTC_EN))
		ctl |= (uint64_t)enc << VPT_CTL_MTC_FREQ_SHIFT;
	if (ctl & VPT_CTL_MASK(CYC_EN))
		ctl |= (uint64_t)thresh << VPT_CTL_CYC_THRESH_SHIFT;
	return ctl;
}

static struct rules rules_of(const struct setup *setup, unsigned int enc, unsigned int thresh)
{
	struct rules rules = {.slack = setup->slack};
	uint64_t counter = 1ull << (setup->cyc_bits ? setup->cyc_bits : 14);

	if (setup->ctl & VPT_CTL_MASK(CYC_EN)) {
		rules.threshold = thresh ? 1u << (thresh - 1) : 0;
		/* A counter has to hold more than the threshold. */
		rules.most = counter - 1 > 4ull * rules.threshold ? counter - 1
								  : 4ull * rules.threshold + 3;
	} else {
		rules.threshold = ~0u;
	}
	if (setup->ctl & VPT_CTL_MASK(MTC_EN))
		rules.mtc_freq = enc;
	return rules;
}

START_TEST(random_traces)
{
	const struct setup *setup = &setups[_i / ENCODINGS];
	unsigned int enc = (unsigned int)_i % ENCODINGS, thresh = enc * 7 % ENCODINGS;
	struct rules rules = rules_of(setup, enc, thresh);
	struct machine *m = machine_new(setup->p_num, setup->p_den);
	struct vpt_pt_options options = {.cyc_bits = (uint8_t)setup->cyc_bits};
	uint32_t seed = 17 + (uint32_t)_i;
	struct reader r;

	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &options), VPT_OK);
	set_ratio(m, setup->num, setup->den);
	advance(m, next(&seed));
	set_ratio(m, setup->num, setup->den);
	begin(m, control(setup, enc, thresh));
	while (m->marks < EVENTS - 1 && produced(m) < ROOM / 2) {
		advance(m, some_clocks(&seed, m, rules.mtc_freq));
		some_event(m, &seed);
	}
	end(m);
	r = read_trace(m, &rules);
	/* 33.3.6.1: all clocks were told but those below the threshold, or a counter's quarter. */
	if (rules.most)
		ck_assert_uint_le(m->clock.cycles - r.cycles, rules.most);
	if (rules.most && !rules.threshold && m->ctx.cpl == 0)
		ck_assert_uint_eq(r.cycles, m->clock.cycles);
	/* 33.4.2.12: no MTC is missing. */
	if (setup->ctl & VPT_CTL_MASK(MTC_EN))
		ck_assert_uint_eq(r.mtcs, art(m, m->clock.tsc) >> enc);
	free(m);
	TEST_PROVES("TIME-CYC-ELIGIBLE TIME-CYC-ONE TIME-CYC-THRESH TIME-CYC-ALONE TIME-CYC-COUNT "
		    "TIME-MTC TIME-MTC-CYC TIME-TMA TIME-ORDER GEN-CYC-TNT");
}
END_TEST

/* How far libipt's estimates are off, in ticks, at the worst. */
struct off {
	uint64_t early, late;
	unsigned int checked;
};

static void compare(struct off *off, uint64_t estimate, uint64_t tsc)
{
	uint64_t early = tsc > estimate ? tsc - estimate : 0;
	uint64_t late = estimate > tsc ? estimate - tsc : 0;

	off->early = early > off->early ? early : off->early;
	off->late = late > off->late ? late : off->late;
	off->checked++;
}

/* Events tell of the state here, and of nothing that has a time. */
static void skip_events(struct pt_query_decoder *decoder, int *status)
{
	while (*status >= 0 && *status & pts_event_pending) {
		struct pt_event event;

		*status = pt_qry_event(decoder, &event, sizeof(event));
	}
	ck_assert_int_ge(*status, 0);
}

/* Go through near branches, asking for the time of each with a packet of its own. */
static struct off ask_libipt(struct machine *m, unsigned int mtc_freq)
{
	struct pt_query_decoder *decoder;
	struct pt_config config;
	struct off off = {0};
	uint64_t ip;
	unsigned int i;
	int status;

	pt_config_init(&config);
	config.begin = m->ram + REGION;
	config.end = m->ram + REGION + m->mark[m->marks - 1].end;
	config.nom_freq = m->caps.max_nonturbo;
	config.mtc_freq = (uint8_t)mtc_freq;
	config.cpuid_0x15_eax = m->caps.l15_eax;
	config.cpuid_0x15_ebx = m->caps.l15_ebx;
	decoder = pt_qry_alloc_decoder(&config);
	ck_assert_ptr_nonnull(decoder);
	status = pt_qry_sync_forward(decoder, &ip);
	for (i = 1; i < m->marks; i++) {
		uint32_t lost_mtc, lost_cyc;
		uint64_t tsc;
		int taken;

		skip_events(decoder, &status);
		if (m->mark[i].kind == VPT_EV_COND) {
			status = pt_qry_cond_branch(decoder, &taken);
			continue;
		}
		if (m->mark[i].kind != VPT_EV_JMP_INDIRECT)
			continue;
		status = pt_qry_indirect_branch(decoder, &ip);
		MUST(ip == m->mark[i].to);
		MUST(pt_qry_time(decoder, &tsc, &lost_mtc, &lost_cyc) == 0);
		MUST(lost_mtc == 0);
		MUST(lost_cyc == 0);
		compare(&off, tsc, m->mark[i].tsc);
	}
	pt_qry_free_decoder(decoder);
	return off;
}

/* As the bus clock has it: the TSC runs at the maximum non-turbo ratio. */
static void set_frequency(struct machine *m, uint8_t cbr)
{
	m->ctx.cbr = cbr;
	set_ratio(m, m->caps.max_nonturbo, cbr);
	event(m, VPT_EV_CBR, 0, START_IP);
}

static const struct peer {
	unsigned int mtc_freq;
	unsigned int thresh; /* CycThresh */
	uint64_t ctl;
	uint8_t cbr;
	bool changes; /* of the frequency */
	/* Its estimates may be late, and early by so many percent of a period of MTCs. */
	unsigned int late, early;
} peers[] = {
	/* Time is that of the last MTC. */
	{0, 0, 0, 34, false, 0, 100},
	{3, 0, 0, 34, false, 0, 100},
	{3, 0, 0, 17, false, 0, 100},
	{6, 0, 0, 51, false, 0, 100},
	{9, 0, 0, 34, true, 0, 100},
	/* ... and the core clocks since, as libipt counts them, with 8 bits behind the point. */
	{0, 0, VPT_CTL_MASK(CYC_EN), 34, false, 0, 0},
	{3, 0, VPT_CTL_MASK(CYC_EN), 34, false, 0, 0},
	{3, 0, VPT_CTL_MASK(CYC_EN), 17, false, 0, 1},
	{9, 0, VPT_CTL_MASK(CYC_EN), 34, false, 0, 0},
	{6, 0, VPT_CTL_MASK(CYC_EN), 51, false, 0, 2},
	{6, 5, VPT_CTL_MASK(CYC_EN), 34, false, 16, 2},
	{6, 0, VPT_CTL_MASK(CYC_EN), 34, true, 16, 2},
};

START_TEST(libipt_agrees)
{
	const struct peer *peer = &peers[_i];
	struct machine *m = machine_new(284, 2);
	uint64_t ctl = peer->ctl | VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN) |
		       (uint64_t)peer->mtc_freq << VPT_CTL_MTC_FREQ_SHIFT |
		       (uint64_t)peer->thresh << VPT_CTL_CYC_THRESH_SHIFT;
	uint64_t period = 142ull << peer->mtc_freq;
	uint32_t seed = 3 + (uint32_t)_i;
	struct off off;

	advance(m, 123456789);
	set_frequency(m, peer->cbr);
	begin(m, ctl);
	while (m->marks < EVENTS - 1 && produced(m) < ROOM / 2) {
		uint64_t to = START_IP + next(&seed) % 4096;

		advance(m, some_clocks(&seed, m, peer->mtc_freq));
		if (peer->changes && !(next(&seed) % 256))
			set_frequency(m, (uint8_t)(8 + next(&seed) % 60));
		if (next(&seed) % 2)
			event(m, VPT_EV_COND, next(&seed) % 2 ? VPT_EVF_TAKEN : 0, to);
		else
			event(m, VPT_EV_JMP_INDIRECT, 0, to);
	}
	end(m);
	off = ask_libipt(m, peer->mtc_freq);
	ck_assert_uint_le(off.late, peer->late);
	ck_assert_uint_le(off.early, period * peer->early / 100);
	ck_assert_uint_gt(off.checked, 1000);
	free(m);
	TEST_PROVES("TIME-MTC TIME-TMA TIME-FAST TIME-CYC-ELIGIBLE GEN-TIMING");
}
END_TEST

/* The first packet of a kind from `pos` on; where it begins. */
static size_t find(const struct machine *m, size_t pos, enum vpt_pkt_kind kind,
		   struct vpt_packet *packet)
{
	struct vpt_parser parser = {0};

	for (;;) {
		MUST(pos < m->mark[m->marks - 1].end);
		MUST(vpt_packet_read(&parser, m->ram + REGION + pos, ROOM - pos, packet) == VPT_OK);
		if (packet->kind == kind)
			return pos;
		pos += packet->size;
	}
}

static unsigned int count(const struct machine *m, size_t pos, enum vpt_pkt_kind kind)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	unsigned int n = 0;

	for (; pos < m->mark[m->marks - 1].end; pos += packet.size) {
		MUST(vpt_packet_read(&parser, m->ram + REGION + pos, ROOM - pos, &packet) ==
		     VPT_OK);
		n += packet.kind == kind;
	}
	return n;
}

/* Sum of the CYCs from the beginning up to a place. */
static uint64_t sum(const struct machine *m, size_t to)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint64_t cycles = 0;
	size_t pos;

	for (pos = 0; pos < to; pos += packet.size) {
		MUST(vpt_packet_read(&parser, m->ram + REGION + pos, ROOM - pos, &packet) ==
		     VPT_OK);
		cycles += packet.kind == VPT_PKT_CYC ? packet.value : 0;
	}
	return cycles;
}

/* 255 MTCs at once are sent, 256 are not, wherever the 8 bits begin. */
START_TEST(burst)
{
	struct machine *m = machine_new(4, 1);
	struct vpt_packet packet;
	size_t pos;

	advance(m, 4 * (uint64_t)_i * 16 + 1);
	begin(m, VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN));
	pos = m->mark[0].end;
	advance(m, 4 * 255);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	ck_assert_uint_eq(count(m, pos, VPT_PKT_MTC), 255);
	ck_assert_uint_eq(count(m, pos, VPT_PKT_TSC), 0);
	pos = m->mark[1].end;
	advance(m, 4 * 256);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	ck_assert_uint_eq(count(m, pos, VPT_PKT_MTC), 0);
	find(m, pos, VPT_PKT_TSC, &packet);
	ck_assert_uint_eq(packet.value, m->clock.tsc);
	find(m, pos, VPT_PKT_TMA, &packet);
	ck_assert_uint_eq(packet.value, m->clock.tsc / 4 & 0xffff);
	ck_assert_uint_eq(packet.aux, m->clock.tsc % 4);
	free(m);
	TEST_PROVES("TIME-MTC-LOST");
}
END_TEST

/*
 * An overflow of so many clocks, each of which would send something. OVF has a CYC with what
 * the counter counted, as far as it did not wrap; MTCs go on where the clock is.
 */
static const uint64_t gaps[] = {200, 4000, 4100, 16000, 16390, 40000};

START_TEST(overflow)
{
	const struct vpt_pt_options options = {.buffer_bytes = VPT_BUFFER_MIN, .buffer_drain = 1};
	struct machine *m = machine_new(32, 1);
	struct vpt_packet packet;
	size_t before, ovf, pos;
	uint64_t told;

	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &options), VPT_OK);
	begin(m, VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(CYC_EN) | 3ull << VPT_CTL_MTC_FREQ_SHIFT);
	while (!m->pt.buffer.overflow) {
		advance(m, 1);
		event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	}
	before = m->mark[m->marks - 1].end;
	told = sum(m, before);
	advance(m, gaps[_i] - 100);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	ck_assert(m->pt.buffer.overflow);
	ck_assert_uint_eq(m->mark[m->marks - 1].end, before);
	/* The buffer empties at once, without being left a clock. */
	m->pt.options.buffer_drain = ~0u;
	advance(m, 100);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	ck_assert(!m->pt.buffer.overflow);
	ovf = find(m, before, VPT_PKT_OVF, &packet);
	ck_assert_uint_eq(count(m, before, VPT_PKT_CYC), 1);
	find(m, before, VPT_PKT_CYC, &packet);
	ck_assert_uint_eq(packet.value, (m->clock.cycles - told) % 16384);
	advance(m, 256);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	pos = find(m, ovf, VPT_PKT_MTC, &packet);
	ck_assert_uint_eq(packet.value, m->clock.tsc / 256 & 0xff);
	ck_assert_uint_eq(count(m, pos, VPT_PKT_MTC), 1);
	free(m);
	TEST_PROVES("TIME-OVF");
}
END_TEST

/* A model of the buffer that loses MTCs by the hundred tells the time anew. */
START_TEST(lost_mtcs)
{
	const struct vpt_pt_options options = {.buffer_bytes = VPT_BUFFER_MIN, .buffer_drain = 1};
	struct machine *m = machine_new(4, 1);
	struct vpt_packet packet;
	unsigned int i, late;
	size_t before, pos;

	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &options), VPT_OK);
	begin(m, VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN));
	while (!m->pt.buffer.overflow) {
		advance(m, 1);
		event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	}
	before = m->mark[m->marks - 1].end;
	late = (unsigned int)(m->pt.time.mtc_last - m->pt.time.mtc_told);
	/* None of the steps is one that loses 256 by itself. */
	for (i = 0; i < 3; i++) {
		advance(m, 4 * 100);
		event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	}
	ck_assert_uint_eq(m->pt.time.mtc_last - m->pt.time.mtc_told, late + 300);
	m->pt.options.buffer_drain = ~0u;
	advance(m, 100);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	advance(m, 4);
	event(m, VPT_EV_JMP_INDIRECT, 0, START_IP);
	ck_assert_uint_eq(count(m, before, VPT_PKT_TSC), 1);
	pos = find(m, before, VPT_PKT_TMA, &packet);
	ck_assert_uint_eq(m->pt.time.mtc_last, m->pt.time.mtc_told);
	find(m, pos, VPT_PKT_MTC, &packet);
	ck_assert_uint_eq(packet.value, m->clock.tsc / 4 & 0xff);
	free(m);
	TEST_PROVES("TIME-MTC-LOST TIME-OVF");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("time");
	TCase *tcase = tcase_create("time");

	tcase_add_loop_test(tcase, random_traces, 0, SETUPS * ENCODINGS);
	tcase_add_loop_test(tcase, libipt_agrees, 0, sizeof(peers) / sizeof(peers[0]));
	tcase_add_loop_test(tcase, burst, 0, 17);
	tcase_add_loop_test(tcase, overflow, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_test(tcase, lost_mtcs);
	suite_add_tcase(suite, tcase);
	return suite;
}
