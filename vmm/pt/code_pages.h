/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code the trace file already has: the contents of physical pages, and where those
 * pages are mapped.
 *
 * A guest decides how many there are of both, so both tables have a bound. A table that
 * is full is emptied, and what the guest goes on to execute is recorded once more. The
 * tables depend on what was executed and on nothing else, so that a guest makes the same
 * file each time.
 */
#ifndef VMM_PT_CODE_PAGES_H
#define VMM_PT_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bounds are 64 MiB of contents, at most 8 of them for one frame, and 262144 mappings, which
 * take 12 MiB. A guest can make any number of versions of a page.
 */
#define TRACER_CODE_CONTENTS 16384u
#define TRACER_CODE_VERSIONS 8u
#define TRACER_CODE_MAPS     262144u

struct tracer_code_pages;

struct tracer_code_pages *tracer_code_pages_create(void);
void tracer_code_pages_destroy(struct tracer_code_pages *pages);

/* The parts that must be recorded before the code runs. */
enum tracer_code_news {
	TRACER_CODE_KNOWN,   /* nothing */
	TRACER_CODE_MAPPED,  /* the place, with the content *id */
	TRACER_CODE_CHANGED, /* the content too; see tracer_code_pages_number() */
};

/*
 * Note that @len bytes at @offset of the page at this place are about to run. @now is the
 * whole page. Returns enum tracer_code_news, or -ENOMEM. *id is the content's number, valid
 * only for TRACER_CODE_MAPPED.
 */
int tracer_code_pages_note(struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			   uint64_t gpa, const uint8_t *now, size_t offset, size_t len,
			   uint64_t *id);
/* Give the content that the last call of tracer_code_pages_note() found its number. */
void tracer_code_pages_number(struct tracer_code_pages *pages, uint64_t id);
/* Returns true if some content is recorded for the place. */
bool tracer_code_pages_has(const struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			   uint64_t gpa);

/*
 * For snapshots. Contents are in the order of the table, mappings in that of their
 * addresses. Contents are passed to @fn until one call does not return 0, and the result is
 * what that call returned.
 */
struct tracer_code_content {
	uint64_t id, gpa;
};
int tracer_code_pages_contents(const struct tracer_code_pages *pages,
			       int (*fn)(void *opaque, const struct tracer_code_content *content,
					 const uint8_t *bytes),
			       void *opaque);

struct tracer_code_map {
	uint64_t cr3, vaddr, gpa; /* as in struct trace_code_page */
	uint32_t content;	  /* its place among the contents, from 0 on */
	uint32_t stale;		  /* 1: the version that ran there is no longer kept */
};
/* Copy the mappings to *maps, which the caller frees. Returns 0 or -ENOMEM. */
int tracer_code_pages_maps(const struct tracer_code_pages *pages, struct tracer_code_map **maps,
			   size_t *count);

/*
 * Fill empty tables: add all contents first, then all mappings. Returns 0, -ENOMEM or -EINVAL. An
 * id is not valid if it is 0 or its frame has it already. A mapping is not valid if it comes
 * twice, or names a content that is missing or of another frame. Tables that are full refuse more.
 */
int tracer_code_pages_add(struct tracer_code_pages *pages,
			  const struct tracer_code_content *content, const uint8_t *bytes);
int tracer_code_pages_add_map(struct tracer_code_pages *pages, const struct tracer_code_map *map);

#endif /* VMM_PT_CODE_PAGES_H */
