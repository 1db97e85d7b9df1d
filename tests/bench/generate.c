// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the generation of packets. The peer is libipt's encoder, which does less work. It gets
 * TNTs of 47 outcomes and IPs whose compression is already chosen. It has no registers and no
 * enables, and sends no PSB.
 */
#include "bench/bench.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "vpt/encode.h"

#define EVENTS (1u << 22)

static double ours_cond(struct bench_machine *m, const struct bench_pattern *p)
{
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++)
		vpt_pt_cond(&m->pt, 0x400000, 0x400010, p->taken[i % BENCH_PATTERN]);
	return bench_now() - start;
}

static double ours_tip(struct bench_machine *m, const struct bench_pattern *p)
{
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = 0x400000};
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		event.to = p->target[i % BENCH_PATTERN];
		vpt_pt_event(&m->pt, &event);
	}
	return bench_now() - start;
}

/* Encode into a circular buffer like ours, restarting when the buffer is full. */
static int peer_put(struct pt_encoder *encoder, const struct pt_packet *packet)
{
	int size = pt_enc_next(encoder, packet);

	if (size == -pte_eos) {
		pt_enc_sync_set(encoder, 0);
		size = pt_enc_next(encoder, packet);
	}
	return size;
}

static double peer_cond(struct pt_encoder *encoder, const struct bench_pattern *p)
{
	struct pt_packet packet = {.type = ppt_tnt_64};
	uint64_t sum = 0, tnt = 1;
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		tnt = tnt << 1 | p->taken[i % BENCH_PATTERN];
		if (tnt >> VPT_TNT64_MAX) {
			packet.payload.tnt.bit_size = VPT_TNT64_MAX;
			packet.payload.tnt.payload = tnt & (VPT_BIT64(VPT_TNT64_MAX) - 1);
			sum += (uint64_t)peer_put(encoder, &packet);
			tnt = 1;
		}
	}
	bench_keep(sum);
	return bench_now() - start;
}

static double peer_tip(struct pt_encoder *encoder, const struct bench_pattern *p)
{
	struct pt_packet packet = {.type = ppt_tip};
	uint64_t sum = 0, last = 0;
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		uint64_t ip = p->target[i % BENCH_PATTERN];

		packet.payload.ip.ipc = (enum pt_ip_compression)vpt_ip_compress(ip, last);
		packet.payload.ip.ip = ip;
		last = ip;
		sum += (uint64_t)peer_put(encoder, &packet);
	}
	bench_keep(sum);
	return bench_now() - start;
}

static void least(double *best, double seconds)
{
	if (*best <= 0 || seconds < *best)
		*best = seconds;
}

static void compare(struct bench_machine *m, struct pt_encoder *encoder,
		    const struct bench_pattern *p)
{
	double cond[2] = {0}, tip[2] = {0};
	const double ns = 1e9 / EVENTS;
	unsigned int i;

	for (i = 0; i < BENCH_ROUNDS; i++) {
		least(&cond[0], ours_cond(m, p));
		least(&cond[1], peer_cond(encoder, p));
		least(&tip[0], ours_tip(m, p));
		least(&tip[1], peer_tip(encoder, p));
	}
	bench_report("conditional branch, PSB every 2K", cond[0] * ns, "ns",
		     "libipt encoder, no PSB", cond[1] * ns);
	bench_report("indirect branch, PSB every 2K", tip[0] * ns, "ns", "libipt encoder, no PSB",
		     tip[1] * ns);
}

int bench_generate_row(const char *name, unsigned int rounds)
{
	struct bench_machine *m = bench_machine_create();
	struct bench_pattern *p = calloc(1, sizeof(*p));
	double (*row)(struct bench_machine * machine, const struct bench_pattern *pattern) = NULL;
	int err = -1;

	if (!strcmp(name, "conditional branch"))
		row = ours_cond;
	if (!strcmp(name, "indirect branch"))
		row = ours_tip;
	if (m && p && row && bench_machine_start(m, "skl", VPT_CTL_MASK(BRANCH_EN), NULL, false)) {
		bench_pattern_fill(p);
		for (; rounds; rounds--)
			row(m, p);
		err = 0;
	}
	bench_machine_destroy(m);
	free(p);
	return err;
}

int bench_generate(void)
{
	struct bench_machine *m = bench_machine_create();
	struct bench_pattern *p = calloc(1, sizeof(*p));
	struct pt_encoder *encoder = NULL;
	uint8_t *other = malloc(BENCH_BUFFER_BYTES);
	struct pt_config config;
	int err = -1;

	pt_config_init(&config);
	config.begin = other;
	config.end = other + BENCH_BUFFER_BYTES;
	if (other)
		encoder = pt_alloc_encoder(&config);
	if (!m || !p || !encoder) {
		fprintf(stderr, "bench: out of memory\n");
	} else if (!bench_machine_start(m, "skl", VPT_CTL_MASK(BRANCH_EN), NULL, false)) {
		fprintf(stderr, "bench: the trace does not start\n");
	} else {
		bench_pattern_fill(p);
		compare(m, encoder, p);
		err = 0;
	}
	pt_free_encoder(encoder);
	bench_machine_destroy(m);
	free(p);
	free(other);
	return err;
}
