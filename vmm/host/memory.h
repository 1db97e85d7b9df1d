/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's memory by virtual address, from any source. */
#ifndef VMM_HOST_MEMORY_H
#define VMM_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct host_memory {
	/* Read all `len` bytes. Returns 0 or -errno. */
	int (*read)(void *from, uint64_t vaddr, void *to, size_t len);
	void *from;
};

/* A range of virtual addresses. */
struct host_range {
	uint64_t start, end;
};

#endif /* VMM_HOST_MEMORY_H */
