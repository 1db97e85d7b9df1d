// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a trace with libvptdecode, by its public header alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/decode/measure.h"
#include "libdecode/vptdecode.h"

/* Physical pages below 4 GiB. */
#define PAGES (1u << 20)

struct ours {
	const struct bench_input *in;
	struct vptd_decoder *d;
	struct vptd_counts *counts;
	bool asks;
	uint64_t asked, calls;
	const uint8_t **bytes; /* of each physical page */
	/* Of BENCH_CHECK. */
	uint64_t last_ip, hidden;
};

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	const struct ours *o = context;

	(void)nr;
	(void)vmcs;
	return cr3 & o->in->spaces;
}

static bool is_call(const uint8_t *bytes, unsigned int len)
{
	/* REX, BND, NOTRACK and operand size */
	while (len > 1 &&
	       ((*bytes & 0xf0) == 0x40 || *bytes == 0xf2 || *bytes == 0x3e || *bytes == 0x66)) {
		bytes++;
		len--;
	}
	return *bytes == 0xe8 || (*bytes == 0xff && len > 1 && (bytes[1] >> 3 & 7) == 2);
}

static void on_run(void *context, const struct vptd_run *run)
{
	struct ours *o = context;
	uint64_t at = run->ip % VPTD_PAGE;
	struct vptd_time time;
	uint32_t i;

	for (i = 0; i + 1 < run->count; i++)
		at += run->lens[i];
	if (at >= VPTD_PAGE || !is_call(o->bytes[run->page] + at, run->lens[i]))
		return;
	o->calls++;
	if (o->asks && !vptd_now(o->d, &time))
		o->asked += time.flags & VPTD_TIME_KNOWN;
}

static void on_checked_run(void *context, const struct vptd_run *run)
{
	struct ours *o = context;
	uint32_t i;

	o->last_ip = run->ip;
	for (i = 0; i + 1 < run->count; i++)
		o->last_ip += run->lens[i];
}

/* libipt shows INT n, and the WRMSR that clears TraceEn, as events alone. */
static void on_checked_event(void *context, const struct vptd_event *e)
{
	struct ours *o = context;

	if (e->kind == VPTD_EVENT_ASYNC_BRANCH)
		o->hidden += (e->flags & VPTD_EV_SOFT_INT) != 0;
	else if (e->kind == VPTD_EVENT_ASYNC_DISABLED)
		o->hidden += e->ip == o->last_ip;
	else if (e->kind == VPTD_EVENT_ERROR)
		fprintf(stderr, "bench: %s: byte %#" PRIx64 ", ip %#" PRIx64 ": %s\n", o->in->name,
			e->offset, e->ip, vptd_status_text((enum vptd_status)e->value));
}

static bool keeps_time(enum bench_what what)
{
	return what == BENCH_SUMMARY_TIME || what == BENCH_CALLS_IDLE || what == BENCH_CALLS_TIME;
}

static bool has_runs(enum bench_what what)
{
	return what == BENCH_CALLS || what == BENCH_CALLS_IDLE || what == BENCH_CALLS_TIME;
}

static struct vptd_decoder *new_decoder(struct ours *o, enum bench_what what)
{
	const struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_CTL | (what == BENCH_EDGES ? VPTD_EDGES : 0) |
			 (keeps_time(what) ? VPTD_TIME : 0),
		.ctl = o->in->ctl,
		.crystal_num = o->in->caps->l15_ebx,
		.crystal_den = o->in->caps->l15_eax,
		.max_nonturbo = o->in->caps->max_nonturbo,
	};
	const struct vptd_ops ops = {
		.size = sizeof(ops),
		.space = on_space,
		.run = what == BENCH_CHECK ? on_checked_run
		       : has_runs(what)	   ? on_run
					   : NULL,
		.event = what == BENCH_CHECK ? on_checked_event : NULL,
	};
	enum vptd_status status;
	struct vptd_decoder *d = vptd_new(&config, &ops, o, &status);

	if (!d)
		abort();
	return d;
}

/* Push the trace, and provide each page before the packet that leads to it. */
static bool pass(struct ours *o)
{
	const struct bench_input *in = o->in;
	enum vptd_status status = vptd_begin(o->d, in->space, 64);
	uint64_t errors = vptd_events(o->d, VPTD_EVENT_ERROR);
	size_t at = 0, i;

	for (i = 0; i < in->ncode && !status; i++) {
		const struct bench_code *c = &in->code[i];

		if (!c->early && c->offset > at) {
			status = vptd_push(o->d, in->stream + at, c->offset - at);
			at = c->offset;
		}
		if (!status)
			status = vptd_page(o->d, c->space, c->vaddr, c->gpa / VPTD_PAGE, c->bytes);
	}
	if (!status)
		status = vptd_push(o->d, in->stream + at, in->len - at);
	if (!status)
		status = vptd_finish(o->d);
	if (!status && o->counts)
		status = vptd_count(o->d, o->counts);
	return !status && vptd_events(o->d, VPTD_EVENT_ERROR) == errors;
}

/* For the CALLs: the bytes of each page, whose content does not change. */
static bool list_bytes(struct ours *o)
{
	size_t i;

	o->bytes = calloc(PAGES, sizeof(*o->bytes));
	if (!o->bytes)
		abort();
	for (i = 0; i < o->in->ncode; i++) {
		uint64_t page = o->in->code[i].gpa / VPTD_PAGE;

		if (page >= PAGES)
			return false;
		o->bytes[page] = o->in->code[i].bytes;
	}
	return !o->in->changes;
}

/* A line of /proc/self/status, such as "VmRSS:", in bytes. */
static uint64_t memory(const char *field)
{
	FILE *status = fopen("/proc/self/status", "r");
	uint64_t kb = 0;
	char line[128];

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, field, strlen(field)))
			kb = strtoull(line + strlen(field), NULL, 10);
	}
	if (status)
		fclose(status);
	return kb * 1024;
}

/* Read the mapped pages of the file, which count as memory once they are read. */
static uint64_t touch(const struct bench_input *in)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < in->len; i += VPTD_PAGE)
		sum += in->stream[i];
	for (i = 0; i < in->ncode; i++)
		sum += in->code[i].bytes[0] + in->code[i].bytes[VPTD_PAGE - 1];
	return sum;
}

void bench_ours(const struct bench_input *in, enum bench_what what, unsigned int times,
		struct bench_sample *sample)
{
	struct ours o = {.in = in, .asks = what == BENCH_CALLS_TIME};
	volatile uint64_t touched = touch(in);
	uint64_t before;
	unsigned int i;
	double start;

	(void)touched;
	if (has_runs(what) && !list_bytes(&o))
		return;
	before = memory("VmRSS:");
	sample->ok = true;
	start = bench_seconds();
	for (i = 0; i < times; i++) {
		vptd_free(o.d);
		vptd_counts_free(o.counts);
		o.counts = what == BENCH_EDGES ? vptd_counts_new() : NULL;
		o.d = new_decoder(&o, what);
		sample->ok &= pass(&o);
	}
	sample->cold = (bench_seconds() - start) / times;
	sample->peak = memory("VmHWM:") - before;
	sample->insns = vptd_insns(o.d);
	start = bench_seconds();
	for (i = 0; i < times; i++)
		sample->ok &= pass(&o);
	sample->warm = (bench_seconds() - start) / times;
	sample->ok &= vptd_insns(o.d) == sample->insns * (times + 1);
	sample->asked = o.asked / (2 * times);
	sample->hidden = o.hidden / (2 * times);
}
