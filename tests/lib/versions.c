// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/versions.h"

#include <stdlib.h>

static int by_page(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->cr3 != y->cr3)
		return x->cr3 < y->cr3 ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_time(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_first(const struct versions *v, size_t i)
{
	return !i || v->all[i - 1].cr3 != v->all[i].cr3 || v->all[i - 1].vaddr != v->all[i].vaddr;
}

static void map(struct versions *v, const struct version *version)
{
	if (dec_code_content(v->code, version->key, version->bytes) ||
	    dec_code_map(v->code, version->cr3, version->vaddr, version->key))
		abort();
}

void versions_open(struct versions *v, const struct trace_reader *reader, struct dec_code *code)
{
	size_t n, i;
	const struct trace_code *pages = trace_reader_code(reader, 0, &n);

	*v = (struct versions){.code = code, .nall = n};
	v->all = calloc(n + 1, sizeof(*v->all));
	v->later = calloc(n + 1, sizeof(*v->later));
	if (!v->all || !v->later)
		abort();
	for (i = 0; i < n; i++)
		v->all[i] = (struct version){
			pages[i].page->cr3, pages[i].page->vaddr, pages[i].page->insns, i + 1, i,
			pages[i].bytes};
	qsort(v->all, n, sizeof(*v->all), by_page);
	for (i = 0; i < n; i++) {
		if (is_first(v, i))
			map(v, &v->all[i]);
		else
			v->later[v->nlater++] = v->all[i];
	}
	qsort(v->later, v->nlater, sizeof(*v->later), by_time);
}

void versions_close(struct versions *v)
{
	free(v->all);
	free(v->later);
}

uint64_t versions_advance(struct versions *v, uint64_t insns)
{
	for (; v->next < v->nlater && v->later[v->next].insns <= insns; v->next++)
		map(v, &v->later[v->next]);
	return v->next < v->nlater ? v->later[v->next].insns : UINT64_MAX;
}

uint64_t versions_space(const struct versions *v, uint64_t cr3)
{
	uint64_t base = cr3 & ~(uint64_t)0xfff, found = NO_SPACE;
	size_t i;

	for (i = 0; i < v->nall; i++) {
		if (v->all[i].cr3 == cr3)
			return cr3;
		if (v->all[i].cr3 == base)
			found = base;
	}
	return found;
}

uint64_t versions_guess(const struct versions *v, uint64_t ip)
{
	uint64_t found = NO_SPACE;
	size_t i;

	for (i = 0; i < v->nall; i++) {
		if (!is_first(v, i) || v->all[i].vaddr != (ip & ~(uint64_t)0xfff))
			continue;
		if (found != NO_SPACE)
			return NO_SPACE;
		found = v->all[i].cr3;
	}
	return found;
}
