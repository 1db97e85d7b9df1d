// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes a hash of guest memory, so that a client compares two positions without a copy of each. */
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "gdb/guest.h"
#include "x86/mem.h"

/* Several independent chains keep the multiplier of the host busy. */
#define LANES 8u
/* The pages that one call looks for. */
#define PART 512u

/* Each step is a bijection of the state and of the word. */
static uint64_t mix(uint64_t state, uint64_t word)
{
	state = (state ^ word) * 0x9e3779b97f4a7c15ull;
	return state ^ state >> 32;
}

/* Returns the hash of RAM up to a page. A page of zeros leaves it as it was. */
static uint64_t add_page(uint64_t hash, uint64_t number, const uint8_t *page)
{
	uint64_t lane[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, words[LANES], any = 0;
	size_t at, i;

	for (at = 0; at < X86_PAGE_SIZE; at += sizeof(words)) {
		memcpy(words, page + at, sizeof(words));
		for (i = 0; i < LANES; i++) {
			lane[i] = mix(lane[i], words[i]);
			any |= words[i];
		}
	}
	if (!any)
		return hash;
	hash = mix(hash, number);
	for (i = 0; i < LANES; i++)
		hash = mix(hash, lane[i]);
	return hash;
}

/*
 * Find the pages that this process has. The others are zeros, unless the kernel has swapped something.
 * A read would create them in this process, and in all checkpoints after it.
 */
static void find_pages(uint8_t *from, size_t pages, unsigned char has[PART])
{
	struct sysinfo host;

	if (mincore(from, pages * X86_PAGE_SIZE, has) || sysinfo(&host) ||
	    host.totalswap != host.freeswap)
		memset(has, 1, pages);
}

uint64_t gdb_guest_hash(const struct x86_mem *mem)
{
	const uint64_t pages = mem->bytes / X86_PAGE_SIZE;
	unsigned char has[PART];
	uint64_t hash = pages, first, i;

	for (first = 0; first < pages; first += PART) {
		const uint64_t count = pages - first < PART ? pages - first : PART;
		uint8_t *from = mem->host + first * X86_PAGE_SIZE;

		find_pages(from, count, has);
		for (i = 0; i < count; i++)
			if (has[i] & 1)
				hash = add_page(hash, first + i, from + i * X86_PAGE_SIZE);
	}
	return hash;
}
