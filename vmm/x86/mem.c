// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocates guest RAM. */
#include "x86/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "x86/guard.h"

int x86_mem_create(struct x86_mem *mem, uint64_t bytes)
{
	void *host;

	if (!bytes || bytes % X86_PAGE_SIZE || bytes > SIZE_MAX / 2)
		return -EINVAL;
	host = x86_guard_map(bytes, PROT_READ | PROT_WRITE, -1);
	if (!host)
		return -errno;
	mem->host = host;
	mem->bytes = bytes;
	return 0;
}

void x86_mem_destroy(struct x86_mem *mem)
{
	x86_guard_unmap(mem->host, mem->bytes);
	memset(mem, 0, sizeof(*mem));
}

bool x86_mem_read(const struct x86_mem *mem, uint64_t gpa, void *dst, size_t len)
{
	const void *at = x86_mem_at(mem, gpa, len);

	if (!at)
		return false;
	memcpy(dst, at, len);
	return true;
}

bool x86_mem_write(const struct x86_mem *mem, uint64_t gpa, const void *src, size_t len)
{
	void *at = x86_mem_at(mem, gpa, len);

	if (!at)
		return false;
	memcpy(at, src, len);
	return true;
}
