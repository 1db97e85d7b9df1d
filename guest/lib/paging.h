/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces. Each maps the first GiB one to one, writable, executable and closed to ring 3,
 * and has the mappings of paging_map(). All spaces share the first GiB.
 */
#ifndef GUEST_LIB_PAGING_H
#define GUEST_LIB_PAGING_H

#include "vpt/base.h"

enum pte_flags {
	PTE_PRESENT = 1 << 0,
	PTE_WRITE = 1 << 1,
	PTE_USER = 1 << 2,
	PTE_UNCACHED = 1 << 4 | 1 << 3, /* PCD, PWT */
	PTE_ACCESSED = 1 << 5,
	PTE_DIRTY = 1 << 6,
	PTE_LARGE = 1 << 7,
	PTE_GLOBAL = 1 << 8,
};

#define PTE_NX (1ull << 63)

/* An address that is unmapped in every new space. */
#define PAGING_FREE_VADDR 0x8000000000ull

/* Returns the CR3 value of a new space. */
uint64_t paging_new_space(void);

/* Map one 4 KiB page of RAM; `flags` from enum pte_flags in addition to PRESENT, and NX. */
void paging_map(uint64_t cr3, uint64_t vaddr, const void *page, uint64_t flags);

/*
 * Return the entry for an address in a table of this level: 1 maps 4 KiB, 2 maps 2 MiB, 3 maps 1
 * GiB with PTE_LARGE. Creates missing tables on the way, and splits larger pages.
 */
uint64_t *paging_entry(uint64_t cr3, uint64_t vaddr, unsigned int level);

/* Unmap `vaddr`; `cr3` must be the current space. */
void paging_unmap(uint64_t cr3, uint64_t vaddr);

/* Open [start, end) of the one-to-one map to ring 3; both 4 KiB aligned. */
void paging_allow_user(uint64_t cr3, const void *start, const void *end);

#endif /* GUEST_LIB_PAGING_H */
