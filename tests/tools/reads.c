// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an exact trace like one of kvm-pt, and counts the instructions that differ between two traces.
 *
 * usage: reads N EXACT OUT
 *        reads EXACT OTHER
 *
 * EXACT has one vCPU, and code by instruction counter. The code of OUT has offsets in the stream. A
 * change of a page is found at the next read, and there is one every N bytes. If a page changes several
 * times between two reads, OUT has only the last content. The second form decodes two traces with the
 * same packets. It prints the instructions of EXACT, how many of them OTHER does not have, and the
 * errors of OTHER. Instructions belong together if they have the same place in the stream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>

#include "decode/flow.h"
#include "trace/vec.h"
#include "trace/writer.h"

static void die(const char *why)
{
	fprintf(stderr, "reads: %s\n", why);
	exit(1);
}

static struct trace_reader *open_file(const char *path)
{
	struct trace_reader *reader;
	char why[256];

	if (trace_reader_open_as(path, TRACE_READER_NO_ORACLE, &reader, why, sizeof(why)))
		die(why);
	return reader;
}

/* A version of a page, and the place of its change: a counter, then an offset. */
struct version {
	uint64_t at;
	const struct trace_code *code;
};

static int by_place(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->at != y->at)
		return x->at > y->at ? 1 : -1;
	return (x->code > y->code) - (x->code < y->code);
}

/* Replace counters by the offsets at which the decoder has reached them. */
static void place(struct trace_reader *r, struct version *all, size_t n)
{
	struct decode_flow *flow;
	struct decode_item item;
	size_t nperiods, i = 0;
	const struct trace_period *periods = trace_reader_sessions(r, 0, &nperiods);
	uint64_t insns = nperiods ? periods->start->insns : 0, before = 0;

	if (decode_flow_open(r, 0, DECODE_FLOW_BLOCKS, &flow))
		die("the trace cannot be decoded");
	do {
		if (decode_flow_next(flow, &item))
			die("the trace cannot be decoded");
		if (item.kind == DECODE_ITEM_BLOCK) {
			insns += item.insns;
			for (; i < n && all[i].at < insns; i++)
				all[i].at = all[i].at ? before : 0;
		}
		before = item.offset;
	} while (item.kind != DECODE_ITEM_END);
	for (; i < n; i++)
		all[i].at = before;
	decode_flow_close(flow);
}

/* Write the last content of each page that changed behind @from and up to @to. */
static void read_code(struct trace_writer *w, const struct version *all, size_t n, uint64_t to)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		struct trace_code_page page = *all[i].code->page;

		for (k = i + 1; k < n; k++) {
			const struct trace_code_page *later = all[k].code->page;

			if (later->cr3 == page.cr3 && later->vaddr == page.vaddr)
				break;
		}
		page.insns = to;
		if (k == n && trace_writer_code(w, 0, &page, all[i].code->bytes))
			die("a page cannot be written");
	}
}

/* Write two contents that no mapping has. Contents that are added to the file need later ids. */
static void write_contents(struct trace_writer *w)
{
	uint8_t bytes[TRACE_CODE_BYTES] = {0};
	uint64_t base, id;

	if (trace_writer_page(w, bytes, &base))
		die("a content cannot be written");
	bytes[1] = 1;
	if (trace_writer_change(w, base, bytes, 1, 2, &id))
		die("a content cannot be written");
}

static void write_stream(struct trace_reader *r, struct trace_writer *w, uint64_t step,
			 const struct version *all, size_t n)
{
	size_t len, nperiods, ncr3, i = 0, k;
	const struct trace_cr3_switch *cr3;
	const uint8_t *stream = trace_reader_stream(r, 0, &len);
	const struct trace_period *periods = trace_reader_sessions(r, 0, &nperiods);
	struct trace_session start, end;
	struct trace_epoch epoch = {0};
	uint64_t at, to;

	if (nperiods != 1 || !periods->end)
		die("the trace must have one whole session");
	start = *periods->start;
	end = *periods->end;
	trace_writer_session(w, 0, &start);
	cr3 = trace_reader_cr3(r, 0, &ncr3);
	for (k = 0; k < ncr3; k++)
		trace_writer_cr3(w, 0, &cr3[k]);
	for (at = 0; at < len; at = to) {
		to = len - at < step ? len : at + step;
		trace_writer_trace(w, 0, UINT64_MAX, stream + at, to - at);
		for (k = i; k < n && all[k].at <= to; k++)
			;
		read_code(w, all + i, k - i, to);
		epoch.epoch++;
		trace_writer_epoch(w, 0, &epoch);
		i = k;
	}
	write_contents(w);
	trace_writer_session(w, 0, &end);
}

static void convert(uint64_t step, const char *from, const char *path)
{
	struct trace_reader *r = open_file(from);
	struct trace_file_info info = *trace_reader_info(r);
	struct version *all;
	struct trace_writer *w;
	size_t n, i;
	const struct trace_code *code = trace_reader_code(r, 0, &n);
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	all = calloc(n + 1, sizeof(*all));
	if (!all || fd < 0 || !step || info.vcpus != 1)
		die("usage: reads N EXACT OUT, or reads EXACT OTHER");
	for (i = 0; i < n; i++)
		all[i] = (struct version){code[i].page->insns, &code[i]};
	qsort(all, n, sizeof(*all), by_place);
	place(r, all, n);
	info.flags |= TRACE_INFO_CODE_BY_OFFSET;
	info.oracle = 0;
	if (trace_writer_start(fd, &info, &w))
		die("the file cannot be written");
	write_stream(r, w, step, all, n);
	if (trace_writer_close(w, 0))
		die("the file cannot be written");
	free(all);
	trace_reader_close(r);
}

/* The instructions of one place in the stream. */
struct side {
	struct decode_flow *flow;
	struct decode_item next;
	uint64_t offset;
	struct {
		struct decode_item *at;
		size_t n, room;
	} insns;
	uint64_t errors;
};

static void advance(struct side *s)
{
	do {
		if (decode_flow_next(s->flow, &s->next))
			die("a trace cannot be decoded");
		s->errors += s->next.kind == DECODE_ITEM_ERROR;
	} while (s->next.kind != DECODE_ITEM_INSN && s->next.kind != DECODE_ITEM_END);
}

/* Collect the instructions of the next place. */
static void collect(struct side *s)
{
	s->insns.n = 0;
	s->offset = s->next.kind == DECODE_ITEM_END ? UINT64_MAX : s->next.offset;
	while (s->next.kind != DECODE_ITEM_END && s->next.offset == s->offset) {
		if (!trace_vec_room(&s->insns))
			die("there is no memory");
		s->insns.at[s->insns.n++] = s->next;
		advance(s);
	}
}

static bool same(const struct decode_item *a, const struct decode_item *b)
{
	return a->ip == b->ip && a->size == b->size && a->mode == b->mode &&
	       !memcmp(a->raw, b->raw, a->size);
}

/* Return how many instructions of @a are not at their place in @b. */
static uint64_t differ(const struct side *a, const struct side *b)
{
	size_t i, n = 0;

	for (i = 0; i < a->insns.n; i++)
		n += i >= b->insns.n || !same(&a->insns.at[i], &b->insns.at[i]);
	return n;
}

static void begin(struct side *s, struct trace_reader *r)
{
	if (decode_flow_open(r, 0, DECODE_FLOW_INSNS, &s->flow))
		die("a trace cannot be decoded");
	advance(s);
	collect(s);
}

static void compare(const char *exact, const char *other)
{
	struct trace_reader *r[2] = {open_file(exact), open_file(other)};
	struct side a = {0}, b = {0};
	uint64_t insns = 0, wrong = 0;

	begin(&a, r[0]);
	begin(&b, r[1]);
	while (a.offset != UINT64_MAX) {
		while (b.offset < a.offset)
			collect(&b);
		insns += a.insns.n;
		wrong += b.offset == a.offset ? differ(&a, &b) : a.insns.n;
		collect(&a);
	}
	while (b.offset != UINT64_MAX)
		collect(&b);
	printf("insns %" PRIu64 ", differ %" PRIu64 ", errors %" PRIu64 "\n", insns, wrong,
	       b.errors);
	decode_flow_close(a.flow);
	decode_flow_close(b.flow);
	free(a.insns.at);
	free(b.insns.at);
	trace_reader_close(r[0]);
	trace_reader_close(r[1]);
}

int main(int argc, char **argv)
{
	if (argc == 4)
		convert(strtoull(argv[1], NULL, 0), argv[2], argv[3]);
	else if (argc == 3)
		compare(argv[1], argv[2]);
	else
		die("usage: reads N EXACT OUT, or reads EXACT OTHER");
	return 0;
}
