// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls as Callgrind writes them, for kcachegrind and callgrind_annotate. The object of a function is
 * its lane. The cost Ir counts instructions. Of a recursive call, the instructions of nested calls
 * of the same caller and callee count once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "text/text.h"

/* Costs of a function itself, or of its calls of another function. */
struct row {
	uint64_t func;
	uint64_t callee;
	bool is_call; /* false: the costs of @func itself, and no callee */
	uint64_t calls, insns;
};

struct rows {
	struct row *at;
	size_t n;
	uint32_t first; /* the number of the first function of the lane */
};

static int by_functions(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	if (x->is_call != y->is_call)
		return x->is_call - y->is_call;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Returns true if node @i is nested in a call of the same caller and callee. */
static bool is_nested(const struct decode_calls *calls, const struct decode_calls_node *node,
		      uint64_t caller)
{
	struct decode_calls_node below, at;
	uint32_t i = node->parent;

	if (!decode_calls_node(calls, i, &below))
		return false;
	while (below.depth > 1 && decode_calls_node(calls, below.parent, &at)) {
		if (below.func == node->func && at.func == caller)
			return true;
		below = at;
	}
	return false;
}

/* Add the rows of all nodes. @total has the instructions of each node with those of its callees. */
static void fill(const struct decode_calls *calls, const uint64_t *total, struct rows *rows)
{
	struct decode_calls_node node, parent;
	uint32_t i;

	for (i = 1; decode_calls_node(calls, i, &node); i++) {
		rows->at[rows->n++] = (struct row){.func = node.func, .insns = node.own};
		if (node.depth < 2 || !total[i] || !decode_calls_node(calls, node.parent, &parent))
			continue;
		rows->at[rows->n++] = (struct row){
			.func = parent.func,
			.callee = node.func,
			.is_call = true,
			.calls = node.count,
			.insns = is_nested(calls, &node, parent.func) ? 0 : total[i],
		};
	}
}

/* Add up rows of the same functions. */
static void merge(struct rows *rows)
{
	size_t i, n = 0;

	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_functions);
	for (i = 0; i < rows->n; i++) {
		if (n && !by_functions(&rows->at[n - 1], &rows->at[i])) {
			rows->at[n - 1].calls += rows->at[i].calls;
			rows->at[n - 1].insns += rows->at[i].insns;
		} else {
			rows->at[n++] = rows->at[i];
		}
	}
	rows->n = n;
}

/* Make the rows of a lane. Returns 0 or -ENOMEM. */
static int make(const struct decode_calls *calls, struct rows *rows)
{
	struct decode_calls_node node;
	uint64_t *total;
	uint32_t n = 0, i;

	while (decode_calls_node(calls, n, &node))
		n++;
	total = calloc(n, sizeof(*total));
	rows->at = calloc(n, 2 * sizeof(*rows->at));
	if (!total || !rows->at) {
		free(total);
		return -ENOMEM;
	}
	for (i = n; i-- > 1 && decode_calls_node(calls, i, &node);) {
		total[i] += node.own;
		total[node.parent] += total[i];
	}
	fill(calls, total, rows);
	merge(rows);
	free(total);
	return 0;
}

/* Return the number of a function, which has a row of its own. */
static uint32_t number_of(const struct rows *rows, uint64_t func)
{
	const struct row key = {.func = func};
	const struct row *row = bsearch(&key, rows->at, rows->n, sizeof(*rows->at), by_functions);

	return rows->first + (row ? (uint32_t)(row - rows->at) : 0);
}

/*
 * Write a function with its source file, and return its line. @file and @name are the keywords of
 * the caller or of the callee. A number before the name protects names that begin with a
 * parenthesis.
 */
static unsigned int write_function(struct format_run *run, const struct rows *rows, uint64_t func,
				   const char *file, const char *name)
{
	const struct debug_line *line = debug_symbols_line(run->symbols, func);
	char text[4096] = "???";

	if (line && line->file)
		text_copy(text, sizeof(text), line->file, strlen(line->file));
	fprintf(run->out, "%s=%s\n", file, *text == '(' ? "???" : text);
	debug_symbols_format(run->symbols, func, text, sizeof(text));
	fprintf(run->out, "%s=(%" PRIu32 ") %s\n", name, number_of(rows, func), text);
	return line && line->file ? line->line : 0;
}

static void write_rows(struct format_run *run, const struct format_lane *lane,
		       const struct rows *rows)
{
	unsigned int line = 0, to;
	size_t i;

	fprintf(run->out, "\nob=(%" PRIu32 ") %s\n", lane->id + 1, lane->name);
	for (i = 0; i < rows->n; i++) {
		const struct row *row = &rows->at[i];

		if (!row->is_call) {
			line = write_function(run, rows, row->func, "fl", "fn");
			fprintf(run->out, "%u %" PRIu64 "\n", line, row->insns);
			continue;
		}
		to = write_function(run, rows, row->callee, "cfi", "cfn");
		fprintf(run->out, "calls=%" PRIu64 " %u\n%u %" PRIu64 "\n", row->calls, to, line,
			row->insns);
	}
}

static int end(struct format_run *run)
{
	uint32_t first = 1;
	size_t i;
	int err = 0;

	fprintf(run->out,
		"# callgrind format\nversion: 1\ncreator: vpt\npositions: line\nevents: Ir\n"
		"summary: %" PRIu64 "\n",
		run->insns);
	for (i = 0; i < run->lanes.n && !err; i++) {
		struct rows rows = {.first = first};

		err = make(run->lanes.at[i]->calls, &rows);
		if (!err)
			write_rows(run, run->lanes.at[i], &rows);
		first += (uint32_t)rows.n;
		free(rows.at);
	}
	return err;
}

const struct format_type format_type_callgrind = {.name = "callgrind", .lines = true, .end = end};
