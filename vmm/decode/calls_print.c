// SPDX-License-Identifier: GPL-2.0-or-later
/* Print a tree of calls. */
#include <inttypes.h>
#include <string.h>

#include "decode/calls_inside.h"
#include "text/text.h"

void decode_calls_select(struct decode_calls *c, const char *only)
{
	c->only = only;
}

/* Returns true if a printed tree can begin at the node. */
static bool is_selected(const struct decode_calls *c, const struct decode_call_node *node)
{
	const struct debug_symbol *symbol;

	if (!c->only)
		return true;
	symbol = debug_symbols_find(c->symbols, node->func);
	return symbol && !strcmp(symbol->name, c->only);
}

/* The numbers of a node that are printed. */
struct sums {
	uint64_t count, insns, ticks;
};

static struct sums sums_of(const struct decode_calls *c, const struct decode_call_node *node)
{
	const size_t i = (size_t)(node - c->nodes.at);

	if (!c->durations.min)
		return (struct sums){node->count, node->insns, node->ticks};
	if (i < c->durations.nodes.n) {
		const struct decode_long_calls *l = &c->durations.nodes.at[i];

		return (struct sums){l->count, l->insns, l->ticks};
	}
	return (struct sums){0, 0, 0};
}

/* Returns true if a call of the node was counted, or is long enough. */
static bool is_counted(const struct decode_calls *c, const struct decode_call_node *node)
{
	const struct sums sums = sums_of(c, node);

	return sums.count || sums.insns || sums.ticks || (node->begun_before && !c->durations.min);
}

bool decode_calls_has_selected(const struct decode_calls *c)
{
	size_t i;

	for (i = 1; i < c->nodes.n; i++) {
		if (is_selected(c, &c->nodes.at[i]) && is_counted(c, &c->nodes.at[i]))
			return true;
	}
	return false;
}

static void name(const struct decode_calls *c, const struct decode_call_node *node, char *text,
		 size_t size)
{
	debug_symbols_format(c->symbols, node->func, text, size);
}

/*
 * Print the time. A node without ticks ran without a timing packet. Its time is unknown, which is
 * not the same as 0.
 */
static void text_ticks(const struct decode_pace *pace, uint64_t ticks, FILE *out)
{
	uint64_t ns = decode_pace_ns(pace, ticks);

	if (!ticks)
		fputs(", time unknown", out);
	else if (!pace->hz)
		fprintf(out, ", %" PRIu64 " ticks", ticks);
	else if (!ns)
		fputs(", under 1 ns", out);
	else
		fprintf(out, ", %" PRIu64 " ns", ns);
}

static void json_ticks(const struct decode_pace *pace, uint64_t ticks, FILE *out)
{
	if (ticks)
		fprintf(out, ",\"ticks\":%" PRIu64, ticks);
	if (ticks && pace->hz)
		fprintf(out, ",\"ns\":%" PRIu64, decode_pace_ns(pace, ticks));
}

static void text_divided(const struct decode_call_node *node, FILE *out)
{
	if (node->begun_before)
		fprintf(out, ", %u begun before", node->begun_before);
	if (node->not_ended)
		fprintf(out, ", %u not ended", node->not_ended);
}

static void json_divided(const struct decode_call_node *node, FILE *out)
{
	if (node->begun_before)
		fprintf(out, ",\"begun_before\":%u", node->begun_before);
	if (node->not_ended)
		fprintf(out, ",\"not_ended\":%u", node->not_ended);
}

/* Print a node of the tree that begins at @top. */
static void print_node(const struct decode_calls *c, const struct decode_call_node *node,
		       const struct decode_call_node *top, FILE *out, bool json, const char *space)
{
	const struct decode_pace *pace = c->pace;
	const uint32_t depth = node->depth - top->depth;
	const struct sums sums = sums_of(c, node);
	char text[128];

	name(c, node, text, sizeof(text));
	if (json) {
		fprintf(out,
			"{\"depth\":%u,\"count\":%" PRIu64 ",\"insns\":%" PRIu64 ",\"function\":",
			depth, sums.count, sums.insns);
		text_json_string(out, text);
		if (space) {
			fputs(",\"space\":", out);
			text_json_string(out, space);
		}
		if (pace)
			json_ticks(pace, sums.ticks, out);
		json_divided(node, out);
		fputs("}\n", out);
		return;
	}
	fprintf(out, "%*s%" PRIu64 "x  %s  (%" PRIu64 " insns", 2 * (int)depth + 2, "", sums.count,
		text, sums.insns);
	if (pace)
		text_ticks(pace, sums.ticks, out);
	text_divided(node, out);
	fputs(")\n", out);
}

uint64_t decode_calls_print(struct decode_calls *c, FILE *out, bool json, const char *space,
			    uint64_t limit)
{
	size_t i,
		top = DECODE_CALLS_ROOT; /* DECODE_CALLS_ROOT if the loop is in no selected tree */
	uint64_t lines = 0;

	/* In the array, a child follows its parent. */
	for (i = c->nodes.n; i-- > 1;) {
		c->nodes.at[c->nodes.at[i].parent].insns += c->nodes.at[i].insns;
		c->nodes.at[c->nodes.at[i].parent].ticks += c->nodes.at[i].ticks;
	}

	for (i = c->nodes.at[DECODE_CALLS_ROOT].child; i != DECODE_CALLS_ROOT && lines < limit;) {
		const struct decode_call_node *node = &c->nodes.at[i];

		if (top == DECODE_CALLS_ROOT && is_selected(c, node))
			top = i;
		if (top != DECODE_CALLS_ROOT && is_counted(c, node)) {
			print_node(c, node, &c->nodes.at[top], out, json, space);
			lines++;
		}
		if (node->child != DECODE_CALLS_ROOT) {
			i = node->child;
			continue;
		}
		while (i != DECODE_CALLS_ROOT && c->nodes.at[i].next == DECODE_CALLS_ROOT) {
			top = i == top ? DECODE_CALLS_ROOT : top;
			i = c->nodes.at[i].parent;
		}
		top = i == top ? DECODE_CALLS_ROOT : top;
		i = i == DECODE_CALLS_ROOT ? DECODE_CALLS_ROOT : c->nodes.at[i].next;
	}
	return lines;
}
