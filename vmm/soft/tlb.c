// SPDX-License-Identifier: GPL-2.0-or-later
/* The second-level TLB with its PCIDs, and the first-level TLBs of address spaces. */
#include "soft/system.h"
#include "soft/tlb.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)
#define TLB_NONE  SOFT_TLB_NONE
#define PCID_MASK 0xfffu
#define SIZE_AT	  5
#define CODE	  SOFT_FETCH_KERNEL /* this set and those above are of code */
#define SETS	  (SOFT_FETCH_USER + 1)

static const uint8_t shifts[] = {12, 21, 22, 30};

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
	const struct soft_page *page = probe(c, (va & ~PAGE_MASK) | soft_pcid(c), set);

	return page ? page : probe(c, va & ~PAGE_MASK, set | SOFT_PAGE_GLOBAL);
}

static void empty_sites(struct soft *c, unsigned int half)
{
	unsigned int i;

	for (i = 0; i < SOFT_SITES; i++)
		c->site[half][i].read = c->site[half][i].write = TLB_NONE;
}

static void forget_sites(struct soft *c, uint64_t va)
{
	struct soft_tlb *t = c->site[0];
	unsigned int i;

	for (i = 0; i < 2 * SOFT_SITES; i++)
		if (t[i].read == va)
			t[i].read = t[i].write = TLB_NONE;
}

static void protect_sites(struct soft *c, const uint8_t *host)
{
	struct soft_tlb *t = c->site[0];
	unsigned int i;

	for (i = 0; i < 2 * SOFT_SITES; i++)
		if (t[i].write != TLB_NONE && t[i].host + t[i].write == (uintptr_t)host)
			t[i].write = TLB_NONE;
}

/* Supervisor code and user code have sites of their own, so that a system call does not empty them. */
void soft_choose_tlb(struct soft *c)
{
	const unsigned int half = c->cpl == 3;

	c->tlb = c->set == SOFT_TLB_SLOW ? c->slow : c->tlbs[c->in_space][c->set];
	if (c->site_tlb[half] == c->tlb)
		return;
	c->site_tlb[half] = c->tlb;
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

/* Drop what the first level, or links, have of an entry that is about to change. */
static void forget(struct soft *c, const struct soft_page *page)
{
	unsigned int set = page->word & SOFT_PAGE_SET, i;
	uint64_t va = page->key & ~PAGE_MASK;

	if (set >= CODE) {
		unlink_spaces(c, page);
		return;
	}
	for (i = 0; i < SOFT_SPACES; i++) {
		struct soft_tlb *t = &c->tlbs[i][set][va >> 12 & (SOFT_TLB_SIZE - 1)];

		if (t->read == va)
			t->read = t->write = TLB_NONE;
	}
	forget_sites(c, va);
}

static void drop(struct soft *c, struct soft_page *page)
{
	forget(c, page);
	page->born = 0;
}

static uint64_t bit_of(uint64_t va, unsigned int shift)
{
	uint64_t number = va >> shift;

	return (number ^ number >> 12 ^ number >> 24) % SOFT_LARGE_BITS;
}

static bool maybe_large(const struct soft *c, uint64_t va)
{
	unsigned int i;

	for (i = 1; i < 4; i++) {
		uint64_t bit = bit_of(va, shifts[i]);

		if (c->pages.large[i - 1][bit >> 6] >> (bit & 63) & 1)
			return true;
	}
	return false;
}

void soft_add_page(struct soft *c, unsigned int set, uint64_t va, const struct x86_page *found)
{
	uint64_t page = va & ~PAGE_MASK, global, key, size = 0;
	struct soft_page *old[2], *ways;
	unsigned int i;

	while (size < 3 && 1ull << shifts[size] != found->bytes)
		size++;
	if (size) {
		uint64_t bit = bit_of(va, shifts[size]);

		c->pages.large[size - 1][bit >> 6] |= 1ull << (bit & 63);
	}
	global = found->global && c->s.cr4 & SOFT_CR4_PGE ? SOFT_PAGE_GLOBAL : 0;
	key = page | (global ? 0 : soft_pcid(c));
	old[0] = (struct soft_page *)probe(c, page | soft_pcid(c), set);
	old[1] = (struct soft_page *)probe(c, page, set | SOFT_PAGE_GLOBAL);
	for (i = 0; i < 2; i++)
		if (old[i])
			drop(c, old[i]);
	ways = old[!!global];
	if (!ways) {
		ways = (struct soft_page *)row(c, set, key);
		if (soft_has_page(c, &ways[SOFT_WAYS - 1]))
			forget(c, &ways[SOFT_WAYS - 1]);
		memmove(ways + 1, ways, (SOFT_WAYS - 1) * sizeof(*ways));
	}
	*ways = (struct soft_page){
		.key = key,
		.word = (found->gpa & ~PAGE_MASK) | set | global | size << SIZE_AT |
			(found->writable ? SOFT_PAGE_WRITE : 0),
		.born = c->pages.now,
	};
}

bool soft_put_page(struct soft *c, uint64_t key, uint64_t word, unsigned int way)
{
	unsigned int set = word & SOFT_PAGE_SET, size = word >> SIZE_AT & 3;
	struct soft_page *ways;
	uint64_t bit;

	if (set == SOFT_TLB_SLOW || set >= SETS || word & PAGE_MASK & ~(uint64_t)SOFT_PAGE_BITS ||
	    way >= SOFT_WAYS || !x86_mem_at(&c->vm->mem, word & ~PAGE_MASK, X86_PAGE_SIZE))
		return false;
	if (size) {
		bit = bit_of(key, shifts[size]);
		c->pages.large[size - 1][bit >> 6] |= 1ull << (bit & 63);
	}
	ways = (struct soft_page *)row(c, set, key);
	ways[way] = (struct soft_page){.key = key, .word = word, .born = c->pages.now};
	return true;
}

static void flush_if(struct soft *c, struct soft_page *page, uint64_t va, unsigned int pcid,
		     bool global)
{
	unsigned int size = page->word >> SIZE_AT & 3;

	if ((page->key ^ va) >> shifts[size] || !soft_has_page(c, page))
		return;
	if (page->word & SOFT_PAGE_GLOBAL ? global : (page->key & PCID_MASK) == pcid)
		drop(c, page);
}

void soft_flush_page(struct soft *c, uint64_t va, unsigned int pcid, bool global)
{
	struct soft_page *page;
	unsigned int set, i;

	va &= ~PAGE_MASK;
	if (maybe_large(c, va)) {
		for (i = 0; i < SOFT_DATA_ROWS * SOFT_WAYS; i++)
			flush_if(c, &c->pages.data[i], va, pcid, global);
		for (i = 0; i < SOFT_CODE_ROWS * SOFT_WAYS; i++)
			flush_if(c, &c->pages.code[i], va, pcid, global);
		return;
	}
	for (set = 0; set < SETS; set++) {
		page = (struct soft_page *)row(c, set, va | pcid);
		for (i = 0; i < SOFT_WAYS; i++)
			flush_if(c, &page[i], va, pcid, global);
		page = (struct soft_page *)row(c, set, va);
		for (i = 0; i < SOFT_WAYS; i++)
			flush_if(c, &page[i], va, pcid, global);
	}
}

static void empty_space(struct soft *c, unsigned int n)
{
	unsigned int set, i;

	for (set = 0; set < SOFT_TLB_SLOW; set++) {
		struct soft_tlb *t = c->tlbs[n][set];

		if (c->space[n].filled >> set & 1)
			for (i = 0; i < SOFT_TLB_SIZE; i++)
				t[i].read = t[i].write = TLB_NONE;
	}
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

void soft_protect(struct soft *c, uint64_t gpa)
{
	const uint8_t *host = x86_mem_at(&c->vm->mem, gpa & ~PAGE_MASK, X86_PAGE_SIZE);
	unsigned int n, set, i;

	protect_sites(c, host);
	for (n = 0; n < SOFT_SPACES; n++) {
		for (set = 0; set < SOFT_TLB_SLOW; set++) {
			struct soft_tlb *t = c->tlbs[n][set];

			if (!(c->space[n].filled >> set & 1))
				continue;
			for (i = 0; i < SOFT_TLB_SIZE; i++, t++)
				if (t->write != TLB_NONE && t->host + t->write == (uintptr_t)host)
					t->write = TLB_NONE;
		}
	}
}
