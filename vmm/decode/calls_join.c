// SPDX-License-Identifier: GPL-2.0-or-later
/* Join the pieces of open trees of calls. */
#include <stdlib.h>

#include "decode/calls_inside.h"

static bool repeat(struct decode_calls *c, const struct decode_calls_piece *piece)
{
	switch ((enum decode_calls_op)piece->op) {
	case DECODE_CALLS_REACH:
		return decode_calls_reach(c, piece->ip, piece->func);
	case DECODE_CALLS_BRANCH:
		return decode_calls_branch(c, piece->ip, piece->func);
	case DECODE_CALLS_ENABLE:
		return decode_calls_enabled(c);
	default:
		return true;
	}
}

/* The place of a piece's node in a tree. */
struct place {
	uint32_t node;
	bool below; /* it is deeper than the node */
};

struct join {
	struct decode_calls *c;
	struct {
		struct place *at;
		size_t n, room;
	} places;
	uint64_t func; /* the function of node 0 of the piece */
};

static bool add_node(struct join *j, const struct decode_calls_piece_node *from)
{
	struct decode_calls *c = j->c;
	struct place place;

	if (!trace_vec_room(&j->places))
		return false;
	if (!j->places.n) {
		place = (struct place){c->now, c->below};
	} else {
		place = j->places.at[from->parent];
		place.below |= c->nodes.at[place.node].depth == DECODE_CALLS_DEPTH;
		if (!place.below && !decode_calls_child(c, place.node, from->func, &place.node))
			return false;
		if (!place.below)
			c->nodes.at[place.node].count += from->count;
	}
	c->nodes.at[place.node].insns += from->insns;
	j->places.at[j->places.n++] = place;
	return true;
}

/* Return a function of the piece, which may be that at its begin. */
static uint64_t function_of(const struct join *j, uint64_t func, uint32_t node)
{
	return node == DECODE_CALLS_ROOT && func == DECODE_NO_FUNCTION ? j->func : func;
}

static bool add_frame(struct join *j, const struct decode_calls_piece_frame *from)
{
	const struct place *place = &j->places.at[from->node];
	struct decode_calls *c = j->c;

	if (!trace_vec_room(&c->stack))
		return false;
	c->stack.at[c->stack.n++] = (struct decode_call_frame){
		.ret = from->ret,
		.func = function_of(j, from->func, from->node),
		.node = place->node,
		.event = from->flags & DECODE_CALLS_FRAME_EVENT,
		.below = place->below || from->flags & DECODE_CALLS_FRAME_BELOW,
	};
	return true;
}

static bool add_piece(struct join *j, const struct decode_calls_piece *piece,
		      const struct decode_calls_piece_node *nodes,
		      const struct decode_calls_piece_frame *frames)
{
	struct decode_calls *c = j->c;
	uint32_t i;

	if (!repeat(c, piece))
		return false;
	j->func = c->func;
	j->places.n = 0;
	for (i = 0; i < piece->nodes; i++) {
		if (!add_node(j, &nodes[i]))
			return false;
	}
	for (i = 0; i < piece->frames; i++) {
		if (!add_frame(j, &frames[i]))
			return false;
	}
	c->now = j->places.at[piece->now].node;
	c->below = j->places.at[piece->now].below || piece->below;
	c->func = function_of(j, piece->ended, piece->now);
	c->insns += piece->insns;
	if (piece->arrival == DECODE_BY_UNKNOWN)
		return true;
	c->arrival = (enum decode_calls_arrival)piece->arrival;
	c->ret = piece->ret;
	return true;
}

bool decode_calls_join(struct decode_calls *c, const struct decode_calls_pieces *pieces)
{
	const struct decode_calls_piece_frame *frames = pieces->frames.at;
	const struct decode_calls_piece_node *nodes = pieces->nodes.at;
	struct join join = {.c = c};
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < pieces->pieces.n; i++) {
		const struct decode_calls_piece *piece = &pieces->pieces.at[i];

		ok = add_piece(&join, piece, nodes, frames);
		nodes += piece->nodes;
		/* A table without entries has no address. */
		if (piece->frames)
			frames += piece->frames;
	}
	free(join.places.at);
	return ok;
}

/* Returns true if all nodes of a piece are below node 0, and its frames are of its nodes. */
static bool is_sound(const struct decode_calls_piece *piece,
		     const struct decode_calls_piece_node *nodes,
		     const struct decode_calls_piece_frame *frames)
{
	uint32_t i;

	if (piece->op >= DECODE_CALLS_OPS || piece->arrival >= DECODE_CALLS_ARRIVALS ||
	    piece->now >= piece->nodes || piece->below > 1)
		return false;
	for (i = 0; i < piece->nodes; i++) {
		if (i ? nodes[i].parent >= i : nodes[i].parent != DECODE_CALLS_ROOT)
			return false;
	}
	for (i = 0; i < piece->frames; i++) {
		if (frames[i].node >= piece->nodes ||
		    frames[i].flags & ~(uint32_t)DECODE_CALLS_FRAME_FLAGS)
			return false;
	}
	return true;
}

bool decode_calls_pieces_check(const struct decode_calls_pieces *pieces)
{
	size_t nodes = 0, frames = 0, i;

	for (i = 0; i < pieces->pieces.n; i++) {
		const struct decode_calls_piece *piece = &pieces->pieces.at[i];

		if (piece->nodes > pieces->nodes.n - nodes ||
		    piece->frames > pieces->frames.n - frames ||
		    !is_sound(piece, pieces->nodes.at + nodes, pieces->frames.at + frames))
			return false;
		nodes += piece->nodes;
		frames += piece->frames;
	}
	return nodes == pieces->nodes.n && frames == pieces->frames.n;
}
