/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan of shards: consecutive parts of a vCPU's stream that can be decoded apart from each other.
 *
 * A shard begins at the begin of a segment, or at a PSB whose PSB+ has the whole state of the decoder
 * (33.3.7). This is a FUP, MODE.Exec, and a PIP unless the file has the address spaces. In a trace of
 * a host and its guests it has the VMCS, too. A plan is
 * only a proposal. The state at the end of each shard proves that the next shard began right.
 */
#ifndef VMM_DECODE_SHARD_PLAN_H
#define VMM_DECODE_SHARD_PLAN_H

#include "decode/code.h"
#include "decode/segment.h"
#include "trace/reader.h"

/* A place at which a decoder can start. */
struct decode_cut {
	size_t segment; /* the index of the segment; the number of segments at the end */
	size_t session; /* the session of the PSB */
	bool begins;	/* the segment begins here; otherwise a PSB is here */
	uint64_t psb;	/* the stream offset of the PSB or of the segment */
	uint64_t end;	/* the stream offset after PSBEND; equal to `psb` if `begins` is set */
};

/* The instruction counter at the begin of a shard, which selects versions of code. */
enum decode_shard_counter {
	DECODE_SHARD_UNUSED, /* nothing depends on the counter */
	DECODE_SHARD_KNOWN,  /* the file has it: `insns` */
	DECODE_SHARD_FREE,   /* not known, but no code should change in the shard */
	DECODE_SHARD_AFTER,  /* not known before all earlier shards were decoded */
	DECODE_SHARD_EXACT,  /* `insns`, if the plan is right */
	DECODE_SHARD_COUNTERS
};

struct decode_shard {
	struct decode_cut from, to;
	enum decode_shard_counter counter;
	uint64_t insns; /* FREE: the counter of the last change before the shard, or 0 */
	/* How many CR3 blocks were used before the shard, if the plan is right (pt_shard.h). */
	size_t next_cr3, next_resumed;
};

struct decode_shard_plan {
	struct decode_shard *at;
	size_t n;
};

struct decode_shard_input {
	struct trace_reader *reader; /* loads the bytes that are searched for a PSB */
	unsigned int vcpu;
	const struct decode_segment *segments;
	size_t nsegments;
	const struct trace_period *periods;
	const uint8_t *stream;
	const struct decode_code_store *code;
	bool switches;	 /* the file has SWITCH blocks */
	bool cr3s;	 /* the file has CR3 blocks */
	bool exact;	 /* the counter must be known in each shard */
	bool vmcs;	 /* the file has VMCS blocks: a PSB+ must have the VMCS, too */
	bool resumes;	 /* a CR3 block gives the counter after an overflow */
	uint64_t bytes;	 /* the minimum size of a shard */
	uint64_t near;	 /* no code changes farther from a shard than these bytes */
	uint32_t random; /* not 0: the seed of random sizes up to 4 times `bytes` */
};

/*
 * Make a plan. The list is from malloc(). Returns 0, -EBADMSG if the file is damaged where it is
 * searched, or -errno.
 */
int decode_shard_plan(const struct decode_shard_input *in, struct decode_shard_plan *plan);

/* Returns true if the stream is loaded at @cut, and @cut, from a file, is a place that decode_shard_plan() could choose. */
bool decode_cut_is_right(const struct decode_shard_input *in, const struct decode_cut *cut);

#endif /* VMM_DECODE_SHARD_PLAN_H */
