/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the other page tables of a process with page table isolation. */
#ifndef VMM_PT_ISOLATION_H
#define VMM_PT_ISOLATION_H

#include "x86/mem.h"

/*
 * Linux gives each process two top-level tables, which differ in bit 12 of CR3. One is for ring 3,
 * and one for the kernel. Both have the same lower half, except for NX.
 *
 * Return the CR3 of the other table of @cr3, without its lower 12 bits. Return 0 if there is none.
 * Nothing marks such tables, so this function compares their lower halves. It reads each of them
 * once. The guest can have tables that only look like a pair.
 */
uint64_t tracer_isolation_other(const struct x86_mem *mem, const struct x86_paging *paging,
				uint64_t cr3);

#endif /* VMM_PT_ISOLATION_H */
