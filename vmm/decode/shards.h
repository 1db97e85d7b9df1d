/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flow that several threads decode. Its items are those of decode_flow_open(), in the same order.
 *
 * The stream is cut into shards (shard_plan.h), which the threads decode in any order. The state at
 * the begin of a shard comes from its PSB+. An item is returned once the state at the end of the
 * shard before has proved that state, back to the begin of the stream. Where a proof fails, the
 * flow decodes the rest of the stream alone, so that its items never depend on the plan.
 */
#ifndef VMM_DECODE_SHARDS_H
#define VMM_DECODE_SHARDS_H

#include "decode/calls.h"
#include "decode/flow.h"
#include "decode/listing.h"
#include "decode/shard_plan.h"
#include "decode/summary.h"

struct decode_shards_how {
	unsigned int jobs; /* the number of threads; 0 or 1: none */
	uint64_t bytes;	   /* the minimum size of a shard; 0: by the size of the stream */
	uint32_t random;   /* not 0: the seed of random sizes, for tests */
	bool eager;	   /* wait for the counter only in shards with changes of code, for tests */
	bool exact;	   /* decode_shards_plan(): find the counter of each shard */
	bool listing;	   /* the flow is for decode_shards_list() */
	uint64_t text;	   /* the maximum size of the listing of a shard; 0: a default */
};

/* All members are 0 if the flow has no threads. */
struct decode_shards_done {
	size_t shards, proved; /* the number of shards, and of those that were proved */
	size_t alone;  /* the number of shards that the consumer decoded for decode_shards_list() */
	uint64_t text; /* the most bytes for listings at a time */
};

/*
 * Open a flow like decode_flow_open(). The flow has no threads for units of INSNS without
 * @how->listing, and for RTIT. It has none if the file has address spaces, VMCS blocks or a source
 * of code.
 *
 * decode_flow_runs() must not be called, and decode_flow_code() is not the code of the last item. A
 * flow with times is not for decode_shards_calls() and decode_shards_list().
 */
int decode_shards_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       const struct decode_shards_how *how, struct decode_flow **flow);

/* Returns false if the flow has no threads. Call this function after END. */
bool decode_shards_done(const struct decode_flow *flow, struct decode_shards_done *done);

/*
 * Take all items of a flow into the tree of calls and the summary of @to, whose tree the caller
 * made. Threads that decode shards also build their trees. Call this function in place of
 * decode_flow_next(). Returns 0 or -errno.
 */
struct decode_shard_calls {
	struct decode_calls *tree;
	struct decode_summary sum;
};

int decode_shards_calls(struct decode_flow *flow, const struct debug_symbols *symbols,
			unsigned int vcpu, struct decode_shard_calls *to);

/*
 * Print the listing of all items, and count them. Threads that decode shards also list them. Call
 * this function in place of decode_flow_next(). The flow was opened with @how->listing, or it has
 * no threads. Its items must not have an address space. Returns 0 or -errno.
 */
struct decode_shards_listing {
	struct decode_listing *listing; /* its form, without times, and where it is printed */
	uint64_t left;			/* the number of items that may still be printed */
	struct decode_summary sum;
};

int decode_shards_list(struct decode_flow *flow, unsigned int vcpu,
		       struct decode_shards_listing *to);

/*
 * Make a plan of the shards of a vCPU, each of at least @how->bytes. Where code changes, the
 * counters at the begins of shards are found by @how->jobs threads that decode the vCPU. @plan has
 * no shard if the stream cannot be cut. The list is from malloc(). Returns 0 or -errno.
 */
int decode_shards_plan(struct trace_reader *reader, unsigned int vcpu,
		       const struct decode_shards_how *how, struct decode_shard_plan *plan);

#endif /* VMM_DECODE_SHARDS_H */
