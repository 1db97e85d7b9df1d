/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites at which code changes, and the places of their changes.
 *
 * A site is a run of bytes that differ between two consecutive versions of a page. A group has the
 * pages of all address spaces with the same two versions at the same read. A site of a kernel thus
 * changes in all spaces at once. All positions are offsets in the stream.
 */
#ifndef VMM_DECODE_REFINE_SITES_H
#define VMM_DECODE_REFINE_SITES_H

#include "decode/code_refine.h"

/* The maximum number of contents that stay, of 4096 bytes each. */
#define DECODE_REFINE_CONTENTS_MAX 32768u

/* Bytes [begin, end) of a page. */
struct decode_refine_site {
	uint16_t begin, end;
};

/* A change of one site. @bytes is the content of the page from @at on. */
struct decode_refine_flip {
	uint64_t at;
	uint32_t site;
	uint8_t *bytes;
};

struct decode_refine_group {
	uint64_t vaddr;
	uint64_t after, from;	  /* changes were made behind @after, and found at @from */
	const uint8_t *old, *new; /* the contents before and after */
	size_t first, count;	  /* the spaces: range of decode_refine_sites.steps */
	struct {
		uint64_t *at; /* the spaces of pages that were copied */
		size_t n, room;
	} more;
	struct decode_refine_site *sites;
	size_t nsites;
	struct {
		struct decode_refine_flip *at; /* in the order of their positions */
		size_t n, room;
	} flips;
};

/* A recorded change of a page of a space, of a group. */
struct decode_refine_step {
	struct decode_code_step is;
	size_t group;
};

/* A page that was added to a space, with the versions that it has in the space @donor. */
struct decode_refine_copy {
	uint64_t cr3, vaddr, donor;
};

struct decode_refine_sites {
	struct decode_code_store *store;
	struct decode_refine_step *steps; /* in the order of their groups */
	size_t nsteps;
	struct decode_refine_step **places; /* the same, by space, page and position */
	struct decode_refine_group *groups;
	size_t ngroups;
	struct decode_refine_group *
		*reads; /* the groups in the order of the reads that found them */
	struct {
		struct decode_refine_copy *at; /* in the order of spaces and pages */
		size_t n, room;
	} copies;
	struct {
		uint8_t **at; /* all contents, including unused ones */
		size_t n, room;
	} pool;
	size_t nflips; /* changes of all groups */
	bool no_memory;
};

/* All sites of a group. */
#define DECODE_REFINE_SITE_ALL UINT32_MAX

/* A change to try: site @site of group @group changes at @at. */
struct decode_refine_visit {
	uint64_t at;
	uint32_t group, site;
};

/* List the sites of all recorded changes of the store. Returns 0 or -ENOMEM. */
int decode_refine_sites_open(struct decode_refine_sites *s, struct decode_code_store *store);
void decode_refine_sites_close(struct decode_refine_sites *s);

/* Note that a page was copied in the store, or is removed. The first returns 0 or -ENOMEM. */
int decode_refine_sites_copy(struct decode_refine_sites *s, const struct decode_refine_copy *copy);
void decode_refine_sites_uncopy(struct decode_refine_sites *s,
				const struct decode_refine_copy *copy);

/* Return space @i of a group, of all g->count + g->more.n. */
uint64_t decode_refine_sites_space(const struct decode_refine_sites *s,
				   const struct decode_refine_group *g, size_t i);

/* A list of sites in the order of execution. It keeps at least this many of the last ones. */
#define DECODE_REFINE_VISITS_MAX 65536u

struct decode_refine_visits {
	struct decode_refine_visit *at;
	size_t n, room;
};

/*
 * Append the sites in [begin, end) of a space that can change at @at, where the search is at @psb.
 * Returns false if there is no memory.
 */
struct decode_refine_range {
	uint64_t cr3, begin, end;
	uint64_t at, psb;
};

bool decode_refine_sites_find(const struct decode_refine_sites *s,
			      const struct decode_refine_range *range,
			      struct decode_refine_visits *visits);

/*
 * Let a site change, or remove that change. The store must be at @psb, and the change behind it.
 * After either, no_memory is set if there was none, and the store is then unusable.
 */
void decode_refine_sites_flip(struct decode_refine_sites *s,
			      const struct decode_refine_visit *visit, uint64_t psb);
void decode_refine_sites_unflip(struct decode_refine_sites *s,
				const struct decode_refine_visit *visit, uint64_t psb);

/*
 * Let all changes that were found behind @psb and up to @until be made right behind @psb, or remove that
 * again. Returns the number of groups.
 */
size_t decode_refine_sites_flip_reads(struct decode_refine_sites *s, uint64_t psb, uint64_t until);
void decode_refine_sites_unflip_reads(struct decode_refine_sites *s, uint64_t psb, uint64_t until);
/* Return the position of the first read behind @at that found a change, or UINT64_MAX. */
uint64_t decode_refine_sites_next_read(const struct decode_refine_sites *s, uint64_t at);

/* Free the contents that no change has. The caller makes sure that no decoder has them. */
void decode_refine_sites_tidy(struct decode_refine_sites *s);

#endif /* VMM_DECODE_REFINE_SITES_H */
