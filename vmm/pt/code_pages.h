/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that the trace file already has: the contents of physical pages, and the places where
 * they are mapped.
 *
 * The guest determines the number of both, so both tables are bounded. A full table is emptied, and
 * code that is executed later is recorded again. The engine must then report all code again, also
 * code that it has reported before. So the tables depend only on the executed code, and a guest
 * produces the same file each time.
 */
#ifndef VMM_PT_CODE_PAGES_H
#define VMM_PT_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bounds are 64 MiB of contents, at most 8 of them for one frame, and 262144 mappings, which
 * take 16 MiB. A guest can make any number of versions of a page.
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
 * Note that @len bytes at @offset of the page at this place will run next. @now is the whole page.
 * Returns enum tracer_code_news, or -ENOMEM. *id is the content's number, valid only for
 * TRACER_CODE_MAPPED.
 */
int tracer_code_pages_note(struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			   uint64_t gpa, const uint8_t *now, size_t offset, size_t len,
			   uint64_t *id);
/*
 * Returns true once after tracer_code_pages_note() has removed entries. The engine must then report
 * all code again.
 */
bool tracer_code_pages_forgot(struct tracer_code_pages *pages);
/* Set the number of the content that the last call of tracer_code_pages_note() added. */
void tracer_code_pages_number(struct tracer_code_pages *pages, uint64_t id);
/* Find the frame that was recorded last for a place. Returns false if there is none. */
bool tracer_code_pages_frame(const struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			     uint64_t *gpa);
/*
 * Return the content that the file has at a place. Returns NULL if there is none, or if it is no
 * longer kept.
 */
const uint8_t *tracer_code_pages_at(const struct tracer_code_pages *pages, uint64_t cr3,
				    uint64_t vaddr);
/* Return the offset of the first byte that differs from the newest content of a frame, or 4096. */
size_t tracer_code_pages_differs(struct tracer_code_pages *pages, uint64_t gpa, const uint8_t *now);
/* Return the copy of the content that the last call of tracer_code_pages_note() added. */
const uint8_t *tracer_code_pages_latest(const struct tracer_code_pages *pages);
/*
 * Compare the content that the last call of tracer_code_pages_note() added with the content that its
 * frame had before. Sets the number of the latter and the range of the bytes that differ. Returns
 * false if there is no such content.
 */
bool tracer_code_pages_base(const struct tracer_code_pages *pages, uint64_t *id, size_t *from,
			    size_t *to);
/* Returns the number of times that all mappings were removed. */
uint32_t tracer_code_pages_emptied(const struct tracer_code_pages *pages);
/* Keep at most this many versions of a frame, in place of TRACER_CODE_VERSIONS. At least 2. */
void tracer_code_pages_keep(struct tracer_code_pages *pages, uint32_t versions);
/*
 * Call @fn for each place of a frame. It may note these places and no others. If that empties the
 * tables, the other places are left out.
 */
void tracer_code_pages_places(struct tracer_code_pages *pages, uint64_t gpa,
			      void (*fn)(void *opaque, uint64_t cr3, uint64_t vaddr), void *opaque);
/*
 * Read the tables for snapshots. Contents are in the order of the table, and mappings in the order
 * of their addresses. @fn is called for each content until a call returns nonzero. The function
 * returns the result of the last call.
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
	uint32_t content;	  /* the index of its content */
	uint32_t stale;		  /* 1 if the version that ran there is no longer kept */
};
/* Copy the mappings to *maps, which the caller frees. Returns 0 or -ENOMEM. */
int tracer_code_pages_maps(const struct tracer_code_pages *pages, struct tracer_code_map **maps,
			   size_t *count);

/*
 * Fill empty tables: add all contents first, then all mappings. Returns 0, -ENOMEM or -EINVAL. An
 * id is not valid if it is 0 or its frame has it already. A mapping is not valid if it is repeated,
 * or names a content that is missing or of another frame. Full tables accept no more entries.
 */
int tracer_code_pages_add(struct tracer_code_pages *pages,
			  const struct tracer_code_content *content, const uint8_t *bytes);
int tracer_code_pages_add_map(struct tracer_code_pages *pages, const struct tracer_code_map *map);

#endif /* VMM_PT_CODE_PAGES_H */
