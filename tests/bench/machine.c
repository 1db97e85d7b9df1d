// SPDX-License-Identifier: GPL-2.0-or-later
/* See machine.h. */
#include "bench/machine.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_GPA (1u << 20)

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct bench_machine *m = opaque;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA > BENCH_BUFFER_BYTES - len)
		return false;
	memcpy(dst, m->buffer + (gpa - BUFFER_GPA), len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	const struct bench_machine *m = opaque;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA > BENCH_BUFFER_BYTES - len)
		return false;
	memcpy(m->buffer + (gpa - BUFFER_GPA), src, len);
	return true;
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	const struct bench_machine *m = opaque;
	uint64_t room;

	if (gpa < BUFFER_GPA || gpa - BUFFER_GPA >= BENCH_BUFFER_BYTES)
		return NULL;
	room = BENCH_BUFFER_BYTES - (gpa - BUFFER_GPA);
	if (*len > room)
		*len = room;
	return m->buffer + (gpa - BUFFER_GPA);
}

static void mem_committed(void *opaque, uint64_t gpa, size_t len)
{
	struct bench_machine *m = opaque;

	(void)gpa;
	m->bytes += len;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	const struct bench_machine *m = opaque;

	memset(ctx, 0, sizeof(*ctx));
	ctx->cr3 = 0x1000;
	ctx->tsc = m->clock.tsc;
	ctx->cs_l = true;
	ctx->lma = true;
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	*now = ((const struct bench_machine *)opaque)->clock;
}

static const struct vpt_pt_ops ops[2] = {
	{
		.mem = {.read = mem_read, .write = mem_write, .map = mem_map},
		.context = context,
		.clock = clock_now,
	},
	{
		.mem = {.read = mem_read,
			.write = mem_write,
			.map = mem_map,
			.committed = mem_committed},
		.context = context,
		.clock = clock_now,
	},
};

static bool put(struct bench_machine *m, uint32_t msr, uint64_t value)
{
	return vpt_pt_wrmsr(&m->pt, msr, value, VPT_ACCESS_GUEST, 0x1000, 0x1002) == VPT_FAULT_NONE;
}

bool bench_machine_start(struct bench_machine *m, const char *model, uint64_t ctl,
			 const struct vpt_pt_options *options, bool counts)
{
	const struct vpt_caps *caps = vpt_caps_model(model);

	if (!caps)
		return false;
	m->bytes = 0;
	memset(&m->clock, 0, sizeof(m->clock));
	vpt_pt_init(&m->pt, caps, &ops[counts], m);
	if (options && vpt_pt_set_options(&m->pt, options) != VPT_OK)
		return false;
	ctl |= VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER);
	return put(m, VPT_MSR_OUTPUT_BASE, BUFFER_GPA) &&
	       put(m, VPT_MSR_OUTPUT_MASK_PTRS, BENCH_BUFFER_BYTES - 1) &&
	       put(m, VPT_MSR_CTL, ctl) && m->pt.trigger_en;
}

struct bench_machine *bench_machine_create(void)
{
	struct bench_machine *m = calloc(1, sizeof(*m));

	if (m)
		m->buffer = calloc(1, BENCH_BUFFER_BYTES);
	if (m && m->buffer)
		return m;
	free(m);
	return NULL;
}

void bench_machine_destroy(struct bench_machine *m)
{
	if (m)
		free(m->buffer);
	free(m);
}

void bench_pattern_fill(struct bench_pattern *p)
{
	uint64_t x = 0x9e3779b97f4a7c15ull;
	unsigned int i;

	for (i = 0; i < BENCH_PATTERN; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p->taken[i] = x & 1;
		/* Mostly near, now and then in another 64 KiB or 4 GiB. */
		p->target[i] = 0x400000 + (x >> 8 & 0xffff) + (x >> 32 & 7 ? 0 : 0x30000) +
			       (x >> 40 & 31 ? 0 : 0x7f0000000000);
	}
}
