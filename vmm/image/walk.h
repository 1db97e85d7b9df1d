/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page walks over a copy of physical memory (SDM vol. 3, chapter 4, and 29.3 for EPT).
 *
 * The walk is a pure function: it reads entries through a callback and has no other effect. The
 * tables are hostile. A walk reads one entry a level, so tables that point to themselves end it
 * after five entries.
 */
#ifndef VMM_IMAGE_WALK_H
#define VMM_IMAGE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_PAGE_BYTES 4096u

enum image_paging {
	IMAGE_FLAT,    /* no paging: linear addresses below 4 GiB are physical addresses */
	IMAGE_LEGACY,  /* 32-bit paging, with CR4.PSE set */
	IMAGE_PAE,     /* PAE paging */
	IMAGE_LEVELS4, /* 4-level paging */
	IMAGE_LEVELS5, /* 5-level paging (CR4.LA57) */
	IMAGE_EPT4,    /* EPT with a page walk of length 4 */
	IMAGE_EPT5,    /* EPT with a page walk of length 5 */
	IMAGE_PAGINGS
};

struct image_memory {
	/* Copy @len bytes at physical @address. Returns false if some of them are missing. */
	bool (*read)(void *context, uint64_t address, void *to, size_t len);
	void *context;
};

enum image_walk_result {
	IMAGE_MAPPED,
	IMAGE_NOT_PRESENT,   /* an entry is not present */
	IMAGE_RESERVED,	     /* a present entry has a reserved bit set */
	IMAGE_NO_EXECUTE,    /* an entry forbids instruction fetches */
	IMAGE_OUTSIDE,	     /* an entry is outside the readable memory */
	IMAGE_NOT_CANONICAL, /* the linear address is invalid with this paging mode */
};

/*
 * Translate @address for an instruction fetch. @root is CR3, or an EPTP; its low bits are
 * ignored. IMAGE_MAPPED sets *physical. CPL, SMEP and EFER.NXE are not known: a page of either
 * privilege maps, and XD forbids fetches always. The widest physical address (52 bits) is
 * assumed. EPT checks no permission, since the walk also reads the guest's tables through it.
 */
enum image_walk_result image_walk(const struct image_memory *memory, enum image_paging paging,
				  uint64_t root, uint64_t address, uint64_t *physical);

#endif /* VMM_IMAGE_WALK_H */
