// SPDX-License-Identifier: GPL-2.0-or-later
/* Read kernel memory from /proc/kcore. */
#include "host/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 4096

struct host_kcore {
	int fd;
	size_t n;
	Elf64_Phdr *segments;
};

static int read_at(int fd, uint64_t offset, void *to, size_t len)
{
	uint8_t *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EFAULT;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_memory(void *from, uint64_t vaddr, void *to, size_t len)
{
	const struct host_kcore *k = from;
	size_t i;

	for (i = 0; i < k->n; i++) {
		const Elf64_Phdr *s = &k->segments[i];

		if (s->p_type == PT_LOAD && vaddr >= s->p_vaddr &&
		    vaddr - s->p_vaddr < s->p_memsz && len <= s->p_memsz - (vaddr - s->p_vaddr))
			return read_at(k->fd, s->p_offset + (vaddr - s->p_vaddr), to, len);
	}
	return -EFAULT;
}

static int read_headers(struct host_kcore *k)
{
	Elf64_Ehdr header;
	int err = read_at(k->fd, 0, &header, sizeof(header));

	if (err)
		return err == -EFAULT ? -EINVAL : err;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_type != ET_CORE || header.e_machine != EM_X86_64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MAX)
		return -EINVAL;
	k->segments = calloc(header.e_phnum + 1u, sizeof(*k->segments));
	if (!k->segments)
		return -ENOMEM;
	k->n = header.e_phnum;
	err = read_at(k->fd, header.e_phoff, k->segments, k->n * sizeof(*k->segments));
	return err == -EFAULT ? -EINVAL : err;
}

int host_kcore_open(const char *path, struct host_kcore **kcore)
{
	struct host_kcore *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	err = k->fd < 0 ? -errno : read_headers(k);
	if (err)
		host_kcore_close(k);
	else
		*kcore = k;
	return err;
}

void host_kcore_close(struct host_kcore *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k->segments);
	free(k);
}

struct host_memory host_kcore_memory(struct host_kcore *k)
{
	return (struct host_memory){read_memory, k};
}
