/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What makes a flow: libvptdecode (pt_flow.h) or libipt (ipt_flow.h). Each begins with vpt_flow. */
#ifndef VMM_DECODE_FLOW_OPS_H
#define VMM_DECODE_FLOW_OPS_H

#include "flow.h"

struct vpt_flow {
	const struct vpt_flow_ops *ops;
};

/* As the functions of flow.h; close() is called for a flow that is only partly made, too. */
struct vpt_flow_ops {
	void (*close)(struct vpt_flow *flow);
	void (*keep_time)(struct vpt_flow *flow);
	void (*time_sum)(const struct vpt_flow *flow, struct vpt_timeline_sum *sum);
	/* NULL: nothing is merged. */
	int (*merge)(struct vpt_flow *flow, vpt_flow_function *function, void *context);
	/* NULL: nothing is counted. */
	int (*counts)(struct vpt_flow *flow, struct vpt_tally *tally, struct vpt_flow_sum *sum);
	int (*next)(struct vpt_flow *flow, struct vpt_item *item);
	/* NULL: no run is offered. */
	int (*runs)(struct vpt_flow *flow, const struct vpt_flow_takers *takers, void *context);
	const struct vpt_segment *(*segment)(const struct vpt_flow *flow);
	const struct vpt_code_store *(*code)(const struct vpt_flow *flow);
};

int vpt_pt_flow_open(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		     struct vpt_flow **flow);

#endif /* VMM_DECODE_FLOW_OPS_H */
