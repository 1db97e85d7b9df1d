// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of parts of a trace: joined in any grouping they are the tree of the whole, node by node.
 *
 * The flows are random: calls, jumps, events, gaps and overflows, with and without known functions.
 * Returns match, match deep below or match nothing. Some flows recurse beyond the depth of a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/calls_inside.h"
#include "lib/same_trees.h"
#include "lib/below.h"
#include "lib/suite.h"

#define STEPS 3000
#define RANGE 8 /* functions of 256 bytes each */

struct step {
	bool is_event;
	struct decode_item event;
	struct decode_part part;
};

static uint64_t address(void)
{
	return 0x1000 + 256 * below(RANGE) + (below(4) ? below(4) * 16 : 0);
}

static struct step event_step(void)
{
	static const uint8_t events[] = {DECODE_FLOW_ASYNC_BRANCH, DECODE_FLOW_ASYNC_BRANCH,
					 DECODE_FLOW_DISABLED,	   DECODE_FLOW_ENABLED,
					 DECODE_FLOW_ENABLED,	   DECODE_FLOW_OVERFLOW};
	struct step step = {.is_event = true};

	step.event.kind = below(20) ? DECODE_ITEM_EVENT : DECODE_ITEM_ERROR;
	step.event.event = events[below(sizeof(events))];
	step.event.ip = address();
	return step;
}

/* A step. @calls of 16 branches are calls. */
static struct step random_step(uint32_t calls, uint32_t events)
{
	static const uint8_t others[] = {DECODE_INSN_OTHER, DECODE_INSN_COND, DECODE_INSN_JUMP,
					 DECODE_INSN_FAR_RETURN};
	struct step step = {.is_event = false};
	uint32_t kind = below(16);

	if (below(64) < events)
		return event_step();
	step.part.ip = address();
	step.part.next = address();
	step.part.insns = 1 + below(9);
	step.part.function = below(5) ? step.part.ip & ~255ull : DECODE_NO_FUNCTION;
	if (kind < calls)
		step.part.class = DECODE_INSN_CALL;
	else
		step.part.class = below(3) ? DECODE_INSN_RETURN : others[below(sizeof(others))];
	return step;
}

static void take(struct decode_calls *c, const struct step *step)
{
	ck_assert(step->is_event ? decode_calls_item(c, &step->event)
				 : decode_calls_part(c, &step->part));
}

/* Make an open tree of steps, by one pass or by joining two parts of them. */
static struct decode_calls *open_tree(const struct step *steps, size_t n)
{
	struct decode_calls *c = decode_calls_new_open(NULL), *part;
	size_t cut = n > 1 ? below((uint32_t)n) : 0, i;

	ck_assert(c);
	if (n < 2 || below(3) == 0) {
		for (i = 0; i < n; i++)
			take(c, &steps[i]);
		return c;
	}
	part = open_tree(steps, cut);
	ck_assert(decode_calls_join(c, decode_calls_close_open(part)));
	decode_calls_free(part);
	part = open_tree(steps + cut, n - cut);
	ck_assert(decode_calls_join(c, decode_calls_close_open(part)));
	decode_calls_free(part);
	return c;
}

/* Returns the number of nodes of the deepest level. */
static uint64_t deepest(const struct decode_calls *c)
{
	struct decode_calls_node node;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; decode_calls_node(c, i, &node); i++)
		n += node.depth == DECODE_CALLS_DEPTH;
	return n;
}

static uint64_t flow(uint32_t seed, uint32_t calls, uint32_t events)
{
	struct decode_calls *whole = decode_calls_new(NULL), *joined = decode_calls_new(NULL);
	struct step *steps = calloc(STEPS, sizeof(*steps));
	struct decode_calls *part;
	uint64_t n;
	size_t i;

	ck_assert(whole && joined && steps);
	random_state = seed;
	for (i = 0; i < STEPS; i++)
		steps[i] = random_step(calls, events);
	for (i = 0; i < STEPS; i++)
		take(whole, &steps[i]);
	part = open_tree(steps, STEPS);
	ck_assert(decode_calls_pieces_check(decode_calls_close_open(part)));
	ck_assert(decode_calls_join(joined, part->open));
	ck_assert(same_trees(whole, joined));
	n = deepest(joined);
	decode_calls_free(part);
	decode_calls_free(whole);
	decode_calls_free(joined);
	free(steps);
	return n;
}

START_TEST(parts)
{
	uint64_t deep = 0;
	uint32_t seed;

	for (seed = 1; seed <= 60; seed++) {
		flow(seed, 5, 4);
		flow(seed, 8, 0);
		flow(seed, 2, 16);
		deep += flow(seed, 15, 1);
	}
	/* Some of the flows recursed beyond the depth of a tree. */
	ck_assert_uint_gt(deep, 0);
}
END_TEST

/* Pieces of files with an index out of its bounds are refused. */
START_TEST(hostile)
{
	struct decode_calls_piece piece = {.nodes = 2, .frames = 1, .arrival = DECODE_BY_CALL};
	struct decode_calls_piece_node nodes[2] = {{0}};
	struct decode_calls_piece_frame frame = {.node = 1};
	struct decode_calls_pieces all = {
		.pieces = {&piece, 1, 1}, .nodes = {nodes, 2, 2}, .frames = {&frame, 1, 1}};
	unsigned int refused = 0;

	ck_assert(decode_calls_pieces_check(&all));
#define REFUSED(field, value)                                \
	do {                                                 \
		const uint32_t was_ = (field);               \
		(field) = (value);                           \
		refused += !decode_calls_pieces_check(&all); \
		(field) = was_;                              \
		ck_assert(decode_calls_pieces_check(&all));  \
	} while (0)
	REFUSED(piece.op, DECODE_CALLS_OPS);
	REFUSED(piece.arrival, DECODE_CALLS_ARRIVALS);
	REFUSED(piece.now, 2);
	REFUSED(piece.below, 2);
	REFUSED(piece.nodes, 0);
	REFUSED(piece.nodes, 1);
	REFUSED(piece.nodes, 3);
	REFUSED(piece.frames, 0);
	REFUSED(piece.frames, 2);
	REFUSED(nodes[0].parent, 1);
	REFUSED(nodes[1].parent, 1);
	REFUSED(frame.node, 2);
	REFUSED(frame.flags, 4);
	ck_assert_uint_eq(refused, 13);
}
END_TEST

TEST_SUITE("calls_open", NULL, NULL)
{
	TEST_ADD(tcase, parts, hostile);
}
