/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM, and the translation of linear addresses. Every host access uses these functions, which
 * check the end of RAM.
 *
 * RAM of more than 3 GiB has two parts, as in a PC. One is [0, X86_MEM_HOLE). The other begins at
 * X86_MEM_HIGH. Devices and firmware have the addresses between. In the host, RAM is one piece.
 */
#ifndef VMM_X86_MEM_H
#define VMM_X86_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_PAGE_SIZE 4096ull

#define X86_MEM_HOLE (3ull << 30)
#define X86_MEM_HIGH (1ull << 32)

struct x86_mem {
	uint8_t *host;
	uint64_t bytes; /* of both parts */
};

/* Returns the size of the part from address 0 on. */
static inline uint64_t x86_mem_low(const struct x86_mem *mem)
{
	return mem->bytes < X86_MEM_HOLE ? mem->bytes : X86_MEM_HOLE;
}

/* Returns the guest-physical address of a place in RAM, such as 0 for host[0]. */
static inline uint64_t x86_mem_gpa(uint64_t offset)
{
	return offset < X86_MEM_HOLE ? offset : offset + (X86_MEM_HIGH - X86_MEM_HOLE);
}

/* Create zeroed RAM that needs no memory until its first use. Returns 0 or -errno. */
int x86_mem_create(struct x86_mem *mem, uint64_t bytes);
void x86_mem_destroy(struct x86_mem *mem);

/*
 * Get the place in RAM of @gpa, if its part of RAM reaches so far. Returns the place of the end of
 * that part.
 */
static inline uint64_t x86_mem_end(const struct x86_mem *mem, uint64_t gpa, uint64_t *at)
{
	const bool high = gpa >= X86_MEM_HIGH;

	*at = high ? gpa - (X86_MEM_HIGH - X86_MEM_HOLE) : gpa;
	return high ? mem->bytes : x86_mem_low(mem);
}

/*
 * Return the number of bytes of RAM from @gpa up to the end of its part, or 0 if there are none. The
 * first one's place is @at.
 */
static inline uint64_t x86_mem_room(const struct x86_mem *mem, uint64_t gpa, uint64_t *at)
{
	const uint64_t end = x86_mem_end(mem, gpa, at);

	return *at < end ? end - *at : 0;
}

/* Return the host address of [gpa, gpa + len), or NULL unless all of it is RAM. */
static inline void *x86_mem_at(const struct x86_mem *mem, uint64_t gpa, uint64_t len)
{
	uint64_t at, end = x86_mem_end(mem, gpa, &at);

	if (at > end || end - at < len)
		return NULL;
	return mem->host + at;
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
	/* An access by a debugger, which sets no accessed and dirty bits. */
	X86_WALK_PEEK = 1 << 3,
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
