// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hash of (address space, page) with a copy of what was recorded. Only the bytes
 * that run are compared: a page is recorded anew when a changed byte of it is
 * executed, not when it is written, and decoding needs no more.
 */
#include "pt/code_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE	    4096u
#define FIRST_SLOTS 1024u

struct code_page {
	uint64_t cr3, vaddr, gpa;
	uint8_t *copy; /* NULL: an empty slot */
};

struct vpt_code_pages {
	struct code_page *slot;
	size_t slots, used; /* slots: a power of two */
	struct code_page *last;
};

struct vpt_code_pages *vpt_code_pages_create(void)
{
	struct vpt_code_pages *pages = calloc(1, sizeof(*pages));

	if (!pages)
		return NULL;
	pages->slots = FIRST_SLOTS;
	pages->slot = calloc(pages->slots, sizeof(*pages->slot));
	if (!pages->slot) {
		free(pages);
		return NULL;
	}
	return pages;
}

void vpt_code_pages_destroy(struct vpt_code_pages *pages)
{
	size_t i;

	if (!pages)
		return;
	for (i = 0; i < pages->slots; i++)
		free(pages->slot[i].copy);
	free(pages->slot);
	free(pages);
}

static struct code_page *find(struct code_page *slot, size_t slots, uint64_t cr3, uint64_t vaddr)
{
	uint64_t hash = (cr3 >> 12 ^ vaddr >> 12) * 0x9e3779b97f4a7c15ull;
	size_t i = (hash >> 32) & (slots - 1);

	while (slot[i].copy && (slot[i].cr3 != cr3 || slot[i].vaddr != vaddr))
		i = (i + 1) & (slots - 1);
	return &slot[i];
}

static int grow(struct vpt_code_pages *pages)
{
	size_t slots = pages->slots * 2, i;
	struct code_page *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (i = 0; i < pages->slots; i++)
		if (pages->slot[i].copy)
			*find(slot, slots, pages->slot[i].cr3, pages->slot[i].vaddr) =
				pages->slot[i];
	free(pages->slot);
	pages->slot = slot;
	pages->slots = slots;
	return 0;
}

static int add(struct vpt_code_pages *pages, uint64_t cr3, uint64_t vaddr, struct code_page **page)
{
	uint8_t *copy;

	if (pages->used * 2 >= pages->slots) {
		if (grow(pages))
			return -ENOMEM;
		*page = find(pages->slot, pages->slots, cr3, vaddr);
	}
	copy = malloc(PAGE);
	if (!copy)
		return -ENOMEM;
	(*page)->cr3 = cr3;
	(*page)->vaddr = vaddr;
	(*page)->copy = copy;
	pages->used++;
	return 0;
}

int vpt_code_pages_note(struct vpt_code_pages *pages, uint64_t cr3, uint64_t vaddr, uint64_t gpa,
			const uint8_t *now, size_t offset, size_t len)
{
	struct code_page *page = pages->last;

	if (!page || page->vaddr != vaddr || page->cr3 != cr3)
		page = find(pages->slot, pages->slots, cr3, vaddr);
	pages->last = NULL;
	if (!page->copy) {
		if (add(pages, cr3, vaddr, &page))
			return -ENOMEM;
	} else if (page->gpa == gpa && !memcmp(page->copy + offset, now + offset, len)) {
		pages->last = page;
		return 0;
	}
	page->gpa = gpa;
	memcpy(page->copy, now, PAGE);
	pages->last = page;
	return 1;
}

static int by_address(const void *a, const void *b)
{
	const struct vpt_code_version *x = a, *y = b;

	if (x->cr3 != y->cr3)
		return x->cr3 < y->cr3 ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int vpt_code_pages_list(const struct vpt_code_pages *pages, struct vpt_code_version **versions,
			size_t *count)
{
	struct vpt_code_version *v = calloc(pages->used + 1, sizeof(*v));
	size_t i, n = 0;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < pages->slots; i++) {
		const struct code_page *page = &pages->slot[i];

		if (page->copy)
			v[n++] = (struct vpt_code_version){page->cr3, page->vaddr, page->gpa,
							   page->copy};
	}
	qsort(v, n, sizeof(*v), by_address);
	*versions = v;
	*count = n;
	return 0;
}

int vpt_code_pages_add(struct vpt_code_pages *pages, const struct vpt_code_version *version)
{
	int is_new = vpt_code_pages_note(pages, version->cr3, version->vaddr, version->gpa,
					 version->bytes, 0, PAGE);

	return is_new < 0 ? is_new : 0;
}
