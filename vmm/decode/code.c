// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Store pages by address space and address. Each page points to its current bytes. A new version
 * changes that pointer.
 */
#include "decode/code_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define INSN_MAX 15u

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int decode_code_by_page(const void *a, const void *b)
{
	const struct decode_code_kept *x = a, *y = b;
	int d = compare_u64(x->cr3, y->cr3);

	if (!d)
		d = compare_u64(x->vaddr, y->vaddr);
	if (!d)
		d = compare_u64(x->from, y->from);
	return d ? d : compare_u64(x->order, y->order);
}

static int by_time(const void *a, const void *b)
{
	const struct decode_code_kept *x = a, *y = b;
	int d = compare_u64(x->from, y->from);

	return d ? d : compare_u64(x->order, y->order);
}

static size_t bucket(const struct decode_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	uint64_t x = (cr3 ^ (vaddr >> 12) * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return (size_t)(x >> 32) & store->mask;
}

ssize_t decode_code_find_page(const struct decode_code_store *store, uint64_t cr3, uint64_t vaddr)
{
	size_t b = bucket(store, cr3, vaddr);

	for (; store->buckets[b]; b = (b + 1) & store->mask) {
		const struct decode_code_paged *page = &store->pages[store->buckets[b] - 1];

		if (page->vaddr == vaddr && page->cr3 == cr3)
			return (ssize_t)store->buckets[b] - 1;
	}
	return -1;
}

static void put_in_bucket(struct decode_code_store *store, size_t page)
{
	size_t b = bucket(store, store->pages[page].cr3, store->pages[page].vaddr);

	while (store->buckets[b])
		b = (b + 1) & store->mask;
	store->buckets[b] = (uint32_t)page + 1;
}

/* At least half of the slots stay free. */
int decode_code_hash(struct decode_code_store *store)
{
	size_t n = 16, i;
	uint32_t *buckets;

	if (store->npages >= UINT32_MAX)
		return -ENOMEM;
	while (n < 2 * store->npages)
		n *= 2;
	buckets = calloc(n, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	free(store->buckets);
	store->buckets = buckets;
	store->mask = n - 1;
	for (i = 0; i < store->npages; i++)
		put_in_bucket(store, i);
	return 0;
}

int decode_code_hash_last(struct decode_code_store *store)
{
	if (2 * store->npages > store->mask + 1)
		return decode_code_hash(store);
	put_in_bucket(store, store->npages - 1);
	return 0;
}

void decode_code_unhash_last(struct decode_code_store *store)
{
	const struct decode_code_paged *page = &store->pages[store->npages - 1];
	size_t b = bucket(store, page->cr3, page->vaddr);

	/* No entry is behind the last one in its chain. */
	while (store->buckets[b] != store->npages)
		b = (b + 1) & store->mask;
	store->buckets[b] = 0;
}

static int make_contents(struct decode_code_store *store)
{
	size_t n = 16;

	while (n < 2 * (store->npages + store->nlater))
		n *= 2;
	store->contents = calloc(n, sizeof(*store->contents));
	store->most = n - 1;
	return store->contents ? 0 : -ENOMEM;
}

/* Note a question whose answer can change while the file grows. */
static void ask(const struct decode_code_store *store, uint64_t space, uint64_t vaddr)
{
	if (store->asked && !trace_pairs_add(&store->asked->all, space, vaddr))
		store->asked->lost = true;
}

/* Note that the store has returned a page of a space, or the space. */
static void note(const struct decode_code_store *store, uint64_t space, uint64_t vaddr)
{
	if (store->uses && !trace_pairs_add(&store->uses->all, space, vaddr))
		store->uses->lost = true;
}

static const struct decode_code_spaced *find_space(const struct decode_code_store *store,
						   uint64_t cr3)
{
	size_t lo = 0, hi = store->nspaces;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = compare_u64(store->spaces[mid].cr3, cr3);

		if (!d)
			return &store->spaces[mid];
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Return the bytes of a page of a space, from its own or the common pages, or NULL. */
static const uint8_t *page_bytes(const struct decode_code_store *store,
				 const struct decode_code_spaced *space, uint64_t vaddr)
{
	ssize_t page = decode_code_find_page(store, space->cr3, vaddr);

	if (page < 0 && space->common)
		page = decode_code_find_page(store, store->common, vaddr);
	return page < 0 ? NULL : store->pages[page].bytes;
}

static int by_id(const void *a, const void *b)
{
	const struct decode_code_sourced *x = a, *y = b;

	return compare_u64(x->id, y->id);
}

/* Return the number in the source of a space of the store, or TRACE_SOURCE_NONE. */
static uint64_t source_number(const struct decode_code_store *store, uint64_t id)
{
	const struct decode_code_sourced key = {.id = id}, *other;

	if (!store->source)
		return TRACE_SOURCE_NONE;
	other = store->nothers ? bsearch(&key, store->others, store->nothers, sizeof(key), by_id)
			       : NULL;
	return other ? other->number : id;
}

/* Return the bytes of a page from the file, or else from the source, or NULL. */
static const uint8_t *bytes_at(const struct decode_code_store *store, uint64_t id, uint64_t vaddr)
{
	const struct decode_code_spaced *space = find_space(store, id);
	const uint8_t *bytes = space ? page_bytes(store, space, vaddr) : NULL;
	uint64_t number;

	if (bytes)
		note(store, id, vaddr);
	if (bytes || !store->source)
		return bytes;
	number = source_number(store, id);
	return number == TRACE_SOURCE_NONE
		       ? NULL
		       : store->source->page(store->source->context, number, vaddr);
}

/* Ask the source for the numbers of the file's spaces. */
static int list_others(struct decode_code_store *store, const struct trace_space *all, size_t n)
{
	size_t i;

	if (!store->source || !n)
		return 0;
	store->others = calloc(n, sizeof(*store->others));
	if (!store->others)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct trace_source_key key = {
			.cr3 = all[i].cr3,
			.vmcs = all[i].vmcs,
			.non_root = all[i].flags & TRACE_SPACE_NON_ROOT,
		};

		store->others[i].id = all[i].id;
		store->others[i].number = store->source->space(store->source->context, &key);
	}
	store->nothers = n;
	qsort(store->others, n, sizeof(*store->others), by_id);
	return 0;
}

static void add_space(struct decode_code_store *store, uint64_t cr3)
{
	if (!store->nspaces || store->spaces[store->nspaces - 1].cr3 != cr3)
		store->spaces[store->nspaces++].cr3 = cr3;
}

static int by_space(const void *a, const void *b)
{
	const struct decode_code_spaced *x = a, *y = b;

	return compare_u64(x->cr3, y->cr3);
}

/* Add the common pages to the spaces of the host, including spaces without other pages. */
static void share_common(struct decode_code_store *store, const struct trace_space *all, size_t n)
{
	size_t i, pages = store->nspaces;

	if (!store->common)
		return;
	for (i = 0; i < n; i++)
		store->spaces[pages + i].cr3 =
			all[i].flags & TRACE_SPACE_NON_ROOT ? store->common : all[i].id;
	qsort(store->spaces, pages + n, sizeof(*store->spaces), by_space);
	store->nspaces = 0;
	for (i = 0; i < pages + n; i++)
		add_space(store, store->spaces[i].cr3);
	for (i = 0; i < n; i++) {
		struct decode_code_spaced key = {.cr3 = all[i].id};
		struct decode_code_spaced *space =
			bsearch(&key, store->spaces, store->nspaces, sizeof(key), by_space);

		if (space && !(all[i].flags & TRACE_SPACE_NON_ROOT))
			space->common = space->cr3 != store->common;
	}
}

/* Make pages of the first versions, and keep the others in `later`. */
static void sort_out(struct decode_code_store *store, struct decode_code_kept *all, size_t n)
{
	size_t i;

	qsort(all, n, sizeof(*all), decode_code_by_page);
	for (i = 0; i < n; i++) {
		const struct decode_code_kept *v = &all[i];

		if (i && all[i - 1].cr3 == v->cr3 && all[i - 1].vaddr == v->vaddr) {
			store->later[store->nlater] = *v;
			store->later[store->nlater++].before = all[i - 1].bytes;
			store->pages[store->npages - 1].newest = v->from;
			continue;
		}
		store->pages[store->npages++] = (struct decode_code_paged){
			v->cr3, v->vaddr, v->bytes, v->from, v->from, false};
		add_space(store, v->cr3);
	}
	qsort(store->later, store->nlater, sizeof(*store->later), by_time);
}

/* Return the space that others share, or 0. */
static uint64_t find_common(const struct trace_space *spaces, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((spaces[i].flags & (TRACE_SPACE_COMMON | TRACE_SPACE_NON_ROOT)) ==
		    TRACE_SPACE_COMMON)
			return spaces[i].id;
	}
	return 0;
}

/* Return the position of a page in the part of the stream that is in the file. */
static uint64_t position(const struct trace_reader *reader, unsigned int vcpu, uint64_t from)
{
	const struct trace_cut *cut = trace_reader_cut(reader, vcpu);

	if (!cut || !(trace_reader_info(reader)->flags & TRACE_INFO_CODE_BY_OFFSET))
		return from;
	return from > cut->offset ? from - cut->offset : 0;
}

/*
 * List the code of a vCPU, and the code that it shares with vCPU 0. Returns NULL if there is no
 * memory.
 */
static struct decode_code_kept *list_code(const struct trace_reader *reader, unsigned int vcpu,
					  uint64_t common, size_t *count)
{
	size_t n, nfirst = 0, i;
	const struct trace_code *code = trace_reader_code(reader, vcpu, &n), *first = NULL;
	struct decode_code_kept *all;

	if (vcpu && common)
		first = trace_reader_code(reader, 0, &nfirst);
	all = calloc(n + nfirst + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (i = 0; i < n; i++)
		all[i] = (struct decode_code_kept){
			.cr3 = code[i].page->cr3,
			.vaddr = code[i].page->vaddr,
			.from = position(reader, vcpu, code[i].page->insns),
			.order = i,
			.bytes = code[i].bytes,
			.place = code[i].place,
		};
	*count = n;
	for (i = 0; i < nfirst; i++) {
		/* Each vCPU has its own later versions. */
		if (first[i].page->cr3 == common && !first[i].page->insns)
			all[(*count)++] = (struct decode_code_kept){
				.cr3 = common,
				.vaddr = first[i].page->vaddr,
				.order = i,
				.bytes = first[i].bytes,
			};
	}
	return all;
}

int decode_code_open(const struct trace_reader *reader, unsigned int vcpu,
		     struct decode_code_store **out)
{
	struct decode_code_store *store = calloc(1, sizeof(*store));
	const struct trace_space *spaces;
	struct decode_code_kept *all;
	size_t n = 0, nspaces;
	int err = -ENOMEM;

	if (!store)
		return -ENOMEM;
	store->selected = DECODE_CR3_UNKNOWN;
	store->by_offset = trace_reader_info(reader)->flags & TRACE_INFO_CODE_BY_OFFSET;
	store->source = trace_reader_source(reader);

	spaces = trace_reader_spaces(reader, &nspaces);
	store->common = find_common(spaces, nspaces);
	all = list_code(reader, vcpu, store->common, &n);
	store->pages = calloc(n + 1, sizeof(*store->pages));
	store->later = calloc(n + 1, sizeof(*store->later));
	store->spaces = calloc(n + nspaces + 1, sizeof(*store->spaces));
	if (!all || !store->pages || !store->later || !store->spaces)
		goto out;

	sort_out(store, all, n);
	share_common(store, spaces, nspaces);
	err = decode_code_hash(store);
	if (!err)
		err = make_contents(store);
	if (!err)
		err = list_others(store, spaces, nspaces);
out:
	free(all);
	if (err)
		decode_code_close(store);
	else
		*out = store;
	return err;
}

void decode_code_close(struct decode_code_store *store)
{
	if (!store)
		return;
	free(store->buckets);
	free(store->contents);
	free(store->pages);
	free(store->later);
	free(store->others);
	free(store->spaces);
	if (store->asked)
		trace_pairs_free(&store->asked->all);
	free(store->asked);
	free(store);
}

uint64_t decode_code_next_change(const struct decode_code_store *store)
{
	return store->next < store->nlater ? store->later[store->next].from : UINT64_MAX;
}

uint64_t decode_code_change_behind(const struct decode_code_store *store, uint64_t at)
{
	size_t i = trace_vec_before(store->later, store->nlater, e, e->from <= at);

	return i < store->nlater ? store->later[i].from : UINT64_MAX;
}

uint64_t decode_code_last_change(const struct decode_code_store *store)
{
	return store->next ? store->later[store->next - 1].from : 0;
}

size_t decode_code_changes(const struct decode_code_store *store)
{
	return store->nlater;
}

struct decode_code_version decode_code_change_at(const struct decode_code_store *store, size_t i)
{
	return (struct decode_code_version){store->later[i].from, store->later[i].place};
}

bool decode_code_by_offset(const struct decode_code_store *store)
{
	return store->by_offset;
}

static void set_bytes(struct decode_code_store *store, const struct decode_code_kept *v,
		      const uint8_t *bytes)
{
	store->pages[decode_code_find_page(store, v->cr3, v->vaddr)].bytes = bytes;
}

void decode_code_advance(struct decode_code_store *store, uint64_t to)
{
	while (store->by_offset && store->next && store->later[store->next - 1].from > to) {
		store->next--;
		set_bytes(store, &store->later[store->next], store->later[store->next].before);
	}
	for (; store->next < store->nlater && store->later[store->next].from <= to; store->next++)
		set_bytes(store, &store->later[store->next], store->later[store->next].bytes);
	store->last_bytes = NULL;
}

struct decode_code_changes decode_code_advance_told(struct decode_code_store *store, uint64_t to)
{
	struct decode_code_changes changes = {.next = store->next};

	decode_code_advance(store, to);
	changes.end = store->next;
	if (changes.end < changes.next) {
		changes.end = changes.next;
		changes.next = store->next;
	}
	return changes;
}

/* Find the next space that shares the changed page. Returns false if none is left. */
static bool find_sharer(const struct decode_code_store *store, struct decode_code_changes *changes,
			const struct decode_code_kept *v)
{
	for (; changes->sharer < store->nspaces; changes->sharer++) {
		const struct decode_code_spaced *space = &store->spaces[changes->sharer];

		if (space->common && decode_code_find_page(store, space->cr3, v->vaddr) < 0)
			return true;
	}
	return false;
}

bool decode_code_changed(const struct decode_code_store *store, struct decode_code_changes *changes,
			 struct decode_code_change *change)
{
	while (changes->next < changes->end) {
		const struct decode_code_kept *v = &store->later[changes->next];

		*change = (struct decode_code_change){
			v->cr3, v->vaddr,
			store->pages[decode_code_find_page(store, v->cr3, v->vaddr)].bytes};
		if (!changes->told) {
			changes->told = true;
			return true;
		}
		if (v->cr3 == store->common && find_sharer(store, changes, v)) {
			change->space = store->spaces[changes->sharer++].cr3;
			return true;
		}
		changes->next++;
		changes->sharer = 0;
		changes->told = false;
	}
	return false;
}

static uint64_t hash_of(const uint8_t *bytes)
{
	uint64_t lanes[4] = {0}, words[4];
	size_t i, k;

	for (i = 0; i < TRACE_CODE_BYTES; i += sizeof(words)) {
		memcpy(words, bytes + i, sizeof(words));
		for (k = 0; k < 4; k++)
			lanes[k] = (lanes[k] ^ words[k]) * 0x9e3779b97f4a7c15ull;
	}
	return lanes[0] ^ lanes[1] >> 7 ^ lanes[2] >> 15 ^ lanes[3] >> 27;
}

const uint8_t *decode_code_same(struct decode_code_store *store, const uint8_t *bytes)
{
	const uint64_t hash = hash_of(bytes);
	size_t i = hash >> 32 & store->most;

	while (store->contents[i].bytes && store->contents[i].hash != hash)
		i = (i + 1) & store->most;
	if (store->contents[i].bytes)
		return memcmp(store->contents[i].bytes, bytes, TRACE_CODE_BYTES)
			       ? bytes
			       : store->contents[i].bytes;
	if (2 * store->ncontents <= store->most) {
		store->contents[i] = (struct decode_code_hashed){hash, bytes};
		store->ncontents++;
	}
	return bytes;
}

void decode_code_missed(const struct decode_code_store *store, uint64_t space, uint64_t ip)
{
	ask(store, space, ip & ~(uint64_t)0xfff);
	ask(store, space, (ip + INSN_MAX) & ~(uint64_t)0xfff);
}

const uint8_t *decode_code_page(const struct decode_code_store *store, uint64_t space,
				uint64_t vaddr)
{
	return bytes_at(store, space, vaddr);
}

uint64_t decode_code_space_by(const struct decode_code_store *store, uint64_t id,
			      const struct trace_source_key *key)
{
	const struct decode_code_spaced *space = find_space(store, id);
	uint64_t number;

	if (!space) {
		ask(store, id, DECODE_CODE_ANY_PAGE);
		space = find_space(store, id & ~(uint64_t)0xfff);
		if (!space)
			ask(store, id & ~(uint64_t)0xfff, DECODE_CODE_ANY_PAGE);
	}
	if (space)
		note(store, space->cr3, DECODE_CODE_ANY_PAGE);
	if (space || !store->source)
		return space ? space->cr3 : DECODE_CR3_UNKNOWN;
	number = source_number(store, id);
	/* The file describes the space, so its id identifies it. */
	if (number != id)
		return number == TRACE_SOURCE_NONE ? DECODE_CR3_UNKNOWN : id;
	number = store->source->space(store->source->context, key);
	return number == TRACE_SOURCE_NONE ? DECODE_CR3_UNKNOWN : number;
}

bool decode_code_leaves_out(const struct decode_code_store *store)
{
	return store->source && !store->npages;
}

uint64_t decode_code_space(const struct decode_code_store *store, uint64_t cr3)
{
	const struct trace_source_key key = {.cr3 = cr3, .vmcs = TRACE_SPACE_ANY_VMCS};

	return decode_code_space_by(store, cr3, &key);
}

uint64_t decode_code_guess(const struct decode_code_store *store, uint64_t ip)
{
	uint64_t found = DECODE_CR3_UNKNOWN;
	size_t i;

	ask(store, DECODE_CODE_ANY_SPACE, ip & ~(uint64_t)0xfff);
	for (i = 0; i < store->nspaces; i++) {
		if (decode_code_find_page(store, store->spaces[i].cr3, ip & ~(uint64_t)0xfff) < 0)
			continue;
		note(store, store->spaces[i].cr3, ip & ~(uint64_t)0xfff);
		if (found != DECODE_CR3_UNKNOWN)
			return DECODE_CR3_UNKNOWN;
		found = store->spaces[i].cr3;
	}
	if (found == DECODE_CR3_UNKNOWN && store->source)
		found = store->source->guess(store->source->context, ip);
	return found;
}

void decode_code_select(struct decode_code_store *store, uint64_t space)
{
	store->selected = space;
	store->last_bytes = NULL;
}

size_t decode_code_read(const struct decode_code_store *store, uint64_t space, uint64_t ip,
			uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t at = ip + done;
		size_t in_page = at % TRACE_CODE_BYTES;
		size_t n = TRACE_CODE_BYTES - in_page;
		const uint8_t *page = bytes_at(store, space, at - in_page);

		if (!page)
			break;
		if (n > len - done)
			n = len - done;
		memcpy(bytes + done, page + in_page, n);
		done += n;
	}
	return done;
}

size_t decode_code_fetch(struct decode_code_store *store, uint64_t ip, uint8_t *bytes, size_t len)
{
	size_t in_page = ip % TRACE_CODE_BYTES;

	/* The second page of a crossing read is rarely the next page to be read. */
	if (len > TRACE_CODE_BYTES - in_page)
		return decode_code_read(store, store->selected, ip, bytes, len);
	if (!store->last_bytes || store->last_vaddr != ip - in_page) {
		store->last_vaddr = ip - in_page;
		store->last_bytes = bytes_at(store, store->selected, ip - in_page);
		if (!store->last_bytes)
			return 0;
	}
	memcpy(bytes, store->last_bytes + in_page, len);
	return len;
}
