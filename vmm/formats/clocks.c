// SPDX-License-Identifier: GPL-2.0-or-later
/* Relate the clocks of several vCPUs by the TSC. */
#include "formats/clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/cut.h"
#include "decode/flow.h"
#include "trace/vec.h"

/* With more times of a vCPU, every second one is dropped. */
#define POINTS_MAX ((size_t)1 << 20)

__extension__ typedef unsigned __int128 u128;

/* A known time: @clock instructions ran before. */
struct point {
	uint64_t clock, tsc;
};

struct points {
	struct point *at;
	size_t n, room;
	unsigned int every; /* one of so many times is kept */
	unsigned int skipped;
};

struct format_clocks {
	uint64_t hz, first;
	unsigned int n;
	struct points vcpu[];
};

/* Keep every second time. */
static void thin(struct points *p)
{
	size_t i;

	for (i = 0; 2 * i < p->n; i++)
		p->at[i] = p->at[2 * i];
	p->n = i;
	p->every *= 2;
}

/* Add a time. Neither clocks nor times decrease. Returns 0 or -ENOMEM. */
static int add(struct points *p, uint64_t clock, uint64_t tsc)
{
	struct point *last = p->n ? &p->at[p->n - 1] : NULL;

	if (last && tsc <= last->tsc)
		return 0;
	/* Time passed without instructions, such as a sleep. */
	if (last && clock == last->clock) {
		last->tsc = tsc;
		return 0;
	}
	if (last && ++p->skipped < p->every)
		return 0;
	p->skipped = 0;
	if (p->n == POINTS_MAX)
		thin(p);
	if (!trace_vec_room(p))
		return -ENOMEM;
	p->at[p->n++] = (struct point){clock, tsc};
	return 0;
}

static uint64_t no_function(void *context, uint64_t ip)
{
	(void)context;
	(void)ip;
	return DECODE_NO_FUNCTION;
}

/* Find the times of a vCPU. *related becomes false if it ran without TSC packets. */
static int find_points(struct trace_reader *reader, unsigned int vcpu, struct points *p,
		       bool *related)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	uint64_t clock = 0;
	int err = decode_flow_open(reader, vcpu, DECODE_FLOW_BLOCKS, &flow);

	if (err)
		return err;
	decode_flow_keep_time(flow);
	/* Another item begins where the time changes. */
	err = decode_flow_merge(flow, no_function, NULL);
	p->every = 1;
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		if (!err && item.kind != DECODE_ITEM_END && item.when.known && !item.when.relative)
			err = add(p, clock, item.when.tsc);
		clock += decode_cut_insns(&item);
	}
	decode_flow_close(flow);
	*related = p->n || !clock;
	return err;
}

int format_clocks_open(struct trace_reader *reader, struct format_clocks **clocks)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	struct format_clocks *c;
	bool related = info->vcpus > 1 && info->tsc_hz;
	unsigned int i;
	int err = 0;

	*clocks = NULL;
	if (!related)
		return 0;
	c = calloc(1, sizeof(*c) + info->vcpus * sizeof(c->vcpu[0]));
	if (!c)
		return -ENOMEM;
	c->hz = info->tsc_hz;
	c->first = UINT64_MAX;
	c->n = info->vcpus;
	for (i = 0; !err && related && i < c->n; i++) {
		err = find_points(reader, i, &c->vcpu[i], &related);
		if (c->vcpu[i].n && c->vcpu[i].at[0].tsc < c->first)
			c->first = c->vcpu[i].at[0].tsc;
	}
	if (!err && related)
		*clocks = c;
	else
		format_clocks_close(c);
	return err;
}

void format_clocks_close(struct format_clocks *c)
{
	unsigned int i;

	for (i = 0; c && i < c->n; i++)
		free(c->vcpu[i].at);
	free(c);
}

/* Interpolate the TSC at a clock. */
static uint64_t tsc_at(const struct points *p, uint64_t clock)
{
	const size_t before = trace_vec_before(p->at, p->n, e, e->clock <= clock);
	const struct point *from, *to;

	if (!before)
		return p->at[0].tsc;
	from = &p->at[before - 1];
	/* After the last known time an instruction takes a tick. */
	if (before == p->n)
		return from->tsc + (clock - from->clock);
	to = from + 1;
	return from->tsc + (uint64_t)((u128)(to->tsc - from->tsc) * (clock - from->clock) /
				      (to->clock - from->clock));
}

uint64_t format_clocks_ns(const struct format_clocks *c, unsigned int vcpu, uint64_t clock)
{
	const struct points *p = &c->vcpu[vcpu];

	if (!p->n)
		return 0;
	return (uint64_t)((u128)(tsc_at(p, clock) - c->first) * 1000000000 / c->hz);
}
