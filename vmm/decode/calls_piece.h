/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pieces of an open tree of calls: of a part of a trace whose callers are not known.
 *
 * Within a piece, nothing depends on what came before. Where something does, such as a RET without
 * its CALL, the piece ends. The next piece begins with this operation. decode_calls_join() repeats
 * the operations on the tree of the trace before, and adds the piece where they lead.
 */
#ifndef VMM_DECODE_CALLS_PIECE_H
#define VMM_DECODE_CALLS_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How execution reaches the next block. Values are stored in files. */
enum decode_calls_arrival {
	DECODE_BY_FALLING,
	DECODE_BY_CALL,
	DECODE_BY_EVENT,
	DECODE_BY_RETURN,
	DECODE_BY_FAR_RETURN,
	DECODE_BY_JUMP,
	DECODE_BY_RESUMING, /* after an interval that was not traced */
	DECODE_BY_STARTING, /* after an unknown transfer */
	DECODE_BY_UNKNOWN,  /* an open tree: as the trace before ended */
	DECODE_CALLS_ARRIVALS
};

/* The operation at the begin of a piece. Values are stored in files. */
enum decode_calls_op {
	DECODE_CALLS_CONTINUE, /* none: the first piece */
	DECODE_CALLS_REACH,    /* execution reaches @ip, in @func */
	DECODE_CALLS_BRANCH,   /* an event is at @ip, in @func */
	DECODE_CALLS_ENABLE,   /* tracing was enabled */
	DECODE_CALLS_OPS
};

struct decode_calls_piece {
	uint32_t op;	  /* enum decode_calls_op */
	uint32_t arrival; /* at its end: enum decode_calls_arrival */
	uint64_t ip, func;
	uint64_t ret;	 /* at its end, of @arrival */
	uint64_t ended;	 /* the function at its end, or DECODE_NO_FUNCTION */
	uint64_t insns;	 /* the number of instructions */
	uint32_t nodes;	 /* the number of its nodes, at least 1 */
	uint32_t frames; /* the number of its calls that have not ended */
	uint32_t now;	 /* the node at its end */
	uint32_t below;	 /* 1 if execution is deeper than that node, else 0 */
};

/* A node. Node 0 of a piece is where the operation leads. */
struct decode_calls_piece_node {
	uint64_t func, count, insns;
	uint32_t parent; /* a smaller index within the piece */
	uint32_t reserved;
};

/* A call that has not ended. The innermost is last. */
struct decode_calls_piece_frame {
	uint64_t ret;
	uint64_t func; /* the caller; DECODE_NO_FUNCTION: that of node 0, if it is not known */
	uint32_t node; /* the caller's node within the piece */
	uint32_t flags;
};

enum decode_calls_frame_flags {
	DECODE_CALLS_FRAME_EVENT = 1 << 0, /* an event; @ret is its IP */
	DECODE_CALLS_FRAME_BELOW = 1 << 1, /* the caller is deeper than its node */
};
#define DECODE_CALLS_FRAME_FLAGS 3u

/* The nodes and frames of piece i follow those of piece i-1. All zero when empty. */
struct decode_calls_pieces {
	struct {
		struct decode_calls_piece *at;
		size_t n, room;
	} pieces;
	struct {
		struct decode_calls_piece_node *at;
		size_t n, room;
	} nodes;
	struct {
		struct decode_calls_piece_frame *at;
		size_t n, room;
	} frames;
	/* The operation at the begin of the piece that has not ended. */
	enum decode_calls_op op;
	uint64_t ip, func;
};

#endif /* VMM_DECODE_CALLS_PIECE_H */
