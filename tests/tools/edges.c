// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold the edges that libvptdecode counts against what ran: with runs, with tracelets, and in
 * parts that are cut at PSBs and added.
 * usage: edges FILE	a trace with an oracle; vCPU 0, one address space, code that stays
 *
 * Exit status 0: the same. 1: not. 3: the file has not what this needs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/onepiece.h"
#include "libdecode/vptdecode.h"
#include "trace/reader.h"

#define NOT_THIS 3

struct trace {
	struct trace_reader *reader;
	const uint8_t *stream;
	size_t len;
	const struct trace_code *code;
	size_t ncode;
	uint64_t ctl;
};

static uint64_t ran; /* instructions of all runs */

static void on_run(void *context, const struct vptd_run *run)
{
	(void)context;
	ran += run->count;
}

/* The file has one address space, so any identifier works. */
static uint64_t one_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)cr3;
	(void)nr;
	(void)vmcs;
	return 1;
}

static struct vptd_decoder *decoder(const struct trace *t, bool runs)
{
	const struct vptd_config config = {
		.size = sizeof(config), .flags = VPTD_CTL | VPTD_EDGES, .ctl = t->ctl};
	const struct vptd_ops ops = {
		.size = sizeof(ops), .run = runs ? on_run : NULL, .space = one_space};
	enum vptd_status status;
	struct vptd_decoder *d = vptd_new(&config, &ops, NULL, &status);
	size_t i;

	if (!d)
		abort();
	for (i = 0; i < t->ncode; i++) {
		const struct trace_code_page *page = t->code[i].page;

		if (vptd_page(d, VPTD_ANY_SPACE, page->vaddr, page->vaddr >> 12, t->code[i].bytes))
			abort();
	}
	return d;
}

/* Decode bytes @from to @to, and add what they count. Returns the instructions. */
static uint64_t decode(const struct trace *t, size_t from, size_t to, bool runs,
		       struct vptd_counts *counts)
{
	struct vptd_decoder *d = decoder(t, runs);
	uint64_t insns;

	if (vptd_push(d, t->stream + from, to - from) || vptd_finish(d) || vptd_count(d, counts))
		abort();
	if (vptd_events(d, VPTD_EVENT_ERROR))
		printf("# errors: %" PRIu64 "\n", vptd_events(d, VPTD_EVENT_ERROR));
	insns = vptd_insns(d);
	vptd_free(d);
	return insns;
}

/* Use a decoder for each stretch from PSB to PSB, which continues to the end of the next PSB+. */
static uint64_t in_parts(const struct trace *t, struct vptd_counts *counts, size_t *parts)
{
	size_t from = vptd_find_psb(t->stream, t->len), next;
	uint64_t insns = 0;

	for (*parts = 0; from < t->len; from = next, ++*parts) {
		struct vptd_counts *of_part = vptd_counts_new();

		if (!of_part)
			abort();
		next = from + 1 + vptd_find_psb(t->stream + from + 1, t->len - from - 1);
		insns += decode(t, from, next + vptd_psb_size(t->stream + next, t->len - next),
				false, of_part);
		if (vptd_counts_add(counts, of_part))
			abort();
		vptd_counts_free(of_part);
	}
	return insns;
}

struct edge_list {
	struct vptd_edge *at;
	size_t n, room;
};

static void put(struct edge_list *list, uint64_t from, uint64_t to)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->at = realloc(list->at, list->room * sizeof(*list->at));
		if (!list->at)
			abort();
	}
	list->at[list->n++] = (struct vptd_edge){from, to, from >> 12, 1};
}

/*
 * Count edges of the oracle: to an instruction that a branch led to, or that follows a conditional
 * branch.
 */
static uint64_t from_oracle(const struct trace *t, struct edge_list *list)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *r;
	struct trace_oracle_record last = {.kind = TRACE_ORACLE_STOP};
	uint64_t insns = 0;

	while ((r = trace_reader_oracle(t->reader, 0, &cursor))) {
		unsigned int flags = r->aux;

		if (r->kind == TRACE_ORACLE_CR3)
			continue;
		if (r->kind != TRACE_ORACLE_INSN)
			flags = TRACE_ORACLE_AUX_FLAGS(r->aux);
		insns += r->kind == TRACE_ORACLE_INSN;
		/* An event also reports the address to which the previous instruction led. */
		if (last.kind == TRACE_ORACLE_INSN &&
		    (flags & TRACE_ORACLE_ARRIVED || last.aux & TRACE_ORACLE_COND))
			put(list, last.ip, r->ip);
		last = *r;
	}
	return insns;
}

static int by_address(const void *a, const void *b)
{
	const struct vptd_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_up(struct edge_list *list)
{
	size_t i, n = 0;

	qsort(list->at, list->n, sizeof(*list->at), by_address);
	for (i = 0; i < list->n; i++) {
		if (n && !by_address(&list->at[n - 1], &list->at[i]))
			list->at[n - 1].count++;
		else
			list->at[n++] = list->at[i];
	}
	list->n = n;
}

static bool same(const char *how, struct vptd_counts *counts, const struct edge_list *list)
{
	static const struct vptd_edge none;
	struct vptd_edge edge = none;
	size_t i, n = vptd_counts_edges(counts);

	for (i = 0; i < n || i < list->n; i++) {
		const struct vptd_edge *want = i < list->n ? &list->at[i] : &none;

		edge = none;
		if (vptd_counts_edge(counts, i, &edge) && i < list->n &&
		    !memcmp(&edge, want, sizeof(edge)))
			continue;
		printf("# %s: edge %zu of %zu is %#" PRIx64 " %#" PRIx64 " %" PRIu64
		       " of page %#" PRIx64 ", and ran %#" PRIx64 " %#" PRIx64 " %" PRIu64 "\n",
		       how, i, n, edge.from, edge.to, edge.count, edge.page, want->from, want->to,
		       want->count);
		return false;
	}
	return true;
}

/* Check the bitmap with a second implementation of the header's formula. */
static bool same_bitmap(const struct vptd_counts *counts, const struct edge_list *list)
{
	static uint8_t bitmap[VPTD_BITMAP], expected[VPTD_BITMAP];
	size_t i;

	vptd_counts_bitmap(counts, bitmap);
	for (i = 0; i < list->n; i++) {
		const struct vptd_edge *e = &list->at[i];
		uint64_t h = (e->from ^ (e->to >> 32 | e->to << 32)) * 0x9e3779b97f4a7c15ull;
		uint64_t sum = expected[h >> 48] + e->count;

		expected[h >> 48] = sum < 255 ? (uint8_t)sum : 255;
	}
	return !memcmp(bitmap, expected, sizeof(bitmap));
}

static bool suits(struct trace *t)
{
	const struct trace_session *session = one_piece(t->reader);

	t->stream = trace_reader_stream(t->reader, 0, &t->len);
	t->code = trace_reader_code(t->reader, 0, &t->ncode);
	if (!session)
		return false;
	t->ctl = session->ctl;
	return true;
}

int main(int argc, char **argv)
{
	struct vptd_counts *whole = vptd_counts_new(), *fast = vptd_counts_new(),
			   *sum = vptd_counts_new();
	struct trace t = {0};
	struct edge_list list = {0};
	uint64_t insns[4];
	char why[256];
	size_t parts;
	bool ok;

	if (argc != 2 || trace_reader_open(argv[1], &t.reader, why, sizeof(why))) {
		fprintf(stderr, "usage: edges FILE\n");
		return 2;
	}
	if (!suits(&t))
		return NOT_THIS;
	insns[0] = from_oracle(&t, &list);
	add_up(&list);
	insns[1] = decode(&t, 0, t.len, true, whole);
	insns[2] = decode(&t, 0, t.len, false, fast);
	insns[3] = in_parts(&t, sum, &parts);
	ok = same("runs", whole, &list) && same("tracelets", fast, &list) &&
	     same("parts", sum, &list) && same_bitmap(fast, &list) && insns[1] == ran &&
	     insns[1] == insns[0] && insns[2] == insns[0] && insns[3] == insns[0];
	printf("%zu edges, %zu parts, %" PRIu64 " instructions ran, %" PRIu64 ", %" PRIu64
	       " and %" PRIu64 " decoded\n",
	       list.n, parts, insns[0], insns[1], insns[2], insns[3]);
	vptd_counts_free(whole);
	vptd_counts_free(fast);
	vptd_counts_free(sum);
	free(list.at);
	trace_reader_close(t.reader);
	return !ok;
}
