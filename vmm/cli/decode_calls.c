// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds and prints the trees of calls for vpt decode. */
#include "cli/decode_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/spaces.h"
#include "trace/vec.h"

static bool is_of(const struct cli_decode_tree *tree, const struct trace_space *space)
{
	return space ? tree->known && decode_space_is(&tree->space, space) : !tree->known;
}

/* Find or create the tree of a space. Returns NULL if there is no memory. */
static struct cli_decode_tree *find(struct cli_decode_calls *c, const struct trace_space *space)
{
	struct cli_decode_tree *tree;
	size_t i;

	if (c->trees.n && is_of(&c->trees.at[c->now], space))
		return &c->trees.at[c->now];
	for (i = 0; i < c->trees.n && !is_of(&c->trees.at[i], space); i++)
		;
	if (i == c->trees.n) {
		if (!trace_vec_room(&c->trees))
			return NULL;
		tree = &c->trees.at[i];
		*tree = (struct cli_decode_tree){.known = space != NULL};
		if (space)
			tree->space = *space;
		tree->calls = decode_calls_new(c->symbols);
		if (!tree->calls)
			return NULL;
		decode_calls_keep_time(tree->calls, c->pace);
		decode_calls_select(tree->calls, c->only);
		decode_calls_select_long(tree->calls, c->unit, c->min);
		decode_calls_count(tree->calls, c->counts);
		c->trees.n++;
	}
	c->now = i;
	return &c->trees.at[i];
}

struct decode_calls *cli_decode_calls_tree(struct cli_decode_calls *c)
{
	struct cli_decode_tree *tree = find(c, NULL);

	return tree ? tree->calls : NULL;
}

bool cli_decode_calls_join(struct cli_decode_calls *c, const struct trace_space *space,
			   const struct decode_calls_pieces *pieces)
{
	struct cli_decode_tree *tree = find(c, space);

	return tree && decode_calls_join(tree->calls, pieces);
}

/* A break ends the call stacks of all spaces, because the flow in the gap is unknown. */
static bool is_break(const struct decode_item *item)
{
	return item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR ||
	       (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_OVERFLOW);
}

bool cli_decode_calls_item(struct cli_decode_calls *c, const struct decode_item *item)
{
	struct cli_decode_tree *tree;
	size_t i;

	if (is_break(item)) {
		for (i = 0; i < c->trees.n; i++) {
			if (!decode_calls_item(c->trees.at[i].calls, item))
				return false;
		}
		return true;
	}
	if (item->kind == DECODE_ITEM_END)
		return true;
	tree = find(c, c->apart ? item->space : NULL);
	if (!tree)
		return false;
	return decode_calls_item(tree->calls, item);
}

void cli_decode_calls_count(struct cli_decode_calls *c, enum decode_calls_counts counts)
{
	size_t i;

	c->counts = counts;
	for (i = 0; i < c->trees.n; i++)
		decode_calls_count(c->trees.at[i].calls, counts);
}

bool cli_decode_calls_forget(struct cli_decode_calls *c)
{
	size_t i;

	for (i = 0; i < c->trees.n; i++) {
		if (!decode_calls_forget(c->trees.at[i].calls))
			return false;
	}
	return true;
}

static int by_insns(const void *a, const void *b)
{
	const struct cli_decode_tree *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	if (!x->known || !y->known)
		return y->known - x->known;
	return (x->space.id > y->space.id) - (x->space.id < y->space.id);
}

uint64_t cli_decode_calls_print(struct cli_decode_calls *c, bool json, uint64_t limit)
{
	const uint64_t most = limit;
	char text[128];
	size_t i;

	for (i = 0; i < c->trees.n; i++)
		c->trees.at[i].insns = decode_calls_insns(c->trees.at[i].calls);
	if (c->trees.n)
		qsort(c->trees.at, c->trees.n, sizeof(*c->trees.at), by_insns);
	for (i = 0; i < c->trees.n && limit && c->trees.at[i].insns; i++) {
		const struct cli_decode_tree *tree = &c->trees.at[i];

		if (!decode_calls_has_selected(tree->calls))
			continue;
		if (tree->known)
			decode_space_format(&tree->space, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "not known");
		if (c->apart && !json) {
			printf("%s: %" PRIu64 " insns\n", text, tree->insns);
			limit--;
		}
		limit -= decode_calls_print(tree->calls, stdout, json, c->apart ? text : NULL,
					    limit);
	}
	return most - limit;
}

void cli_decode_calls_free(struct cli_decode_calls *c)
{
	size_t i;

	for (i = 0; i < c->trees.n; i++)
		decode_calls_free(c->trees.at[i].calls);
	free(c->trees.at);
}
