/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second-level TLB, and the address spaces that have first-level TLBs.
 *
 * A guest can observe the second level. An access walks the page tables only if the second level has
 * no entry for it. The first level and the links of blocks are caches of the second level. An entry that leaves the second level takes the first-level entries with it, or unlinks all
 * blocks. Losing a first-level entry or a link therefore changes nothing that a guest can observe,
 * and a snapshot has the second level only.
 */
#ifndef VMM_SOFT_TLB_H
#define VMM_SOFT_TLB_H

#include "soft/soft.h"

/* The sets of fetches in SOFT_PAGE_SET. A set of data is an enum soft_tlb_set. */
#define SOFT_FETCH_KERNEL 4u
#define SOFT_FETCH_USER	  5u

enum soft_page_bits {
	SOFT_PAGE_SET = 7,
	SOFT_PAGE_WRITE = 1 << 3, /* writes need no walk: the page is writable and dirty */
	SOFT_PAGE_GLOBAL = 1 << 4,
	SOFT_PAGE_SIZE = 3 << 5, /* the page of the page tables: 4 KiB, 2 MiB, 4 MiB, 1 GiB */
	/*
	 * The entry has all of a large page. Otherwise it has 4 KiB of the page, because not all of
	 * the page is RAM. Bits 7 and 8 are the way in a snapshot.
	 */
	SOFT_PAGE_WHOLE = 1 << 9,
	SOFT_PAGE_BITS = ((1 << 7) - 1) | SOFT_PAGE_WHOLE,
};

/* Interrupt controllers are here, regardless of the size of RAM. */
#define SOFT_HOLE_FIRST 0xfec00000u
#define SOFT_HOLE_LAST	0xfeefffffu

/* Return the host address of [gpa, gpa + len) if an access of the guest finds RAM there, or NULL. */
static inline uint8_t *soft_ram_at(const struct soft *c, uint64_t gpa, uint64_t len)
{
	if (vpt_unlikely(gpa <= SOFT_HOLE_LAST && gpa + len > SOFT_HOLE_FIRST))
		return NULL;
	return x86_mem_at(&c->vm->mem, gpa, len);
}

/* Return the number of address bits inside a page of one of the four sizes. */
static inline unsigned int soft_shift(unsigned int size)
{
	return 0x1e16150cu >> 8 * size & 0xff;
}

static inline unsigned int soft_page_shift(const struct soft_page *page)
{
	return soft_shift(page->word >> 5 & 3);
}

/* Return the guest-physical address to which an entry translates an address of its page. */
static inline uint64_t soft_page_gpa(const struct soft_page *page, uint64_t va)
{
	uint64_t offset = X86_PAGE_SIZE - 1;

	if (page->word & SOFT_PAGE_WHOLE)
		offset = (1ull << soft_page_shift(page)) - 1;
	return (page->word & ~(X86_PAGE_SIZE - 1)) | (va & offset);
}

/* Find the entry of a page; NULL if there is none. The caller checks SOFT_PAGE_WRITE. */
const struct soft_page *soft_find_page(const struct soft *c, unsigned int set, uint64_t va);
/* Add the page that a walk has found, in place of an entry of the same page. */
void soft_add_page(struct soft *c, unsigned int set, uint64_t va, const struct x86_page *found);
/* Put an entry of a snapshot in its way. Returns false if the entry is invalid. */
bool soft_put_page(struct soft *c, uint64_t key, uint64_t word, unsigned int way);
/* Returns true if no flush has removed the entry. */
bool soft_has_page(const struct soft *c, const struct soft_page *page);

/*
 * Drop the entries of the page at `va`, in every part of a large page. They are those of one PCID
 * and, with `global`, those of global pages.
 */
void soft_flush_page(struct soft *c, uint64_t va, unsigned int pcid, bool global);
/* Drop the entries of one PCID, except global ones. */
void soft_flush_pcid(struct soft *c, unsigned int pcid);
/* Drop the entries of all PCIDs, except global ones. */
void soft_flush_local(struct soft *c);
/* Drop everything. */
void soft_flush_tlb(struct soft *c);
/* Empty the first-level TLBs, which the guest does not observe. */
void soft_flush_first(struct soft *c);
/* Select the TLB of the current space, privilege and permissions. */
void soft_choose_tlb(struct soft *c);
/* Use the first-level TLBs and the links of the current CR3. */
void soft_enter_space(struct soft *c);
/* Make every further write to this page of RAM take the slow path. */
void soft_protect(struct soft *c, uint64_t gpa);

/* Note that an empty entry of the current first-level TLB is about to be filled. */
static inline void soft_note_filled(struct soft *c, const struct soft_tlb *t)
{
	struct soft_filled *f = &c->filled[c->in_space][c->set];

	c->space[c->in_space].filled |= 1u << c->set;
	if (f->count < SOFT_FILLED)
		f->at[f->count] = (uint16_t)(t - c->tlb);
	f->count += f->count <= SOFT_FILLED;
}

/* Return the entry of 2 MiB for an address. */
static inline struct soft_tlb *soft_large_entry(struct soft_tlb *tlb, uint64_t va)
{
	return &tlb[SOFT_TLB_SIZE + (va >> SOFT_TLB_SHIFT & (SOFT_TLB_LARGE - 1))];
}

/* Return the PCID that tags the current translations. */
unsigned int soft_pcid(const struct soft *c);

#endif /* VMM_SOFT_TLB_H */
