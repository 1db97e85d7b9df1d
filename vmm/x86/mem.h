/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM, [0, bytes), and the translation of linear addresses. Every host access uses these
 * functions, which check the end of RAM.
 */
#ifndef VMM_X86_MEM_H
#define VMM_X86_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_PAGE_SIZE 4096ull

struct x86_mem {
	uint8_t *host;
	uint64_t bytes;
};

/* Create zeroed RAM that needs no memory until its first use. Returns 0 or -errno. */
int x86_mem_create(struct x86_mem *mem, uint64_t bytes);
void x86_mem_destroy(struct x86_mem *mem);

/* Return the host address of [gpa, gpa + len), or NULL unless all of it is RAM. */
static inline void *x86_mem_at(const struct x86_mem *mem, uint64_t gpa, uint64_t len)
{
	if (gpa > mem->bytes || mem->bytes - gpa < len)
		return NULL;
	return mem->host + gpa;
}

bool x86_mem_read(const struct x86_mem *mem, uint64_t gpa, void *dst, size_t len);
bool x86_mem_write(const struct x86_mem *mem, uint64_t gpa, const void *src, size_t len);

/* The state on which paging depends. */
struct x86_paging {
	uint64_t cr0, cr3, cr4, efer;
	uint8_t cpl;
	uint8_t max_phy_addr;
	uint32_t rflags; /* AC suspends SMAP */
};

enum x86_walk_access {
	X86_WALK_READ = 0,
	X86_WALK_WRITE = 1 << 0,
	X86_WALK_FETCH = 1 << 1,
	/* An access by the processor itself (IDT, TSS, GDT), independent of CPL. */
	X86_WALK_SYSTEM = 1 << 2,
};

/* The result of a translation. */
struct x86_page {
	uint64_t gpa;	/* guest-physical address of the requested address */
	uint64_t bytes; /* 4 KiB, 2 MiB, 4 MiB, 1 GiB */
	bool writable;	/* a write with the same privilege is allowed, and the page is dirty: it
	              	 * needs no further walk */
	bool user;	/* a user-mode page on all levels */
	bool global;	/* bit G of the entry, whatever CR4.PGE is */
	uint32_t error; /* error code of #PF, if there is no translation */
};

/*
 * Translate like the processor, in every paging mode and without paging, and set accessed and dirty
 * bits. Returns false for #PF, with page->error.
 */
bool x86_walk_page(const struct x86_mem *mem, const struct x86_paging *paging, uint64_t gva,
		   unsigned int access, struct x86_page *page);
/* Translate an address, for callers that need only the result. */
bool x86_walk(const struct x86_mem *mem, const struct x86_paging *paging, uint64_t gva,
	      unsigned int access, uint64_t *gpa, uint32_t *error);

#endif /* VMM_X86_MEM_H */
