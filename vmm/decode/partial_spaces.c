// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn the address spaces of a partial result into tables, and back. */
#include "decode/partial_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define APPEND(to, from)                                      \
	do {                                                  \
		size_t i_;                                    \
                                                              \
		for (i_ = 0; i_ < (from)->n; i_++) {          \
			if (!trace_vec_room(to))              \
				return false;                 \
			(to)->at[(to)->n++] = (from)->at[i_]; \
		}                                             \
	} while (0)

static bool append_pieces(struct decode_calls_pieces *to, const struct decode_calls_pieces *from)
{
	APPEND(&to->pieces, &from->pieces);
	APPEND(&to->nodes, &from->nodes);
	APPEND(&to->frames, &from->frames);
	return true;
}

static bool append_edges(struct decode_partial_spaces *to, const struct decode_space_edges *from)
{
	unsigned int k;
	size_t i;

	for (k = 0; k < DECODE_EDGE_COUNT; k++) {
		const struct trace_pairs *pairs = &from->kind[k];

		for (i = 0; i < pairs->n; i++) {
			if (!trace_vec_room(&to->edges))
				return false;
			to->edges.at[to->edges.n++] =
				(struct decode_partial_edge){.from = pairs->at[i].a,
							     .to = pairs->at[i].b,
							     .count = pairs->at[i].value,
							     .kind = k};
		}
	}
	return true;
}

static bool make_space(struct decode_space_part *part, struct decode_partial_spaces *to)
{
	const struct decode_space_edges *e = &part->edges;
	const size_t pieces = to->calls.pieces.n, edges = to->edges.n;
	const struct decode_calls_pieces *calls = NULL;

	if (part->calls) {
		calls = decode_calls_close_open(part->calls);
		if (!calls || !append_pieces(&to->calls, calls))
			return false;
	}
	if (!append_edges(to, e) || !trace_vec_room(&to->spaces))
		return false;
	to->spaces.at[to->spaces.n++] = (struct decode_partial_space){
		.id = part->id,
		.pieces = to->calls.pieces.n - pieces,
		.edges = to->edges.n - edges,
		.has_calls = part->calls != NULL,
		.begin = (uint8_t)e->begin,
		.ends = e->ends,
		.known = e->from.known,
		.event = e->from.event,
		.class = e->from.class,
		.first = e->first,
		.ip = e->from.ip,
		.next = e->from.next,
	};
	return true;
}

int decode_partial_spaces_make(struct decode_space_parts *p, struct decode_partial_spaces *to)
{
	size_t i;

	for (i = 0; i < p->spaces.n; i++) {
		if (!make_space(&p->spaces.at[i], to))
			return -ENOMEM;
	}
	return 0;
}

void decode_partial_spaces_free(struct decode_partial_spaces *s)
{
	free(s->calls.pieces.at);
	free(s->calls.nodes.at);
	free(s->calls.frames.at);
	free(s->spaces.at);
	free(s->edges.at);
}

/* The rest of the tables. */
struct left {
	struct decode_calls_pieces calls;
	const struct decode_partial_edge *edges;
	size_t nedges;
};

/* Cut the first @n pieces off. Returns false if there are fewer. */
static bool cut_pieces(struct left *left, uint64_t n, struct decode_calls_pieces *to)
{
	uint64_t nodes = 0, frames = 0, i;

	if (n > left->calls.pieces.n)
		return false;
	for (i = 0; i < n; i++) {
		nodes += left->calls.pieces.at[i].nodes;
		frames += left->calls.pieces.at[i].frames;
	}
	if (nodes > left->calls.nodes.n || frames > left->calls.frames.n)
		return false;
	*to = left->calls;
	to->pieces.n = n;
	to->nodes.n = nodes;
	to->frames.n = frames;
	/* A table without entries may have no address. */
	if (n)
		left->calls.pieces.at += n;
	if (nodes)
		left->calls.nodes.at += nodes;
	if (frames)
		left->calls.frames.at += frames;
	left->calls.pieces.n -= n;
	left->calls.nodes.n -= nodes;
	left->calls.frames.n -= frames;
	return decode_calls_pieces_check(to);
}

static int take_calls(struct left *left, const struct decode_partial_space *s, bool wanted,
		      struct decode_space_part *to)
{
	struct decode_calls_pieces pieces;

	if (!cut_pieces(left, s->pieces, &pieces) || s->has_calls != wanted)
		return -EINVAL;
	if (!wanted)
		return s->pieces ? -EINVAL : 0;
	to->calls = decode_calls_new_open(NULL);
	return to->calls && decode_calls_join(to->calls, &pieces) ? 0 : -ENOMEM;
}

static int take_edges(struct left *left, const struct decode_partial_space *s,
		      struct decode_space_edges *to)
{
	uint64_t i;

	if (s->edges > left->nedges || s->begin > DECODE_EDGES_CLOSED || s->ends > 1 ||
	    s->known > 1 || s->event > 1 || s->reserved[0] || s->reserved[1])
		return -EINVAL;
	for (i = 0; i < s->edges; i++, left->edges++, left->nedges--) {
		const struct decode_partial_edge *e = left->edges;
		struct trace_pair *pair;

		if (e->kind >= DECODE_EDGE_COUNT || e->reserved)
			return -EINVAL;
		pair = trace_pairs_add(&to->kind[e->kind], e->from, e->to);
		if (!pair)
			return -ENOMEM;
		pair->value += e->count;
	}
	to->begin = (enum decode_edges_begin)s->begin;
	to->ends = s->ends;
	to->first = s->first;
	to->from = (struct decode_from){.known = s->known,
					.event = s->event,
					.class = s->class,
					.ip = s->ip,
					.next = s->next};
	return 0;
}

int decode_partial_spaces_take(const struct decode_partial_spaces *from,
			       struct decode_space_parts *p)
{
	struct left left = {from->calls, from->edges.at, from->edges.n};
	const bool calls = p->wanted == DECODE_SPACE_CALLS;
	struct trace_pairs seen = {.n = 0};
	int err = 0;
	size_t i;

	for (i = 0; !err && i < from->spaces.n; i++) {
		const struct decode_partial_space *s = &from->spaces.at[i];
		struct decode_space_part *part = decode_space_parts_add(p, s->id);
		struct trace_pair *pair = part ? trace_pairs_add(&seen, s->id, 0) : NULL;

		err = !pair ? -ENOMEM : pair->value++ ? -EINVAL : take_calls(&left, s, calls, part);
		if (!err)
			err = take_edges(&left, s, &part->edges);
	}
	trace_pairs_free(&seen);
	if (err)
		return err;
	return left.calls.pieces.n || left.calls.nodes.n || left.calls.frames.n || left.nedges
		       ? -EINVAL
		       : 0;
}
