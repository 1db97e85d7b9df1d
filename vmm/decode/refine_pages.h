/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents for pages that the file lacks in an address space, from other spaces of the file. A process
 * that ended before a read has no code, but another process may have run the same program.
 */
#ifndef VMM_DECODE_REFINE_PAGES_H
#define VMM_DECODE_REFINE_PAGES_H

#include "decode/code.h"

/* The maximum number of contents that are tried for one page. */
#define DECODE_REFINE_PAGE_TRIES 32u

/* A version of a page of any space. */
struct decode_refine_page {
	uint64_t cr3, vaddr, from;
	const uint8_t *bytes;
};

struct decode_refine_pages {
	struct decode_refine_page *at; /* in the order of their addresses */
	size_t n;
};

/* List the recorded versions of all pages. Returns 0 or -ENOMEM. */
int decode_refine_pages_open(struct decode_refine_pages *p, const struct trace_reader *reader,
			     unsigned int vcpu);
void decode_refine_pages_close(struct decode_refine_pages *p);

/*
 * A content for a page. The page has it in the space @donor now, and gets all versions of the donor.
 * If @donor is 0, a space had the content at another time, and the page keeps it.
 */
struct decode_refine_content {
	uint64_t donor;
	const uint8_t *bytes;
};

/*
 * List the different contents at @vaddr, with the nearest to position @at first. In the kernel's half of
 * the addresses those of donors are first, otherwise those that stay.
 * @store has the versions of now. Returns their number, at most DECODE_REFINE_PAGE_TRIES.
 */
size_t decode_refine_pages_find(const struct decode_refine_pages *p,
				const struct decode_code_store *store, uint64_t vaddr, uint64_t at,
				struct decode_refine_content *list);

#endif /* VMM_DECODE_REFINE_PAGES_H */
