/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of a flow, which libvptdecode (pt_flow.h) and libipt (ipt_flow.h) implement. Each
 * implementation begins with decode_flow.
 */
#ifndef VMM_DECODE_FLOW_OPS_H
#define VMM_DECODE_FLOW_OPS_H

#include "decode/flow.h"

struct decode_flow {
	const struct decode_flow_ops *ops;
	bool timed;			/* see decode_flow_keep_time() */
	struct decode_timeline_sum sum; /* the sum over all segments that have ended */
};

/* The functions of flow.h. close() is also called for an incomplete flow. */
struct decode_flow_ops {
	void (*close)(struct decode_flow *flow);
	/* NULL if the flow does not merge. */
	int (*merge)(struct decode_flow *flow, decode_flow_function *function, void *context);
	/* NULL if the flow does not count. */
	int (*counts)(struct decode_flow *flow, struct decode_tally *tally,
		      struct decode_flow_sum *sum);
	/* NULL if the flow does not count. */
	bool (*items_from)(struct decode_flow *flow, uint64_t at);
	/* NULL, like visit(), if the flow does not count branches. */
	bool (*branches)(struct decode_flow *flow);
	int (*visit)(struct decode_flow *flow, const struct decode_flow_visitor *visitor);
	int (*next)(struct decode_flow *flow, struct decode_item *item);
	/* NULL if the flow does not offer runs. */
	int (*runs)(struct decode_flow *flow, const struct decode_flow_takers *takers,
		    void *context);
	/* NULL, like more(), if the flow cannot follow a stream that grows. */
	int (*grow)(struct decode_flow *flow);
	int (*more)(struct decode_flow *flow, bool whole);
	const struct decode_segment *(*segment)(const struct decode_flow *flow);
	const struct decode_code_store *(*code)(const struct decode_flow *flow);
};

int decode_pt_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
			struct decode_flow **flow);

#endif /* VMM_DECODE_FLOW_OPS_H */
