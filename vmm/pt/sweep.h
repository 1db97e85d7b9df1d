/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the pages that a guest could execute, in its page tables. If the executed code is not
 * reported, these pages go to the file.
 */
#ifndef VMM_PT_SWEEP_H
#define VMM_PT_SWEEP_H

#include "x86/mem.h"

struct tracer_sweep_sink {
	/* Report that page `gpa`, which is RAM and not all zeros, can be executed at `vaddr`. */
	void (*page)(void *opaque, uint64_t vaddr, uint64_t gpa);
	/* Returns true if pages of a block are wanted, which begins at a multiple of its size. */
	bool (*wants)(void *opaque, uint64_t block);
	void *opaque;
};
#define TRACER_SWEEP_BLOCK (2u << 20)

enum tracer_sweep_flags {
	/*
	 * Ignore NX in entries of the top level that ring 3 can access. Linux with page table
	 * isolation sets it in the kernel's tables, which are a copy of those of ring 3.
	 */
	TRACER_SWEEP_ISOLATED = 1 << 0,
	TRACER_SWEEP_LOWER = 1 << 1, /* in long mode only the lower half, which is ring 3's */
};

/*
 * Report all wanted pages, until *give_up is true. @give_up may be NULL. @flags: enum
 * tracer_sweep_flags.
 */
void tracer_sweep(const struct x86_mem *mem, const struct x86_paging *paging, uint32_t flags,
		  const volatile int *give_up, const struct tracer_sweep_sink *sink);

#endif /* VMM_PT_SWEEP_H */
