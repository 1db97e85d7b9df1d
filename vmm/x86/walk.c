// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks page tables (SDM vol. 3, chapter 4): 32-bit, PAE, 4 and 5 levels. A table of levels and the
 * reserved bits distinguish the formats.
 */
#include "x86/mem.h"
#include "x86/x86.h"

/* Error code of #PF. */
#define PF_PRESENT  1u
#define PF_WRITE    2u
#define PF_USER	    4u
#define PF_RESERVED 8u
#define PF_FETCH    16u

#define PTE_P	    (1ull << 0)
#define PTE_W	    (1ull << 1)
#define PTE_U	    (1ull << 2)
#define PTE_A	    (1ull << 5)
#define PTE_D	    (1ull << 6)
#define PTE_PS	    (1ull << 7)
#define PTE_G	    (1ull << 8)
#define PTE_NX	    (1ull << 63)
#define PTE_ADDRESS 0x000ffffffffff000ull

/* Reserved bits of PDPTEs of PAE paging, which have no rights and no accessed bit. */
#define PDPTE_RESERVED 0x1e6ull
/* Bits 39:32 of a 4 MiB page's address are in bits 20:13 of its entry. */
#define PSE36_SHIFT 13
#define PSE36_BITS  0xffull
#define PSE36_TOP   (1ull << 21)

enum level_flags {
	NO_PS = 1 << 0,	   /* bit 7 is reserved */
	MAY_MAP = 1 << 1,  /* maps a page if bit 7 is set, else points to a table */
	MAPS = 1 << 2,	   /* always maps a page */
	NO_RIGHTS = 1 << 3 /* a PDPTE, without rights */
};

struct level {
	uint8_t shift, bits; /* the part of the address that is the index */
	uint8_t flags;
};

static const struct level long_mode[] = {
	{48, 9, NO_PS}, {39, 9, NO_PS}, {30, 9, MAY_MAP}, {21, 9, MAY_MAP}, {12, 9, MAPS},
};
/*
 * A load of CR3 loads the PDPTEs into registers of the processor. Reading them at each walk differs
 * only for a guest that changes them without loading CR3.
 */
static const struct level pae[] = {{30, 2, NO_RIGHTS}, {21, 9, MAY_MAP}, {12, 9, MAPS}};
static const struct level two[] = {{22, 10, MAY_MAP}, {12, 10, MAPS}};

struct walk {
	const struct x86_mem *mem;
	const struct x86_paging *paging;
	const struct level *level;
	unsigned int access;
	bool narrow;	   /* entries of 4 bytes */
	uint64_t reserved; /* reserved bits of every entry */
	void *entry[5];	   /* entries of the walk, for the accessed bits */
	unsigned int depth;
	uint64_t allowed; /* AND of PTE_W and PTE_U of all levels */
	uint64_t pte;	  /* the last entry */
	bool nx;
};

static uint64_t above(const struct x86_paging *p)
{
	return ~0ull << p->max_phy_addr;
}

/* Select the format. Returns the address of its first table. */
static uint64_t begin(struct walk *w)
{
	const struct x86_paging *p = w->paging;
	uint64_t nx = p->efer & X86_EFER_NXE ? 0 : PTE_NX;

	w->allowed = PTE_W | PTE_U;
	if (p->efer & X86_EFER_LMA) {
		w->level = p->cr4 & X86_CR4_LA57 ? long_mode : long_mode + 1;
		w->reserved = (PTE_ADDRESS & above(p)) | nx;
		return p->cr3 & PTE_ADDRESS;
	}
	if (p->cr4 & X86_CR4_PAE) {
		w->level = pae;
		w->reserved = (above(p) & ~PTE_NX) | nx;
		return p->cr3 & 0xffffffe0;
	}
	w->level = two;
	w->narrow = true;
	return p->cr3 & 0xfffff000;
}

/* Read an entry with one aligned load, like the processor. Returns false if it is not present. */
static bool next(struct walk *w, uint64_t table, uint64_t gva)
{
	uint64_t index = gva >> w->level->shift & ((1u << w->level->bits) - 1);
	unsigned int bytes = w->narrow ? 4 : 8;
	void *at = x86_mem_at(w->mem, table + bytes * index, bytes);

	if (!at)
		return false;
	if (w->narrow)
		w->pte = __atomic_load_n((uint32_t *)at, __ATOMIC_RELAXED);
	else
		w->pte = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED);
	if (!(w->level->flags & NO_RIGHTS))
		w->entry[w->depth++] = at;
	return w->pte & PTE_P;
}

static bool maps(const struct walk *w)
{
	if (!(w->level->flags & MAY_MAP))
		return w->level->flags & MAPS;
	return w->pte & PTE_PS && (!w->narrow || w->paging->cr4 & X86_CR4_PSE);
}

/* Returns true if a reserved bit of the entry is set. @page is true if the entry maps a page. */
static bool has_reserved(const struct walk *w, bool page)
{
	uint64_t reserved = w->reserved;

	if (w->level->flags & NO_RIGHTS)
		reserved = PDPTE_RESERVED | above(w->paging);
	if (w->level->flags & NO_PS)
		reserved |= PTE_PS;
	if (page && !(w->level->flags & MAPS)) {
		if (w->narrow)
			reserved = PSE36_TOP | (above(w->paging) >> 32 & PSE36_BITS) << PSE36_SHIFT;
		else /* bits below the page's number, except PAT in bit 12 */
			reserved |= ((1ull << w->level->shift) - 1) & ~0x1fffull;
	}
	return w->pte & reserved;
}

static bool is_user(const struct walk *w)
{
	return w->paging->cpl == 3 && !(w->access & X86_WALK_SYSTEM);
}

static bool permitted(const struct walk *w, unsigned int access)
{
	const struct x86_paging *p = w->paging;
	bool user_page = w->allowed & PTE_U;
	bool user = is_user(w);

	if (user && !user_page)
		return false;
	if (access & X86_WALK_FETCH) {
		if (w->nx)
			return false;
		return user || !user_page || !(p->cr4 & X86_CR4_SMEP);
	}
	if (!user && user_page && p->cr4 & X86_CR4_SMAP &&
	    (!(p->rflags & X86_FL_AC) || access & X86_WALK_SYSTEM))
		return false;
	if (access & X86_WALK_WRITE && !(w->allowed & PTE_W))
		return !user && !(p->cr0 & X86_CR0_WP);
	return true;
}

static void set_bits(const struct walk *w, void *at, uint32_t bits)
{
	/* In an entry of 8 bytes, these bits are in the low half too. */
	uint32_t *low = at;

	if ((__atomic_load_n(low, __ATOMIC_RELAXED) & bits) == bits)
		return;
	if (w->narrow)
		__atomic_fetch_or(low, bits, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or((uint64_t *)at, bits, __ATOMIC_RELAXED);
}

static void mark(struct walk *w)
{
	unsigned int i;

	for (i = 0; i < w->depth; i++)
		set_bits(w, w->entry[i], PTE_A);
	if (w->access & X86_WALK_WRITE) {
		set_bits(w, w->entry[w->depth - 1], PTE_D);
		w->pte |= PTE_D;
	}
}

static bool fault(const struct walk *w, uint32_t why, struct x86_page *page)
{
	const struct x86_paging *p = w->paging;
	bool nx = p->cr4 & X86_CR4_PAE && p->efer & X86_EFER_NXE;
	bool fetch = w->access & X86_WALK_FETCH && (nx || p->cr4 & X86_CR4_SMEP);

	page->error = why | (w->access & X86_WALK_WRITE ? PF_WRITE : 0) |
		      (is_user(w) ? PF_USER : 0) | (fetch ? PF_FETCH : 0);
	return false;
}

static uint64_t frame(const struct walk *w)
{
	if (w->narrow && w->level->flags & MAY_MAP)
		return (w->pte & 0xffc00000) | (w->pte >> PSE36_SHIFT & PSE36_BITS) << 32;
	return w->pte & PTE_ADDRESS & ~((1ull << w->level->shift) - 1);
}

static bool unpaged(uint64_t gva, struct x86_page *page)
{
	*page = (struct x86_page){
		.gpa = gva,
		.bytes = X86_PAGE_SIZE,
		.user = true,
		.writable = true,
	};
	return true;
}

bool x86_walk_page(const struct x86_mem *mem, const struct x86_paging *paging, uint64_t gva,
		   unsigned int access, struct x86_page *page)
{
	struct walk w;
	uint64_t table;
	bool last;

	if (!(paging->efer & X86_EFER_LMA))
		gva = (uint32_t)gva;
	if (!(paging->cr0 & X86_CR0_PG))
		return unpaged(gva, page);
	/* The array of entries stays uninitialised, because most walks of a run are from here. */
	w.mem = mem;
	w.paging = paging;
	w.access = access;
	w.narrow = w.nx = false;
	w.reserved = 0;
	w.depth = 0;
	for (table = begin(&w);; table = w.pte & PTE_ADDRESS, w.level++) {
		if (!next(&w, table, gva))
			return fault(&w, 0, page);
		last = maps(&w);
		if (has_reserved(&w, last))
			return fault(&w, PF_PRESENT | PF_RESERVED, page);
		if (!(w.level->flags & NO_RIGHTS)) {
			w.allowed &= w.pte;
			w.nx |= w.pte >> 63;
		}
		if (last)
			break;
	}
	if (!permitted(&w, access))
		return fault(&w, PF_PRESENT, page);
	if (!(access & X86_WALK_PEEK))
		mark(&w);
	*page = (struct x86_page){
		.bytes = 1ull << w.level->shift,
		.gpa = frame(&w) | (gva & ((1ull << w.level->shift) - 1)),
		.user = w.allowed & PTE_U,
		.global = w.pte & PTE_G,
		.writable =
			w.pte & PTE_D && permitted(&w, X86_WALK_WRITE | (access & X86_WALK_SYSTEM)),
	};
	return true;
}

bool x86_walk(const struct x86_mem *mem, const struct x86_paging *paging, uint64_t gva,
	      unsigned int access, uint64_t *gpa, uint32_t *error)
{
	struct x86_page page;

	if (!x86_walk_page(mem, paging, gva, access, &page)) {
		*error = page.error;
		return false;
	}
	*gpa = page.gpa;
	return true;
}
