// SPDX-License-Identifier: GPL-2.0-or-later
/* Collect and join the results of address spaces. */
#include "decode/space_parts.h"

#include <stdlib.h>

#include "decode/spaces.h"
#include "trace/vec.h"

#define NOT_KNOWN UINT64_MAX

/* The name of a space, of struct decode_space_part. */
struct name {
	uint64_t id, task;
};

static struct name name_of(const struct trace_space *space)
{
	if (!space)
		return (struct name){NOT_KNOWN, 0};
	if (space->flags & DECODE_SPACE_TASK)
		return (struct name){space->cr3, space->vcpu + 1ull};
	return (struct name){space->id, 0};
}

static struct name name_of_part(const struct decode_space_part *part)
{
	return (struct name){part->id, part->task};
}

static bool is_named(const struct decode_space_part *part, struct name name)
{
	return part->id == name.id && part->task == name.task;
}

struct decode_space_part *decode_space_parts_add(struct decode_space_parts *p, uint64_t id,
						 uint64_t task)
{
	struct decode_space_part *part;

	if (!trace_vec_room(&p->spaces))
		return NULL;
	part = &p->spaces.at[p->spaces.n++];
	*part = (struct decode_space_part){.id = id, .task = task};
	return part;
}

/* Return the index of the first space that is known to have run. */
static size_t first_space(const struct decode_space_parts *p)
{
	return p->spaces.n && p->spaces.at[0].before;
}

static bool has_run(const struct decode_space_parts *p)
{
	return p->spaces.n > first_space(p);
}

static struct decode_space_part *find(struct decode_space_parts *p, struct name name)
{
	size_t i = first_space(p);

	if (p->now >= i && p->now < p->spaces.n && is_named(&p->spaces.at[p->now], name))
		return &p->spaces.at[p->now];
	for (; i < p->spaces.n; i++) {
		if (is_named(&p->spaces.at[i], name))
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

/* Make the tree of a space that runs for the first time in this part. */
static struct decode_space_part *begin(struct decode_space_parts *p,
				       const struct debug_symbols *symbols, struct name name)
{
	struct decode_space_part *part = decode_space_parts_add(p, name.id, name.task);

	if (part)
		part->calls = decode_calls_new_open(symbols);
	return part && part->calls && (!p->broken || break_part(part)) ? part : NULL;
}

/*
 * Return the first space that a gap breaks. Events of the part before lead to the first space that
 * runs, and not over a gap behind it.
 */
static size_t first_broken(const struct decode_space_parts *p)
{
	return has_run(p) ? first_space(p) : 0;
}

static bool break_all(struct decode_space_parts *p)
{
	size_t i;

	p->broken = true;
	for (i = first_broken(p); i < p->spaces.n; i++) {
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

/* Add the space that ran last in the part before. */
static struct decode_space_part *add_before(struct decode_space_parts *p)
{
	struct decode_space_part *part = decode_space_parts_add(p, 0, 0);

	if (!part)
		return NULL;
	part->before = true;
	if (p->broken)
		decode_space_edges_break(&part->edges);
	return part;
}

/*
 * Returns true if the place from which a new space is reached is not known: another space @ran, or
 * the flow was interrupted. Events behind a gap lead to the space that ran last, which may be this
 * one.
 */
static bool begins_broken(const struct decode_space_parts *p, bool ran)
{
	return ran || (p->broken && !first_space(p));
}

/* Make a space the one that runs. A place of another space does not lead to it. */
static struct decode_space_part *enter(struct decode_space_parts *p, struct name name)
{
	const bool ran = has_run(p);
	struct decode_space_part *part = find(p, name);

	if (part && part == &p->spaces.at[p->now])
		return part;
	if (!part)
		part = decode_space_parts_add(p, name.id, name.task);
	if (!part)
		return NULL;
	if (begins_broken(p, ran))
		decode_space_edges_break(&part->edges);
	p->now = (size_t)(part - p->spaces.at);
	return part;
}

/*
 * Take an item for changes of flow. An event whose space is not known is of the space that ran
 * last.
 */
static bool take_flow(struct decode_space_parts *p, const struct decode_item *item)
{
	struct decode_space_part *part;

	if (is_break(item) && !break_all(p))
		return false;
	if (item->kind != DECODE_ITEM_BLOCK && item->kind != DECODE_ITEM_EVENT)
		return true;
	if (item->kind == DECODE_ITEM_BLOCK || item->space)
		part = enter(p, name_of(item->space));
	else
		part = p->spaces.n ? &p->spaces.at[p->now] : add_before(p);
	return part && decode_space_edges_item(&part->edges, &p->map, item);
}

static bool take_calls(struct decode_space_parts *p, const struct debug_symbols *symbols,
		       const struct decode_item *item)
{
	const struct name name = name_of(item->space);
	struct decode_space_part *part;

	if (is_break(item))
		return break_all(p);
	if (item->kind == DECODE_ITEM_END)
		return true;
	part = find(p, name);
	/* An event whose space is not known makes no space. */
	if (!part && item->kind == DECODE_ITEM_EVENT && !item->space)
		return true;
	if (!part)
		part = begin(p, symbols, name);
	if (!part)
		return false;
	p->now = (size_t)(part - p->spaces.at);
	return decode_calls_item(part->calls, item);
}

bool decode_space_parts_item(struct decode_space_parts *p, const struct debug_symbols *symbols,
			     const struct decode_item *item)
{
	return p->wanted == DECODE_SPACE_EDGES ? take_flow(p, item) : take_calls(p, symbols, item);
}

static bool join_calls(struct decode_space_part *to, struct decode_space_part *from)
{
	const struct decode_calls_pieces *pieces;

	if (!from->calls)
		return true;
	pieces = decode_calls_close_open(from->calls);
	return to->calls && pieces && decode_calls_join(to->calls, pieces);
}

/* Append a tree of a space that did not run before. */
static bool append(struct decode_space_parts *p, struct decode_space_part *from)
{
	struct decode_space_part *to = p->broken ? begin(p, NULL, name_of_part(from))
						 : decode_space_parts_add(p, from->id, from->task);

	if (!to)
		return false;
	if (p->broken)
		return join_calls(to, from);
	*to = *from;
	*from = (struct decode_space_part){.id = to->id, .task = to->task};
	return true;
}

static bool join_trees(struct decode_space_parts *p, struct decode_space_parts *next)
{
	struct decode_space_part *from, *to;
	size_t i;

	for (i = 0; i < next->spaces.n; i++) {
		from = &next->spaces.at[i];
		to = find(p, name_of_part(from));
		if (!(to ? join_calls(to, from) : append(p, from)))
			return false;
	}
	return true;
}

/*
 * Find the space of a part, or add it. Its first block is reached from the end of @p only if the
 * same space ran there. @ran says if one did, and @last which.
 */
static struct decode_space_part *continue_at(struct decode_space_parts *p, struct name name,
					     bool ran, size_t last)
{
	struct decode_space_part *to = find(p, name);
	const bool is_new = !to;

	if (is_new)
		to = decode_space_parts_add(p, name.id, name.task);
	if (to && (is_new ? begins_broken(p, ran) : ran && to != &p->spaces.at[last]))
		decode_space_edges_break(&to->edges);
	return to;
}

static bool join_flows(struct decode_space_parts *p, const struct decode_space_parts *next)
{
	const bool ran = has_run(p);
	const size_t last = p->now;
	struct decode_space_part *to;
	size_t i;

	for (i = 0; i < next->spaces.n; i++) {
		const struct decode_space_part *from = &next->spaces.at[i];

		if (from->before)
			to = p->spaces.n ? &p->spaces.at[last] : add_before(p);
		else
			to = continue_at(p, name_of_part(from), ran, last);
		if (!to || !decode_space_edges_join(&to->edges, &p->map, &from->edges))
			return false;
	}
	return decode_block_map_join(&p->map, &next->map);
}

/* Break those of the first @n spaces of @p that did not run in @next, which was joined. */
static bool break_others(struct decode_space_parts *p, struct decode_space_parts *next, size_t n)
{
	size_t i;

	for (i = first_broken(p); i < n; i++) {
		struct decode_space_part *part = &p->spaces.at[i];

		if (i == p->now && first_space(next))
			continue;
		if ((part->before || !find(next, name_of_part(part))) && !break_part(part))
			return false;
	}
	return true;
}

bool decode_space_parts_join(struct decode_space_parts *p, struct decode_space_parts *next)
{
	const size_t before = p->spaces.n;
	const struct decode_space_part *last;

	if (!(p->wanted == DECODE_SPACE_EDGES ? join_flows(p, next) : join_trees(p, next)) ||
	    (next->broken && !break_others(p, next, before)))
		return false;
	p->broken |= next->broken;
	if (has_run(next)) {
		last = find(p, name_of_part(&next->spaces.at[next->now]));
		p->now = (size_t)(last - p->spaces.at);
	}
	decode_space_parts_free(next);
	return true;
}

bool decode_space_parts_close(struct decode_space_parts *p)
{
	size_t i;

	for (i = 0; i < p->spaces.n; i++) {
		if (!decode_space_edges_close(&p->spaces.at[i].edges, &p->map))
			return false;
	}
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
	decode_block_map_free(&p->map);
	*p = (struct decode_space_parts){.wanted = p->wanted};
}
