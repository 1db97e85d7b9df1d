/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a tree of calls, for the files that build, print and join trees. */
#ifndef VMM_DECODE_CALLS_INSIDE_H
#define VMM_DECODE_CALLS_INSIDE_H

#include "decode/calls.h"
#include "decode/calls_piece.h"
#include "trace/vec.h"

/* Deeper calls are counted in the node of this depth, so that recursion ends. */
#define DECODE_CALLS_DEPTH 512

/* A handler may return to the end of its INT n, which has at most this length. */
#define DECODE_CALLS_INSN_MAX 15

#define DECODE_CALLS_ROOT 0

struct decode_call_node {
	uint32_t parent;
	uint32_t child, last_child, next; /* DECODE_CALLS_ROOT if there is none */
	uint32_t recent;		  /* the last entered child */
	uint32_t depth;
	uint64_t func; /* the first address of the function, or the address of its entry */
	uint64_t count;
	uint64_t insns; /* its own instructions, at the end including those of its callees */
	uint64_t ticks; /* the same for time */
	/* The number of calls that counting divided, because it began or ended while they ran. */
	uint32_t begun_before, not_ended;
};

struct decode_call_frame {
	uint64_t ret;
	uint64_t func; /* the function that called, also if it is deeper than its node */
	uint32_t node;
	bool event; /* `ret` is the IP of the event */
	bool below; /* the caller, too, is deeper than its node */
};

/* Counting began or ended, and the next block shows which calls this divided. */
enum decode_calls_edge { DECODE_CALLS_NO_EDGE, DECODE_CALLS_EDGE_BEGIN, DECODE_CALLS_EDGE_END };

struct decode_calls {
	const struct debug_symbols *symbols;
	const struct decode_pace *pace; /* NULL without time */
	const char *only;		/* the function of the printed trees, or NULL */
	struct {
		struct decode_call_node *at;
		size_t n, room;
	} nodes;
	struct {
		struct decode_call_frame *at;
		size_t n, room;
	} stack;
	uint64_t insns, ticks;
	struct decode_durations durations;
	const struct decode_calls_watch *watch; /* NULL if there is none */
	void *context;				/* of the watch */
	enum decode_calls_counts counts;
	enum decode_calls_edge edge;
	uint32_t now;
	uint32_t entered; /* the last entered node */
	bool cut;	  /* the watch has no span, because the flow is interrupted */
	bool below;	  /* execution is deeper than `now`, which has DECODE_CALLS_DEPTH */
	enum decode_calls_arrival arrival;
	uint64_t ret;  /* DECODE_BY_CALL, DECODE_BY_EVENT: the return address */
	uint64_t func; /* the current function; DECODE_NO_FUNCTION if it is not known */
	/* Of an open tree: DECODE_CALLS_ROOT stands for the unknown node at the begin of the piece. */
	struct decode_calls_pieces *open;
};

static inline bool decode_calls_returns_to(const struct decode_call_frame *frame, uint64_t ip)
{
	return ip == frame->ret || (frame->event && ip - frame->ret <= DECODE_CALLS_INSN_MAX);
}

/*
 * Returns true for a CALL of the next instruction, or of the one behind an INT3, where no function
 * begins. It reads RIP, or fills the return stack buffer, as the kernel does 32 times at each
 * change of its task.
 */
static inline bool decode_calls_nothing(const struct decode_calls *c, uint64_t ip, uint64_t func)
{
	return c->arrival == DECODE_BY_CALL && ip - c->ret <= 1 && ip != func;
}

/* calls_open.c: what an open tree cannot follow, because it depends on what came before. */

/* Returns true if the move to @ip depends on it. */
bool decode_calls_is_open_move(const struct decode_calls *c, uint64_t ip, uint64_t func);
/* End the piece, and begin one with @op. Returns false if there is no memory. */
bool decode_calls_begin_piece(struct decode_calls *c, enum decode_calls_op op, uint64_t ip,
			      uint64_t func);

/* calls.c: for decode_calls_join(). Functions return false if there is no memory. */

/* Execution reaches @ip, in the function @func or DECODE_NO_FUNCTION. */
bool decode_calls_reach(struct decode_calls *c, uint64_t ip, uint64_t func);
/* An event is at @ip. */
bool decode_calls_branch(struct decode_calls *c, uint64_t ip, uint64_t func);
/* Tracing was enabled. */
bool decode_calls_enabled(struct decode_calls *c);
/* Find or create the node of a function called by @parent. */
bool decode_calls_child(struct decode_calls *c, uint32_t parent, uint64_t func, uint32_t *child);

#endif /* VMM_DECODE_CALLS_INSIDE_H */
