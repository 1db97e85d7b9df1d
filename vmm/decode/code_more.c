// SPDX-License-Identifier: GPL-2.0-or-later
/* Add the code of a file that grows, unless it contradicts what the store has answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code_inside.h"
#include "trace/vec.h"

/* Double the table of contents, which refers to the same bytes. */
static int grow_contents(struct decode_code_store *store)
{
	const size_t n = 2 * (store->most + 1);
	struct decode_code_hashed *to = calloc(n, sizeof(*to));
	size_t i, k;

	if (!to)
		return -ENOMEM;
	for (i = 0; i <= store->most; i++) {
		if (!store->contents[i].bytes)
			continue;
		for (k = store->contents[i].hash >> 32 & (n - 1); to[k].bytes;
		     k = (k + 1) & (n - 1))
			;
		to[k] = store->contents[i];
	}
	free(store->contents);
	store->contents = to;
	store->most = n - 1;
	return 0;
}

static bool was_asked(const struct decode_code_asked *asked, const struct decode_code_kept *v)
{
	return asked->lost || trace_pairs_find(&asked->all, v->cr3, v->vaddr) ||
	       trace_pairs_find(&asked->all, v->cr3, DECODE_CODE_ANY_PAGE) ||
	       trace_pairs_find(&asked->all, DECODE_CODE_ANY_SPACE, v->vaddr);
}

int decode_code_add_space(struct decode_code_store *store, uint64_t cr3, bool *added)
{
	size_t i = trace_vec_before(store->spaces, store->nspaces, e, e->cr3 < cr3);

	*added = false;
	if (i < store->nspaces && store->spaces[i].cr3 == cr3)
		return 0;
	if (!DECODE_CODE_ROOM(store->spaces, store->nspaces, store->space_room))
		return -ENOMEM;
	memmove(store->spaces + i + 1, store->spaces + i,
		(store->nspaces - i) * sizeof(*store->spaces));
	store->spaces[i] = (struct decode_code_spaced){.cr3 = cr3};
	store->nspaces++;
	*added = true;
	return 0;
}

/* Add the first version of a page, which is the content of the page before it, too. */
static int add_page(struct decode_code_store *store, const struct decode_code_kept *v)
{
	bool added;
	int err;

	if (was_asked(store->asked, v))
		return -ESTALE;
	if (!DECODE_CODE_ROOM(store->pages, store->npages, store->page_room))
		return -ENOMEM;
	store->pages[store->npages++] =
		(struct decode_code_paged){v->cr3, v->vaddr, v->bytes, v->from, v->from, false};
	err = decode_code_add_space(store, v->cr3, &added);
	return err ? err : decode_code_hash_last(store);
}

/* Add a version that replaces another one. */
static int add_version(struct decode_code_store *store, struct decode_code_paged *page,
		       const struct decode_code_kept *v, uint64_t at)
{
	size_t i;

	if (v->from < page->newest || v->from <= at)
		return -ESTALE;
	if (!DECODE_CODE_ROOM(store->later, store->nlater, store->later_room))
		return -ENOMEM;
	i = trace_vec_before(store->later, store->nlater, e, e->from <= v->from);
	memmove(store->later + i + 1, store->later + i, (store->nlater - i) * sizeof(*v));
	store->later[i] = *v;
	store->nlater++;
	page->newest = v->from;
	return 0;
}

int decode_code_grow(struct decode_code_store *store, const struct trace_reader *reader,
		     unsigned int vcpu)
{
	(void)trace_reader_code(reader, vcpu, &store->listed);
	store->asked = calloc(1, sizeof(*store->asked));
	return store->asked ? 0 : -ENOMEM;
}

int decode_code_more(struct decode_code_store *store, const struct trace_reader *reader,
		     unsigned int vcpu, uint64_t at)
{
	size_t n;
	const struct trace_code *code = trace_reader_code(reader, vcpu, &n);
	int err = 0;

	for (; store->listed < n && !err; store->listed++) {
		const struct trace_code_page *is = code[store->listed].page;
		const struct decode_code_kept v = {
			.cr3 = is->cr3,
			.vaddr = is->vaddr,
			.from = is->insns,
			.order = store->listed,
			.bytes = code[store->listed].bytes,
			.place = code[store->listed].place,
		};
		const ssize_t page = decode_code_find_page(store, v.cr3, v.vaddr);

		err = page < 0 ? add_page(store, &v)
			       : add_version(store, &store->pages[page], &v, at);
		if (!err && 2 * (store->npages + store->nlater) > store->most)
			err = grow_contents(store);
	}
	return err;
}
