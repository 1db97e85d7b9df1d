// SPDX-License-Identifier: GPL-2.0-or-later
/* Record the executable pages of address spaces. */
#include "pt/sweep.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "x86/x86.h"

#define PTE_P	    (1ull << 0)
#define PTE_US	    (1ull << 2)
#define PTE_PS	    (1ull << 7)
#define PTE_NX	    (1ull << 63)
#define PTE_ADDRESS 0x000ffffffffff000ull

/*
 * Tables can map the same pages endlessly. So a sweep checks a limited number of entries and pages.
 * The limit is all pages of RAM this many times, and some more.
 */
#define MOST_TIMES 4u
#define MORE_LOOKS 65536u

struct level {
	uint8_t shift, bits;
	bool large; /* an entry may map a page */
};

static const struct level long_mode[] = {
	{48, 9, false}, {39, 9, false}, {30, 9, true}, {21, 9, true}, {12, 9, true},
};
static const struct level pae[] = {{30, 2, false}, {21, 9, true}, {12, 9, true}};
static const struct level two[] = {{22, 10, true}, {12, 10, true}};

/* Bits of /proc/self/pagemap: the page is present, or was swapped out. */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define WINDOW		512u

struct sweep {
	const struct x86_mem *mem;
	const struct x86_paging *paging;
	bool narrow;		      /* entries of 4 bytes */
	const struct level *isolated; /* the level of TRACER_SWEEP_ISOLATED, or NULL */
	const struct level *halved;   /* the level of TRACER_SWEEP_LOWER, or NULL */
	const struct tracer_sweep_sink *sink;
	uint64_t block; /* the block of the last page, and whether it is wanted */
	bool wanted;
	const volatile int *give_up;
	uint64_t looks; /* the remaining number of checks */
	int pagemap;	/* -1 if all pages must be checked */
	uint64_t first; /* the first page of the window */
	uint64_t window[WINDOW];
};

/*
 * Returns true if a page of RAM was touched. Untouched RAM is zero, and takes no memory until it is
 * accessed.
 */
static bool is_touched(struct sweep *s, const uint8_t *page)
{
	uint64_t number = (uintptr_t)page / X86_PAGE_SIZE;

	if (s->pagemap < 0)
		return true;
	if (number - s->first >= WINDOW) {
		s->first = number;
		memset(s->window, 0xff, sizeof(s->window));
		if (pread(s->pagemap, s->window, sizeof(s->window), (off_t)(8 * number)) < 8)
			s->window[0] = ~0ull;
	}
	return s->window[number - s->first] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/* Count one check. Returns false if none is left, or if the caller gave up. */
static bool take_pages(struct sweep *s)
{
	if (s->give_up && *s->give_up)
		s->looks = 0;
	if (!s->looks)
		return false;
	s->looks--;
	return true;
}

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, X86_PAGE_SIZE - 1);
}

static bool is_wanted(struct sweep *s, uint64_t vaddr)
{
	const uint64_t block = vaddr & ~(uint64_t)(TRACER_SWEEP_BLOCK - 1);

	if (block != s->block) {
		s->block = block;
		s->wanted = s->sink->wants(s->sink->opaque, block);
	}
	return s->wanted;
}

static void range(struct sweep *s, uint64_t vaddr, uint64_t gpa, uint64_t bytes)
{
	for (; bytes; bytes -= X86_PAGE_SIZE) {
		const uint8_t *page = x86_mem_at(s->mem, gpa, X86_PAGE_SIZE);

		if (!page || !take_pages(s))
			return;
		if (is_wanted(s, vaddr) && is_touched(s, page) && !is_zero(page))
			s->sink->page(s->sink->opaque, vaddr, gpa);
		vaddr += X86_PAGE_SIZE;
		gpa += X86_PAGE_SIZE;
	}
}

static uint64_t entry_at(const struct sweep *s, uint64_t table, unsigned int index)
{
	uint64_t entry = 0;

	(void)x86_mem_read(s->mem, table + (s->narrow ? 4ull : 8ull) * index, &entry,
			   s->narrow ? 4 : 8);
	return entry;
}

static bool is_page(const struct sweep *s, const struct level *l, uint64_t entry)
{
	if (l->shift == 12)
		return true;
	return l->large && entry & PTE_PS && (!s->narrow || s->paging->cr4 & X86_CR4_PSE);
}

static uint64_t sign_extend(const struct sweep *s, uint64_t vaddr)
{
	unsigned int unused = s->paging->cr4 & X86_CR4_LA57 ? 7 : 16;

	if (!(s->paging->efer & X86_EFER_LMA))
		return vaddr;
	return (uint64_t)((int64_t)(vaddr << unused) >> unused);
}

static bool is_nx(const struct sweep *s, const struct level *l, uint64_t entry)
{
	if (s->narrow || !(s->paging->efer & X86_EFER_NXE) || !(entry & PTE_NX))
		return false;
	return l != s->isolated || !(entry & PTE_US);
}

static void table(struct sweep *s, const struct level *l, uint64_t at, uint64_t vaddr)
{
	const unsigned int n = 1u << (l->bits - (l == s->halved));
	unsigned int i;

	for (i = 0; i < n && take_pages(s); i++) {
		uint64_t entry = entry_at(s, at, i);
		uint64_t to = vaddr | (uint64_t)i << l->shift;
		uint64_t bytes = 1ull << l->shift;

		if (!(entry & PTE_P))
			continue;
		if (is_nx(s, l, entry))
			continue;
		if (bytes == TRACER_SWEEP_BLOCK && !is_wanted(s, sign_extend(s, to)))
			continue;
		if (is_page(s, l, entry))
			range(s, sign_extend(s, to), entry & PTE_ADDRESS & ~(bytes - 1), bytes);
		else
			table(s, l + 1, entry & PTE_ADDRESS, to);
	}
}

void tracer_sweep(const struct x86_mem *mem, const struct x86_paging *p, uint32_t flags,
		  const volatile int *give_up, const struct tracer_sweep_sink *sink)
{
	const struct level *top = p->cr4 & X86_CR4_LA57 ? long_mode : long_mode + 1;
	struct sweep s = {
		.mem = mem,
		.paging = p,
		.sink = sink,
		.block = 1, /* no block */
		.give_up = give_up,
	};

	s.looks = mem->bytes / X86_PAGE_SIZE * MOST_TIMES + MORE_LOOKS;
	s.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	s.first = ~0ull / 2;
	if (!(p->cr0 & X86_CR0_PG)) {
		range(&s, 0, 0, x86_mem_low(mem));
	} else if (p->efer & X86_EFER_LMA) {
		s.isolated = flags & TRACER_SWEEP_ISOLATED ? top : NULL;
		s.halved = flags & TRACER_SWEEP_LOWER ? top : NULL;
		table(&s, top, p->cr3 & PTE_ADDRESS, 0);
	} else if (p->cr4 & X86_CR4_PAE) {
		table(&s, pae, p->cr3 & 0xffffffe0, 0);
	} else {
		s.narrow = true;
		table(&s, two, p->cr3 & 0xfffff000, 0);
	}
	if (s.pagemap >= 0)
		close(s.pagemap);
}
