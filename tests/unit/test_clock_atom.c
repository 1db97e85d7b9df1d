// SPDX-License-Identifier: GPL-2.0-or-later
/* The time that RTIT's packets tell (vmm/decode/timeline.h) against the clock that made them. */
#include <stdlib.h>
#include <string.h>

#include "decode/timeline.h"
#include "lib/packets.h"
#include "lib/suite.h"
#include "vpt/atom.h"

#define P1     20
#define BYTES  (1u << 20)
#define EVENTS 4000

struct moment {
	uint64_t at; /* bytes of the trace up to and with the event's */
	uint64_t tsc;
};

struct machine {
	struct vpt_atom atom;
	struct vpt_context ctx;
	struct vpt_clock clock;
	uint64_t left; /* of a tick */
	uint64_t random;
	uint8_t stage[64];
	uint8_t bytes[BYTES];
	size_t len;
	struct moment moment[EVENTS];
	size_t moments;
};

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((const struct machine *)opaque)->ctx;
}

static void now(void *opaque, struct vpt_clock *clock)
{
	*clock = ((const struct machine *)opaque)->clock;
}

static void stream(void *opaque, const void *bytes, size_t len)
{
	struct machine *m = opaque;

	ck_assert_uint_le(len, sizeof(m->bytes) - m->len);
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static const struct vpt_pt_ops ops = {.context = context, .clock = now};

static uint64_t below(struct machine *m, uint64_t n)
{
	return test_random(&m->random) % n;
}

static void pass(struct machine *m, uint64_t clocks)
{
	uint64_t ticks = clocks * P1 + m->left;

	m->clock.cycles += clocks;
	m->clock.tsc += ticks / m->ctx.cbr;
	m->left = ticks % m->ctx.cbr;
	m->ctx.tsc = m->clock.tsc;
}

/* An event, and when it was if its last packet is one of the flow. */
static void event(struct machine *m, uint8_t kind)
{
	const struct vpt_event e = {
		.kind = kind,
		.flags = VPT_EVF_TAKEN,
		.from = 0x401000,
		.to = 0x402000 + below(m, 4) * 0x100,
		.next = 0x401003,
	};

	vpt_atom_event(&m->atom, &e);
	vpt_atom_flush(&m->atom);
	if (kind == VPT_EV_JMP_INDIRECT)
		m->moment[m->moments++] = (struct moment){m->len, m->clock.tsc};
}

static void run(struct machine *m, uint32_t ctl, uint8_t errata)
{
	const struct vpt_atom_options options = {.errata = errata};
	const uint64_t on = VPT_ATOM_MASK(CTL, TRACE_EN), active = VPT_ATOM_MASK(CTL, TRACE_ACTIVE);
	unsigned int i;

	m->ctx = (struct vpt_context){.cbr = P1, .cs_l = true, .lma = true};
	pass(m, 123456789);
	vpt_atom_init(&m->atom, &ops, m);
	ck_assert_int_eq(vpt_atom_set_options(&m->atom, &options), VPT_OK);
	vpt_atom_set_stream(&m->atom, m->stage, sizeof(m->stage), stream);
	ck_assert_int_eq(vpt_atom_wrmsr(&m->atom, VPT_ATOM_MSR_EVENTS, 7 | 6 << 3, VPT_ACCESS_HOST,
					0x401000, 0x401000),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_atom_wrmsr(&m->atom, VPT_ATOM_MSR_CTL, ctl | on, VPT_ACCESS_HOST,
					0x401000, 0x401000),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_atom_wrmsr(&m->atom, VPT_ATOM_MSR_CTL, ctl | on | active,
					VPT_ACCESS_HOST, 0x401000, 0x401000),
			 VPT_FAULT_NONE);
	for (i = 0; i < EVENTS; i++) {
		pass(m, below(m, 50) ? below(m, 200) : below(m, 20000));
		if (!i || !below(m, 300)) {
			m->ctx.cbr = (uint8_t)(8 + below(m, 24));
			event(m, VPT_EV_CBR);
		} else {
			event(m, below(m, 3) ? VPT_EV_COND : VPT_EV_JMP_INDIRECT);
		}
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

#define ALL                                                                                    \
	(VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, CYCLE_ACC) | VPT_ATOM_MASK(CTL, STS_EN) | \
	 VPT_ATOM_MASK(CTL, MTC_EN))

/* How far an estimate may be off in the mean, in ticks. */
static const struct {
	uint64_t ctl;
	uint8_t errata;
	uint64_t mean;
} row[] = {
	{ALL, 0, 1},
	{ALL | 3ull << VPT_ATOM_CTL_MTC_RANGE_SHIFT, 0, 3},
	{ALL & ~VPT_ATOM_MASK(CTL, MTC_EN), 0, 3},
	{ALL & ~VPT_ATOM_MASK(CTL, CYCLE_ACC), 0, 70},
	{ALL, VPT_ATOM_E7, 1},
	{ALL, VPT_ATOM_E6 | VPT_ATOM_E7, 1},
	{ALL & ~VPT_ATOM_MASK(CTL, MTC_EN), VPT_ATOM_E6, 3},
};

START_TEST(against_the_clock)
{
	struct machine *m = calloc(1, sizeof(*m));
	const struct vpt_caps caps = {.max_nonturbo = P1};
	const struct decode_timeline_session session = {.ctl = row[_i].ctl};
	struct decode_timeline_config config = {
		.caps = &caps,
		.atom = true,
		.errata = row[_i].errata,
		.sessions = &session,
		.nsessions = 1,
	};
	struct decode_timeline *line;
	uint64_t off = 0, known = 0;
	struct decode_when w;
	size_t i;

	ck_assert_ptr_nonnull(m);
	m->random = (uint64_t)_i + 1;
	run(m, (uint32_t)row[_i].ctl, row[_i].errata);
	config.bytes = m->bytes;
	config.len = m->len;
	line = decode_timeline_new(&config);
	ck_assert_ptr_nonnull(line);
	for (i = 0; i < m->moments; i++) {
		decode_timeline_flow(line, m->moment[i].at, &w);
		if (!w.known)
			continue;
		ck_assert(!w.relative);
		/* A count that E6 left at 0 can have been 1. */
		ck_assert_msg(
			row[_i].errata || (w.lo <= m->moment[i].tsc && m->moment[i].tsc <= w.hi),
			"event %zu: %lu is not in %lu to %lu", i, m->moment[i].tsc, w.lo, w.hi);
		off += distance(w.tsc, m->moment[i].tsc);
		known++;
	}
	ck_assert_uint_gt(known, EVENTS / 4);
	ck_assert_msg(off / known <= row[_i].mean, "off by %lu of %lu events", off, known);
	decode_timeline_free(line);
	free(m);
	TEST_PROVES("ATOM-E6 ATOM-E7 ATOM-MTC ATOM-STS");
}
END_TEST

TEST_SUITE("clock_atom", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, against_the_clock, row);
}
