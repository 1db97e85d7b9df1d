/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of code while a log is read: what is in each now, and who has it already. */
#ifndef VMM_IMPORT_PAGES_H
#define VMM_IMPORT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_page {
	uint64_t space; /* its id */
	uint64_t vaddr;
	uint64_t physical;
	const uint8_t *bytes;	 /* NULL: an empty slot */
	const uint8_t **written; /* what each stream's last CODE block of it has */
};

/* Zero is empty, but for `streams`. */
struct import_pages {
	size_t streams;
	struct import_page *slots;
	size_t nslots, used;
};

/* The page as it is from now on. False: memory. */
bool import_pages_set(struct import_pages *p, uint64_t space, uint64_t vaddr, uint64_t physical,
		      const uint8_t *bytes);
/* NULL: it is not there. Valid until the next set(). */
struct import_page *import_pages_find(const struct import_pages *p, uint64_t space, uint64_t vaddr);
void import_pages_free(struct import_pages *p);

#endif /* VMM_IMPORT_PAGES_H */
