/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two address spaces that differ in one page of code. The same address holds another function in
 * each, so that a decoder must know CR3.
 */
#ifndef GUEST_LIB_TWIN_H
#define GUEST_LIB_TWIN_H

#include "paging.h"

struct twin {
	uint64_t cr3[2];
};

/* Create both spaces; the current space remains current. */
void twin_init(struct twin *twin);

/* The function at the shared address in the current space. */
#define TWIN_FUNCTION ((uint64_t(*)(uint64_t))(uintptr_t)PAGING_FREE_VADDR)

/* The return values in space 0 and in space 1. */
static inline uint64_t twin_result(unsigned int space, uint64_t n)
{
	return space ? 3 * n + (n & 1) : n * (n + 1) / 2;
}

#endif /* GUEST_LIB_TWIN_H */
