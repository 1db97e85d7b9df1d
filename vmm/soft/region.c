// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for host code, mapped twice: writable at one address, executable at the other. */
#include "soft/region.h"

#include <cpuid.h>
#include <errno.h>
#include <stdint.h>
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

int soft_region_own(struct soft_region *r)
{
	const int flags = MAP_SHARED | MAP_FIXED;
	int fd = memfd_create("vpt", MFD_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)r->bytes) ||
	    mmap(r->writable, r->bytes, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED ||
	    mmap(r->executable, r->bytes, PROT_READ | PROT_EXEC, flags, fd, 0) == MAP_FAILED)
		error = -errno;
	close(fd);
	return error;
}

/* Returns the shadow stack pointer, or 0 if the process has no shadow stack: then RDSSP is a NOP. */
static uint64_t shadow_stack(void)
{
	uint64_t ssp = 0;

	__asm__ volatile("rdsspq %0" : "+r"(ssp));
	return ssp;
}

/*
 * CPUID and IRET serialize (SDM vol. 3, serializing instructions). In a virtual machine CPUID exits
 * to the hypervisor, which takes hundreds of times as long. IRET returns to the next instruction,
 * without a change of stack or privilege. With a shadow stack it would need a frame there.
 */
void soft_region_serialize(void)
{
	unsigned int a, b, c, d;
	uint64_t stack, selector;

	if (shadow_stack()) {
		__cpuid(0, a, b, c, d);
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
		return;
	}
	__asm__ volatile("mov %%rsp, %0\n\t"
			 "lea -128(%%rsp), %%rsp\n\t" /* the red zone */
			 "mov %%ss, %k1\n\t"
			 "push %1\n\t"
			 "push %0\n\t"
			 "pushfq\n\t"
			 "mov %%cs, %k1\n\t"
			 "push %1\n\t"
			 "lea 1f(%%rip), %1\n\t"
			 "push %1\n\t"
			 "iretq\n"
			 "1:"
			 : "=&r"(stack), "=&r"(selector)
			 :
			 : "memory", "cc");
}
