/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a Linux guest by virtual address, and the BTF in it. */
#ifndef VMM_LINUX_MEMORY_H
#define VMM_LINUX_MEMORY_H

#include "x86/mem.h"

/* Guest RAM, as a vCPU in the kernel addresses it: CPL is 0, and SMAP does not apply. */
struct linux_memory {
	const struct x86_mem *ram;
	struct x86_paging paging;
};

/*
 * Read all @len bytes at a virtual address, without a change of accessed bits. Returns false if the
 * address is not canonical or not mapped, or if it is mapped to something other than RAM.
 */
bool linux_memory_read(const struct linux_memory *m, uint64_t lin, void *to, size_t len);

/* Translate a virtual address. Returns false as linux_memory_read() does. */
bool linux_memory_gpa(const struct linux_memory *m, uint64_t lin, uint64_t *gpa);

/*
 * Find the kernel's BTF near a physical address of the kernel's image, and copy it. Returns 0,
 * -ENOENT if there is none, or -ENOMEM. The caller frees *btf.
 */
int linux_memory_btf(const struct x86_mem *ram, uint64_t gpa, void **btf, size_t *len);

#endif /* VMM_LINUX_MEMORY_H */
