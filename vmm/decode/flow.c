// SPDX-License-Identifier: GPL-2.0-or-later
/* Call the flow of the opened decoder. */
#include "decode/flow.h"

#include <errno.h>

#include "decode/flow_ops.h"

int decode_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		     struct decode_flow **flow)
{
	return decode_pt_flow_open(reader, vcpu, unit, flow);
}

void decode_flow_close(struct decode_flow *flow)
{
	if (flow)
		flow->ops->close(flow);
}

void decode_flow_keep_time(struct decode_flow *flow)
{
	flow->timed = true;
}

void decode_flow_time_sum(const struct decode_flow *flow, struct decode_timeline_sum *sum)
{
	*sum = flow->sum;
}

int decode_flow_merge(struct decode_flow *flow, decode_flow_function *function, void *context)
{
	return flow->ops->merge ? flow->ops->merge(flow, function, context) : 0;
}

int decode_flow_counts(struct decode_flow *flow, struct decode_tally *tally,
		       struct decode_flow_sum *sum)
{
	*sum = (struct decode_flow_sum){0, 0};
	return flow->ops->counts ? flow->ops->counts(flow, tally, sum) : 0;
}

bool decode_flow_items_from(struct decode_flow *flow, uint64_t at)
{
	return flow->ops->items_from && flow->ops->items_from(flow, at);
}

bool decode_flow_count_branches(struct decode_flow *flow)
{
	return flow->ops->branches && flow->ops->branches(flow);
}

int decode_flow_visit_counts(struct decode_flow *flow, const struct decode_flow_visitor *visitor)
{
	return flow->ops->visit ? flow->ops->visit(flow, visitor) : 0;
}

int decode_flow_next(struct decode_flow *flow, struct decode_item *item)
{
	return flow->ops->next(flow, item);
}

int decode_flow_runs(struct decode_flow *flow, const struct decode_flow_takers *takers,
		     void *context)
{
	return flow->ops->runs ? flow->ops->runs(flow, takers, context) : 0;
}

int decode_flow_grow(struct decode_flow *flow)
{
	return flow->ops->grow ? flow->ops->grow(flow) : -ENOTSUP;
}

int decode_flow_more(struct decode_flow *flow, bool whole)
{
	return flow->ops->more(flow, whole);
}

const struct decode_segment *decode_flow_segment(const struct decode_flow *flow)
{
	return flow->ops->segment(flow);
}

const struct decode_code_store *decode_flow_code(const struct decode_flow *flow)
{
	return flow->ops->code(flow);
}
