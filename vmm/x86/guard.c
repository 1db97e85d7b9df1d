// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings between guard pages, left out of core dumps. */
#include "x86/guard.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#define PAGE  ((size_t)4096)
#define LARGE ((size_t)2 << 20)

/* Round up to whole pages. Returns 0 on overflow. */
static size_t whole(size_t bytes)
{
	return bytes > SIZE_MAX / 2 ? 0 : (bytes + PAGE - 1) & ~(PAGE - 1);
}

/* Reserve @bytes and both guards, without the pages that alignment makes superfluous. */
static uint8_t *reserve(size_t bytes)
{
	size_t all = bytes + 2 * X86_GUARD_BYTES + LARGE, before;
	uint8_t *from =
		mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (from == MAP_FAILED)
		return NULL;
	before = -((uintptr_t)from + X86_GUARD_BYTES) % LARGE;
	if (before)
		munmap(from, before);
	munmap(from + before + bytes + 2 * X86_GUARD_BYTES, LARGE - before);
	return from + before + X86_GUARD_BYTES;
}

void *x86_guard_map(size_t bytes, int prot, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	uint8_t *at;

	bytes = whole(bytes);
	if (!bytes) {
		errno = ENOMEM;
		return NULL;
	}
	at = reserve(bytes);
	if (!at)
		return NULL;
	if (mmap(at, bytes, prot, flags | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int error = errno;

		x86_guard_unmap(at, bytes);
		errno = error;
		return NULL;
	}
	/* A kernel that cannot exclude it from dumps still maps it. */
	madvise(at, bytes, MADV_DONTDUMP);
	/* Guests touch much of their memory at random, and so does the engine in software. */
	if (fd < 0)
		madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

void x86_guard_unmap(void *at, size_t bytes)
{
	if (at)
		munmap((uint8_t *)at - X86_GUARD_BYTES, whole(bytes) + 2 * X86_GUARD_BYTES);
}
