/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Follow execution through blocks of code by outcomes of conditional branches, targets and
 * addresses. The flow does not depend on packets: Intel PT and RTIT share it.
 *
 * The position is the next instruction to run. Outcomes are queued and used when the caller needs
 * the position, or when the queue fills.
 */
#ifndef VMM_LIBDECODE_FLOW_H
#define VMM_LIBDECODE_FLOW_H

#include "vpt/base.h"

#include "libdecode/code.h"
#include "libdecode/vptdecode.h"

/* The depth of the return stack: a power of two, and at least 64 (33.4.2.2). */
#define DEC_STACK 1024u

struct dec_flow;

/* Complete blocks that run in sequence (tracelet.h). */
struct dec_walk {
	const uint32_t *path; /* ids of the blocks, shifted left by one */
	uint32_t steps;	      /* the number of blocks */
	uint32_t insns;	      /* the number of instructions in all blocks */
	uint64_t *mark;	      /* 0 in a new walk; reserved for the callback */
};

struct dec_flow_ops {
	/* Called after @count instructions of @block ran, from number @first on. */
	void (*run)(void *context, const struct dec_block *block, unsigned int first,
		    unsigned int count);
	/*
	 * Called when the instruction counter has reached the limit, to change the code and set the
	 * next limit.
	 */
	void (*limit)(void *context);
	/*
	 * Optional. Called if there is no code at @ip, the position. May add code or select another
	 * address space. Returns true if there is code now.
	 */
	bool (*hole)(void *context, uint64_t ip);
	/*
	 * Optional. Called before a walk of tracelets with counts. Returns true if the walk is to
	 * run. run() is not called for it, and the walk is not counted. After false, the next block
	 * runs alone.
	 */
	bool (*walk)(void *context, const struct dec_walk *walk);
};

struct dec_tracelets;
struct dec_edges;
struct dec_runs;

struct dec_flow {
	struct dec_code *code;
	const uint32_t *views;
	const struct dec_flow_ops *ops;
	void *context;
	struct dec_tracelets *tracelets; /* NULL: the flow runs block by block */
	struct dec_edges *edges;	 /* the counts of indirect branches; NULL: not counted */
	struct dec_runs
		*walked; /* the counts of blocks in tracelets and strides; NULL: not counted */
	struct dec_block *cur;
	uint32_t index;	    /* the number of instructions of @cur that have run */
	uint32_t weight;    /* the count of an execution outside of tracelets: 1, or 0 for none */
	uint8_t mode;	    /* the mode of code: 16, 32 or 64 */
	bool has_retc;	    /* RETs can be compressed */
	bool pops;	    /* a RET with a target also pops an entry */
	bool last_call;	    /* RTIT: a compressed RET leaves its return address on the stack */
	uint64_t ip;	    /* the position */
	uint64_t insns;	    /* the number of instructions so far */
	uint64_t limit;	    /* see dec_flow_ops */
	uint64_t bits;	    /* outcomes, the oldest in bit 63 */
	unsigned int nbits; /* the number of outcomes in `bits` */
	uint32_t top, depth;
	uint64_t stack[DEC_STACK];
};

/* Set up a flow without a position. @ops may be NULL. */
void dec_flow_init(struct dec_flow *f, struct dec_code *code, const struct dec_flow_ops *ops,
		   void *context);

/* Discard outcomes, the position and the return stack. */
void dec_flow_stop(struct dec_flow *f);
static inline void dec_flow_clear_stack(struct dec_flow *f)
{
	f->depth = 0;
}

/*
 * State to detect a circle of direct branches. Without outcomes the current block determines the
 * next block, so a block that repeats once repeats forever. Zero-initialise it before a search and
 * after each used outcome.
 */
struct dec_circle {
	const struct dec_block *mark;
	uint32_t steps;
};

/* The maximum number of blocks in a search whose code changes, where a block may repeat. */
#define DEC_STEPS_MAX (1u << 20)

/*
 * Call this function once for each block @at that a search passes. Returns true if the block is in
 * a circle. The search passes at most three times as many blocks as the circle and the way to it
 * contain.
 */
static inline bool dec_flow_circles(const struct dec_flow *f, const struct dec_block *at,
				    struct dec_circle *circle)
{
	if (at == circle->mark && f->limit == UINT64_MAX)
		return true;
	/* Brent's method: the distances between marks double. */
	if (!(circle->steps & (circle->steps - 1)))
		circle->mark = at;
	return ++circle->steps == DEC_STEPS_MAX;
}

/* Continue at @ip, in the present mode. */
enum vptd_status dec_flow_jump(struct dec_flow *f, uint64_t ip);

/* Use all outcomes. Returns OK, STUCK at an instruction that needs a target, or an error. */
enum vptd_status dec_flow_drain(struct dec_flow *f);

/*
 * Run the rest of the current block, and follow the branch at its end. A branch that needs an
 * outcome uses the oldest one, which must exist. Returns STUCK, and runs nothing, if the branch
 * needs a target. Where code changes within the block, only the part before the change runs.
 */
enum vptd_status dec_flow_block(struct dec_flow *f);

/*
 * Run instructions of the current block up to that at @ip, or until @insns have run since the
 * counter was 0, but never its last one. Sets *there if execution has reached @ip or @insns.
 * Otherwise the position is the last instruction of its block, and code is current there.
 */
enum vptd_status dec_flow_advance(struct dec_flow *f, uint64_t ip, uint64_t insns, bool *there);

/* Append @n outcomes, the oldest in bit n - 1. @n is 1 to 47. */
static inline enum vptd_status dec_flow_outcomes(struct dec_flow *f, uint64_t bits, unsigned int n)
{
	if (f->nbits + n > 64) {
		enum vptd_status status = dec_flow_drain(f);

		if (status > VPTD_STUCK)
			return status;
		if (f->nbits + n > 64)
			return VPTD_E_NO_TARGET;
	}
	f->bits |= bits << (64 - n - f->nbits);
	f->nbits += n;
	return VPTD_OK;
}

/*
 * Run up to and including the next branch that needs a target. All usable outcomes must have been
 * used. Sets *by to the block that ends with the branch. dec_flow_enter() must follow.
 */
enum vptd_status dec_flow_branch(struct dec_flow *f, struct dec_block **by);

/* Count an edge from the branch at the end of @by to @ip, and continue at @ip. */
enum vptd_status dec_flow_enter(struct dec_flow *f, struct dec_block *by, uint64_t ip);

/*
 * Bind a TIP that belongs to nothing else: dec_flow_drain(), dec_flow_branch() and
 * dec_flow_enter().
 */
enum vptd_status dec_flow_target(struct dec_flow *f, uint64_t ip);

/*
 * Run up to @ip without using an outcome or a target. Sets *entered if the last instruction was a
 * VM entry and @ip is the address after it (table 33-56, row 9).
 */
enum vptd_status dec_flow_goto(struct dec_flow *f, uint64_t ip, bool *entered);

/*
 * Returns a copy of the flow for searches, for example by dec_flow_seek(). Instructions that it
 * runs are neither reported nor counted, and the code does not change.
 */
struct dec_flow dec_flow_probe(const struct dec_flow *f);

/* Returns true if dec_flow_goto() would reach @ip. Runs nothing. */
bool dec_flow_reaches(struct dec_flow *f, uint64_t ip);

/* Returns true if the position is the last instruction of its block. */
static inline bool dec_flow_at_end(const struct dec_flow *f)
{
	return f->index + 1 == f->cur->insns;
}

/*
 * Run to the first block whose end is one of @ends (a mask of 1 << enum dec_end), but not its last
 * instruction. Sets *found to that block, in which no code changes up to its end. COND, RET,
 * indirect and far ends always stop the search. Returns NO_OUTCOME or NO_TARGET if they are not in
 * @ends.
 */
enum vptd_status dec_flow_seek(struct dec_flow *f, uint32_t ends, struct dec_block **found);

/* Returns VPTD_OK, or the error if a packet must provide the successor of this block. */
static inline enum vptd_status dec_flow_lacks(const struct dec_block *block)
{
	switch ((enum dec_end)block->end) {
	case DEC_END_COND:
		return VPTD_E_NO_OUTCOME;
	case DEC_END_RET:
	case DEC_END_JUMP_IND:
	case DEC_END_CALL_IND:
	case DEC_END_FAR:
		return VPTD_E_NO_TARGET;
	default:
		return VPTD_OK;
	}
}

/* Run the rest of the current block, and continue after it or at its direct target. */
enum vptd_status dec_flow_through(struct dec_flow *f, unsigned int which);

/* Run the rest of the current block. There is no position until dec_flow_jump(). */
enum vptd_status dec_flow_finish(struct dec_flow *f);

/* Returns the block that a link leads to, or NULL if there is no memory. */
static inline struct dec_block *dec_flow_link(struct dec_flow *f, struct dec_block *block,
					      unsigned int which)
{
	return vpt_likely(block->view[which] == f->views[block->of_all[which]])
		       ? block->to[which]
		       : dec_code_link(f->code, block, which);
}

static inline void dec_flow_push(struct dec_flow *f, uint64_t ip)
{
	f->stack[f->top++ % DEC_STACK] = ip;
	if (f->depth < DEC_STACK)
		f->depth++;
}

/* Returns true if the CALL at the end of this block counts for compressed RETs. */
static inline bool dec_flow_pushes(const struct dec_flow *f, const struct dec_block *block)
{
	return block->end == DEC_END_CALL ||
	       (vpt_unlikely(f->last_call) && block->end == DEC_END_JUMP &&
		block->insn_kind == DEC_INSN_CALL);
}

/* Returns true if the topmost @n addresses of the stack are those at @at, the topmost first. */
static inline bool dec_flow_has_on_top(const struct dec_flow *f, const uint64_t *at, unsigned int n)
{
	unsigned int i;

	if (f->depth < n)
		return false;
	for (i = 0; i < n; i++) {
		if (at[i] != f->stack[(f->top - 1 - i) % DEC_STACK])
			return false;
	}
	return true;
}

/* Returns true if no path of this view is used again. @of_all is an index into views[]. */
static inline bool dec_flow_is_past(const struct dec_flow *f, uint32_t view, bool of_all)
{
	return view != f->views[of_all] && (of_all || view <= dec_code_past(f->code));
}

/* Returns false if the stack is empty. */
static inline bool dec_flow_pop(struct dec_flow *f, uint64_t *ip)
{
	if (!f->depth)
		return false;
	f->depth--;
	*ip = f->stack[--f->top % DEC_STACK];
	return true;
}

#endif /* VMM_LIBDECODE_FLOW_H */
