// SPDX-License-Identifier: GPL-2.0-or-later
/* Insert and remove versions of pages, and pages, in a store whose positions are offsets. */
#include "decode/code_refine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code_inside.h"
#include "trace/vec.h"

struct decode_code_step decode_code_step_at(const struct decode_code_store *store, size_t i)
{
	const struct decode_code_kept *v = &store->later[i];

	return (struct decode_code_step){v->cr3, v->vaddr, v->from, v->before, v->bytes};
}

uint64_t decode_code_first(const struct decode_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	const ssize_t page = decode_code_find_page(store, cr3, vaddr);

	return page < 0 ? 0 : store->pages[page].first;
}

/* Make @before the bytes that the next change of the page replaces. That change is at @i or later. */
static void chain(struct decode_code_store *store, size_t i, const struct decode_code_step *step,
		  const uint8_t *before)
{
	for (; i < store->nlater; i++) {
		struct decode_code_kept *v = &store->later[i];

		store->work++;
		if (v->vaddr != step->vaddr || v->cr3 != step->cr3)
			continue;
		v->before = before;
		return;
	}
}

int decode_code_insert(struct decode_code_store *store, const struct decode_code_step *step)
{
	size_t i;

	if (!DECODE_CODE_ROOM(store->later, store->nlater, store->later_room))
		return -ENOMEM;
	i = trace_vec_before(store->later, store->nlater, e, e->from <= step->from);
	memmove(store->later + i + 1, store->later + i,
		(store->nlater - i) * sizeof(*store->later));
	store->nlater++;
	store->work += store->nlater - i;
	store->later[i] = (struct decode_code_kept){
		.cr3 = step->cr3,
		.vaddr = step->vaddr,
		.from = step->from,
		.bytes = step->new,
		.before = step->old,
	};
	chain(store, i + 1, step, step->new);
	return 0;
}

void decode_code_remove(struct decode_code_store *store, const struct decode_code_step *step)
{
	size_t i = trace_vec_before(store->later, store->nlater, e, e->from < step->from);

	for (; i < store->nlater && store->later[i].from == step->from; i++) {
		struct decode_code_kept *v = &store->later[i];

		if (v->cr3 != step->cr3 || v->vaddr != step->vaddr || v->bytes != step->new)
			continue;
		store->nlater--;
		memmove(v, v + 1, (store->nlater - i) * sizeof(*v));
		chain(store, i, step, step->old);
		return;
	}
}

static size_t space_index(const struct decode_code_store *store, uint64_t cr3)
{
	return trace_vec_before(store->spaces, store->nspaces, e, e->cr3 < cr3);
}

int decode_code_add_page(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr,
			 const uint8_t *bytes)
{
	struct decode_code_paged page = {.cr3 = cr3, .vaddr = vaddr, .bytes = bytes};
	int err = -ENOMEM;

	if (DECODE_CODE_ROOM(store->pages, store->npages, store->page_room))
		err = decode_code_add_space(store, cr3, &page.made_space);
	if (err)
		return err;
	store->pages[store->npages++] = page;
	store->last_bytes = NULL;
	return decode_code_hash_last(store);
}

/* Insert a copy of each version of @donor before the version of the store, so that order is kept. */
static int copy_versions(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr,
			 uint64_t donor)
{
	size_t more = 0, i, to;

	for (i = 0; i < store->nlater; i++)
		more += store->later[i].cr3 == donor && store->later[i].vaddr == vaddr;
	while (store->nlater + more > store->later_room) {
		size_t room = store->nlater + more;

		if (!DECODE_CODE_ROOM(store->later, room, store->later_room))
			return -ENOMEM;
	}
	store->work += 2 * store->nlater;
	to = store->nlater + more;
	for (i = store->nlater; i-- > 0;) {
		const struct decode_code_kept v = store->later[i];

		store->later[--to] = v;
		if (v.cr3 != donor || v.vaddr != vaddr)
			continue;
		store->later[--to] = v;
		store->later[to].cr3 = cr3;
		store->nlater++;
		store->next += i < store->next;
	}
	return 0;
}

int decode_code_copy_page(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr,
			  uint64_t donor)
{
	const ssize_t from = decode_code_find_page(store, donor, vaddr);
	int err;

	if (from < 0)
		return -ENOMEM;
	err = decode_code_add_page(store, cr3, vaddr, store->pages[from].bytes);
	if (err)
		return err;
	store->pages[store->npages - 1].first = store->pages[from].first;
	return copy_versions(store, cr3, vaddr, donor);
}

static void drop_versions(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	const size_t n = store->nlater, next = store->next;
	size_t i;

	store->nlater = 0;
	for (i = 0; i < n; i++) {
		if (store->later[i].cr3 == cr3 && store->later[i].vaddr == vaddr)
			store->next -= i < next;
		else
			store->later[store->nlater++] = store->later[i];
	}
	store->work += n;
}

void decode_code_drop_page(struct decode_code_store *store)
{
	const struct decode_code_paged page = store->pages[store->npages - 1];
	const size_t i = space_index(store, page.cr3);

	drop_versions(store, page.cr3, page.vaddr);
	decode_code_unhash_last(store);
	store->npages--;
	store->last_bytes = NULL;
	if (!page.made_space)
		return;
	store->nspaces--;
	memmove(store->spaces + i, store->spaces + i + 1,
		(store->nspaces - i) * sizeof(*store->spaces));
}

uint64_t decode_code_work(const struct decode_code_store *store)
{
	return store->work;
}

void decode_code_forget(struct decode_code_store *store)
{
	memset(store->contents, 0, (store->most + 1) * sizeof(*store->contents));
	store->ncontents = 0;
	store->last_bytes = NULL;
}
