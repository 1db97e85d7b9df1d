// SPDX-License-Identifier: GPL-2.0-or-later
#include "soft/region.h"

#include <cpuid.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int vpt_region_create(struct vpt_region *r, size_t bytes)
{
	int fd = memfd_create("vpt", MFD_CLOEXEC), error = 0;
	void *w = MAP_FAILED, *x = MAP_FAILED;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes)) {
		w = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		x = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	}
	if (w == MAP_FAILED || x == MAP_FAILED)
		error = -errno;
	close(fd);
	*r = (struct vpt_region){.writable = w == MAP_FAILED ? NULL : w,
				 .executable = x == MAP_FAILED ? NULL : x,
				 .bytes = bytes};
	if (error)
		vpt_region_destroy(r);
	return error;
}

void vpt_region_destroy(struct vpt_region *r)
{
	if (r->writable)
		munmap(r->writable, r->bytes);
	if (r->executable)
		munmap(r->executable, r->bytes);
	*r = (struct vpt_region){0};
}

void vpt_region_serialize(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
}
