/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of one or more consecutive shards of a vCPU's stream. Partial results are joined in any
 * grouping, and the result of all shards is that of the whole stream.
 *
 * A partial result has the state of the decoder at both of its ends, so that joining proves that one
 * continues the other (shard_plan.h).
 */
#ifndef VMM_DECODE_PARTIAL_H
#define VMM_DECODE_PARTIAL_H

#include "decode/calls.h"
#include "decode/pt_shard.h"
#include "decode/share.h"
#include "decode/space_parts.h"
#include "decode/summary.h"
#include "decode/tally.h"
#include "decode/tasks.h"
#include "decode/text_chunks.h"

enum decode_partial_kind {
	DECODE_PARTIAL_COUNTS, /* how often each block ran */
	DECODE_PARTIAL_CALLS,  /* the tree of calls */
	DECODE_PARTIAL_SPACES, /* the tree of calls of each address space */
	DECODE_PARTIAL_EDGES,  /* the blocks and changes of flow of each address space */
	DECODE_PARTIAL_INSNS,  /* a listing of all instructions and events */
	DECODE_PARTIAL_BLOCKS, /* a listing of all blocks and events */
	DECODE_PARTIAL_KINDS
};

/* Returns true if a flow for this kind is merged by functions, which needs symbols. */
static inline bool decode_partial_has_trees(enum decode_partial_kind kind)
{
	return kind == DECODE_PARTIAL_CALLS || kind == DECODE_PARTIAL_SPACES;
}

static inline bool decode_partial_is_listing(enum decode_partial_kind kind)
{
	return kind == DECODE_PARTIAL_INSNS || kind == DECODE_PARTIAL_BLOCKS;
}

/* Returns true if the result has names or source lines. */
static inline bool decode_partial_has_names(enum decode_partial_kind kind)
{
	return decode_partial_has_trees(kind) || decode_partial_is_listing(kind);
}

/* The words of an end: those of decode_pt_state_words(), and those of the consumers of items. */
#define DECODE_SHARES_AT     DECODE_STATE_WORDS
#define DECODE_TASKS_AT	     (DECODE_SHARES_AT + DECODE_SHARES_WORDS)
#define DECODE_PARTIAL_WORDS (DECODE_TASKS_AT + DECODE_TASKS_WORDS)

/* An end of a partial result. */
struct decode_partial_end {
	uint64_t words[DECODE_PARTIAL_WORDS];
	bool unfit; /* nothing can be joined here */
};

/*
 * The instruction counter, which selects versions of code. The counter at the begin must be from
 * @least to @most, or other versions would have been decoded.
 */
struct decode_partial_counter {
	uint64_t least, most;
	bool begins;  /* the file has the counter at the begin, whatever came before */
	bool known;   /* the counter at the end is known */
	uint64_t end; /* it; otherwise the number to add to the counter at the begin */
};

struct decode_partial {
	uint64_t plan; /* a number that identifies the plan */
	enum decode_partial_kind kind;
	unsigned int vcpu;
	uint32_t first, end; /* the shards of the plan, from @first to before @end */
	struct decode_partial_end ends[2];
	struct decode_partial_counter counter;
	struct decode_summary sum;
	struct decode_tally tally;	 /* COUNTS */
	struct decode_calls *calls;	 /* CALLS: open, and NULL in a result without items */
	struct decode_space_parts parts; /* SPACES, EDGES */
	struct decode_shares shares;	 /* COUNTS of a trace with address spaces */
	struct decode_text text;	 /* INSNS, BLOCKS: lines with marks (listing_join.h) */
};

/* Why two partial results cannot be joined. */
enum decode_partial_fit {
	DECODE_PARTIAL_FITS,
	DECODE_PARTIAL_FOREIGN, /* they are of different plans, kinds or vCPUs */
	DECODE_PARTIAL_GAP,	/* the second does not begin where the first ends */
	DECODE_PARTIAL_STATE,	/* the decoder did not continue with the state of the PSB+ */
	DECODE_PARTIAL_CODE,	/* the code changes within the second, or before it */
};

enum decode_partial_fit decode_partial_fits(const struct decode_partial *a,
					    const struct decode_partial *b);

/* Return the counter that both results would have together. @all may be empty: its end is 0. */
struct decode_partial_counter decode_partial_counter_after(const struct decode_partial *all,
							   const struct decode_partial *last);

/*
 * Append @b to @a, which it fits. @b is emptied. Returns 0, or -ENOMEM, after which both can only be
 * freed.
 */
int decode_partial_join(struct decode_partial *a, struct decode_partial *b);
void decode_partial_free(struct decode_partial *p);

#endif /* VMM_DECODE_PARTIAL_H */
