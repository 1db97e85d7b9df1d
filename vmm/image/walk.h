/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page walks over a copy of physical memory (SDM vol. 3, chapter 4, and 29.3 for EPT).
 *
 * The walk is a pure function: it reads entries through a callback, writes nothing and keeps
 * nothing. The tables are hostile. A walk reads one entry a level, so tables that point to
 * themselves end it after five entries.
 */
#ifndef VMM_IMAGE_WALK_H
#define VMM_IMAGE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMG_PAGE_BYTES 4096u

enum img_paging {
	IMG_FLAT,    /* no paging: linear addresses below 4 GiB are physical ones */
	IMG_LEGACY,  /* 32-bit paging, with CR4.PSE set */
	IMG_PAE,     /* PAE paging */
	IMG_LEVELS4, /* 4-level paging */
	IMG_LEVELS5, /* 5-level paging (CR4.LA57) */
	IMG_EPT4,    /* EPT with a page walk of length 4 */
	IMG_EPT5,    /* EPT with a page walk of length 5 */
	IMG_PAGINGS
};

struct img_memory {
	/* Copy @len bytes at physical @address. Returns false if some of them are not there. */
	bool (*read)(void *context, uint64_t address, void *to, size_t len);
	void *context;
};

enum img_walk_result {
	IMG_MAPPED,
	IMG_NOT_PRESENT,   /* an entry is not present */
	IMG_RESERVED,	   /* a present entry has a reserved bit set */
	IMG_NO_EXECUTE,	   /* an entry forbids instruction fetches */
	IMG_OUTSIDE,	   /* an entry is outside of the memory that can be read */
	IMG_NOT_CANONICAL, /* there is no such linear address with this paging */
};

/*
 * Translate @address for an instruction fetch. @root is CR3, or an EPTP; its low bits are
 * ignored. IMG_MAPPED sets *physical. CPL, SMEP and EFER.NXE are not known: a page of either
 * privilege maps, and XD forbids fetches always. The widest physical address (52 bits) is
 * assumed. EPT checks no permission, since the walk also reads the guest's tables through it.
 */
enum img_walk_result img_walk(const struct img_memory *memory, enum img_paging paging,
			      uint64_t root, uint64_t address, uint64_t *physical);

#endif /* VMM_IMAGE_WALK_H */
