// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This finds the places of the stream where code changes. The file has counters of instructions,
 * and the public interfaces of both decoders take code between packets. So the trace is decoded
 * once, packet by packet, with the internal interface of vmm/libdecode, which changes code at a
 * counter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/decode/input.h"
#include "libdecode/pt.h"
#include "vpt/msr.h"

struct plan {
	struct bench_input *in;
	struct bench_code **timed; /* in the order of their counters */
	size_t placed;		   /* that have an offset, */
	size_t mapped;		   /* and that are mapped or were from the start */
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	uint64_t errors;
};

static int by_time(const void *a, const void *b)
{
	const struct bench_code *x = *(struct bench_code *const *)a;
	const struct bench_code *y = *(struct bench_code *const *)b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Map a version of a page. Each version is a separate page. */
static void map(struct plan *p, const struct bench_code *c)
{
	if (dec_code_content(p->code, c->order + 1, c->bytes) ||
	    dec_code_map(p->code, c->space, c->vaddr, c->order + 1))
		abort();
}

static void on_limit(void *context)
{
	struct plan *p = context;

	for (; p->mapped < p->in->ncode; p->mapped++) {
		const struct bench_code *c = p->timed[p->mapped];

		if (c->first)
			continue;
		if (c->insns > p->flow.insns)
			break;
		map(p, c);
	}
	p->flow.limit = p->mapped < p->in->ncode ? p->timed[p->mapped]->insns : UINT64_MAX;
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct plan *p = context;

	if (e->kind == VPTD_EVENT_ERROR && !p->errors++)
		fprintf(stderr, "bench: %s: byte %#" PRIx64 ", ip %#" PRIx64 ": %s\n", p->in->name,
			e->offset, e->ip, vptd_status_text((enum vptd_status)e->value));
}

static uint64_t space_of(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	const struct plan *p = context;

	(void)nr;
	(void)vmcs;
	return cr3 & p->in->spaces;
}

/* Decode packet by packet. Code that a packet leads to gets the offset of the packet. */
static void decode(struct plan *p)
{
	struct bench_input *in = p->in;
	struct vpt_parser parser = {0};
	size_t at, n;

	for (at = 0; at < in->len; at += n) {
		struct vpt_packet packet;

		n = 1;
		if (!vpt_packet_read(&parser, in->stream + at, in->len - at, &packet))
			n = packet.size;
		dec_pt_push(&p->pt, in->stream + at, n);
		dec_pt_catch_up(&p->pt);
		for (; p->placed < in->ncode && p->timed[p->placed]->insns <= p->flow.insns;
		     p->placed++)
			p->timed[p->placed]->offset = at;
	}
	dec_pt_finish(&p->pt);
	for (; p->placed < in->ncode; p->placed++)
		p->timed[p->placed]->offset = in->len;
}

int bench_input_plan(struct bench_input *in)
{
	static const struct dec_flow_ops flow_ops = {.limit = on_limit};
	static const struct dec_pt_ops ops = {.event = on_event, .space = space_of};
	const struct dec_pt_config config = {.no_retc = in->ctl & VPT_CTL_MASK(DIS_RETC),
					     .event_en = in->ctl & VPT_CTL_MASK(EVENT_EN)};
	struct plan *p = calloc(1, sizeof(*p));
	size_t i;
	int err;

	if (!p)
		abort();
	p->in = in;
	p->code = dec_code_new();
	p->timed = calloc(in->ncode + 1, sizeof(struct bench_code *));
	if (!p->code || !p->timed)
		abort();
	for (i = 0; i < in->ncode; i++) {
		p->timed[i] = &in->code[i];
		if (in->code[i].first)
			map(p, &in->code[i]);
	}
	qsort(p->timed, in->ncode, sizeof(*p->timed), by_time);
	dec_flow_init(&p->flow, p->code, &flow_ops, p);
	on_limit(p);
	dec_pt_init(&p->pt, &p->flow, &config, &ops, p);
	if (dec_code_select(p->code, in->space))
		abort();
	decode(p);
	in->insns = p->flow.insns;
	err = p->errors ? -1 : 0;
	free(p->timed);
	dec_code_free(p->code);
	free(p);
	return err;
}
