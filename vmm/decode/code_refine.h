/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edits of a store of code whose positions are offsets: more versions of its pages, and more pages.
 */
#ifndef VMM_DECODE_CODE_REFINE_H
#define VMM_DECODE_CODE_REFINE_H

#include "decode/code.h"

/* A change of a page from its @old to its @new content, of TRACE_CODE_BYTES bytes each. */
struct decode_code_step {
	uint64_t cr3, vaddr, from;
	const uint8_t *old, *new;
};

/* Return change @i of decode_code_changes(). */
struct decode_code_step decode_code_step_at(const struct decode_code_store *store, size_t i);

/* Return the position of the first version of a page, or 0 if there is no such page. */
uint64_t decode_code_first(const struct decode_code_store *store, uint64_t cr3, uint64_t vaddr);

/*
 * Insert a change behind the position of the store. The bytes must outlive the store or the change.
 * Returns 0 or -ENOMEM.
 */
int decode_code_insert(struct decode_code_store *store, const struct decode_code_step *step);
/* Remove a change that was inserted. It must be behind the position of the store. */
void decode_code_remove(struct decode_code_store *store, const struct decode_code_step *step);

/*
 * Add a page that the store does not have, and its space if that is missing. The first function
 * gives it one content from the begin of the trace. The second function gives it all versions that
 * it has in the space @donor. Both return 0 or -ENOMEM.
 */
int decode_code_add_page(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr,
			 const uint8_t *bytes);
int decode_code_copy_page(struct decode_code_store *store, uint64_t cr3, uint64_t vaddr,
			  uint64_t donor);
/* Remove the page that was added last, and its space if that has no other page. */
void decode_code_drop_page(struct decode_code_store *store);

/* Return the number of entries that edits have passed, as a measure of their time. */
uint64_t decode_code_work(const struct decode_code_store *store);

/* Forget what was passed to decode_code_same(), because its bytes are about to be freed. */
void decode_code_forget(struct decode_code_store *store);

#endif /* VMM_DECODE_CODE_REFINE_H */
