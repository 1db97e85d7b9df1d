/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execution flow of one vCPU, from a trace file: an iterator over items.
 *
 * libvptdecode makes the items of Intel PT and of RTIT (pt_flow.h). vmm/judge makes those of Intel
 * PT with libipt, for comparison.
 *
 * Decoding starts anew at every SEGMENT, and instructions before it may be missing. Errors are
 * items. Decoding resumes at the next PSB.
 */
#ifndef VMM_DECODE_FLOW_H
#define VMM_DECODE_FLOW_H

#include "decode/item.h"
#include "decode/segment.h"
#include "decode/tally.h"

struct decode_flow;
struct decode_code_store;

/*
 * The unit of items. COUNTS leaves out the INSN and BLOCK items that decode_flow_counts() covers.
 */
enum decode_flow_unit { DECODE_FLOW_INSNS, DECODE_FLOW_BLOCKS, DECODE_FLOW_COUNTS };

/* Open a flow. The reader must outlive it. Returns 0 or -errno. */
int decode_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		     struct decode_flow **flow);
void decode_flow_close(struct decode_flow *flow);
/* Compute the time of each item. Call this function before the first item. */
void decode_flow_keep_time(struct decode_flow *flow);
/*
 * Allow PARTS items in a flow of BLOCKS. Call this function before the first item, and after
 * decode_flow_keep_time(). All runs of an item then have one time, that of `when.tsc`, and its
 * bounds and cycles are those of any of the runs. @function returns the first address of the
 * function at an address, or DECODE_NO_FUNCTION. Returns 0 or -ENOMEM. After an error the flow can
 * only be closed.
 */
typedef uint64_t decode_flow_function(void *context, uint64_t ip);
int decode_flow_merge(struct decode_flow *flow, decode_flow_function *function, void *context);
/* Get the counts of all segments that have ended. The last segment ends with END. */
void decode_flow_time_sum(const struct decode_flow *flow, struct decode_timeline_sum *sum);

/*
 * Add all instructions that ran, except for those of BLOCK items. Call this function after END. All
 * counts are 0 unless the unit is COUNTS. Returns 0, or -ENOMEM, after which the tally is unusable.
 */
struct decode_flow_sum {
	uint64_t insns, blocks;
};

int decode_flow_counts(struct decode_flow *flow, struct decode_tally *tally,
		       struct decode_flow_sum *sum);

/*
 * Report blocks as items instead of counting them, from the offset @at of the stream on. The item
 * of a block that is open there has the rest of it. Call this function before the first item of a
 * flow of COUNTS. Returns false if the flow does not count, and all its instructions are items.
 */
bool decode_flow_items_from(struct decode_flow *flow, uint64_t at);

/*
 * Count the outcomes and targets of branches too. Call this function before the first item of a
 * flow of COUNTS. Returns false if the flow does not count, and all its instructions are items.
 */
bool decode_flow_count_branches(struct decode_flow *flow);

/* How execution left a branch. TARGET is a RET, an indirect branch or a far transfer. */
enum decode_flow_way { DECODE_WAY_NOT_TAKEN, DECODE_WAY_TAKEN, DECODE_WAY_TARGET };

/* Callbacks return 0, or -errno to end the visit. */
struct decode_flow_visitor {
	/* Instructions that ran in sequence. Blocks at one address can occur more than once. */
	int (*block)(void *context, const struct decode_block_count *block, unsigned int mode);
	/* @count times the branch at @ip led to @to. */
	int (*branch)(void *context, uint64_t ip, uint64_t to, enum decode_flow_way way,
		      uint64_t count);
	void *context;
};

/*
 * Visit all counts once, in place of decode_flow_counts(), after decode_flow_count_branches(). Call
 * this function after END. Returns 0 or -errno.
 */
int decode_flow_visit_counts(struct decode_flow *flow, const struct decode_flow_visitor *visitor);

/* Get the next item. Returns 0 or -errno. After END, every further item is END. */
int decode_flow_next(struct decode_flow *flow, struct decode_item *item);

/* A sequence of instructions in a flow of INSNS, which follow each other by falling through. */
struct decode_flow_run {
	uint64_t ip;	     /* the IP of the first instruction */
	uint64_t cr3;	     /* as in an item */
	uint64_t offset;     /* as in an item */
	const uint8_t *lens; /* the lengths of the instructions, valid during the call */
	uint32_t count;	     /* the number of instructions, at least 1 */
	/*
	 * Runs with the same block and count are equal, except for `cr3`. DECODE_RUN_PART if the
	 * block is not known.
	 */
	uint32_t block;
	uint32_t session; /* as in an item */
	uint8_t mode;	  /* as in an item */
};
#define DECODE_RUN_PART UINT32_MAX

/*
 * Callbacks that compare runs. take() returns the number of instructions of a run that it accepts.
 */
struct decode_flow_takers {
	uint32_t (*take)(void *context, const struct decode_flow_run *run);
	/*
	 * begin() and end() enclose runs that follow each other. end() returns a mark of these
	 * runs, or 0. If @whole is not set, end() forgets the runs since begin(). The same runs may
	 * occur again. Then again() is called with their mark, and returns true if it accepts all
	 * of them.
	 */
	void (*begin)(void *context); /* NULL, like the others, if runs are passed one by one */
	uint64_t (*end)(void *context, bool whole);
	bool (*again)(void *context, uint64_t mark, uint32_t insns, uint64_t offset);
};

/*
 * Call takers->take() for each run that follows. It returns the number of instructions that it
 * accepts, and decode_flow_next() reports the others. The calls end when take() accepts less than a
 * whole run. They also end before an item that is not INSN, and before code changes. A flow of
 * libipt makes no calls. Returns 0 or -errno.
 */
int decode_flow_runs(struct decode_flow *flow, const struct decode_flow_takers *takers,
		     void *context);

/*
 * Follow a file that grows. Call decode_flow_grow() before the first item. Where the
 * file ends so far, decode_flow_next() returns -EAGAIN.
 *
 * Call decode_flow_more() after
 * trace_reader_more(), and then decode_flow_next() again. After trace_reader_finish(), call it with
 * @whole. The flow then ends with the file.
 *
 * The items are those of the whole file. If later blocks show that an earlier item is not,
 * decode_flow_more() returns -ESTALE. If no item is certain before the file ends,
 * decode_flow_grow() returns -ENOTSUP. After any error the flow can only be closed. Do not call
 * decode_flow_runs() and decode_flow_keep_time().
 */
int decode_flow_grow(struct decode_flow *flow);
int decode_flow_more(struct decode_flow *flow, bool whole);

/*
 * Return the segment of the current item. A SEGMENT item has ip 0, and its value is the number of
 * bytes before a PSB that cannot be decoded.
 */
const struct decode_segment *decode_flow_segment(const struct decode_flow *flow);

/* Return the code as of the last item. */
const struct decode_code_store *decode_flow_code(const struct decode_flow *flow);

#endif /* VMM_DECODE_FLOW_H */
