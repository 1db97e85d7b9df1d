// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for host code, mapped twice: writable at one address, executable at the other. */
#include "soft/region.h"

#include <cpuid.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "x86/guard.h"

int soft_region_create(struct soft_region *r, size_t bytes)
{
	int fd = memfd_create("vpt", MFD_CLOEXEC), error = 0;
	void *w = NULL, *x = NULL;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes)) {
		w = x86_guard_map(bytes, PROT_READ | PROT_WRITE, fd);
		x = w ? x86_guard_map(bytes, PROT_READ | PROT_EXEC, fd) : NULL;
	}
	if (!w || !x)
		error = -errno;
	close(fd);
	*r = (struct soft_region){.writable = w, .executable = x, .bytes = bytes};
	if (error)
		soft_region_destroy(r);
	return error;
}

void soft_region_destroy(struct soft_region *r)
{
	x86_guard_unmap(r->writable, r->bytes);
	x86_guard_unmap(r->executable, r->bytes);
	*r = (struct soft_region){0};
}

void soft_region_serialize(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
}
