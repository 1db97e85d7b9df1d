// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn the address spaces of a partial result into tables, and back. */
#include "decode/partial_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/partial_edges.h"
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

static bool make_space(struct decode_space_part *part, struct decode_partial_spaces *to)
{
	const size_t pieces = to->calls.pieces.n;
	const struct decode_calls_pieces *calls = NULL;
	struct decode_partial_space s = {.id = part->id,
					 .task = part->task,
					 .has_calls = part->calls != NULL,
					 .before = part->before};

	if (part->calls) {
		calls = decode_calls_close_open(part->calls);
		if (!calls || !append_pieces(&to->calls, calls))
			return false;
	}
	s.pieces = to->calls.pieces.n - pieces;
	if (!decode_partial_edges_make(&part->edges, to, &s) || !trace_vec_room(&to->spaces))
		return false;
	to->spaces.at[to->spaces.n++] = s;
	return true;
}

int decode_partial_spaces_make(struct decode_space_parts *p, struct decode_partial_spaces *to)
{
	size_t i;

	for (i = 0; i < p->spaces.n; i++) {
		if (!make_space(&p->spaces.at[i], to))
			return -ENOMEM;
	}
	return decode_partial_map_make(&p->map, to) ? 0 : -ENOMEM;
}

void decode_partial_spaces_free(struct decode_partial_spaces *s)
{
	free(s->calls.pieces.at);
	free(s->calls.nodes.at);
	free(s->calls.frames.at);
	free(s->spaces.at);
	free(s->edges.at);
	free(s->blocks.at);
	free(s->ranges.at);
	free(s->map.at);
}

/* The rest of the tables. */
struct left {
	struct decode_calls_pieces calls;
	struct decode_partial_edges_left edges;
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

/* Returns true if a space has what results of this kind do not have. */
static bool is_foreign(const struct decode_space_parts *p, const struct decode_partial_space *s)
{
	if (p->wanted == DECODE_SPACE_CALLS)
		return s->edges || s->blocks || s->ranges || s->before;
	/* A space of which only events are known is the first one. */
	return s->before && p->spaces.n;
}

static int take_space(struct decode_space_parts *p, struct left *left,
		      const struct decode_partial_space *s, struct trace_pairs *seen)
{
	const bool foreign = is_foreign(p, s);
	struct decode_space_part *part = decode_space_parts_add(p, s->id, s->task);
	struct trace_pair *pair =
		part ? trace_pairs_add(seen, s->id, s->before ? UINT64_MAX : s->task) : NULL;
	int err;

	if (!pair)
		return -ENOMEM;
	if (foreign || pair->value++)
		return -EINVAL;
	part->before = s->before;
	err = take_calls(left, s, p->wanted == DECODE_SPACE_CALLS, part);
	return err ? err : decode_partial_edges_take(&left->edges, s, &part->edges);
}

/* Returns true if the space that ran last is one of @p. */
static bool has_last(const struct decode_space_parts *p)
{
	if (p->spaces.n < 2)
		return !p->now;
	return p->now < p->spaces.n && !p->spaces.at[p->now].before;
}

int decode_partial_spaces_take(const struct decode_partial_spaces *from,
			       struct decode_space_parts *p)
{
	struct left left = {from->calls,
			    {from->edges.at, from->edges.n, from->blocks.at, from->blocks.n,
			     from->ranges.at, from->ranges.n}};
	struct trace_pairs seen = {.n = 0};
	int err = 0;
	size_t i;

	for (i = 0; !err && i < from->spaces.n; i++)
		err = take_space(p, &left, &from->spaces.at[i], &seen);
	trace_pairs_free(&seen);
	if (!err && (!has_last(p) || left.calls.pieces.n || left.calls.nodes.n ||
		     left.calls.frames.n || left.edges.nedges || left.edges.nblocks ||
		     left.edges.nranges || (from->map.n && p->wanted != DECODE_SPACE_EDGES)))
		err = -EINVAL;
	return err ? err : decode_partial_map_take(from, &p->map);
}
