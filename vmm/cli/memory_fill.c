// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the executed code of memory images to that of the trace, for verbs that list code. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/memory.h"
#include "decode/flow.h"
#include "trace/vec.h"

#define CR3_BITS 0x000fffffffffffffull

struct fill {
	struct trace_code_source inner, outer;
	struct trace_reader *reader;
	unsigned int vcpu;
	bool no_memory;
	struct {
		struct trace_code_page *at;
		size_t n, room;
	} pages;
	struct {
		const uint8_t **at;
		size_t n, room;
	} bytes;
};

static uint64_t space(void *context, const struct trace_source_key *key)
{
	struct fill *f = context;

	return f->inner.space(f->inner.context, key);
}

static uint64_t guess(void *context, uint64_t ip)
{
	struct fill *f = context;

	return f->inner.guess(f->inner.context, ip);
}

static const uint8_t *page(void *context, uint64_t number, uint64_t vaddr)
{
	struct fill *f = context;
	const uint8_t *bytes = f->inner.page(f->inner.context, number, vaddr);

	if (!bytes)
		return NULL;
	if (!trace_vec_room(&f->pages) || !trace_vec_room(&f->bytes)) {
		f->no_memory = true;
		return NULL;
	}
	f->pages.at[f->pages.n++] = (struct trace_code_page){
		.cr3 = number & CR3_BITS, .vaddr = vaddr, .gpa = UINT64_MAX};
	f->bytes.at[f->bytes.n++] = bytes;
	return bytes;
}

static int decode(struct fill *f)
{
	struct decode_flow *flow;
	struct decode_item item;
	int err = decode_flow_open(f->reader, f->vcpu, DECODE_FLOW_COUNTS, &flow);

	if (err)
		return err;
	do {
		err = decode_flow_next(flow, &item);
	} while (!err && item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	return f->no_memory ? -ENOMEM : err;
}

static int by_place(const void *a, const void *b)
{
	const struct trace_code_page *x = a, *y = b;

	if (x->cr3 != y->cr3)
		return x->cr3 < y->cr3 ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Add each requested page once. */
static int add_all(struct fill *f)
{
	size_t i;
	int err = 0;

	/* The address of the bytes identifies the page's position in the list. */
	for (i = 0; i < f->pages.n; i++)
		f->pages.at[i].gpa = i;
	if (f->pages.n)
		qsort(f->pages.at, f->pages.n, sizeof(*f->pages.at), by_place);
	for (i = 0; i < f->pages.n && !err; i++) {
		struct trace_code_page p = f->pages.at[i];

		if (i && !by_place(&f->pages.at[i - 1], &p))
			continue;
		p.gpa = UINT64_MAX;
		err = trace_reader_add_code(f->reader, f->vcpu, &p,
					    f->bytes.at[f->pages.at[i].gpa]);
	}
	f->pages.n = f->bytes.n = 0;
	return err;
}

int cli_memory_fill(struct cli_memory *m, const char *verb, struct trace_reader *reader)
{
	struct fill f = {.inner = m->source, .reader = reader};
	unsigned int vcpus = trace_reader_info(reader)->vcpus;
	int err = 0;

	if (!m->set)
		return CLI_EXIT_OK;
	f.outer = (struct trace_code_source){
		.space = space, .guess = guess, .page = page, .context = &f};
	for (f.vcpu = 0; f.vcpu < vcpus && !err; f.vcpu++) {
		trace_reader_set_source(reader, &f.outer);
		err = decode(&f);
		trace_reader_set_source(reader, NULL);
		if (!err)
			err = add_all(&f);
	}
	free(f.pages.at);
	free(f.bytes.at);
	return err ? cli_fail(CLI_EXIT_HOST, "%s: %s", verb, strerror(-err)) : CLI_EXIT_OK;
}
