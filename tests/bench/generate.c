// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generating packets. The peer is libipt's encoder, which does less: it is handed
 * TNTs of 47 outcomes and IPs with their compression already chosen, keeps no
 * registers, knows no enables and sends no PSB.
 */
#include "bench.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/encode.h"
#include "vpt/pt.h"

#define BUFFER_BYTES (1u << 20)
#define BUFFER_GPA   (1u << 20)
#define EVENTS	     (1u << 22)
#define PATTERN	     1024u

struct bench_machine {
	struct vpt_pt pt;
	uint8_t *buffer;
};

struct bench_pattern {
	uint8_t taken[PATTERN];
	uint64_t target[PATTERN];
};

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct bench_machine *m = opaque;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA > BUFFER_BYTES - len)
		return false;
	memcpy(dst, m->buffer + (gpa - BUFFER_GPA), len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	const struct bench_machine *m = opaque;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA > BUFFER_BYTES - len)
		return false;
	memcpy(m->buffer + (gpa - BUFFER_GPA), src, len);
	return true;
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	const struct bench_machine *m = opaque;
	uint64_t room;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA >= BUFFER_BYTES)
		return NULL;
	room = BUFFER_BYTES - (gpa - BUFFER_GPA);
	if (*len > room)
		*len = room;
	return m->buffer + (gpa - BUFFER_GPA);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	memset(ctx, 0, sizeof(*ctx));
	ctx->cr3 = 0x1000;
	ctx->cs_l = true;
	ctx->lma = true;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write, .map = mem_map},
	.context = context,
};

static bool machine_start(struct bench_machine *m)
{
	const struct vpt_caps *caps = vpt_caps_model("skl");
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
		       VPT_CTL_MASK(BRANCH_EN);
	uint64_t mask = BUFFER_BYTES - 1;

	if (!caps)
		return false;
	vpt_pt_init(&m->pt, caps, &ops, m);
	return vpt_pt_wrmsr(&m->pt, VPT_MSR_OUTPUT_BASE, BUFFER_GPA, VPT_ACCESS_GUEST, 0, 0) ==
		       VPT_FAULT_NONE &&
	       vpt_pt_wrmsr(&m->pt, VPT_MSR_OUTPUT_MASK_PTRS, mask, VPT_ACCESS_GUEST, 0, 0) ==
		       VPT_FAULT_NONE &&
	       vpt_pt_wrmsr(&m->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, 0x1000, 0x1002) ==
		       VPT_FAULT_NONE &&
	       m->pt.packet_en;
}

static void pattern_fill(struct bench_pattern *p)
{
	uint64_t x = 0x9e3779b97f4a7c15ull;
	unsigned int i;

	for (i = 0; i < PATTERN; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p->taken[i] = x & 1;
		/* Mostly near, now and then in another 64 KiB or 4 GiB. */
		p->target[i] = 0x400000 + (x >> 8 & 0xffff) + (x >> 32 & 7 ? 0 : 0x30000) +
			       (x >> 40 & 31 ? 0 : 0x7f0000000000);
	}
}

static double ours_cond(struct bench_machine *m, const struct bench_pattern *p)
{
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++)
		vpt_pt_cond(&m->pt, 0x400000, 0x400010, p->taken[i % PATTERN]);
	return bench_now() - start;
}

static double ours_tip(struct bench_machine *m, const struct bench_pattern *p)
{
	struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = 0x400000};
	double start = bench_now();
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		event.to = p->target[i % PATTERN];
		vpt_pt_event(&m->pt, &event);
	}
	return bench_now() - start;
}

/* A circular buffer, as for ours: start over when it is full. */
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
		tnt = tnt << 1 | p->taken[i % PATTERN];
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
		uint64_t ip = p->target[i % PATTERN];

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

int bench_generate(void)
{
	struct bench_machine *m = calloc(1, sizeof(*m));
	struct bench_pattern *p = calloc(1, sizeof(*p));
	struct pt_encoder *encoder = NULL;
	uint8_t *other = malloc(BUFFER_BYTES);
	struct pt_config config;
	int err = -1;

	pt_config_init(&config);
	config.begin = other;
	config.end = other + BUFFER_BYTES;
	if (m)
		m->buffer = calloc(1, BUFFER_BYTES);
	if (other)
		encoder = pt_alloc_encoder(&config);
	if (!m || !p || !m->buffer || !encoder) {
		fprintf(stderr, "bench: out of memory\n");
	} else if (!machine_start(m)) {
		fprintf(stderr, "bench: the trace does not start\n");
	} else {
		pattern_fill(p);
		compare(m, encoder, p);
		err = 0;
	}
	pt_free_encoder(encoder);
	if (m)
		free(m->buffer);
	free(m);
	free(p);
	free(other);
	return err;
}
