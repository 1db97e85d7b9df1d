/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code pages during the read of a log: the current content of each, and the streams that have it.
 */
#ifndef VMM_IMPORT_PAGES_H
#define VMM_IMPORT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_page {
	uint64_t space; /* id of the space */
	uint64_t vaddr;
	uint64_t physical;
	const uint8_t *bytes;	 /* NULL for an empty slot */
	const uint8_t **written; /* content of each stream's last CODE block for this page */
};

/* All zero is empty, except `streams`. */
struct import_pages {
	size_t streams;
	struct import_page *slots;
	size_t nslots, used;
};

/* Set the current content of a page. Returns false if there is no memory. */
bool import_pages_set(struct import_pages *p, uint64_t space, uint64_t vaddr, uint64_t physical,
		      const uint8_t *bytes);
/* Returns NULL if the page is unknown. Valid until the next set(). */
struct import_page *import_pages_find(const struct import_pages *p, uint64_t space, uint64_t vaddr);
void import_pages_free(struct import_pages *p);

#endif /* VMM_IMPORT_PAGES_H */
