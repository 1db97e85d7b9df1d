// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Store pages, versions and address spaces.
 *
 * A place is a page at an address. Blocks belong to places, so that processes that map one page at
 * one address share its blocks. A changed page or mapping invalidates links and begins a new epoch.
 * Each epoch, and in the lower half each space, has a view of its own. A link from another view is
 * resolved again at its next use.
 */
#include "libdecode/code_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/* Returns the slot's value, or NULL if @key and @key2 are not in the table. */
void **dec_table_find(const struct dec_table *t, uint64_t key, uint64_t key2)
{
	size_t i;

	if (!t->slots)
		return NULL;
	for (i = mix(key ^ mix(key2)) & t->mask; t->slots[i].value; i = (i + 1) & t->mask) {
		if (t->slots[i].key == key && t->slots[i].key2 == key2)
			return &t->slots[i].value;
	}
	return NULL;
}

static void insert(struct dec_table *t, uint64_t key, uint64_t key2, void *value)
{
	size_t i = mix(key ^ mix(key2)) & t->mask;

	while (t->slots[i].value)
		i = (i + 1) & t->mask;
	t->slots[i] = (struct dec_slot){key, key2, value};
	t->used++;
}

int dec_table_add(struct dec_table *t, uint64_t key, uint64_t key2, void *value)
{
	if (!t->slots || t->used * 2 > t->mask) {
		struct dec_table grown = {.mask = t->slots ? 2 * t->mask + 1 : 1023};
		size_t i;

		grown.slots = calloc(grown.mask + 1, sizeof(*grown.slots));
		if (!grown.slots)
			return -ENOMEM;
		for (i = 0; t->slots && i <= t->mask; i++) {
			if (t->slots[i].value)
				insert(&grown, t->slots[i].key, t->slots[i].key2,
				       t->slots[i].value);
		}
		free(t->slots);
		*t = grown;
	}
	insert(t, key, key2, value);
	return 0;
}

void dec_table_free(struct dec_table *t, void (*drop)(void *value))
{
	size_t i;

	for (i = 0; drop && t->slots && i <= t->mask; i++) {
		if (t->slots[i].value)
			drop(t->slots[i].value);
	}
	free(t->slots);
}

static void free_page(void *value)
{
	struct dec_page *page = value;
	struct dec_version *v, *next;

	for (v = page->versions; v; v = next) {
		next = v->next;
		free(v);
	}
	free(page);
}

/* Begin a new epoch, because the content of a page has changed. */
static void new_epoch(struct dec_code *code)
{
	code->past = code->last_view;
	code->epoch++;
	code->views[1] = ++code->last_view;
	if (code->space) {
		code->space->view = code->views[0] = ++code->last_view;
		code->space->epoch = code->epoch;
	}
}

/* Begin a new epoch, because a page has moved to another address. */
static void new_maps(struct dec_code *code)
{
	new_epoch(code);
	code->mapped = code->views[1];
}

/* Begin a new view of this space: links in code that only this space has are invalid. */
static void new_view(struct dec_code *code, uint64_t key)
{
	void **slot = dec_table_find(&code->spaces, key, 0);
	struct dec_space *space;

	if (!slot)
		return;
	space = *slot;
	space->view = ++code->last_view;
	if (space == code->space)
		code->views[0] = space->view;
}

struct dec_code *dec_code_new(void)
{
	struct dec_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->x86 = dec_x86_new();
	if (!code->x86) {
		free(code);
		return NULL;
	}
	new_epoch(code);
	if (dec_code_select(code, 0)) {
		dec_code_free(code);
		return NULL;
	}
	return code;
}

void dec_code_free(struct dec_code *code)
{
	if (!code)
		return;
	dec_blocks_free(code);
	dec_table_free(&code->pages, free_page);
	dec_table_free(&code->places, free);
	dec_table_free(&code->spaces, free);
	dec_table_free(&code->common, free);
	free(code->maps.slots);
	dec_x86_free(code->x86);
	free(code);
}

static uint64_t hash_of(const uint8_t *bytes)
{
	uint64_t hash = 0, word;
	size_t i;

	for (i = 0; i < DEC_PAGE; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 31;
	}
	return hash;
}

static struct dec_page *page_of(struct dec_code *code, uint64_t key)
{
	void **slot = dec_table_find(&code->pages, key, 0);
	struct dec_page *page;

	if (slot)
		return *slot;
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->key = key;
	if (dec_table_add(&code->pages, key, 0, page)) {
		free(page);
		return NULL;
	}
	return page;
}

/* Make a version with room for a copy of @copy bytes. Returns NULL if there is no memory. */
static struct dec_version *new_version(struct dec_code *code, struct dec_page *page, size_t copy)
{
	struct dec_version *v = malloc(sizeof(*v) + copy);

	if (!v)
		return NULL;
	v->next = page->versions;
	v->hash = 0;
	v->gen = ++code->last_gen;
	page->versions = v;
	return v;
}

int dec_code_lend(struct dec_code *code, uint64_t key, const uint8_t *bytes)
{
	struct dec_page *page = page_of(code, key);
	struct dec_version *v = page ? new_version(code, page, 0) : NULL;

	if (!v)
		return -ENOMEM;
	v->bytes = bytes;
	page->now = v;
	return 0;
}

int dec_code_content(struct dec_code *code, uint64_t key, const uint8_t *bytes)
{
	struct dec_page *page = page_of(code, key);
	uint64_t hash = hash_of(bytes);
	struct dec_version *v;

	if (!page)
		return -ENOMEM;
	for (v = page->versions; v; v = v->next) {
		if (v->hash == hash && !memcmp(v->bytes, bytes, DEC_PAGE))
			break;
	}
	if (!v) {
		v = new_version(code, page, DEC_PAGE);
		if (!v)
			return -ENOMEM;
		v->hash = hash;
		v->bytes = memcpy(v->copy, bytes, DEC_PAGE);
	}
	if (page->now && page->now != v)
		new_epoch(code);
	page->now = v;
	return 0;
}

bool dec_code_has(const struct dec_code *code, uint64_t key)
{
	void **slot = dec_table_find(&code->pages, key, 0);

	return slot && ((const struct dec_page *)*slot)->now;
}

static struct dec_place *place_of(struct dec_code *code, struct dec_page *page, uint64_t vaddr)
{
	void **slot = dec_table_find(&code->places, page->key, vaddr + 1);
	struct dec_place *place;

	if (slot)
		return *slot;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->page = page;
	place->vaddr = vaddr;
	place->id = ++code->last_place;
	if (dec_table_add(&code->places, page->key, vaddr + 1, place)) {
		free(place);
		return NULL;
	}
	if (!page->first)
		page->first = place;
	return place;
}

/* Map a page in the kernel's half, which all spaces share until two of them differ. */
static int map_common(struct dec_code *code, uint64_t vaddr, struct dec_place *place)
{
	void **slot = dec_table_find(&code->common, vaddr, 0);
	struct dec_common *common;

	if (slot) {
		common = *slot;
		if (common->place != place && !common->differs) {
			common->differs = true;
			new_maps(code);
		}
		return 0;
	}
	common = malloc(sizeof(*common));
	if (!common)
		return -ENOMEM;
	*common = (struct dec_common){.place = place};
	if (dec_table_add(&code->common, vaddr, 0, common)) {
		free(common);
		return -ENOMEM;
	}
	return 0;
}

int dec_code_map(struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t key)
{
	struct dec_page *page = page_of(code, key);
	struct dec_place *place = page ? place_of(code, page, vaddr) : NULL;
	void **slot;
	int err;

	if (!place)
		return -ENOMEM;
	if (vaddr >> 63 && !code->separate) {
		err = map_common(code, vaddr, place);
		if (err)
			return err;
	}
	slot = dec_table_find(&code->maps, vaddr, space);
	err = slot ? 0 : dec_table_add(&code->maps, vaddr, space, place);
	if (err)
		return err;
	if (slot && *slot != place) {
		*slot = place;
		if (space == DEC_ANY_SPACE)
			new_maps(code);
		else
			new_view(code, space);
	} else if (!slot && space != DEC_ANY_SPACE &&
		   dec_table_find(&code->maps, vaddr, DEC_ANY_SPACE)) {
		new_view(code, space);
	} else if (code->holes) {
		/* The page may complete a block that ended where the page was missing. */
		code->holes = false;
		new_maps(code);
	}
	return 0;
}

int dec_code_select(struct dec_code *code, uint64_t key)
{
	struct dec_space *space = code->space;

	if (!space || space->key != key) {
		void **slot = dec_table_find(&code->spaces, key, 0);

		space = slot ? *slot : calloc(1, sizeof(*space));
		if (!space)
			return -ENOMEM;
		space->key = key;
		if (!slot && dec_table_add(&code->spaces, key, 0, space)) {
			free(space);
			return -ENOMEM;
		}
	}
	if (space->epoch != code->epoch) {
		space->epoch = code->epoch;
		space->view = ++code->last_view;
	}
	code->space = space;
	code->views[0] = space->view;
	return 0;
}

void dec_code_separate(struct dec_code *code)
{
	code->separate = true;
}

uint32_t dec_code_past(const struct dec_code *code)
{
	return code->past;
}

const uint32_t *dec_code_views(const struct dec_code *code)
{
	return code->views;
}

void dec_code_on_miss(struct dec_code *code,
		      bool (*fetch)(void *context, uint64_t space, uint64_t vaddr), void *context)
{
	code->fetch = fetch;
	code->context = context;
}

bool dec_code_at_page(const struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t *key,
		      const uint8_t **bytes)
{
	void **slot = dec_table_find(&code->maps, vaddr, space);
	const struct dec_place *place = slot ? *slot : NULL;

	if (!place)
		return false;
	*key = place->page->key;
	*bytes = place->page->now ? place->page->now->bytes : NULL;
	return true;
}

uint64_t dec_block_key(const struct dec_block *block)
{
	return block->place ? block->place->page->key : 0;
}
