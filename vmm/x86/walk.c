// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page walk of long mode (SDM vol. 3, 4.5): what the core needs to fetch
 * instructions and to do memory accesses in the processor's place.
 */
#include "x86/mem.h"
#include "x86/x86.h"

#include <string.h>

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
#define PTE_NX	    (1ull << 63)
#define PTE_ADDRESS 0x000ffffffffff000ull

struct walk {
	const struct vpt_mem *mem;
	const struct vpt_paging *paging;
	unsigned int access;
	uint64_t *entry[5]; /* tables passed, for the accessed bits */
	unsigned int depth;
	uint64_t allowed; /* PTE_W and PTE_U of all levels */
	bool nx;
};

/* An entry is one aligned load, as the processor's is. */
static bool next(struct walk *w, uint64_t table, unsigned int index, uint64_t *pte)
{
	uint64_t *at = vpt_mem_at(w->mem, table + 8 * index, 8);

	if (!at)
		return false;
	*pte = __atomic_load_n(at, __ATOMIC_RELAXED);
	w->entry[w->depth++] = at;
	return *pte & PTE_P;
}

static bool has_reserved(const struct walk *w, uint64_t pte, unsigned int level)
{
	uint64_t reserved = PTE_ADDRESS & (~0ull << w->paging->max_phy_addr);

	if (!(w->paging->efer & VPT_EFER_NXE))
		reserved |= PTE_NX;
	if (level > 3)
		reserved |= PTE_PS;
	else if (level > 1 && pte & PTE_PS)
		reserved |= ((1ull << (12 + 9 * (level - 1))) - 1) & ~0x1fffull;
	return pte & reserved;
}

static bool permitted(const struct walk *w)
{
	const struct vpt_paging *p = w->paging;
	bool user_page = w->allowed & PTE_U;
	bool user = p->cpl == 3 && !(w->access & VPT_WALK_SYSTEM);

	if (user && !user_page)
		return false;
	if (w->access & VPT_WALK_FETCH) {
		if (w->nx)
			return false;
		return user || !user_page || !(p->cr4 & VPT_CR4_SMEP);
	}
	if (!user && user_page && p->cr4 & VPT_CR4_SMAP && (!p->ac || w->access & VPT_WALK_SYSTEM))
		return false;
	if (w->access & VPT_WALK_WRITE && !(w->allowed & PTE_W))
		return !user && !(p->cr0 & VPT_CR0_WP);
	return true;
}

static void set_bits(uint64_t *at, uint64_t bits)
{
	if ((__atomic_load_n(at, __ATOMIC_RELAXED) & bits) != bits)
		__atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

static void mark(struct walk *w)
{
	unsigned int i;

	for (i = 0; i < w->depth; i++)
		set_bits(w->entry[i], PTE_A);
	if (w->access & VPT_WALK_WRITE)
		set_bits(w->entry[w->depth - 1], PTE_D);
}

static uint32_t fault(const struct walk *w, uint32_t why)
{
	bool user = w->paging->cpl == 3 && !(w->access & VPT_WALK_SYSTEM);
	bool fetch = w->access & VPT_WALK_FETCH &&
		     (w->paging->efer & VPT_EFER_NXE || w->paging->cr4 & VPT_CR4_SMEP);

	return why | (w->access & VPT_WALK_WRITE ? PF_WRITE : 0) | (user ? PF_USER : 0) |
	       (fetch ? PF_FETCH : 0);
}

bool vpt_walk(const struct vpt_mem *mem, const struct vpt_paging *paging, uint64_t gva,
	      unsigned int access, uint64_t *gpa, uint32_t *error)
{
	struct walk w = {.mem = mem, .paging = paging, .access = access};
	unsigned int level = paging->cr4 & VPT_CR4_LA57 ? 5 : 4;
	uint64_t pte = paging->cr3, offset;

	if (!(paging->cr0 & VPT_CR0_PG)) {
		*gpa = gva;
		return true;
	}
	w.allowed = PTE_W | PTE_U;
	for (;; level--) {
		unsigned int shift = 12 + 9 * (level - 1);

		if (!next(&w, pte & PTE_ADDRESS, gva >> shift & 511, &pte)) {
			*error = fault(&w, 0);
			return false;
		}
		if (has_reserved(&w, pte, level)) {
			*error = fault(&w, PF_PRESENT | PF_RESERVED);
			return false;
		}
		w.allowed &= pte;
		w.nx |= pte >> 63;
		if (level == 1 || (level <= 3 && pte & PTE_PS)) {
			offset = gva & ((1ull << shift) - 1);
			pte &= PTE_ADDRESS & ~((1ull << shift) - 1);
			break;
		}
	}
	if (!permitted(&w)) {
		*error = fault(&w, PF_PRESENT);
		return false;
	}
	mark(&w);
	*gpa = pte | offset;
	return true;
}
