// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a trace file, and find the code that decoders can get before the first packet. */
#include "bench/decode/input.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_time(const struct bench_code *a, const struct bench_code *b)
{
	int d = compare(a->insns, b->insns);

	return d ? d : compare(a->order, b->order);
}

static int by_place(const void *a, const void *b)
{
	const struct bench_code *x = *(struct bench_code *const *)a;
	const struct bench_code *y = *(struct bench_code *const *)b;
	int d = compare(x->space, y->space);

	if (!d)
		d = compare(x->vaddr, y->vaddr);
	return d ? d : by_time(x, y);
}

static int by_gpa(const void *a, const void *b)
{
	const struct bench_code *x = *(struct bench_code *const *)a;
	const struct bench_code *y = *(struct bench_code *const *)b;
	int d = compare(x->gpa, y->gpa);

	return d ? d : by_time(x, y);
}

static int by_vaddr(const void *a, const void *b)
{
	const struct bench_code *x = *(struct bench_code *const *)a;
	const struct bench_code *y = *(struct bench_code *const *)b;
	int d = compare(x->vaddr, y->vaddr);

	return d ? d : by_time(x, y);
}

static int by_given(const void *a, const void *b)
{
	const struct bench_code *x = a, *y = b;

	return x->early != y->early ? (x->early ? -1 : 1) : by_time(x, y);
}

static bool same_bytes(const struct bench_code *a, const struct bench_code *b)
{
	return a->bytes == b->bytes || !memcmp(a->bytes, b->bytes, TRACE_CODE_BYTES);
}

/*
 * Mark the early pages. A page is early if it is the first at its address in its space. Its
 * physical page must also have only one content, or this one first.
 */
static void find_early(struct bench_input *in, struct bench_code **sorted)
{
	size_t i, end;

	qsort(sorted, in->ncode, sizeof(*sorted), by_place);
	for (i = 0; i < in->ncode; i++)
		sorted[i]->first = !i || sorted[i]->space != sorted[i - 1]->space ||
				   sorted[i]->vaddr != sorted[i - 1]->vaddr;
	qsort(sorted, in->ncode, sizeof(*sorted), by_gpa);
	for (i = 0; i < in->ncode; i = end) {
		bool single = true;
		size_t k;

		for (end = i + 1; end < in->ncode && sorted[end]->gpa == sorted[i]->gpa; end++)
			single &= same_bytes(sorted[end], sorted[i]);
		for (k = i; k < end; k++)
			sorted[k]->early = sorted[k]->first && (single || k == i);
	}
	for (i = 0; i < in->ncode; i++)
		in->changes |= !sorted[i]->early;
	qsort(sorted, in->ncode, sizeof(*sorted), by_vaddr);
	for (i = 1; i < in->ncode; i++)
		in->changes |= bench_is_kernel(sorted[i]->vaddr) &&
			       sorted[i]->vaddr == sorted[i - 1]->vaddr &&
			       !same_bytes(sorted[i], sorted[i - 1]);
}

static int read_code(struct bench_input *in)
{
	const struct trace_code *code = trace_reader_code(in->reader, 0, &in->ncode);
	struct bench_code **sorted = calloc(in->ncode + 1, sizeof(struct bench_code *));
	size_t i;

	in->code = calloc(in->ncode + 1, sizeof(*in->code));
	if (!in->code || !sorted) {
		free(sorted);
		return -1;
	}
	in->spaces = ~(uint64_t)0xfff;
	for (i = 0; i < in->ncode; i++) {
		const struct trace_code_page *page = code[i].page;

		in->code[i] = (struct bench_code){.space = page->cr3,
						  .vaddr = page->vaddr,
						  .gpa = page->gpa,
						  .insns = page->insns,
						  .bytes = code[i].bytes,
						  .order = i};
		sorted[i] = &in->code[i];
		/* PAE */
		if (page->cr3 & 0xfff)
			in->spaces = ~(uint64_t)0x1f;
	}
	find_early(in, sorted);
	free(sorted);
	qsort(in->code, in->ncode, sizeof(*in->code), by_given);
	return 0;
}

static void set_name(struct bench_input *in, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dot;

	snprintf(in->name, sizeof(in->name), "%s", slash ? slash + 1 : path);
	dot = strrchr(in->name, '.');
	if (dot)
		*dot = 0;
}

int bench_input_open(const char *path, struct bench_input *in)
{
	const struct trace_period *periods;
	const struct trace_cr3_switch *cr3s;
	size_t n, ncr3s;
	char why[256];

	memset(in, 0, sizeof(*in));
	set_name(in, path);
	if (trace_reader_open_as(path, TRACE_READER_NO_ORACLE, &in->reader, why, sizeof(why))) {
		fprintf(stderr, "bench: %s: %s\n", path, why);
		return -1;
	}
	periods = trace_reader_sessions(in->reader, 0, &n);
	if (n != 1 || trace_reader_info(in->reader)->flags & TRACE_INFO_ATOM) {
		fprintf(stderr, "bench: %s: not one session of Intel PT\n", path);
		return -1;
	}
	in->ctl = periods->start->ctl;
	in->caps = &trace_reader_info(in->reader)->caps;
	in->stream = trace_reader_stream(in->reader, 0, &in->len);
	if (read_code(in)) {
		fprintf(stderr, "bench: %s: out of memory\n", path);
		return -1;
	}
	cr3s = trace_reader_cr3(in->reader, 0, &ncr3s);
	in->space = ncr3s ? cr3s[0].cr3 & in->spaces : in->ncode ? in->code[0].space : 0;
	if (in->changes && bench_input_plan(in))
		return -1;
	/* A decoder would otherwise reuse freed memory, and its memory use would look too small. */
	malloc_trim(0);
	return 0;
}

void bench_input_close(struct bench_input *in)
{
	free(in->code);
	if (in->reader)
		trace_reader_close(in->reader);
}
