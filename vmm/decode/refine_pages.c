// SPDX-License-Identifier: GPL-2.0-or-later
/* List the contents that pages have at an address in any space. */
#include "decode/refine_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

/* The maximum number of versions that are compared for one page. */
#define STEPS_MAX 4096u

static int by_vaddr(const void *a, const void *b)
{
	const struct decode_refine_page *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr > y->vaddr ? 1 : -1;
	return (x->from > y->from) - (x->from < y->from);
}

int decode_refine_pages_open(struct decode_refine_pages *p, const struct trace_reader *reader,
			     unsigned int vcpu)
{
	const struct trace_cut *cut = trace_reader_cut(reader, vcpu);
	const uint64_t base = cut ? cut->offset : 0;
	size_t n, i;
	const struct trace_code *code = trace_reader_code(reader, vcpu, &n);

	p->n = n;
	p->at = calloc(n + 1, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct trace_code_page *page = code[i].page;

		p->at[i] = (struct decode_refine_page){
			.cr3 = page->cr3,
			.vaddr = page->vaddr,
			.from = page->insns > base ? page->insns - base : 0,
			.bytes = code[i].bytes,
		};
	}
	qsort(p->at, n, sizeof(*p->at), by_vaddr);
	return 0;
}

void decode_refine_pages_close(struct decode_refine_pages *p)
{
	free(p->at);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static size_t add(struct decode_refine_content *list, size_t n, uint64_t donor,
		  const uint8_t *bytes)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (list[i].bytes == bytes || !memcmp(list[i].bytes, bytes, TRACE_CODE_BYTES))
			return n;
	}
	list[n] = (struct decode_refine_content){donor, bytes};
	return n + 1;
}

/* Add contents, with the nearest first. Two ends move apart from the place. */
static size_t find(const struct decode_refine_pages *p, const struct decode_code_store *store,
		   const struct decode_refine_page *key, struct decode_refine_content *list,
		   size_t n)
{
	const uint64_t vaddr = key->vaddr, at = key->from;
	size_t behind = trace_vec_before(p->at, p->n, e, by_vaddr(e, key) < 0), before = behind;
	unsigned int steps;

	for (steps = 0; n < DECODE_REFINE_PAGE_TRIES && steps < STEPS_MAX; steps++) {
		const bool has_before = before && p->at[before - 1].vaddr == vaddr;
		const bool has_behind = behind < p->n && p->at[behind].vaddr == vaddr;
		const struct decode_refine_page *next;
		const uint8_t *now;

		if (!has_before && !has_behind)
			break;
		if (has_before && (!has_behind || distance(p->at[before - 1].from, at) <=
							  distance(p->at[behind].from, at)))
			next = &p->at[--before];
		else
			next = &p->at[behind++];
		now = store ? decode_code_page(store, next->cr3, vaddr) : next->bytes;
		if (now)
			n = add(list, n, store ? next->cr3 : 0, now);
	}
	return n;
}

size_t decode_refine_pages_find(const struct decode_refine_pages *p,
				const struct decode_code_store *store, uint64_t vaddr, uint64_t at,
				struct decode_refine_content *list)
{
	const struct decode_refine_page key = {.vaddr = vaddr, .from = at};
	/*
	 * A kernel's pages change in all spaces at once. A process' pages change in a donor when its CR3
	 * is used for another process.
	 */
	const bool is_kernel = vaddr >> 63;
	const size_t n = find(p, is_kernel ? store : NULL, &key, list, 0);

	return find(p, is_kernel ? NULL : store, &key, list, n);
}
