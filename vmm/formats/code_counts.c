// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count blocks and branches. For a whole trace the decoder counts. For a part, the walk passes each
 * block and each change of flow.
 */
#include "formats/code_counts.h"

#include <errno.h>

#include "decode/shards.h"

static int visit_block(void *context, const struct decode_block_count *b, unsigned int mode)
{
	struct format_code_counts *c = context;

	return trace_pairs_count(&c->blocks, b->ip, (b->last - b->ip) << 8 | mode, b->count);
}

static int visit_branch(void *context, uint64_t ip, uint64_t to, enum decode_flow_way way,
			uint64_t count)
{
	struct format_code_counts *c = context;

	return way == DECODE_WAY_TARGET
		       ? trace_pairs_count(&c->targets, ip, to, count)
		       : trace_pairs_count(&c->ways, ip, way == DECODE_WAY_TAKEN, count);
}

/* Count a whole vCPU. Returns 1, 0 if its flow cannot count, or -errno. */
static int count_vcpu(const struct format_walk *walk, unsigned int vcpu,
		      struct format_code_counts *c)
{
	const struct decode_shards_how how = {.jobs = walk->jobs};
	const struct decode_flow_visitor visitor = {visit_block, visit_branch, c};
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err = decode_shards_open(walk->reader, vcpu, DECODE_FLOW_COUNTS, &how, &flow);
	bool counts;

	if (err)
		return err;
	counts = decode_flow_count_branches(flow);
	while (!err && counts && item.kind != DECODE_ITEM_END)
		err = decode_flow_next(flow, &item);
	if (!err && counts)
		err = decode_flow_visit_counts(flow, &visitor);
	decode_flow_close(flow);
	return err ? err : counts;
}

static int block(struct format_run *run, struct format_lane *lane, const struct format_block *b)
{
	struct format_code_counts *c = run->own;

	(void)lane;
	return trace_pairs_count(&c->blocks, b->ip, (b->last - b->ip) << 8 | b->mode, 1);
}

static int edge(struct format_run *run, struct format_lane *lane, const struct format_edge *e)
{
	struct format_code_counts *c = run->own;

	(void)lane;
	switch (e->kind) {
	case DECODE_EDGE_TAKEN:
	case DECODE_EDGE_NOT_TAKEN:
		return trace_pairs_count(&c->ways, e->from, e->kind == DECODE_EDGE_TAKEN, e->count);
	case DECODE_EDGE_EVENT:
		return 0;
	default:
		return trace_pairs_count(&c->targets, e->from, e->to, e->count);
	}
}

static const struct format_type type = {.name = "counts", .edge = edge, .block = block};

int format_code_counts_read(const struct format_walk *walk, struct format_code_counts *counts)
{
	const unsigned int vcpus = trace_reader_info(walk->reader)->vcpus;
	struct format_walk part = *walk;
	struct format_sum sum;
	unsigned int i;
	size_t k;
	int did = !walk->cut && !walk->wants;

	for (i = 0; did > 0 && i < vcpus; i++)
		if (!walk->one_vcpu || walk->vcpu == i)
			did = count_vcpu(walk, i, counts);
	if (!did) {
		part.type = &type;
		part.own = counts;
		did = format_walk(&part, &sum);
	}
	for (k = 0; k < counts->blocks.n; k++)
		if (counts->blocks.at[k].b >> 8 > counts->longest)
			counts->longest = counts->blocks.at[k].b >> 8;
	trace_pairs_sort(&counts->blocks);
	trace_pairs_sort(&counts->ways);
	trace_pairs_sort(&counts->targets);
	return did < 0 ? did : 0;
}

void format_code_counts_free(struct format_code_counts *counts)
{
	trace_pairs_free(&counts->blocks);
	trace_pairs_free(&counts->ways);
	trace_pairs_free(&counts->targets);
}
