/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the store of code: shared by code*.c only. */
#ifndef VMM_DECODE_CODE_INSIDE_H
#define VMM_DECODE_CODE_INSIDE_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

#include "decode/code.h"
#include "trace/pairs.h"

/* One version of a page. */
struct decode_code_kept {
	uint64_t cr3;
	uint64_t vaddr;
	uint64_t from; /* the position from which on it is current */
	size_t order;  /* the index in the trace file */
	const uint8_t *bytes;
	const uint8_t *before; /* the bytes that it replaces */
	uint64_t place;	       /* see struct trace_code */
};

/* Compare by page, then by time, for qsort(). */
int decode_code_by_page(const void *a, const void *b);

/* A page of an address space, in its current version. */
struct decode_code_paged {
	uint64_t cr3;
	uint64_t vaddr;
	const uint8_t *bytes;
	uint64_t newest; /* the position of its last version */
	uint64_t first;	 /* the position of its first version */
	bool made_space; /* decode_code_add_page() has added the page and its space */
};

struct decode_code_spaced {
	uint64_t cr3;
	bool common; /* the space includes the pages of the common space */
};

/* A space of the file, and its number in the source. */
struct decode_code_sourced {
	uint64_t id, number; /* TRACE_SOURCE_NONE if the source does not have the space */
};

struct decode_code_hashed {
	uint64_t hash;
	const uint8_t *bytes; /* NULL in a free slot */
};

/*
 * The questions whose answers a later block could change: pages and spaces that were not there, and
 * the spaces that have a page.
 */
struct decode_code_asked {
	struct trace_pairs
		all; /* of a space and an address; see DECODE_CODE_ANY_PAGE, DECODE_CODE_ANY_SPACE */
	bool lost;   /* there was no memory for a question */
};

/* Spaces and pages for which the store has returned code; see decode_code_note_uses(). */
struct decode_code_uses {
	struct trace_pairs all; /* of a space and an address, or DECODE_CODE_ANY_PAGE */
	bool lost;		/* there was no memory for an entry */
};

#define DECODE_CODE_ANY_PAGE  UINT64_MAX /* no address of a page */
#define DECODE_CODE_ANY_SPACE UINT64_MAX /* no space */

struct decode_code_store {
	struct decode_code_paged *pages;
	size_t npages;
	uint32_t *buckets;		   /* indices of pages plus 1; 0 if free */
	size_t mask;			   /* the number of buckets less 1 */
	struct decode_code_spaced *spaces; /* sorted by CR3 */
	size_t nspaces;
	uint64_t common; /* the space that is part of all spaces of the host; 0 if none */

	/* The contents passed to decode_code_same(), by their hashes. */
	struct decode_code_hashed *contents;
	size_t most, ncontents; /* the number of slots less 1; the number of used slots */

	/* The versions that replace others, sorted by their position. */
	struct decode_code_kept *later;
	size_t nlater;
	size_t next;
	bool by_offset; /* positions are offsets, and not counters */

	/* The source of code that is not in the file, or NULL. */
	const struct trace_code_source *source;
	struct decode_code_sourced *others; /* the spaces of SPACE blocks, sorted by id */
	size_t nothers;

	/* The space that decode_code_fetch() reads, and the last page read in it. */
	uint64_t selected;
	uint64_t last_vaddr;
	const uint8_t *last_bytes; /* NULL if there is none */

	struct decode_code_uses *uses; /* NULL if nobody wants it */

	/* Of a file that grows. */
	struct decode_code_asked *asked; /* NULL if the file does not grow */
	size_t listed; /* the number of entries of trace_reader_code() in the store */
	size_t page_room, space_room, later_room;

	uint64_t work; /* see decode_code_work() */
};

/*
 * Make room for one more entry of an array of the store. Its room is 0 before the first call. Returns
 * false if there is no memory.
 */
static inline bool decode_code_room(void **at, size_t n, size_t *room, size_t size)
{
	const size_t more = 2 * n + 16;
	void *p;

	if (n < *room)
		return true;
	p = more < SIZE_MAX / 2 / size ? realloc(*at, more * size) : NULL;
	if (!p)
		return false;
	*at = p;
	*room = more;
	return true;
}

#define DECODE_CODE_ROOM(at, n, room) decode_code_room((void **)&(at), (n), &(room), sizeof(*(at)))

/* code_more.c: add a space, and set *added if it is new. Returns 0 or -ENOMEM. */
int decode_code_add_space(struct decode_code_store *store, uint64_t cr3, bool *added);

/* Return the index of the page, or -1. */
ssize_t decode_code_find_page(const struct decode_code_store *store, uint64_t cr3, uint64_t vaddr);
/* Make the hash tables of the pages anew. Returns 0 or -ENOMEM. */
int decode_code_hash(struct decode_code_store *store);
/* Add the last page to it. Returns 0 or -ENOMEM. */
int decode_code_hash_last(struct decode_code_store *store);
/* Remove the last page from it, before the page is removed from `pages`. */
void decode_code_unhash_last(struct decode_code_store *store);

#endif /* VMM_DECODE_CODE_INSIDE_H */
