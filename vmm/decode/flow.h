/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execution flow of one vCPU, from a trace file: an iterator over items.
 *
 * libvptdecode makes the items of Intel PT and of RTIT (pt_flow.h). vmm/judge makes those of Intel
 * PT with libipt, to compare with.
 *
 * Every SEGMENT is a fresh start: between it and what came before, instructions
 * may be missing. Errors are items; decoding goes on at the next PSB.
 */
#ifndef VMM_DECODE_FLOW_H
#define VMM_DECODE_FLOW_H

#include "decode/item.h"
#include "decode/segment.h"
#include "decode/tally.h"

struct decode_flow;
struct decode_code_store;

/* COUNTS: without INSN and BLOCK items, as far as decode_flow_counts() has what they would tell. */
enum decode_flow_unit { DECODE_FLOW_INSNS, DECODE_FLOW_BLOCKS, DECODE_FLOW_COUNTS };

/* 0 or -errno. The reader outlives the flow. */
int decode_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		     struct decode_flow **flow);
void decode_flow_close(struct decode_flow *flow);
/* Compute the time of each item. Call this function before the first item. */
void decode_flow_keep_time(struct decode_flow *flow);
/*
 * Before the first item of a flow of BLOCKS: allow PARTS items in their place. @function returns the
 * first address of the function at an address, or DECODE_NO_FUNCTION. Returns 0 or -ENOMEM, after
 * which the flow can only be closed.
 */
typedef uint64_t decode_flow_function(void *context, uint64_t ip);
int decode_flow_merge(struct decode_flow *flow, decode_flow_function *function, void *context);
/* The counts of all segments that have ended, of which the last one does with END. */
void decode_flow_time_sum(const struct decode_flow *flow, struct decode_timeline_sum *sum);

/*
 * After END: add what ran, but for that of the BLOCK items that there were. All 0 unless the unit is
 * COUNTS. Returns 0, or -ENOMEM, after which the tally is of no use.
 */
struct decode_flow_sum {
	uint64_t insns, blocks;
};

int decode_flow_counts(struct decode_flow *flow, struct decode_tally *tally,
		       struct decode_flow_sum *sum);

/* 0 and the next item, or -errno; after END always END. */
int decode_flow_next(struct decode_flow *flow, struct decode_item *item);

/* Instructions of a flow of INSNS that follow each other by falling through. */
struct decode_flow_run {
	uint64_t ip;	     /* of the first instruction */
	uint64_t cr3;	     /* as in an item */
	uint64_t offset;     /* as in an item */
	const uint8_t *lens; /* of the instructions; valid during the call */
	uint32_t count;	     /* of instructions, at least 1 */
	/* Runs of one block and count are equal, but for `cr3`. DECODE_RUN_PART: not known. */
	uint32_t block;
	uint8_t mode; /* as in an item */
};
#define DECODE_RUN_PART UINT32_MAX

/* Callbacks that compare runs. take() returns how many instructions of a run it takes. */
struct decode_flow_takers {
	uint32_t (*take)(void *context, const struct decode_flow_run *run);
	/*
	 * Runs that follow each other come between begin() and end(). end() returns a mark of these
	 * runs, or 0. If @whole is not set, end() forgets the runs since begin(). The same runs may
	 * come again: again() is called with their mark then, and returns true if it takes all of
	 * them.
	 */
	void (*begin)(void *context); /* NULL, as the others: runs come one by one */
	uint64_t (*end)(void *context, bool whole);
	bool (*again)(void *context, uint64_t mark, uint32_t insns, uint64_t offset);
};

/*
 * Call takers->take() for each run that comes next. It returns how many instructions of the run it
 * takes; decode_flow_next() reports the others. Calls end when it takes less than all, before an item that
 * is no INSN, and before code changes. A flow of libipt makes no calls. Returns 0 or -errno.
 */
int decode_flow_runs(struct decode_flow *flow, const struct decode_flow_takers *takers,
		     void *context);

/*
 * The segment that items are of. For a SEGMENT item, its ip is 0 and its value is
 * the number of bytes that cannot be decoded because they come before a PSB.
 */
const struct decode_segment *decode_flow_segment(const struct decode_flow *flow);

/* The code as it is at the item that came last. */
const struct decode_code_store *decode_flow_code(const struct decode_flow *flow);

#endif /* VMM_DECODE_FLOW_H */
