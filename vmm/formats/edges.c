// SPDX-License-Identifier: GPL-2.0-or-later
/* Count changes of flow, and write them as CSV (RFC 4180). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "trace/pairs.h"

/* The counts of a lane: (from, to) of each kind. */
struct counts {
	struct trace_pairs kind[DECODE_EDGE_COUNT];
};

static int lane(struct format_run *run, struct format_lane *l)
{
	(void)run;
	l->own = calloc(1, sizeof(struct counts));
	return l->own ? 0 : -ENOMEM;
}

static int add(struct format_lane *l, enum decode_edge_kind kind, uint64_t from, uint64_t to,
	       uint64_t count)
{
	struct counts *counts = l->own;
	struct trace_pair *pair = trace_pairs_add(&counts->kind[kind], from, to);

	if (!pair)
		return -ENOMEM;
	pair->value += count;
	return 0;
}

static int edge(struct format_run *run, struct format_lane *l, const struct format_edge *e)
{
	(void)run;
	return add(l, e->kind, e->from, e->to, e->count);
}

static int join(struct format_run *run, struct format_lane *l, const struct decode_space_edges *e)
{
	unsigned int k;
	size_t i;
	int err = 0;

	(void)run;
	for (k = 0; k < DECODE_EDGE_COUNT; k++)
		for (i = 0; !err && i < e->kind[k].n; i++)
			err = add(l, (enum decode_edge_kind)k, e->kind[k].at[i].a,
				  e->kind[k].at[i].b, e->kind[k].at[i].value);
	return err;
}

/* Write a field in quotes. A spreadsheet would compute a field that begins like a formula. */
static void write_field(FILE *out, const char *text)
{
	fputs(strchr("=+-@", *text) && *text ? "\"'" : "\"", out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void write_place(struct format_run *run, uint64_t ip)
{
	char text[256];

	fprintf(run->out, ",0x%" PRIx64 ",", ip);
	debug_symbols_format(run->symbols, ip, text, sizeof(text));
	write_field(run->out, text);
}

static void write_pairs(struct format_run *run, const struct format_lane *l,
			struct trace_pairs *pairs, const char *kind)
{
	size_t i;

	trace_pairs_sort(pairs);
	for (i = 0; i < pairs->n; i++) {
		fprintf(run->out, "%u,", l->vcpu);
		write_field(run->out, l->name);
		write_place(run, pairs->at[i].a);
		write_place(run, pairs->at[i].b);
		fprintf(run->out, ",%s,%" PRIu64 "\r\n", kind, pairs->at[i].value);
	}
}

static int end(struct format_run *run)
{
#define DECODE_EDGE(name, text) text,
	static const char *const kinds[] = {DECODE_EDGES(DECODE_EDGE)};
#undef DECODE_EDGE
	size_t i, k;

	fputs("vcpu,space,from,from_name,to,to_name,kind,count\r\n", run->out);
	for (i = 0; i < run->lanes.n; i++) {
		struct counts *counts = run->lanes.at[i]->own;

		for (k = 0; k < DECODE_EDGE_COUNT; k++)
			write_pairs(run, run->lanes.at[i], &counts->kind[k], kinds[k]);
	}
	return 0;
}

static void close(struct format_run *run)
{
	size_t i, k;

	for (i = 0; i < run->lanes.n; i++) {
		struct counts *counts = run->lanes.at[i]->own;

		for (k = 0; counts && k < DECODE_EDGE_COUNT; k++)
			trace_pairs_free(&counts->kind[k]);
		free(counts);
	}
}

const struct format_type format_type_edges = {
	.name = "edges", .lane = lane, .edge = edge, .join = join, .end = end, .close = close};
