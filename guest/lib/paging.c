// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds and changes page tables. */
#include "paging.h"

#include "cpu.h"
#include "page_alloc.h"

#define ENTRIES	   512u
#define PTE_ADDR   VPT_MASK64(51, 12)
#define LARGE_SIZE (2ull << 20)
/* Upper levels allow all accesses, so that the last level decides. */
#define PTE_TABLE (PTE_PRESENT | PTE_WRITE | PTE_USER)

static uint64_t *first_gib; /* page directory of the first GiB */

static uint64_t *table_of(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & PTE_ADDR);
}

static void make_first_gib(void)
{
	unsigned int i;

	first_gib = page_alloc(PAGE_SIZE);
	for (i = 0; i < ENTRIES; i++)
		first_gib[i] = i * LARGE_SIZE | PTE_PRESENT | PTE_WRITE | PTE_LARGE;
}

uint64_t paging_new_space(void)
{
	uint64_t *pml4 = page_alloc(PAGE_SIZE);
	uint64_t *pdpt = page_alloc(PAGE_SIZE);

	if (!first_gib)
		make_first_gib();
	pdpt[0] = (uintptr_t)first_gib | PTE_TABLE;
	pml4[0] = (uintptr_t)pdpt | PTE_TABLE;
	return (uintptr_t)pml4;
}

/*
 * Replace the large mapping of an address by a table of the same pages, of `bytes` each. The TLB may
 * have the large page until INVLPG, and an access by it would not set the accessed bit of the new entry.
 */
static void split(uint64_t *entry, uint64_t vaddr, uint64_t bytes)
{
	uint64_t *table = page_alloc(PAGE_SIZE);
	uint64_t first = *entry;
	unsigned int i;

	if (bytes == PAGE_SIZE)
		first &= ~(uint64_t)PTE_LARGE;
	for (i = 0; i < ENTRIES; i++)
		table[i] = first + i * bytes;
	*entry = (uintptr_t)table | PTE_TABLE;
	invlpg(vaddr);
}

uint64_t *paging_entry(uint64_t cr3, uint64_t vaddr, unsigned int level)
{
	uint64_t *entry = &table_of(cr3)[vaddr >> 39 & (ENTRIES - 1)];
	unsigned int shift;

	for (shift = 30; shift >= 12 + 9 * (level - 1); shift -= 9) {
		if (!*entry)
			*entry = (uintptr_t)page_alloc(PAGE_SIZE) | PTE_TABLE;
		else if (*entry & PTE_LARGE)
			split(entry, vaddr, 1ull << shift);
		entry = &table_of(*entry)[vaddr >> shift & (ENTRIES - 1)];
	}
	return entry;
}

void paging_map(uint64_t cr3, uint64_t vaddr, const void *page, uint64_t flags)
{
	*paging_entry(cr3, vaddr, 1) = (uintptr_t)page | flags | PTE_PRESENT;
}

void paging_unmap(uint64_t cr3, uint64_t vaddr)
{
	*paging_entry(cr3, vaddr, 1) = 0;
	invlpg(vaddr);
}

void paging_allow_user(uint64_t cr3, const void *start, const void *end)
{
	uint64_t vaddr;

	for (vaddr = (uintptr_t)start; vaddr < (uintptr_t)end; vaddr += PAGE_SIZE)
		*paging_entry(cr3, vaddr, 1) |= PTE_USER;
	/* The space may be the current one. */
	write_cr3(read_cr3());
}
