// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies the vDSO, which is in no file, from the kernel's mapping in this process. */
#include "foreign/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "foreign/elf_note.h"

/* The vDSO has a few pages. */
#define VDSO_MAX (1u << 20)

/* Find the address and length. Returns false if there is no vDSO. */
static bool find(uint64_t *at, size_t *len)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t first, last;
	char line[4400];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		found = strstr(line, "[vdso]") &&
			sscanf(line, "%" SCNx64 "-%" SCNx64, &first, &last) == 2 && first < last &&
			last - first <= VDSO_MAX;
		if (found) {
			*at = first;
			*len = (size_t)(last - first);
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool is_wanted(int fd, const struct foreign_build_id *id, const char *release)
{
	struct foreign_build_id has;
	struct utsname system;

	/* A kernel for another architecture can have the same release. */
	if (!id)
		return *release && !uname(&system) && !strcmp(system.machine, "x86_64") &&
		       !strcmp(system.release, release);
	return !foreign_elf_build_id(fd, &has) && has.len == id->len &&
	       !memcmp(has.bytes, id->bytes, id->len);
}

int foreign_vdso_open(const struct foreign_build_id *id, const char *release)
{
	uint64_t at;
	size_t len;
	int fd;

	if (!find(&at, &len))
		return -1;
	fd = memfd_create("vpt-vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (write(fd, (const void *)(uintptr_t)at, len) == (ssize_t)len &&
	    is_wanted(fd, id, release))
		return fd;
	close(fd);
	return -1;
}
