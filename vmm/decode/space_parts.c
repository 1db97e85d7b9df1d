// SPDX-License-Identifier: GPL-2.0-or-later
/* Collect and join the results of address spaces. */
#include "decode/space_parts.h"

#include <stdlib.h>

#include "trace/vec.h"

#define NOT_KNOWN UINT64_MAX

struct decode_space_part *decode_space_parts_add(struct decode_space_parts *p, uint64_t id)
{
	struct decode_space_part *part;

	if (!trace_vec_room(&p->spaces))
		return NULL;
	part = &p->spaces.at[p->spaces.n++];
	*part = (struct decode_space_part){.id = id};
	return part;
}

static struct decode_space_part *find(struct decode_space_parts *p, uint64_t id)
{
	size_t i;

	if (p->now < p->spaces.n && p->spaces.at[p->now].id == id)
		return &p->spaces.at[p->now];
	for (i = 0; i < p->spaces.n; i++) {
		if (p->spaces.at[i].id == id)
			return &p->spaces.at[i];
	}
	return NULL;
}

/* The flow is interrupted: what the space was doing is not known. */
static bool break_part(struct decode_space_part *part)
{
	const struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};

	decode_space_edges_break(&part->edges);
	return !part->calls || decode_calls_item(part->calls, &item);
}

/* Make a space that runs for the first time in this part. */
static struct decode_space_part *begin(struct decode_space_parts *p,
				       const struct debug_symbols *symbols, uint64_t id)
{
	struct decode_space_part *part = decode_space_parts_add(p, id);

	if (part && p->wanted == DECODE_SPACE_CALLS) {
		part->calls = decode_calls_new_open(symbols);
		if (!part->calls)
			return NULL;
	}
	return !part || !p->broken || break_part(part) ? part : NULL;
}

static bool break_all(struct decode_space_parts *p)
{
	size_t i;

	p->broken = true;
	for (i = 0; i < p->spaces.n; i++) {
		if (!break_part(&p->spaces.at[i]))
			return false;
	}
	return true;
}

static bool is_break(const struct decode_item *item)
{
	return item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR ||
	       (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_OVERFLOW);
}

bool decode_space_parts_item(struct decode_space_parts *p, const struct debug_symbols *symbols,
			     const struct decode_item *item)
{
	const uint64_t id = item->space ? item->space->id : NOT_KNOWN;
	struct decode_space_part *part;

	if (is_break(item))
		return break_all(p);
	if (item->kind == DECODE_ITEM_END)
		return true;
	part = find(p, id);
	/* An event whose space is not known makes no space. */
	if (!part && item->kind == DECODE_ITEM_EVENT && !item->space)
		return true;
	if (!part)
		part = begin(p, symbols, id);
	if (!part)
		return false;
	p->now = (size_t)(part - p->spaces.at);
	return part->calls ? decode_calls_item(part->calls, item)
			   : decode_space_edges_item(&part->edges, item);
}

static bool join_calls(struct decode_space_part *to, struct decode_space_part *from)
{
	const struct decode_calls_pieces *pieces;

	if (!from->calls)
		return true;
	pieces = decode_calls_close_open(from->calls);
	return to->calls && pieces && decode_calls_join(to->calls, pieces);
}

/* Join a part of a space to what was before, which may be nothing. */
static bool join_part(struct decode_space_part *to, struct decode_space_part *from)
{
	return join_calls(to, from) && decode_space_edges_join(&to->edges, &from->edges);
}

/* Append a space that did not run before. */
static bool append(struct decode_space_parts *p, struct decode_space_part *from)
{
	struct decode_space_part *to =
		p->broken ? begin(p, NULL, from->id) : decode_space_parts_add(p, from->id);

	if (!to)
		return false;
	if (p->broken)
		return join_part(to, from);
	*to = *from;
	*from = (struct decode_space_part){.id = to->id};
	return true;
}

/* Break the spaces of @p that did not run in @next. */
static bool break_others(struct decode_space_parts *p, struct decode_space_parts *next, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!find(next, p->spaces.at[i].id) && !break_part(&p->spaces.at[i]))
			return false;
	}
	return true;
}

bool decode_space_parts_join(struct decode_space_parts *p, struct decode_space_parts *next)
{
	const size_t before = p->spaces.n;
	struct decode_space_part *from, *to;
	size_t i;

	for (i = 0; i < next->spaces.n; i++) {
		from = &next->spaces.at[i];
		to = find(p, from->id);
		if (!(to ? join_part(to, from) : append(p, from)))
			return false;
	}
	if (next->broken && !break_others(p, next, before))
		return false;
	p->broken |= next->broken;
	if (next->spaces.n) {
		to = find(p, next->spaces.at[next->now].id);
		p->now = (size_t)(to - p->spaces.at);
	}
	decode_space_parts_free(next);
	return true;
}

void decode_space_parts_free(struct decode_space_parts *p)
{
	size_t i;

	for (i = 0; i < p->spaces.n; i++) {
		decode_calls_free(p->spaces.at[i].calls);
		decode_space_edges_free(&p->spaces.at[i].edges);
	}
	free(p->spaces.at);
	*p = (struct decode_space_parts){.wanted = p->wanted};
}
