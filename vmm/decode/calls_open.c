// SPDX-License-Identifier: GPL-2.0-or-later
/* The pieces of an open tree of calls: where a piece ends, because what follows depends on callers. */
#include "decode/calls_inside.h"

/* Returns true if the callers at the begin of the piece show where a RET leads. */
static bool is_open_return(const struct decode_calls *c, uint64_t ip, uint64_t func)
{
	size_t i;

	for (i = c->stack.n; i; i--) {
		const struct decode_call_frame *frame = &c->stack.at[i - 1];

		if (decode_calls_returns_to(frame, ip))
			return frame->node == DECODE_CALLS_ROOT && func != DECODE_NO_FUNCTION &&
			       func != frame->func;
	}
	return true;
}

/* Returns true if the callers show whether the function is still active. */
static bool is_open_resume(const struct decode_calls *c, uint64_t func)
{
	size_t i;

	if (c->now == DECODE_CALLS_ROOT && c->func == DECODE_NO_FUNCTION)
		return func != DECODE_NO_FUNCTION;
	if (c->func == func)
		return false;
	for (i = c->stack.n; i; i--) {
		const struct decode_call_frame *frame = &c->stack.at[i - 1];

		if (frame->func == func)
			return false;
		if (frame->node == DECODE_CALLS_ROOT && frame->func == DECODE_NO_FUNCTION)
			return true;
	}
	return true;
}

bool decode_calls_is_open_move(const struct decode_calls *c, uint64_t ip, uint64_t func)
{
	const bool known = func != DECODE_NO_FUNCTION;
	const bool open_jump = c->now == DECODE_CALLS_ROOT && known && func != c->func;

	if (decode_calls_nothing(c, ip, func))
		return open_jump;
	switch (c->arrival) {
	case DECODE_BY_UNKNOWN:
		return true;
	case DECODE_BY_CALL:
	case DECODE_BY_EVENT:
		return false;
	case DECODE_BY_RETURN:
		return ip == func ? open_jump : is_open_return(c, ip, func);
	case DECODE_BY_FAR_RETURN:
		return is_open_return(c, ip, func);
	case DECODE_BY_RESUMING:
		return is_open_resume(c, known ? func : c->func);
	case DECODE_BY_STARTING:
		return is_open_resume(c, known ? func : ip);
	default:
		return open_jump;
	}
}

static bool keep_nodes(const struct decode_calls *c, struct decode_calls_pieces *to)
{
	size_t i;

	for (i = 0; i < c->nodes.n; i++) {
		const struct decode_call_node *node = &c->nodes.at[i];

		if (!trace_vec_room(&to->nodes))
			return false;
		to->nodes.at[to->nodes.n++] = (struct decode_calls_piece_node){
			node->func, node->count, node->insns, node->parent, 0};
	}
	return true;
}

static bool keep_frames(const struct decode_calls *c, struct decode_calls_pieces *to)
{
	size_t i;

	for (i = 0; i < c->stack.n; i++) {
		const struct decode_call_frame *frame = &c->stack.at[i];

		if (!trace_vec_room(&to->frames))
			return false;
		to->frames.at[to->frames.n++] = (struct decode_calls_piece_frame){
			.ret = frame->ret,
			.func = frame->func,
			.node = frame->node,
			.flags = (frame->event ? DECODE_CALLS_FRAME_EVENT : 0) |
				 (frame->below ? DECODE_CALLS_FRAME_BELOW : 0)};
	}
	return true;
}

/* Append the current piece. */
static bool end_piece(struct decode_calls *c)
{
	struct decode_calls_pieces *to = c->open;

	if (c->stack.n > UINT32_MAX || !trace_vec_room(&to->pieces) || !keep_nodes(c, to) ||
	    !keep_frames(c, to))
		return false;
	to->pieces.at[to->pieces.n++] = (struct decode_calls_piece){
		.op = to->op,
		.arrival = c->arrival,
		.ip = to->ip,
		.func = to->func,
		.ret = c->ret,
		.ended = c->func,
		.insns = c->insns,
		.nodes = (uint32_t)c->nodes.n,
		.frames = (uint32_t)c->stack.n,
		.now = c->now,
		.below = c->below,
	};
	return true;
}

/* Return the function in which the operation ends, as far as it is known. */
static uint64_t function_after(const struct decode_calls *c, enum decode_calls_op op, uint64_t ip,
			       uint64_t func)
{
	if (op != DECODE_CALLS_REACH)
		return DECODE_NO_FUNCTION;
	if (func != DECODE_NO_FUNCTION)
		return func;
	return c->arrival == DECODE_BY_STARTING ? ip : DECODE_NO_FUNCTION;
}

bool decode_calls_begin_piece(struct decode_calls *c, enum decode_calls_op op, uint64_t ip,
			      uint64_t func)
{
	const uint64_t after = function_after(c, op, ip, func);

	if (!end_piece(c))
		return false;
	c->open->op = op;
	c->open->ip = ip;
	c->open->func = func;
	c->nodes.n = 1;
	c->nodes.at[DECODE_CALLS_ROOT] = (struct decode_call_node){.parent = DECODE_CALLS_ROOT};
	c->stack.n = 0;
	c->insns = 0;
	c->now = DECODE_CALLS_ROOT;
	c->below = false;
	c->func = after;
	return true;
}

const struct decode_calls_pieces *decode_calls_close_open(struct decode_calls *c)
{
	return c->open && end_piece(c) ? c->open : NULL;
}
