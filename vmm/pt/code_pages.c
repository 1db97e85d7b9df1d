// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Track recorded code in two hash tables. One has the contents of each frame, the newest first. The
 * other has the places where frames are executed, each with the content that was recorded for it.
 *
 * Only executed bytes are compared. A page is recorded again when a changed byte of it is executed,
 * and not when it is written. Decoding needs no more.
 */
#include "pt/code_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "x86/guard.h"

#define PAGE	   4096u
#define FIRST_MAPS 1024u
#define FRAMES	   (2 * TRACER_CODE_CONTENTS) /* the number of buckets; half of them stay free */

struct content {
	uint64_t id, gpa;
	uint32_t older; /* the previous content of the same frame, plus 1; 0 if none */
	uint32_t use;	/* counts the contents that this entry has held */
};

struct map {
	uint64_t cr3, vaddr;
	uint32_t content;    /* index plus 1; 0 in an empty slot */
	uint32_t use;	     /* `use` of the content; otherwise the mapping is stale */
	uint32_t next, prev; /* other places of the same frame, plus 1; 0 if there are none */
};

struct tracer_code_pages {
	uint8_t *copies; /* the contents, a page each */
	struct content content[TRACER_CODE_CONTENTS];
	uint32_t contents, latest; /* latest: the entry of the last added content, plus 1 */
	uint32_t newest[FRAMES];   /* the newest content of the frame, plus 1; 0 in an empty slot */
	uint32_t places[FRAMES];   /* the first place of the frame in @newest, plus 1 */
	uint32_t most;		   /* the number of versions of a frame that are kept */

	struct map *map;
	size_t slots, maps; /* slots: a power of two */
	struct map *last;   /* the place that ran last, or NULL */
	uint32_t emptied;   /* the number of times that all places were forgotten */
	bool forgot;	    /* see tracer_code_pages_forgot() */
};

struct tracer_code_pages *tracer_code_pages_create(void)
{
	struct tracer_code_pages *pages = calloc(1, sizeof(*pages));
	void *copies =
		x86_guard_map((size_t)TRACER_CODE_CONTENTS * PAGE, PROT_READ | PROT_WRITE, -1);

	if (!copies) {
		free(pages);
		return NULL;
	}
	if (pages) {
		pages->copies = copies;
		pages->most = TRACER_CODE_VERSIONS;
		pages->slots = FIRST_MAPS;
		pages->map = calloc(pages->slots, sizeof(*pages->map));
		if (pages->map)
			return pages;
	}
	x86_guard_unmap(copies, (size_t)TRACER_CODE_CONTENTS * PAGE);
	free(pages);
	return NULL;
}

void tracer_code_pages_destroy(struct tracer_code_pages *pages)
{
	if (!pages)
		return;
	x86_guard_unmap(pages->copies, (size_t)TRACER_CODE_CONTENTS * PAGE);
	free(pages->map);
	free(pages);
}

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = ((a >> 12) + (b >> 12) * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	return (size_t)(x >> 32);
}

/* Return the slot of a place, or the free slot for it. */
static struct map *find(struct map *map, size_t slots, uint64_t cr3, uint64_t vaddr)
{
	size_t i = hash(cr3, vaddr) & (slots - 1);

	while (map[i].content && (map[i].cr3 != cr3 || map[i].vaddr != vaddr))
		i = (i + 1) & (slots - 1);
	return &map[i];
}

static uint32_t *find_frame(struct tracer_code_pages *pages, uint64_t gpa)
{
	size_t i = hash(0, gpa) & (FRAMES - 1);

	while (pages->newest[i] && pages->content[pages->newest[i] - 1].gpa != gpa)
		i = (i + 1) & (FRAMES - 1);
	return &pages->newest[i];
}

static uint8_t *copy_of(const struct tracer_code_pages *pages, uint32_t content)
{
	return pages->copies + (size_t)(content - 1) * PAGE;
}

/* Return the first place of the frame of a mapping that is not empty. */
static uint32_t *places_of(struct tracer_code_pages *pages, const struct map *map)
{
	const uint64_t gpa = pages->content[map->content - 1].gpa;

	return &pages->places[find_frame(pages, gpa) - pages->newest];
}

static void link_place(struct tracer_code_pages *pages, struct map *map)
{
	const uint32_t self = (uint32_t)(map - pages->map) + 1;
	uint32_t *first = places_of(pages, map);

	map->prev = 0;
	map->next = *first;
	if (map->next)
		pages->map[map->next - 1].prev = self;
	*first = self;
}

static void unlink_place(struct tracer_code_pages *pages, const struct map *map)
{
	if (map->next)
		pages->map[map->next - 1].prev = map->prev;
	if (map->prev)
		pages->map[map->prev - 1].next = map->next;
	else
		*places_of(pages, map) = map->next;
}

static void forget_maps(struct tracer_code_pages *pages)
{
	memset(pages->map, 0, pages->slots * sizeof(*pages->map));
	memset(pages->places, 0, sizeof(pages->places));
	pages->maps = 0;
	pages->emptied++;
	pages->forgot = true;
}

static int grow(struct tracer_code_pages *pages)
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
	memset(pages->places, 0, sizeof(pages->places));
	for (i = 0; i < slots; i++)
		if (map[i].content)
			link_place(pages, &map[i]);
	return 0;
}

/* Make room for one more mapping. Returns 0 or -ENOMEM. */
static int make_room(struct tracer_code_pages *pages)
{
	if (pages->maps == TRACER_CODE_MAPS)
		forget_maps(pages);
	return pages->maps * 2 >= pages->slots ? grow(pages) : 0;
}

/*
 * Find a version of the frame that is the same as @now. Returns 0 if there is none. A version with
 * the same code at one place may have other code at another. The engine does not report that place
 * again.
 */
static uint32_t find_version(struct tracer_code_pages *pages, uint64_t gpa, const uint8_t *now)
{
	uint32_t content = *find_frame(pages, gpa);

	while (content && memcmp(copy_of(pages, content), now, PAGE))
		content = pages->content[content - 1].older;
	return content;
}

/*
 * Remove the oldest version of a frame that has as many as are kept. Returns the version's
 * entry, or 0.
 */
static uint32_t take_oldest(struct tracer_code_pages *pages, uint32_t *newest)
{
	uint32_t *link = newest, content, n = 1;

	if (!*link)
		return 0;
	while (pages->content[*link - 1].older) {
		link = &pages->content[*link - 1].older;
		n++;
	}
	if (n < pages->most)
		return 0;
	content = *link;
	*link = 0;
	return content;
}

static void forget_all(struct tracer_code_pages *pages)
{
	memset(pages->newest, 0, sizeof(pages->newest));
	pages->contents = 0;
	forget_maps(pages);
}

/* Add a content, whose id is not known yet. */
static uint32_t add_content(struct tracer_code_pages *pages, uint64_t gpa, const uint8_t *bytes)
{
	uint32_t *newest = find_frame(pages, gpa), content = take_oldest(pages, newest);

	if (content) {
		pages->forgot = true;
	} else {
		if (pages->contents == TRACER_CODE_CONTENTS)
			forget_all(pages);
		newest = find_frame(pages, gpa);
		content = ++pages->contents;
	}
	pages->content[content - 1] = (struct content){
		.gpa = gpa, .older = *newest, .use = pages->content[content - 1].use + 1};
	*newest = pages->latest = content;
	memcpy(copy_of(pages, content), bytes, PAGE);
	return content;
}

static bool is_current(const struct tracer_code_pages *pages, const struct map *map, uint64_t gpa)
{
	const struct content *content = &pages->content[map->content - 1];

	return content->gpa == gpa && content->use == map->use;
}

/* Fill a slot that is empty or has the same place. */
static void put_place(struct tracer_code_pages *pages, struct map *slot, const struct map *map)
{
	if (slot->content)
		unlink_place(pages, slot);
	else
		pages->maps++;
	*slot = *map;
	link_place(pages, slot);
}

int tracer_code_pages_note(struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			   uint64_t gpa, const uint8_t *now, size_t offset, size_t len,
			   uint64_t *id)
{
	struct map *map = pages->last;
	int news = TRACER_CODE_MAPPED;
	uint32_t content;

	if (!map || map->vaddr != vaddr || map->cr3 != cr3)
		map = find(pages->map, pages->slots, cr3, vaddr);
	pages->last = map;
	if (map->content && is_current(pages, map, gpa) &&
	    !memcmp(copy_of(pages, map->content) + offset, now + offset, len))
		return TRACER_CODE_KNOWN;
	pages->last = NULL;
	content = find_version(pages, gpa, now);
	if (!content) {
		news = TRACER_CODE_CHANGED;
		content = add_content(pages, gpa, now);
	}
	if (!map->content && make_room(pages))
		return -ENOMEM;
	map = find(pages->map, pages->slots, cr3, vaddr);
	put_place(pages, map,
		  &(struct map){cr3, vaddr, content, pages->content[content - 1].use, 0, 0});
	pages->last = map;
	*id = pages->content[content - 1].id;
	return news;
}

bool tracer_code_pages_forgot(struct tracer_code_pages *pages)
{
	const bool forgot = pages->forgot;

	pages->forgot = false;
	return forgot;
}

void tracer_code_pages_number(struct tracer_code_pages *pages, uint64_t id)
{
	pages->content[pages->latest - 1].id = id;
}

bool tracer_code_pages_frame(const struct tracer_code_pages *pages, uint64_t cr3, uint64_t vaddr,
			     uint64_t *gpa)
{
	const struct map *map = find(pages->map, pages->slots, cr3, vaddr);

	if (map->content)
		*gpa = pages->content[map->content - 1].gpa;
	return map->content;
}

const uint8_t *tracer_code_pages_at(const struct tracer_code_pages *pages, uint64_t cr3,
				    uint64_t vaddr)
{
	const struct map *map = find(pages->map, pages->slots, cr3, vaddr);

	if (!map->content || pages->content[map->content - 1].use != map->use)
		return NULL;
	return copy_of(pages, map->content);
}

static size_t first_difference(const uint8_t *a, const uint8_t *b)
{
	size_t i = 0, part;

	if (!memcmp(a, b, PAGE))
		return PAGE;
	for (part = PAGE / 2; part; part /= 2)
		if (!memcmp(a + i, b + i, part))
			i += part;
	return i;
}

const uint8_t *tracer_code_pages_latest(const struct tracer_code_pages *pages)
{
	return copy_of(pages, pages->latest);
}

bool tracer_code_pages_base(const struct tracer_code_pages *pages, uint64_t *id, size_t *from,
			    size_t *to)
{
	const struct content *content = &pages->content[pages->latest - 1];
	const uint8_t *now = copy_of(pages, pages->latest), *was;

	if (!content->older)
		return false;
	was = copy_of(pages, content->older);
	*id = pages->content[content->older - 1].id;
	*from = first_difference(was, now);
	for (*to = PAGE; *to > *from && was[*to - 1] == now[*to - 1];)
		--*to;
	return *id && *to > *from;
}

size_t tracer_code_pages_differs(struct tracer_code_pages *pages, uint64_t gpa, const uint8_t *now)
{
	const uint32_t content = *find_frame(pages, gpa);

	return content ? first_difference(copy_of(pages, content), now) : PAGE;
}

uint32_t tracer_code_pages_emptied(const struct tracer_code_pages *pages)
{
	return pages->emptied;
}

void tracer_code_pages_keep(struct tracer_code_pages *pages, uint32_t versions)
{
	pages->most = versions;
}

void tracer_code_pages_places(struct tracer_code_pages *pages, uint64_t gpa,
			      void (*fn)(void *opaque, uint64_t cr3, uint64_t vaddr), void *opaque)
{
	const uint32_t emptied = pages->emptied;
	uint32_t at = pages->places[find_frame(pages, gpa) - pages->newest];

	while (at && emptied == pages->emptied) {
		const struct map map = pages->map[at - 1];

		fn(opaque, map.cr3, map.vaddr);
		at = map.next;
	}
}

int tracer_code_pages_contents(const struct tracer_code_pages *pages,
			       int (*fn)(void *opaque, const struct tracer_code_content *content,
					 const uint8_t *bytes),
			       void *opaque)
{
	uint32_t i;
	int result = 0;

	for (i = 0; i < pages->contents && !result; i++) {
		const struct tracer_code_content content = {pages->content[i].id,
							    pages->content[i].gpa};

		result = fn(opaque, &content, copy_of(pages, i + 1));
	}
	return result;
}

static int by_address(const void *a, const void *b)
{
	const struct tracer_code_map *x = a, *y = b;

	if (x->cr3 != y->cr3)
		return x->cr3 < y->cr3 ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int tracer_code_pages_maps(const struct tracer_code_pages *pages, struct tracer_code_map **maps,
			   size_t *count)
{
	struct tracer_code_map *all = calloc(pages->maps + 1, sizeof(*all));
	size_t i, n = 0;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < pages->slots; i++) {
		const struct map *map = &pages->map[i];
		const struct content *content;

		if (!map->content)
			continue;
		content = &pages->content[map->content - 1];
		all[n++] = (struct tracer_code_map){map->cr3, map->vaddr, content->gpa,
						    map->content - 1, map->use != content->use};
	}
	qsort(all, n, sizeof(*all), by_address);
	*maps = all;
	*count = n;
	return 0;
}

int tracer_code_pages_add(struct tracer_code_pages *pages,
			  const struct tracer_code_content *content, const uint8_t *bytes)
{
	uint32_t *link = find_frame(pages, content->gpa), n = 1;
	struct content *to;

	if (!content->id || content->gpa % PAGE || pages->contents == TRACER_CODE_CONTENTS)
		return -EINVAL;
	/* Newer contents have larger ids. */
	for (; *link; link = &pages->content[*link - 1].older, n++)
		if (pages->content[*link - 1].id <= content->id)
			break;
	if (*link && pages->content[*link - 1].id == content->id)
		return -EINVAL;
	to = &pages->content[pages->contents++];
	*to = (struct content){content->id, content->gpa, *link, 1};
	*link = pages->contents;
	for (; to->older; to = &pages->content[to->older - 1])
		n++;
	memcpy(copy_of(pages, pages->contents), bytes, PAGE);
	return n <= TRACER_CODE_VERSIONS ? 0 : -EINVAL;
}

int tracer_code_pages_add_map(struct tracer_code_pages *pages, const struct tracer_code_map *map)
{
	const struct content *content;
	struct map *slot;

	if (map->content >= pages->contents || map->stale > 1 || map->vaddr % PAGE ||
	    pages->maps == TRACER_CODE_MAPS)
		return -EINVAL;
	content = &pages->content[map->content];
	if (content->gpa != map->gpa)
		return -EINVAL;
	if (make_room(pages))
		return -ENOMEM;
	slot = find(pages->map, pages->slots, map->cr3, map->vaddr);
	if (slot->content)
		return -EINVAL;
	put_place(pages, slot,
		  &(struct map){map->cr3, map->vaddr, map->content + 1, content->use - map->stale,
				0, 0});
	return 0;
}
