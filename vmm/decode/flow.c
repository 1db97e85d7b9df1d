// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"

#include "flow_ops.h"

const char *vpt_flow_event_text(enum vpt_flow_event event)
{
#define VPT_FLOW(name, text) text,
	static const char *const texts[] = {VPT_FLOW_EVENTS(VPT_FLOW)};
#undef VPT_FLOW
	return event < VPT_FLOW_COUNT ? texts[event] : "?";
}

int vpt_flow_open(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		  struct vpt_flow **flow)
{
	return vpt_pt_flow_open(reader, vcpu, unit, flow);
}

void vpt_flow_close(struct vpt_flow *flow)
{
	if (flow)
		flow->ops->close(flow);
}

void vpt_flow_keep_time(struct vpt_flow *flow)
{
	flow->ops->keep_time(flow);
}

void vpt_flow_time_sum(const struct vpt_flow *flow, struct vpt_timeline_sum *sum)
{
	flow->ops->time_sum(flow, sum);
}

int vpt_flow_merge(struct vpt_flow *flow, vpt_flow_function *function, void *context)
{
	return flow->ops->merge ? flow->ops->merge(flow, function, context) : 0;
}

int vpt_flow_counts(struct vpt_flow *flow, struct vpt_tally *tally, struct vpt_flow_sum *sum)
{
	*sum = (struct vpt_flow_sum){0, 0};
	return flow->ops->counts ? flow->ops->counts(flow, tally, sum) : 0;
}

int vpt_flow_next(struct vpt_flow *flow, struct vpt_item *item)
{
	return flow->ops->next(flow, item);
}

int vpt_flow_runs(struct vpt_flow *flow, const struct vpt_flow_takers *takers, void *context)
{
	return flow->ops->runs ? flow->ops->runs(flow, takers, context) : 0;
}

const struct vpt_segment *vpt_flow_segment(const struct vpt_flow *flow)
{
	return flow->ops->segment(flow);
}

const struct vpt_code_store *vpt_flow_code(const struct vpt_flow *flow)
{
	return flow->ops->code(flow);
}
