// SPDX-License-Identifier: GPL-2.0-or-later
/* The second-level TLB with its PCIDs, and the first-level TLBs of address spaces. */
#include "soft/system.h"
#include "soft/tlb.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)
#define TLB_NONE  SOFT_TLB_NONE
#define PCID_MASK 0xfffu
#define SIZE_AT	  5
#define SIZES	  3u		    /* of large pages */
#define CODE	  SOFT_FETCH_KERNEL /* this set and those above are of code */
#define SETS	  (SOFT_FETCH_USER + 1)

unsigned int soft_pcid(const struct soft *c)
{
	return c->s.cr4 & SOFT_CR4_PCIDE ? c->s.cr3 & PCID_MASK : 0;
}

bool soft_has_page(const struct soft *c, const struct soft_page *page)
{
	const struct soft_pages *p = &c->pages;

	if (page->born < p->flushed)
		return false;
	return page->word & SOFT_PAGE_GLOBAL ||
	       (page->born >= p->flushed_local && page->born >= p->pcid[page->key & PCID_MASK]);
}

/*
 * Return the ways in which an entry may be. Bit 0 of the index is that of the page's number, so
 * that the two pages of a block never compete.
 */
static const struct soft_page *row(const struct soft *c, unsigned int set, uint64_t key)
{
	uint64_t number = key >> 12;
	uint64_t mix = number >> 10 ^ number >> 19 ^ (key & PCID_MASK) * 41 ^ set * 149;
	uint64_t index = number ^ mix << 1;

	return set >= CODE ? &c->pages.code[index % SOFT_CODE_ROWS * SOFT_WAYS]
			   : &c->pages.data[index % SOFT_DATA_ROWS * SOFT_WAYS];
}

/*
 * Return the ways of a whole page. Its global and its other entries share them, so that a look-up
 * searches one row.
 */
static const struct soft_page *whole_row(const struct soft *c, unsigned int set, unsigned int size,
					 uint64_t va)
{
	uint64_t number = va >> soft_shift(size);
	uint64_t index = number ^ (number >> 6 ^ number >> 12 ^ set * 21) << 1;

	return &c->pages.whole[size - 1][index % SOFT_WHOLE_ROWS * SOFT_WAYS];
}

static uint64_t bit_of(uint64_t va, unsigned int size)
{
	uint64_t number = va >> soft_shift(size);

	return (number ^ number >> 12 ^ number >> 24) % SOFT_LARGE_BITS;
}

/* Returns false if no entry has a part of the page of this size at va. */
static bool maybe_size(const struct soft *c, unsigned int size, uint64_t va)
{
	uint64_t bit = bit_of(va, size);

	return c->pages.large[size - 1][bit >> 6] >> (bit & 63) & 1;
}

static bool maybe_large(const struct soft *c, uint64_t va)
{
	return maybe_size(c, 1, va) || maybe_size(c, 2, va) || maybe_size(c, 3, va);
}

static void note_size(struct soft *c, unsigned int size, uint64_t va)
{
	uint64_t bit = bit_of(va, size);

	if (size)
		c->pages.large[size - 1][bit >> 6] |= 1ull << (bit & 63);
}

/* Find the entry that has the whole page at va, of this PCID or global. */
static const struct soft_page *probe_whole(const struct soft *c, unsigned int set,
					   unsigned int size, uint64_t va)
{
	const struct soft_page *page = whole_row(c, set, size, va);
	const unsigned int pcid = soft_pcid(c);
	unsigned int i;

	for (i = 0; i < SOFT_WAYS; i++, page++)
		if (!((page->key ^ va) >> soft_shift(size)) &&
		    (page->word & SOFT_PAGE_SET) == set &&
		    (page->word & SOFT_PAGE_GLOBAL || (page->key & PCID_MASK) == pcid) &&
		    soft_has_page(c, page))
			return page;
	return NULL;
}

static const struct soft_page *find_whole(const struct soft *c, unsigned int set, uint64_t va)
{
	const struct soft_page *page;
	unsigned int size;

	for (size = 1; size <= SIZES; size++) {
		if (vpt_likely(!maybe_size(c, size, va)))
			continue;
		page = probe_whole(c, set, size, va);
		if (page)
			return page;
	}
	return NULL;
}

static const struct soft_page *probe(const struct soft *c, uint64_t key, uint64_t kind)
{
	const struct soft_page *page = row(c, kind & SOFT_PAGE_SET, key);
	unsigned int i;

	for (i = 0; i < SOFT_WAYS; i++, page++)
		if (page->key == key && (page->word & (SOFT_PAGE_SET | SOFT_PAGE_GLOBAL)) == kind &&
		    soft_has_page(c, page))
			return page;
	return NULL;
}

const struct soft_page *soft_find_page(const struct soft *c, unsigned int set, uint64_t va)
{
	const struct soft_page *page = find_whole(c, set, va);

	if (!page)
		page = probe(c, (va & ~PAGE_MASK) | soft_pcid(c), set);
	return page ? page : probe(c, va & ~PAGE_MASK, set | SOFT_PAGE_GLOBAL);
}

static void empty_sites(struct soft *c, unsigned int half)
{
	unsigned int first = half * SOFT_SITES, i;

	for (i = first; i < first + SOFT_SITES; i++)
		c->sites.read[i] = c->sites.write[i] = TLB_NONE;
}

static void forget_sites(struct soft *c, unsigned int set, uint64_t va, unsigned int shift)
{
	const unsigned int first = set == SOFT_TLB_USER ? SOFT_SITES : 0;
	struct soft_sites *s = &c->sites;
	unsigned int i;

	for (i = first; i < first + SOFT_SITES; i++)
		if (s->read[i] != TLB_NONE && !((s->read[i] ^ va) >> shift))
			s->read[i] = s->write[i] = TLB_NONE;
}

static void protect_sites(struct soft *c, const uint8_t *host)
{
	struct soft_sites *s = &c->sites;
	unsigned int i;

	for (i = 0; i < 2 * SOFT_SITES; i++)
		if (s->write[i] != TLB_NONE && s->host[i] + s->write[i] == (uintptr_t)host)
			s->write[i] = TLB_NONE;
}

/* Initialise the TLB that is in use from now on, number n of `made`. */
static __attribute__((noinline)) void make_tlb(struct soft *c, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < SOFT_TLB_ALL; i++)
		c->tlb[i].read = c->tlb[i].write = TLB_NONE;
	c->made |= 1u << n;
}

/* Supervisor code and user code have sites of their own, so that a system call does not empty them. */
void soft_choose_tlb(struct soft *c)
{
	unsigned int half = c->cpl == 3, n = SOFT_SPACES * SOFT_TLB_SLOW;

	c->tlb = c->slow;
	if (c->set != SOFT_TLB_SLOW) {
		n = c->in_space * SOFT_TLB_SLOW + c->set;
		c->tlb = c->tlbs[c->in_space][c->set];
	}
	if (vpt_unlikely(!(c->made >> n & 1)))
		make_tlb(c, n);
	if (c->sites.of[half] == c->tlb)
		return;
	c->sites.of[half] = c->tlb;
	empty_sites(c, half);
}

/* Unlink the spaces whose code the entry may have translated. */
static void unlink_spaces(struct soft *c, const struct soft_page *page)
{
	unsigned int i;

	for (i = 0; i < SOFT_SPACES; i++) {
		struct soft_space *space = &c->space[i];

		if (!(page->word & SOFT_PAGE_GLOBAL) && space->pcid != (page->key & PCID_MASK))
			continue;
		space->gen = 0;
		if (i == c->in_space)
			soft_new_gen(c);
	}
}

static void forget_entry(struct soft_tlb *t, uint64_t va, unsigned int shift)
{
	if (t->read != TLB_NONE && !((t->read ^ va) >> shift))
		t->read = t->write = TLB_NONE;
}

/* Drop the entries of the page from a first-level TLB, and those of 2 MiB that have some of it. */
static void forget_first(struct soft_tlb *tlb, uint64_t va, unsigned int shift)
{
	uint64_t number = va >> shift << (shift - 12), pages = 1ull << (shift - 12), i;

	for (i = 0; i < pages && i < SOFT_TLB_SIZE; i++)
		forget_entry(&tlb[(number + i) & (SOFT_TLB_SIZE - 1)], va, shift);
	if (shift <= SOFT_TLB_SHIFT) {
		forget_entry(soft_large_entry(tlb, va), va, SOFT_TLB_SHIFT);
		return;
	}
	for (i = SOFT_TLB_SIZE; i < SOFT_TLB_ALL; i++)
		forget_entry(&tlb[i], va, shift);
}

/* Drop what the first level, or links, have of an entry that is about to change. */
static void forget(struct soft *c, const struct soft_page *page)
{
	unsigned int set = page->word & SOFT_PAGE_SET, i;
	unsigned int shift = page->word & SOFT_PAGE_WHOLE ? soft_page_shift(page) : 12;

	if (set >= CODE) {
		unlink_spaces(c, page);
		return;
	}
	for (i = 0; i < SOFT_SPACES; i++)
		if (c->space[i].filled >> set & 1)
			forget_first(c->tlbs[i][set], page->key, shift);
	forget_sites(c, set, page->key, shift);
}

static void drop(struct soft *c, struct soft_page *page)
{
	forget(c, page);
	page->born = 0;
}

/* Make room for an entry in a row, before those that are younger. */
static struct soft_page *make_room(struct soft *c, const struct soft_page *row)
{
	struct soft_page *ways = (struct soft_page *)row;

	if (soft_has_page(c, &ways[SOFT_WAYS - 1]))
		forget(c, &ways[SOFT_WAYS - 1]);
	memmove(ways + 1, ways, (SOFT_WAYS - 1) * sizeof(*ways));
	return ways;
}

/* Drop the entries that have the address. Returns one that was in this row, or NULL. */
static struct soft_page *drop_old(struct soft *c, unsigned int set, uint64_t va,
				  const struct soft_page *row)
{
	struct soft_page *old, *place = NULL;

	while ((old = (struct soft_page *)soft_find_page(c, set, va))) {
		drop(c, old);
		if (old >= row && old < row + SOFT_WAYS)
			place = old;
	}
	return place;
}

void soft_add_page(struct soft *c, unsigned int set, uint64_t va, const struct x86_page *found)
{
	uint64_t first = ~PAGE_MASK, kind = set, key;
	const struct soft_page *ways;
	struct soft_page *place;
	unsigned int size = 0;

	while (size < SIZES && 1ull << soft_shift(size) != found->bytes)
		size++;
	note_size(c, size, va);
	kind |= (uint64_t)size << SIZE_AT;
	if (found->global && c->s.cr4 & SOFT_CR4_PGE)
		kind |= SOFT_PAGE_GLOBAL;
	if (size && soft_ram_at(c, found->gpa & -found->bytes, found->bytes)) {
		kind |= SOFT_PAGE_WHOLE;
		first = -found->bytes;
	}
	c->pages.parts += size && !(kind & SOFT_PAGE_WHOLE);
	key = (va & first) | (kind & SOFT_PAGE_GLOBAL ? 0 : soft_pcid(c));
	ways = kind & SOFT_PAGE_WHOLE ? whole_row(c, set, size, va) : row(c, set, key);
	place = drop_old(c, set, va, ways);
	if (!place)
		place = make_room(c, ways);
	*place = (struct soft_page){
		.key = key,
		.word = (found->gpa & first) | kind | (found->writable ? SOFT_PAGE_WRITE : 0),
		.born = c->pages.now,
	};
	/* Entries of several sizes, of which look-ups now find another, may have translated the page. */
	if (maybe_large(c, va))
		forget(c, place);
}

bool soft_put_page(struct soft *c, uint64_t key, uint64_t word, unsigned int way)
{
	unsigned int set = word & SOFT_PAGE_SET, size = word >> SIZE_AT & 3;
	const bool whole = word & SOFT_PAGE_WHOLE;
	uint64_t bytes = whole ? 1ull << soft_shift(size) : X86_PAGE_SIZE;
	struct soft_page *ways;

	if (set == SOFT_TLB_SLOW || set >= SETS || word & PAGE_MASK & ~(uint64_t)SOFT_PAGE_BITS ||
	    way >= SOFT_WAYS || !x86_mem_at(&c->vm->mem, word & ~PAGE_MASK, bytes))
		return false;
	/* The lowest bits of the key are the PCID. */
	if (whole && (!size || (key | word) & (bytes - 1) & ~PAGE_MASK))
		return false;
	note_size(c, size, key);
	c->pages.parts += size && !whole;
	ways = (struct soft_page *)(whole ? whole_row(c, set, size, key) : row(c, set, key));
	ways[way] = (struct soft_page){.key = key, .word = word, .born = c->pages.now};
	return true;
}

static void flush_if(struct soft *c, struct soft_page *page, uint64_t va, unsigned int pcid,
		     bool global)
{
	unsigned int size = page->word >> SIZE_AT & 3;

	if ((page->key ^ va) >> soft_shift(size) || !soft_has_page(c, page))
		return;
	if (page->word & SOFT_PAGE_GLOBAL ? global : (page->key & PCID_MASK) == pcid)
		drop(c, page);
}

static void flush_row(struct soft *c, const struct soft_page *row, uint64_t va, unsigned int pcid,
		      bool global)
{
	unsigned int i;

	for (i = 0; i < SOFT_WAYS; i++)
		flush_if(c, (struct soft_page *)&row[i], va, pcid, global);
}

/* Drop the entries of large pages. Returns true if this has visited the entries of 4 KiB as well. */
static bool flush_large(struct soft *c, uint64_t va, unsigned int pcid, bool global)
{
	unsigned int size, set, i;

	if (!maybe_large(c, va))
		return false;
	for (size = 1; size <= SIZES; size++)
		for (set = 0; set < SETS; set++)
			flush_row(c, whole_row(c, set, size, va), va, pcid, global);
	if (!c->pages.parts)
		return false;
	for (i = 0; i < SOFT_DATA_ROWS * SOFT_WAYS; i++)
		flush_if(c, &c->pages.data[i], va, pcid, global);
	for (i = 0; i < SOFT_CODE_ROWS * SOFT_WAYS; i++)
		flush_if(c, &c->pages.code[i], va, pcid, global);
	return true;
}

void soft_flush_page(struct soft *c, uint64_t va, unsigned int pcid, bool global)
{
	unsigned int set;

	va &= ~PAGE_MASK;
	if (flush_large(c, va, pcid, global))
		return;
	for (set = 0; set < SETS; set++) {
		flush_row(c, row(c, set, va | pcid), va, pcid, global);
		flush_row(c, row(c, set, va), va, pcid, global);
	}
}

/* Return the number of entries to visit in a first-level TLB. filled_at() has their indices. */
static unsigned int filled_count(const struct soft_filled *f)
{
	return f->count > SOFT_FILLED ? SOFT_TLB_ALL : f->count;
}

static unsigned int filled_at(const struct soft_filled *f, unsigned int i)
{
	return f->count > SOFT_FILLED ? i : f->at[i];
}

static void empty_first(struct soft_tlb *tlb, struct soft_filled *f)
{
	unsigned int count = filled_count(f), i;

	for (i = 0; i < count; i++) {
		struct soft_tlb *t = &tlb[filled_at(f, i)];

		t->read = t->write = TLB_NONE;
	}
	f->count = 0;
}

static void empty_space(struct soft *c, unsigned int n)
{
	unsigned int set;

	for (set = 0; set < SOFT_TLB_SLOW; set++)
		if (c->space[n].filled >> set & 1)
			empty_first(c->tlbs[n][set], &c->filled[n][set]);
	if (c->space[n].filled) {
		empty_sites(c, 0);
		empty_sites(c, 1);
	}
	c->space[n].filled = 0;
	c->space[n].gen = 0;
	if (n == c->in_space)
		soft_new_gen(c);
}

void soft_flush_first(struct soft *c)
{
	unsigned int i;

	for (i = 0; i < SOFT_SPACES; i++)
		empty_space(c, i);
}

void soft_flush_pcid(struct soft *c, unsigned int pcid)
{
	unsigned int i;

	c->pages.pcid[pcid] = ++c->pages.now;
	for (i = 0; i < SOFT_SPACES; i++)
		if (c->space[i].pcid == pcid)
			empty_space(c, i);
}

void soft_flush_local(struct soft *c)
{
	unsigned int i;

	c->pages.flushed_local = ++c->pages.now;
	for (i = 0; i < SOFT_SPACES; i++)
		empty_space(c, i);
}

void soft_flush_tlb(struct soft *c)
{
	soft_flush_local(c);
	c->pages.flushed = c->pages.now;
	memset(c->pages.large, 0, sizeof(c->pages.large));
	c->pages.parts = 0;
	soft_enter_space(c);
}

/* Return the space of the current CR3. Otherwise return an empty or the oldest one for it. */
static unsigned int choose_space(const struct soft *c, unsigned int pcid)
{
	unsigned int oldest = 0, i;

	for (i = 0; i < SOFT_SPACES; i++)
		if (c->space[i].cr3 == c->s.cr3 && c->space[i].pcid == pcid && c->space[i].filled)
			return i;
	if (!c->space[c->in_space].filled)
		return c->in_space;
	for (i = 1; i < SOFT_SPACES; i++)
		if (c->space[i].used < c->space[oldest].used)
			oldest = i;
	return oldest;
}

void soft_enter_space(struct soft *c)
{
	unsigned int pcid = soft_pcid(c), n = choose_space(c, pcid);
	struct soft_space *space = &c->space[n];

	c->space[c->in_space].gen = c->gen;
	c->in_space = n;
	if (space->cr3 != c->s.cr3 || space->pcid != pcid) {
		empty_space(c, n);
		space->cr3 = c->s.cr3;
		space->pcid = pcid;
	}
	space->used = ++c->pages.turn;
	if (space->gen)
		c->gen = space->gen;
	else
		soft_new_gen(c);
	soft_choose_tlb(c);
}

/* Drop the right to write from entry i if it has the page at `host`. */
static void protect_entry(struct soft_tlb *tlb, unsigned int i, const uint8_t *host)
{
	const uint64_t bytes = i < SOFT_TLB_SIZE ? X86_PAGE_SIZE : 1ull << SOFT_TLB_SHIFT;
	struct soft_tlb *t = &tlb[i];

	if (t->write != TLB_NONE && (uintptr_t)host - (t->host + t->write) < bytes)
		t->write = TLB_NONE;
}

void soft_protect(struct soft *c, uint64_t gpa)
{
	const uint8_t *host = x86_mem_at(&c->vm->mem, gpa & ~PAGE_MASK, X86_PAGE_SIZE);
	unsigned int n, set, i;

	protect_sites(c, host);
	for (n = 0; n < SOFT_SPACES; n++) {
		for (set = 0; set < SOFT_TLB_SLOW; set++) {
			const struct soft_filled *f = &c->filled[n][set];

			if (!(c->space[n].filled >> set & 1))
				continue;
			for (i = 0; i < filled_count(f); i++)
				protect_entry(c->tlbs[n][set], filled_at(f, i), host);
		}
	}
}
