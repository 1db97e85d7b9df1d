// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two hash tables: the contents of each frame, the newest first, and the places where
 * frames are executed, each with the content that was recorded for it. Only the bytes
 * that run are compared: a page is recorded anew when a changed byte of it is executed,
 * not when it is written, and decoding needs no more.
 */
#include "pt/code_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	   4096u
#define FIRST_MAPS 1024u
#define FRAMES	   (2 * VPT_CODE_CONTENTS) /* buckets, so that half of them stay free */
/* A guest can make any number of versions of a page, and each look must end soon. */
#define VERSIONS 8

struct content {
	uint64_t id, gpa;
	uint32_t older; /* content of the same frame before this one, plus 1; 0: none */
};

struct map {
	uint64_t cr3, vaddr;
	uint32_t content; /* index plus 1, 0: an empty slot */
};

struct vpt_code_pages {
	uint8_t *copies; /* of the contents, a page each */
	struct content content[VPT_CODE_CONTENTS];
	uint32_t contents;
	uint32_t newest[FRAMES]; /* content of the frame, plus 1; 0: an empty slot */

	struct map *map;
	size_t slots, maps; /* slots: a power of two */
	struct map *last;   /* the place that ran last, NULL: none */
};

struct vpt_code_pages *vpt_code_pages_create(void)
{
	struct vpt_code_pages *pages = calloc(1, sizeof(*pages));
	void *copies = mmap(NULL, (size_t)VPT_CODE_CONTENTS * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (copies == MAP_FAILED) {
		free(pages);
		return NULL;
	}
	if (pages) {
		pages->copies = copies;
		pages->slots = FIRST_MAPS;
		pages->map = calloc(pages->slots, sizeof(*pages->map));
		if (pages->map)
			return pages;
	}
	munmap(copies, (size_t)VPT_CODE_CONTENTS * PAGE);
	free(pages);
	return NULL;
}

void vpt_code_pages_destroy(struct vpt_code_pages *pages)
{
	if (!pages)
		return;
	munmap(pages->copies, (size_t)VPT_CODE_CONTENTS * PAGE);
	free(pages->map);
	free(pages);
}

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = ((a >> 12) + (b >> 12) * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	return (size_t)(x >> 32);
}

/* The slot of a place, or the free one that it would take. */
static struct map *find(struct map *map, size_t slots, uint64_t cr3, uint64_t vaddr)
{
	size_t i = hash(cr3, vaddr) & (slots - 1);

	while (map[i].content && (map[i].cr3 != cr3 || map[i].vaddr != vaddr))
		i = (i + 1) & (slots - 1);
	return &map[i];
}

static uint32_t *find_frame(struct vpt_code_pages *pages, uint64_t gpa)
{
	size_t i = hash(0, gpa) & (FRAMES - 1);

	while (pages->newest[i] && pages->content[pages->newest[i] - 1].gpa != gpa)
		i = (i + 1) & (FRAMES - 1);
	return &pages->newest[i];
}

static uint8_t *copy_of(const struct vpt_code_pages *pages, uint32_t content)
{
	return pages->copies + (size_t)(content - 1) * PAGE;
}

static void forget_maps(struct vpt_code_pages *pages)
{
	memset(pages->map, 0, pages->slots * sizeof(*pages->map));
	pages->maps = 0;
}

static int grow(struct vpt_code_pages *pages)
{
	size_t slots = pages->slots * 2, i;
	struct map *map = calloc(slots, sizeof(*map));

	if (!map)
		return -ENOMEM;
	for (i = 0; i < pages->slots; i++)
		if (pages->map[i].content)
			*find(map, slots, pages->map[i].cr3, pages->map[i].vaddr) = pages->map[i];
	free(pages->map);
	pages->map = map;
	pages->slots = slots;
	return 0;
}

/* See to it that there is room for one more mapping. */
static int make_room(struct vpt_code_pages *pages)
{
	if (pages->maps == VPT_CODE_MAPS)
		forget_maps(pages);
	return pages->maps * 2 >= pages->slots ? grow(pages) : 0;
}

/* A version of the frame in which these bytes are as they are now; 0: none is known. */
static uint32_t find_version(struct vpt_code_pages *pages, uint64_t gpa, const uint8_t *now,
			     size_t offset, size_t len)
{
	uint32_t content = *find_frame(pages, gpa);
	unsigned int i;

	for (i = 0; content && i < VERSIONS; i++) {
		if (!memcmp(copy_of(pages, content) + offset, now + offset, len))
			return content;
		content = pages->content[content - 1].older;
	}
	return 0;
}

/* There is room. The id is not known yet. */
static uint32_t add_content(struct vpt_code_pages *pages, uint64_t gpa, const uint8_t *bytes)
{
	uint32_t *newest = find_frame(pages, gpa), content = ++pages->contents;

	pages->content[content - 1] = (struct content){.gpa = gpa, .older = *newest};
	*newest = content;
	memcpy(copy_of(pages, content), bytes, PAGE);
	return content;
}

int vpt_code_pages_note(struct vpt_code_pages *pages, const struct vpt_code_place *place,
			const uint8_t *now, size_t offset, size_t len, uint64_t *id)
{
	struct map *map = pages->last;
	int news = VPT_CODE_MAPPED;
	uint32_t content;

	if (!map || map->vaddr != place->vaddr || map->cr3 != place->cr3)
		map = find(pages->map, pages->slots, place->cr3, place->vaddr);
	pages->last = map;
	if (map->content && pages->content[map->content - 1].gpa == place->gpa &&
	    !memcmp(copy_of(pages, map->content) + offset, now + offset, len))
		return VPT_CODE_KNOWN;
	pages->last = NULL;
	content = find_version(pages, place->gpa, now, offset, len);
	if (!content) {
		news = VPT_CODE_CHANGED;
		if (pages->contents == VPT_CODE_CONTENTS) {
			memset(pages->newest, 0, sizeof(pages->newest));
			pages->contents = 0;
			forget_maps(pages);
		}
		content = add_content(pages, place->gpa, now);
	}
	if (!map->content && make_room(pages))
		return -ENOMEM;
	map = find(pages->map, pages->slots, place->cr3, place->vaddr);
	pages->maps += !map->content;
	*map = (struct map){place->cr3, place->vaddr, content};
	pages->last = map;
	*id = pages->content[content - 1].id;
	return news;
}

void vpt_code_pages_number(struct vpt_code_pages *pages, uint64_t id)
{
	pages->content[pages->contents - 1].id = id;
}

bool vpt_code_pages_has(const struct vpt_code_pages *pages, const struct vpt_code_place *place)
{
	const struct map *map = find(pages->map, pages->slots, place->cr3, place->vaddr);

	return map->content && pages->content[map->content - 1].gpa == place->gpa;
}

int vpt_code_pages_contents(const struct vpt_code_pages *pages,
			    int (*fn)(void *opaque, const struct vpt_code_content *content,
				      const uint8_t *bytes),
			    void *opaque)
{
	uint32_t i;
	int result = 0;

	for (i = 0; i < pages->contents && !result; i++) {
		const struct vpt_code_content content = {pages->content[i].id,
							 pages->content[i].gpa};

		result = fn(opaque, &content, copy_of(pages, i + 1));
	}
	return result;
}

static int by_address(const void *a, const void *b)
{
	const struct vpt_code_map *x = a, *y = b;

	if (x->place.cr3 != y->place.cr3)
		return x->place.cr3 < y->place.cr3 ? -1 : 1;
	return x->place.vaddr < y->place.vaddr ? -1 : x->place.vaddr > y->place.vaddr;
}

int vpt_code_pages_maps(const struct vpt_code_pages *pages, struct vpt_code_map **maps,
			size_t *count)
{
	struct vpt_code_map *all = calloc(pages->maps + 1, sizeof(*all));
	size_t i, n = 0;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < pages->slots; i++) {
		const struct map *map = &pages->map[i];
		const struct content *content;

		if (!map->content)
			continue;
		content = &pages->content[map->content - 1];
		all[n++] = (struct vpt_code_map){{map->cr3, map->vaddr, content->gpa}, content->id};
	}
	qsort(all, n, sizeof(*all), by_address);
	*maps = all;
	*count = n;
	return 0;
}

int vpt_code_pages_add(struct vpt_code_pages *pages, const struct vpt_code_content *content,
		       const uint8_t *bytes)
{
	uint64_t last = pages->contents ? pages->content[pages->contents - 1].id : 0;

	if (content->id <= last || content->gpa % PAGE || pages->contents == VPT_CODE_CONTENTS)
		return -EINVAL;
	(void)add_content(pages, content->gpa, bytes);
	vpt_code_pages_number(pages, content->id);
	return 0;
}

/* The content with this id, plus 1; 0: there is none. */
static uint32_t by_id(const struct vpt_code_pages *pages, uint64_t id)
{
	uint32_t lo = 0, hi = pages->contents;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pages->content[mid].id == id)
			return mid + 1;
		if (pages->content[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

int vpt_code_pages_add_map(struct vpt_code_pages *pages, const struct vpt_code_map *map)
{
	const struct vpt_code_place *place = &map->place;
	uint32_t content = by_id(pages, map->content);
	struct map *slot;

	if (!content || pages->content[content - 1].gpa != place->gpa || place->vaddr % PAGE ||
	    pages->maps == VPT_CODE_MAPS)
		return -EINVAL;
	if (make_room(pages))
		return -ENOMEM;
	slot = find(pages->map, pages->slots, place->cr3, place->vaddr);
	if (slot->content)
		return -EINVAL;
	*slot = (struct map){place->cr3, place->vaddr, content};
	pages->maps++;
	return 0;
}
