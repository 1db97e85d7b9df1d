// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the cost of timing and event packets in the generator. The input is a stream of branches
 * and a few other events, 6 core clocks each. It is traced with and without these packets.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"

#define EVENTS (1u << 20)
#define CLOCKS 6
#define ROUNDS 9

/* The event that is inserted after every ONCE_IN branches. */
enum stream { BRANCHES, PTWRITES, INTERRUPTS, STREAMS };
#define ONCE_IN 64

static const struct row {
	const char *name;
	enum stream stream;
	uint64_t ctl; /* the row with BranchEn alone is what the others are compared with */
	struct vpt_pt_options options;
} rows[] = {
	{"branches", BRANCHES, 0, {0}},
	{"branches, PTWRITE", PTWRITES, 0, {0}},
	{"branches, interrupts", INTERRUPTS, 0, {0}},
	{"TSC, MTC 3",
	 BRANCHES,
	 VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN) | 3ull << VPT_CTL_MTC_FREQ_SHIFT,
	 {0}},
	{"CYC", BRANCHES, VPT_CTL_MASK(CYC_EN), {0}},
	{"CYC, threshold 5",
	 BRANCHES,
	 VPT_CTL_MASK(CYC_EN) | 5ull << VPT_CTL_CYC_THRESH_SHIFT,
	 {0}},
	{"TSC, MTC 3, CYC",
	 BRANCHES,
	 VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN) | 3ull << VPT_CTL_MTC_FREQ_SHIFT |
		 VPT_CTL_MASK(CYC_EN),
	 {0}},
	{"PTW", PTWRITES, VPT_CTL_MASK(PTW_EN), {0}},
	{"PTW, FUP", PTWRITES, VPT_CTL_MASK(PTW_EN) | VPT_CTL_MASK(FUP_ON_PTW), {0}},
	{"event trace", INTERRUPTS, VPT_CTL_MASK(EVENT_EN), {0}},
	{"no TNT", BRANCHES, VPT_CTL_MASK(DIS_TNT), {0}},
	{"a buffer that never fills", BRANCHES, 0, {.buffer_bytes = 4096, .buffer_drain = 4096}},
	{"a buffer that overflows", BRANCHES, 0, {.buffer_bytes = 256, .buffer_drain = 64}},
	{"deferred TIPs", BRANCHES, 0, {.defer_tips = true}},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void send(struct bench_machine *m, uint8_t kind, uint8_t flags, uint64_t to)
{
	const struct vpt_event event = {
		.kind = kind, .flags = flags, .vector = 0x20, .from = 0x400000, .to = to};

	vpt_pt_event(&m->pt, &event);
}

static void between(struct bench_machine *m, enum stream stream)
{
	if (stream == PTWRITES) {
		send(m, VPT_EV_PTWRITE, VPT_EVF_WIDE, 0x400010);
	} else if (stream == INTERRUPTS) {
		send(m, VPT_EV_ASYNC, 0, 0x500000);
		send(m, VPT_EV_FAR, VPT_EVF_IRET, 0x400000);
	}
}

/* Three of four branches are conditional. */
static double once(struct bench_machine *m, const struct bench_pattern *p, enum stream stream)
{
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		m->clock.cycles += CLOCKS;
		m->clock.tsc += CLOCKS;
		if (i % 4)
			vpt_pt_cond(&m->pt, 0x400000, 0x400010, p->taken[i % BENCH_PATTERN]);
		else
			send(m, VPT_EV_JMP_INDIRECT, 0, p->target[i % BENCH_PATTERN]);
		if (i % ONCE_IN == 0)
			between(m, stream);
	}
	return bench_now() - start;
}

static bool measure(struct bench_machine *m, const struct bench_pattern *p, const struct row *row,
		    double *best, double *bytes)
{
	uint64_t ctl = row->ctl | VPT_CTL_MASK(BRANCH_EN);
	double seconds;

	if (*bytes <= 0) {
		if (!bench_machine_start(m, "spr", ctl, &row->options, true))
			return false;
		once(m, p, row->stream);
		vpt_pt_flush(&m->pt);
		*bytes = (double)m->bytes;
	}
	if (!bench_machine_start(m, "spr", ctl, &row->options, false))
		return false;
	seconds = once(m, p, row->stream);
	if (*best <= 0 || seconds < *best)
		*best = seconds;
	return true;
}

static void report(size_t i, const double best[ROWS], const double bytes[ROWS])
{
	size_t plain = rows[i].stream;
	char name[64];

	snprintf(name, sizeof(name), "generate: %s", rows[i].name);
	bench_report(name, best[i] * 1e9 / EVENTS, "ns each", rows[plain].name,
		     best[plain] * 1e9 / EVENTS);
	bench_report(name, bytes[i] * 1000 / EVENTS / CLOCKS, "bytes/1000 clocks", rows[plain].name,
		     bytes[plain] * 1000 / EVENTS / CLOCKS);
}

int bench_packets_row(const char *name, unsigned int rounds)
{
	struct bench_machine *m = bench_machine_create();
	struct bench_pattern *p = calloc(1, sizeof(*p));
	const struct row *row = NULL;
	int err = -1;
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (!strcmp(name, rows[i].name))
			row = &rows[i];
	if (m && p && row &&
	    bench_machine_start(m, "spr", row->ctl | VPT_CTL_MASK(BRANCH_EN), &row->options,
				false)) {
		bench_pattern_fill(p);
		for (; rounds; rounds--)
			once(m, p, row->stream);
		err = 0;
	}
	bench_machine_destroy(m);
	free(p);
	return err;
}

int bench_packets(void)
{
	struct bench_machine *m = bench_machine_create();
	struct bench_pattern *p = calloc(1, sizeof(*p));
	double best[ROWS] = {0}, bytes[ROWS] = {0};
	bool ok = m && p;
	unsigned int round;
	size_t i;

	if (ok)
		bench_pattern_fill(p);
	for (round = 0; ok && round < ROUNDS; round++)
		for (i = 0; ok && i < ROWS; i++) {
			ok = measure(m, p, &rows[i], &best[i], &bytes[i]);
			if (!ok)
				fprintf(stderr, "bench: %s: it does not start\n", rows[i].name);
		}
	for (i = 0; ok && i < ROWS; i++)
		report(i, best, bytes);
	bench_machine_destroy(m);
	free(p);
	return ok ? 0 : -1;
}
