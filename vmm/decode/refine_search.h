/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search in one piece for the places of changes. */
#ifndef VMM_DECODE_REFINE_SEARCH_H
#define VMM_DECODE_REFINE_SEARCH_H

#include "decode/refine_pages.h"
#include "decode/refine_trial.h"

/* Limits: edits of a piece, and trials for one edit. */
#define DECODE_REFINE_EDITS_MAX 32u
#define DECODE_REFINE_TRIES_MAX 256u
#define DECODE_REFINE_SITES_MAX 200u /* of these, pages and sites */
#define DECODE_REFINE_READS_MAX 4u   /* of these, whole reads */
/* Limits of all pieces: items of all trials, and entries of the store that edits pass. */
#define DECODE_REFINE_ITEMS_MAX ((uint64_t)1 << 31)
#define DECODE_REFINE_WORK_MAX	((uint64_t)1 << 36)

/*
 * An edit of the store. It adds a page if page.bytes is set. It makes all changes up to the read at
 * @until if that is set. Otherwise it changes a site.
 */
struct decode_refine_edit {
	struct decode_refine_content page;
	uint64_t until;
	uint64_t cr3, vaddr;
	struct decode_refine_visit visit;
};

struct decode_refine_search {
	struct decode_refine_trial trial;
	struct decode_refine_sites sites;
	struct decode_refine_pages pages;
	struct {
		struct decode_refine_edit *at; /* pages only */
		size_t n, room;
	} added;
	uint64_t placed; /* changes of sites */
	bool limited;
};

/*
 * Search a piece whose first trial had the result @first, an error. Returns true if it now decodes to
 * its end. Otherwise the store is as before.
 */
bool decode_refine_piece(struct decode_refine_search *s, const struct decode_shard *piece,
			 const struct decode_refine_result *first);

#endif /* VMM_DECODE_REFINE_SEARCH_H */
