/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which version of which page of code the file already has. */
#ifndef VMM_PT_CODE_PAGES_H
#define VMM_PT_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_code_pages;

struct vpt_code_pages *vpt_code_pages_create(void);
void vpt_code_pages_destroy(struct vpt_code_pages *pages);

/*
 * `len` bytes at `offset` of a page are about to run. `now`: the whole page. 1 if
 * the page is new there or those bytes are not what was last recorded, so that it
 * must be recorded now; 0 if not; -ENOMEM.
 */
int vpt_code_pages_note(struct vpt_code_pages *pages, uint64_t cr3, uint64_t vaddr, uint64_t gpa,
			const uint8_t *now, size_t offset, size_t len);

/* A page as it was last recorded. */
struct vpt_code_version {
	uint64_t cr3, vaddr, gpa;
	const uint8_t *bytes; /* the whole page */
};

/*
 * For snapshots: all of them, in the order of their addresses. *versions is the
 * caller's to free, what it points to is not. -ENOMEM.
 */
int vpt_code_pages_list(const struct vpt_code_pages *pages, struct vpt_code_version **versions,
			size_t *count);
/* This was recorded. -ENOMEM. */
int vpt_code_pages_add(struct vpt_code_pages *pages, const struct vpt_code_version *version);

#endif /* VMM_PT_CODE_PAGES_H */
