/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the files of the code store.
 *
 * Pages, versions and address spaces are in code.c, and the memory of blocks is in blocks.c.
 * Look-ups of code are in place.c, and look-ups of blocks in block.c.
 */
#ifndef VMM_LIBDECODE_CODE_INSIDE_H
#define VMM_LIBDECODE_CODE_INSIDE_H

#include "libdecode/code.h"

#define DEC_CHUNK 1024u /* blocks per allocation */

/*
 * A table with open addressing by two keys. A slot without a value is free. Entries are never
 * removed.
 */
struct dec_slot {
	uint64_t key, key2;
	void *value;
};

struct dec_table {
	struct dec_slot *slots;
	size_t mask, used;
};

void **dec_table_find(const struct dec_table *t, uint64_t key, uint64_t key2);
int dec_table_add(struct dec_table *t, uint64_t key, uint64_t key2, void *value);
void dec_table_free(struct dec_table *t, void (*drop)(void *value));

struct dec_version {
	struct dec_version *next;
	uint64_t hash;
	uint32_t gen;	      /* unique among all versions of all pages */
	const uint8_t *bytes; /* DEC_PAGE bytes: `copy`, or memory of the caller */
	uint8_t copy[];
};

struct dec_place;

struct dec_page {
	uint64_t key;
	struct dec_version *versions, *now;
	struct dec_place *first; /* the place where the page was mapped first */
};

/* A page at an address. */
struct dec_place {
	struct dec_page *page;
	uint64_t vaddr;
	uint32_t id;
};

struct dec_space {
	uint64_t key;
	uint32_t view, epoch;
};

struct dec_common {
	struct dec_place *place;
	bool differs; /* two spaces have different pages here */
};

/* Recently used blocks by address, because targets of indirect branches repeat. */
#define DEC_RECENT 8192u

struct dec_recent {
	uint64_t ip;
	struct dec_block *block;
	uint32_t view; /* the view of the look-up, which is that of all spaces if the block is */
};

struct dec_code {
	struct dec_x86 *x86;
	struct dec_table pages;	 /* key -> page */
	struct dec_table places; /* page and address -> place */
	struct dec_table spaces;
	struct dec_table common; /* address -> common, in the kernel's half */
	struct dec_table maps;	 /* address and space -> place */
	struct dec_space *space; /* the selected space */
	uint32_t epoch, past, last_view, last_gen, last_place;
	uint32_t views[2];
	uint32_t mapped; /* views[1] when a page that all spaces share last moved */
	bool (*fetch)(void *context, uint64_t space, uint64_t vaddr);
	void *context; /* the context of fetch() */
	bool separate; /* see dec_code_separate() */
	bool holes;    /* a block of this epoch ends where a page is missing */

	struct dec_table blocks; /* place and generation, address and mode -> block */
	struct dec_table twins;	 /* generation, offset and mode -> block that is not in `first` */
	struct dec_block **chunk;
	uint32_t nblocks, nchunks;
	uint8_t *lens;
	uint32_t nlens, room;
	struct dec_recent recent[DEC_RECENT];
	struct dec_block hole; /* the block that dec_code_block() returns where there is no page */
};

/* The maximum number of instructions in a block. */
#define DEC_INSNS_MAX 512u

/*
 * place.c: returns the place of @ip in the selected space, or NULL. Sets *shared if all spaces have
 * the same place there. May call the callback for missing code.
 */
struct dec_place *dec_code_place(struct dec_code *code, uint64_t ip, bool *shared);

/* blocks.c */
/* Returns an empty block with the next id, or NULL if there is no memory. */
struct dec_block *dec_blocks_new(struct dec_code *code);
/* Make room for the lengths of DEC_INSNS_MAX instructions. Returns 0 or -ENOMEM. */
int dec_blocks_lens_room(struct dec_code *code);
void dec_blocks_free(struct dec_code *code);

#endif /* VMM_LIBDECODE_CODE_INSIDE_H */
