// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the code pages of a log with their versions. */
#include "import/pages.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u
#define PAGE_BYTES  4096

static struct import_page *slot(const struct import_pages *p, uint64_t space, uint64_t vaddr)
{
	uint64_t key = (vaddr >> 12 ^ space >> 12 << 20) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(key >> 32) & (p->nslots - 1);

	while (p->slots[i].bytes && (p->slots[i].space != space || p->slots[i].vaddr != vaddr))
		i = (i + 1) & (p->nslots - 1);
	return &p->slots[i];
}

static bool grow(struct import_pages *p)
{
	struct import_pages more = *p;
	size_t i;

	more.nslots = p->nslots ? 2 * p->nslots : FIRST_SLOTS;
	more.slots = calloc(more.nslots, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (i = 0; i < p->nslots; i++) {
		if (p->slots[i].bytes)
			*slot(&more, p->slots[i].space, p->slots[i].vaddr) = p->slots[i];
	}
	free(p->slots);
	*p = more;
	return true;
}

bool import_pages_set(struct import_pages *p, uint64_t space, uint64_t vaddr, uint64_t physical,
		      const uint8_t *bytes)
{
	struct import_page *page;

	if (p->used * 2 >= p->nslots && !grow(p))
		return false;
	page = slot(p, space, vaddr);
	if (!page->bytes) {
		page->written = calloc(p->streams + 1, sizeof(*page->written));
		if (!page->written)
			return false;
		page->space = space;
		page->vaddr = vaddr;
		p->used++;
	} else if (!memcmp(page->bytes, bytes, PAGE_BYTES)) {
		return true;
	}
	page->physical = physical;
	page->bytes = bytes;
	return true;
}

struct import_page *import_pages_find(const struct import_pages *p, uint64_t space, uint64_t vaddr)
{
	struct import_page *page;

	if (!p->nslots)
		return NULL;
	page = slot(p, space, vaddr);
	return page->bytes ? page : NULL;
}

void import_pages_free(struct import_pages *p)
{
	size_t i;

	for (i = 0; i < p->nslots; i++)
		free(p->slots[i].written);
	free(p->slots);
	memset(p, 0, sizeof(*p));
}
