// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads files of code into pages at their addresses. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign/elf_note.h"
#include "foreign/raw.h"
#include "trace/vec.h"

/* 4 GiB. */
#define PAGES_MAX (1u << 20)

static uint8_t *page_at(struct foreign_raw_pages *p, uint64_t cr3, uint64_t vaddr)
{
	struct trace_pair *entry = trace_pairs_find(&p->numbers, cr3, vaddr);

	if (!entry) {
		if (p->pages.n >= PAGES_MAX || !trace_vec_room(&p->pages))
			return NULL;
		entry = trace_pairs_add(&p->numbers, cr3, vaddr);
		if (!entry)
			return NULL;
		memset(p->pages.at[p->pages.n], 0, TRACE_CODE_BYTES);
		entry->value = p->pages.n++;
	}
	return p->pages.at[entry->value];
}

/* Copy bytes of a file to an address, up to the end of the file. */
static int copy(struct foreign_raw_pages *p, uint64_t cr3, uint64_t vaddr, int fd, uint64_t offset,
		uint64_t len)
{
	while (len) {
		uint64_t in_page = vaddr % TRACE_CODE_BYTES, n = TRACE_CODE_BYTES - in_page;
		uint8_t bytes[TRACE_CODE_BYTES], *page;
		ssize_t got;

		if (n > len)
			n = len;
		if (offset > INT64_MAX - n)
			return 0;
		got = pread(fd, bytes, (size_t)n, (off_t)offset);
		if (got <= 0)
			return got ? -errno : 0;
		page = page_at(p, cr3, vaddr - in_page);
		if (!page)
			return -ENOMEM;
		memcpy(page + in_page, bytes, (size_t)got);
		vaddr += (uint64_t)got;
		offset += (uint64_t)got;
		len -= (uint64_t)got;
	}
	return 0;
}

static int load_elf(struct foreign_raw_pages *p, const struct foreign_raw_code *code, int fd)
{
	struct foreign_loads loads;
	size_t i;
	int err = foreign_elf_loads(fd, &loads);

	if (err)
		return err;
	for (i = 0; i < loads.n && !err; i++) {
		if (loads.at[i].executable)
			err = copy(p, code->cr3, loads.at[i].vaddr + code->at, fd,
				   loads.at[i].offset, loads.at[i].len);
	}
	free(loads.at);
	return err;
}

/* Load consecutive pages, each at its address in the list. */
static int load_pages(struct foreign_raw_pages *p, const struct foreign_raw_code *code, int fd,
		      int list)
{
	uint64_t address, i;
	int err = 0;

	for (i = 0; !err && pread(list, &address, sizeof(address), (off_t)(i * sizeof(address))) ==
				    sizeof(address);
	     i++)
		err = copy(p, code->cr3, address & ~(uint64_t)(TRACE_CODE_BYTES - 1), fd,
			   i * TRACE_CODE_BYTES, TRACE_CODE_BYTES);
	return err;
}

/* Open a regular file. Returns a descriptor or -errno. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int foreign_raw_load(struct foreign_raw_pages *p, const struct foreign_raw_code *code, char *why,
		     size_t size)
{
	const char *path = code->path;
	int fd = open_file(path), list = -1, err = fd < 0 ? fd : 0;

	if (!err && code->kind == FOREIGN_RAW_PAGES) {
		path = code->addresses;
		list = open_file(path);
		err = list < 0 ? list : load_pages(p, code, fd, list);
	} else if (!err && code->kind == FOREIGN_RAW_ELF) {
		err = load_elf(p, code, fd);
	} else if (!err) {
		err = copy(p, code->cr3, code->at, fd, 0, UINT64_MAX);
	}
	if (fd >= 0)
		close(fd);
	if (list >= 0)
		close(list);
	if (err)
		snprintf(why, size, "%s: %s", path,
			 err != -EINVAL			 ? strerror(-err)
			 : code->kind == FOREIGN_RAW_ELF ? "not an ELF file of x86"
							 : "not a regular file");
	return err;
}

void foreign_raw_pages_free(struct foreign_raw_pages *p)
{
	free(p->pages.at);
	trace_pairs_free(&p->numbers);
	memset(p, 0, sizeof(*p));
}
