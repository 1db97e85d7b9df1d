// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the code that a decoder has used, for a file with no other code. */
#include <errno.h>
#include <stdlib.h>

#include "decode/code_inside.h"

/* The list while it is made. */
struct list {
	const struct decode_code_store *store;
	const struct decode_code_uses *uses;
	const struct decode_code_kept *at; /* sorted by page, then by time */
	bool *kept;			   /* by order */
	size_t first, last;
};

struct decode_code_uses *decode_code_uses_new(void)
{
	return calloc(1, sizeof(struct decode_code_uses));
}

void decode_code_uses_free(struct decode_code_uses *uses)
{
	if (uses)
		trace_pairs_free(&uses->all);
	free(uses);
}

void decode_code_note_uses(struct decode_code_store *store, struct decode_code_uses *uses)
{
	store->uses = uses;
}

size_t decode_code_applied(const struct decode_code_store *store)
{
	return store->next;
}

/* Returns true if @v is change @i of the store, or before it. */
static bool is_until(const struct list *l, const struct decode_code_kept *v, size_t i)
{
	const struct decode_code_kept *change = &l->store->later[i];

	return v->from < change->from || (v->from == change->from && v->order <= change->order);
}

/* Returns true if the page had this version, or a later one, when the range begins. */
static bool is_applied(const struct list *l, const struct decode_code_kept *v)
{
	return l->first && is_until(l, v, l->first - 1);
}

/* Returns true if a change is in the range, or the next one behind it. */
static bool is_wanted(const struct list *l, const struct decode_code_kept *v)
{
	const bool before = l->first > 1 && is_until(l, v, l->first - 2);

	return !before && (l->last >= l->store->nlater || is_until(l, v, l->last));
}

/* Keep versions of a page, which are @n entries from @from on. Returns true if any is kept. */
static bool keep_page(const struct list *l, size_t from, size_t n)
{
	const struct decode_code_kept *v = &l->at[from];
	const bool used = trace_pairs_find(&l->uses->all, v->cr3, v->vaddr);
	bool any = used;
	size_t current = 0, i;

	for (i = 1; i < n; i++) {
		if (is_applied(l, &v[i]))
			current = i;
		/* Without an earlier version of its page, it would not be a change. */
		if (is_wanted(l, &v[i]))
			any = l->kept[v[i].order] = l->kept[v[i - 1].order] = true;
	}
	if (used)
		l->kept[v[current].order] = true;
	return any;
}

static size_t same_page(const struct list *l, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && l->at[i].cr3 == l->at[from].cr3 && l->at[i].vaddr == l->at[from].vaddr)
		i++;
	return i - from;
}

/* Keep the pages of all spaces, and at least one page of a space that was selected. */
static void keep_spaces(const struct list *l, size_t n)
{
	size_t from = 0, pages, space;
	bool any = false;

	for (space = 0; from < n; from += pages) {
		pages = same_page(l, from, n);
		any |= keep_page(l, from, pages);
		if (from + pages < n && l->at[from + pages].cr3 == l->at[space].cr3)
			continue;
		if (!any && trace_pairs_find(&l->uses->all, l->at[space].cr3, DECODE_CODE_ANY_PAGE))
			l->kept[l->at[space].order] = true;
		space = from + pages;
		any = false;
	}
}

/* Code at offsets can be taken back, and shared code is that of another vCPU. */
static bool needs_all(const struct decode_code_store *store)
{
	return store->common || store->source || (store->by_offset && store->nlater);
}

int decode_code_list_used(const struct decode_code_store *store, const struct trace_reader *reader,
			  unsigned int vcpu, const struct decode_code_uses *uses, size_t first,
			  size_t last, size_t **list, size_t *n)
{
	size_t all, i;
	const struct trace_code *code = trace_reader_code(reader, vcpu, &all);
	struct decode_code_kept *at = calloc(all + 1, sizeof(*at));
	bool *kept = calloc(all + 1, sizeof(*kept));
	const struct list l = {store, uses, at, kept, first, last};
	int err = -ENOMEM;

	*list = calloc(all + 1, sizeof(**list));
	*n = 0;
	if (at && kept && *list && !uses->lost) {
		for (i = 0; i < all; i++)
			at[i] = (struct decode_code_kept){.cr3 = code[i].page->cr3,
							  .vaddr = code[i].page->vaddr,
							  .from = code[i].page->insns,
							  .order = i};
		qsort(at, all, sizeof(*at), decode_code_by_page);
		keep_spaces(&l, all);
		for (i = 0; i < all; i++)
			if (kept[i] || needs_all(store))
				(*list)[(*n)++] = i;
		err = 0;
	}
	free(at);
	free(kept);
	return err;
}
