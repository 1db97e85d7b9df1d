// SPDX-License-Identifier: GPL-2.0-or-later
/* Search a piece for edits of the code with which the piece decodes to its end. */
#include "decode/refine_search.h"

#include <errno.h>

#include "trace/vec.h"

/* Unused contents that stay until they are freed. */
#define POOL_UNUSED 8192u
/* A site is tried at its latest executions. */
#define PLACES_OF_SITE 5u
/* The maximum number of items of a trial: a constant, and some for each byte. */
#define ITEMS_LEAST   65536u
#define ITEMS_OF_BYTE 64u

/* The edits to try. */
struct list {
	struct decode_refine_edit at[DECODE_REFINE_TRIES_MAX];
	size_t n;
};

static struct decode_code_store *store_of(const struct decode_refine_search *s)
{
	return s->trial.f->ahead.store;
}

/* Add a page. The decoder asks for it again where it has noted that there is no code. */
static int add_page(struct decode_refine_search *s, const struct decode_refine_edit *e)
{
	const struct decode_refine_copy copy = {e->cr3, e->vaddr, e->page.donor};
	int err;

	if (!e->page.donor)
		return decode_code_add_page(store_of(s), e->cr3, e->vaddr, e->page.bytes);
	err = decode_code_copy_page(store_of(s), e->cr3, e->vaddr, e->page.donor);
	return err ? err : decode_refine_sites_copy(&s->sites, &copy);
}

static void drop_page(struct decode_refine_search *s, const struct decode_refine_edit *e)
{
	const struct decode_refine_copy copy = {e->cr3, e->vaddr, e->page.donor};

	if (e->page.donor)
		decode_refine_sites_uncopy(&s->sites, &copy);
	decode_code_drop_page(store_of(s));
	decode_refine_forget_code(&s->trial);
}

static void do_edit(struct decode_refine_search *s, const struct decode_refine_edit *e,
		    const struct decode_shard *piece)
{
	decode_refine_rewind(&s->trial, piece);
	if (e->page.bytes) {
		s->trial.err = add_page(s, e);
		return;
	}
	if (e->until)
		decode_refine_sites_flip_reads(&s->sites, piece->from.psb, e->until);
	else
		decode_refine_sites_flip(&s->sites, &e->visit, piece->from.psb);
	if (s->sites.no_memory)
		s->trial.err = -ENOMEM;
}

static void undo_edit(struct decode_refine_search *s, const struct decode_refine_edit *e,
		      const struct decode_shard *piece)
{
	decode_refine_rewind(&s->trial, piece);
	if (e->page.bytes) {
		drop_page(s, e);
	} else {
		if (e->until)
			decode_refine_sites_unflip_reads(&s->sites, piece->from.psb, e->until);
		else
			decode_refine_sites_unflip(&s->sites, &e->visit, piece->from.psb);
		if (s->sites.no_memory)
			s->trial.err = -ENOMEM;
	}
	if (s->trial.err || s->sites.pool.n < s->sites.nflips + POOL_UNUSED)
		return;
	decode_refine_forget_code(&s->trial);
	decode_refine_sites_tidy(&s->sites);
}

/* List the contents for the missing page of an error. */
static void list_pages(const struct decode_refine_search *s, const struct decode_refine_result *r,
		       struct list *list)
{
	const uint64_t mask = ~(uint64_t)(TRACE_CODE_BYTES - 1);
	struct decode_refine_content found[DECODE_REFINE_PAGE_TRIES];
	struct decode_refine_edit edit = {.cr3 = r->cr3, .vaddr = r->ip & mask};
	size_t n, i;

	if (edit.cr3 == DECODE_CR3_UNKNOWN)
		edit.cr3 = r->pip & mask;
	/* The file identifies its spaces otherwise. */
	if (s->trial.f->spaces || s->trial.f->nswitches || !edit.cr3)
		return;
	if (decode_code_page(store_of(s), edit.cr3, edit.vaddr))
		edit.vaddr += TRACE_CODE_BYTES;
	if (edit.vaddr > r->ip + 15 || decode_code_page(store_of(s), edit.cr3, edit.vaddr))
		return;
	n = decode_refine_pages_find(&s->pages, store_of(s), edit.vaddr, r->at, found);
	for (i = 0; i < n; i++) {
		edit.page = found[i];
		list->at[list->n++] = edit;
	}
}

static bool is_listed(const struct list *list, const struct decode_refine_visit *v)
{
	size_t i, places = 0;

	for (i = 0; i < list->n; i++) {
		const struct decode_refine_edit *e = &list->at[i];

		if (e->page.bytes || e->until || e->visit.group != v->group ||
		    e->visit.site != v->site)
			continue;
		if (e->visit.at == v->at || ++places == PLACES_OF_SITE)
			return true;
	}
	return false;
}

/* List pages first, then sites, then the pages of these sites, then whole reads. */
static void list_edits(struct decode_refine_search *s, const struct decode_refine_result *r,
		       const struct decode_shard *piece, struct list *list)
{
	uint64_t read = piece->from.psb;
	size_t i, n;

	list->n = 0;
	list_pages(s, r, list);
	for (i = s->trial.visits.n; i-- > 0 && list->n < DECODE_REFINE_SITES_MAX;) {
		const struct decode_refine_visit *v = &s->trial.visits.at[i];

		if (!is_listed(list, v))
			list->at[list->n++] = (struct decode_refine_edit){.visit = *v};
	}
	n = list->n;
	for (i = 0; i < n && list->n < DECODE_REFINE_TRIES_MAX - DECODE_REFINE_READS_MAX; i++) {
		struct decode_refine_visit v = list->at[i].visit;

		v.site = DECODE_REFINE_SITE_ALL;
		if (!list->at[i].page.bytes && !is_listed(list, &v))
			list->at[list->n++] = (struct decode_refine_edit){.visit = v};
	}
	for (i = 0; i < DECODE_REFINE_READS_MAX; i++) {
		read = decode_refine_sites_next_read(&s->sites, read);
		if (read == UINT64_MAX)
			break;
		list->at[list->n++] = (struct decode_refine_edit){.until = read};
	}
}

static bool is_limited(struct decode_refine_search *s)
{
	if (s->trial.items < DECODE_REFINE_ITEMS_MAX &&
	    decode_code_work(store_of(s)) < DECODE_REFINE_WORK_MAX &&
	    s->sites.nflips + DECODE_REFINE_EDITS_MAX < DECODE_REFINE_CONTENTS_MAX)
		return false;
	s->limited = true;
	return true;
}

static uint64_t most_items(const struct decode_shard *piece)
{
	return ITEMS_LEAST + ITEMS_OF_BYTE * (piece->to.end - piece->from.psb);
}

/* Find and do the best edit. Sets *r to its result. Returns false if no edit is better than none. */
static bool step(struct decode_refine_search *s, const struct decode_shard *piece,
		 struct decode_refine_result *r, struct decode_refine_edit *done)
{
	struct decode_refine_result best = *r;
	const struct decode_refine_edit *edit = NULL;
	struct list list;
	size_t i;

	*r = decode_refine_trial(&s->trial, piece, most_items(piece), true);
	list_edits(s, r, piece, &list);
	for (i = 0; i < list.n && best.error && !s->trial.err && !is_limited(s); i++) {
		struct decode_refine_result result;

		do_edit(s, &list.at[i], piece);
		if (s->trial.err)
			return false;
		result = decode_refine_trial(&s->trial, piece, most_items(piece), false);
		if (s->trial.err)
			return false;
		if (decode_refine_is_better(&result, &best)) {
			best = result;
			edit = &list.at[i];
		}
		undo_edit(s, &list.at[i], piece);
	}
	if (!edit || s->trial.err)
		return false;
	*done = *edit;
	*r = best;
	do_edit(s, edit, piece);
	return !s->trial.err;
}

static bool keep(struct decode_refine_search *s, const struct decode_refine_edit *edits, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		s->placed += !edits[i].page.bytes;
		if (!edits[i].page.bytes)
			continue;
		if (!trace_vec_room(&s->added))
			return false;
		s->added.at[s->added.n++] = edits[i];
	}
	return true;
}

bool decode_refine_piece(struct decode_refine_search *s, const struct decode_shard *piece,
			 const struct decode_refine_result *first)
{
	struct decode_refine_edit edits[DECODE_REFINE_EDITS_MAX];
	struct decode_refine_result r = *first;
	size_t n = 0;

	while (r.error && n < DECODE_REFINE_EDITS_MAX && step(s, piece, &r, &edits[n]))
		n++;
	if (s->trial.err)
		return false;
	if (!r.error) {
		if (!keep(s, edits, n))
			s->trial.err = -ENOMEM;
		return true;
	}
	while (n > 0 && !s->trial.err)
		undo_edit(s, &edits[--n], piece);
	return false;
}
