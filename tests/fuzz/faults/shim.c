// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library preloaded into the program under test. It makes a chosen allocation fail. A system call
 * marks the beginning of main(), since earlier calls belong to the dynamic linker.
 */
#include "fuzz/faults/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int posix_memalign(void **to, size_t alignment, size_t size);

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
		       void (*)(void), void *);

static struct shim *shared;
static int (*program)(int argc, char **argv, char **envp);
static bool active;

static void *(*next_malloc)(size_t size);
static void *(*next_calloc)(size_t n, size_t size);
static void *(*next_realloc)(void *p, size_t size);
static int (*next_memalign)(void **to, size_t alignment, size_t size);

/* Memory for allocations while dlsym() looks up the functions above. */
static _Alignas(16) char early[1 << 16];
static size_t early_used;

static void *take_early(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		_exit(99);
	return p;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static void find(void)
{
	static bool looking;

	if (looking)
		return;
	looking = true;
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
}

/* Is this the allocation that fails? */
static bool fails(void)
{
	uint64_t call;

	if (!active)
		return false;
	call = __atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	if (!shared->fail || call < shared->fail || (call > shared->fail && !shared->stay))
		return false;
	__atomic_add_fetch(&shared->fired, 1, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	if (!next_malloc)
		find();
	if (!next_malloc)
		return take_early(size);
	return fails() ? NULL : next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (!next_malloc)
		find();
	if (!next_malloc)
		return take_early(n * size);
	return fails() ? NULL : next_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	void *to;

	if (!next_malloc)
		find();
	if (!next_malloc || is_early(p)) {
		to = malloc(size);
		if (to && p)
			memcpy(to, p, size);
		return to;
	}
	return fails() ? NULL : next_realloc(p, size);
}

int posix_memalign(void **to, size_t alignment, size_t size)
{
	if (!next_malloc)
		find();
	return fails() ? ENOMEM : next_memalign(to, alignment, size);
}

/* vpt does not call these functions itself. They are here so that every allocation is counted. */
void *aligned_alloc(size_t alignment, size_t size)
{
	void *to;

	return posix_memalign(&to, alignment, size) ? NULL : to;
}

static int begin(int argc, char **argv, char **envp)
{
	const char *fd = getenv(SHIM_FD);

	if (fd) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd),
			      0);
		close(atoi(fd));
		active = shared != MAP_FAILED;
	}
	unsetenv("LD_PRELOAD");
	unsetenv(SHIM_FD);
	(void)syscall(SYS_getpgid, SHIM_MARK);
	return program(argc, argv, envp);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_main *next;

	*(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	program = main;
	return next(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
