// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the image of a CR3, and the pages that its page tables map. Missing facts are guessed: the
 * paging mode from the formats that map the address of the trace, the EPTP from the VMCS region. A
 * guess that found a page is kept for that address space.
 */
#include "image/set.h"

#include <errno.h>
#include <string.h>

#include "image/nested.h"
#include "image/table.h"
#include "trace/format.h"

/* A space's number, see struct trace_code_source. */
#define CR3_MASK    0x000fffffffffffe0ull
#define GUEST_SHIFT 52
#define GUESTS_MAX  4095u
#define FOUR_GIB    (1ull << 32)

struct member {
	struct image_image *image;
	struct image_use use;
	enum image_paging last; /* the last good guess; IMAGE_PAGINGS before the first */
};

/* An address space with at least one found page. */
struct space {
	struct member *member;
	struct image_view view;
	enum image_paging paging;
};

struct image_set {
	struct member members[IMAGE_SET_MAX];
	size_t n;
	uint64_t guests[GUESTS_MAX]; /* VMCSs, in the order of their numbers from 1 on */
	unsigned int nguests;
	struct image_table spaces; /* maps a number to a struct space */
	struct image_table pages;  /* maps number and address to bytes */
	const char *damage;
};

struct image_set *image_set_new(void)
{
	return calloc(1, sizeof(struct image_set));
}

void image_set_free(struct image_set *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->n; i++)
		image_close(set->members[i].image);
	for (i = 0; set->spaces.slots && i <= set->spaces.mask; i++)
		free((void *)set->spaces.slots[i].value);
	free(set->spaces.slots);
	free(set->pages.slots);
	free(set);
}

int image_set_add(struct image_set *set, struct image_image *image, const struct image_use *use)
{
	if (set->n == IMAGE_SET_MAX) {
		image_close(image);
		return -E2BIG;
	}
	set->members[set->n++] =
		(struct member){.image = image, .use = *use, .last = IMAGE_PAGINGS};
	return 0;
}

/* Return how well an image fits a key; 0 if it does not fit. */
static unsigned int fitness(const struct image_use *use, const struct trace_source_key *key)
{
	switch (use->side) {
	case IMAGE_HOST:
		return key->non_root ? 1 : 3;
	case IMAGE_ALL:
		return 2;
	case IMAGE_GUEST:
		break;
	}
	if (!key->non_root)
		return 0;
	if (use->vmcs == TRACE_SPACE_ANY_VMCS || key->vmcs == TRACE_SPACE_ANY_VMCS)
		return 3;
	return use->vmcs == key->vmcs ? 4 : 0;
}

/* Return the first image that fits best, or NULL. */
static struct member *choose(struct image_set *set, const struct trace_source_key *key)
{
	struct member *best = NULL;
	unsigned int most = 0;
	size_t i;

	for (i = 0; i < set->n; i++) {
		unsigned int fits = fitness(&set->members[i].use, key);

		if (fits > most) {
			best = &set->members[i];
			most = fits;
		}
	}
	return best;
}

/* Return the number of a VMCS, from 1 on, or 0 if there are too many. */
static uint64_t guest_number(struct image_set *set, uint64_t vmcs)
{
	unsigned int i;

	for (i = 0; i < set->nguests; i++) {
		if (set->guests[i] == vmcs)
			return i + 1;
	}
	if (i == GUESTS_MAX)
		return 0;
	set->guests[i] = vmcs;
	return ++set->nguests;
}

static uint64_t space_number(void *context, const struct trace_source_key *key)
{
	struct image_set *set = context;
	uint64_t guest = 0;

	if (!choose(set, key))
		return TRACE_SOURCE_NONE;
	if (key->non_root) {
		guest = guest_number(set, key->vmcs);
		if (!guest)
			return TRACE_SOURCE_NONE;
	}
	return (key->cr3 & CR3_MASK) | guest << GUEST_SHIFT;
}

static struct trace_source_key key_of(const struct image_set *set, uint64_t number)
{
	uint64_t guest = number >> GUEST_SHIFT;

	return (struct trace_source_key){
		.cr3 = number & CR3_MASK,
		.vmcs = guest ? set->guests[guest - 1] : TRACE_SPACE_ANY_VMCS,
		.non_root = guest != 0,
	};
}

static uint64_t guess_space(void *context, uint64_t ip)
{
	struct image_set *set = context;
	size_t i;

	(void)ip;
	for (i = 0; i < set->n; i++) {
		const struct image_use *use = &set->members[i].use;
		const struct trace_source_key key = {
			.cr3 = use->cr3,
			.vmcs = use->vmcs,
			.non_root = use->side == IMAGE_GUEST,
		};

		if (use->cr3 != TRACE_SOURCE_NONE)
			return space_number(set, &key);
	}
	return TRACE_SOURCE_NONE;
}

/*
 * Return the bytes at @vaddr with the first format that maps them. Likely formats are tried first.
 */
static const uint8_t *guess_paging(struct space *space, uint64_t cr3, uint64_t vaddr)
{
	static const enum image_paging all[] = {IMAGE_LEVELS4, IMAGE_LEVELS5, IMAGE_PAE,
						IMAGE_LEGACY, IMAGE_FLAT};
	enum image_paging last = space->member->last;
	const uint8_t *bytes = NULL;
	size_t i;

	if (last != IMAGE_PAGINGS) {
		space->paging = last;
		bytes = image_view_code(&space->view, last, cr3, vaddr);
	}
	for (i = 0; i < sizeof(all) / sizeof(all[0]) && !bytes; i++) {
		/* Before paging is enabled, CR3 is 0. */
		if (all[i] == last || (all[i] == IMAGE_FLAT && cr3))
			continue;
		space->paging = all[i];
		bytes = image_view_code(&space->view, all[i], cr3, vaddr);
	}
	return bytes;
}

static const uint8_t *try_view(struct space *space, uint64_t eptp, uint64_t cr3, uint64_t vaddr)
{
	const struct image_use *use = &space->member->use;
	enum image_paging known = use->paging;

	space->view.eptp = eptp;
	/* Notes describe the machine of the image, not its guests. */
	if (known == IMAGE_PAGINGS && !eptp)
		known = image_known_paging(space->member->image);
	if (known == IMAGE_PAGINGS)
		return guess_paging(space, cr3, vaddr);
	space->paging = known;
	return image_view_code(&space->view, known, cr3, vaddr);
}

/* Find a guest in its host's memory: through an EPT of its VMCS, or through shadow page tables. */
static const uint8_t *try_guest(struct space *space, const struct trace_source_key *key,
				uint64_t vaddr)
{
	const uint8_t *bytes = NULL;
	uint64_t eptps[IMAGE_EPTPS_MAX];
	unsigned int n = 0, i;

	if (key->vmcs != TRACE_SPACE_ANY_VMCS)
		n = image_vmcs_eptps(space->member->image, key->vmcs, eptps);
	for (i = 0; i < n && !bytes; i++)
		bytes = try_view(space, eptps[i], key->cr3, vaddr);
	return bytes ? bytes : try_view(space, 0, key->cr3, vaddr);
}

static const uint8_t *find_first(struct image_set *set, uint64_t number, uint64_t vaddr)
{
	const struct trace_source_key key = key_of(set, number);
	struct member *member = choose(set, &key);
	struct space found, *kept;
	const uint8_t *bytes;

	if (!member)
		return NULL;
	found = (struct space){.member = member, .view = {.image = member->image}};
	if (key.non_root && member->use.side == IMAGE_HOST && !member->use.eptp)
		bytes = try_guest(&found, &key, vaddr);
	else
		bytes = try_view(&found, key.non_root ? member->use.eptp : 0, key.cr3, vaddr);
	if (!bytes)
		return NULL;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return NULL;
	*kept = found;
	if (!image_table_add(&set->spaces, number, 0, kept)) {
		free(kept);
		return NULL;
	}
	member->last = found.paging;
	return bytes;
}

static const uint8_t *find_page(void *context, uint64_t number, uint64_t vaddr)
{
	struct image_set *set = context;
	const uint8_t *bytes = image_table_find(&set->pages, number, vaddr);
	struct space *space;

	if (bytes)
		return bytes;
	if (set->pages.used == IMAGE_SET_PAGES) {
		set->damage = "more than 1 GiB of code is asked for: the rest is left out";
		return NULL;
	}
	if (number >> GUEST_SHIFT > set->nguests)
		return NULL;
	space = (struct space *)image_table_find(&set->spaces, number, 0);
	if (space)
		bytes = image_view_code(&space->view, space->paging, number & CR3_MASK, vaddr);
	else
		bytes = find_first(set, number, vaddr);
	if (bytes && !image_table_add(&set->pages, number, vaddr, bytes))
		return NULL;
	return bytes;
}

struct trace_code_source image_set_source(struct image_set *set)
{
	return (struct trace_code_source){
		.space = space_number,
		.guess = guess_space,
		.page = find_page,
		.context = set,
	};
}

size_t image_set_pages(const struct image_set *set)
{
	return set->pages.used;
}

const char *image_set_damage(const struct image_set *set)
{
	const char *damage = set->damage;
	size_t i;

	for (i = 0; i < set->n && !damage; i++)
		damage = image_damage(set->members[i].image);
	return damage;
}
