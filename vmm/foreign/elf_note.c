// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads program headers of 64-bit and 32-bit ELF files, and the build-id in their notes. */
#include "foreign/elf_note.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign/span.h"
#include "trace/vec.h"

#define HEADERS_MAX 4096u
#define NOTES_MAX   65536u

static int read_at(int fd, uint64_t at, void *to, size_t len)
{
	uint8_t *p = to;

	if (at > INT64_MAX - len)
		return -EINVAL;
	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EINVAL;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static Elf64_Phdr widen(const Elf32_Phdr *p)
{
	return (Elf64_Phdr){
		.p_type = p->p_type,
		.p_flags = p->p_flags,
		.p_offset = p->p_offset,
		.p_vaddr = p->p_vaddr,
		.p_filesz = p->p_filesz,
	};
}

/* Read *n program headers, which the caller frees. */
static int read_headers(int fd, Elf64_Phdr **headers, size_t *n)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} e = {{0}};
	uint64_t at;
	size_t size, i;
	uint8_t *raw;
	int err = read_at(fd, 0, &e.narrow, sizeof(e.narrow));
	bool wide;

	if (err || memcmp(e.ident, ELFMAG, SELFMAG) != 0)
		return err ? err : -EINVAL;
	wide = e.ident[EI_CLASS] == ELFCLASS64;
	if (wide)
		err = read_at(fd, 0, &e.wide, sizeof(e.wide));
	if (err)
		return err;
	*n = wide ? e.wide.e_phnum : e.narrow.e_phnum;
	at = wide ? e.wide.e_phoff : e.narrow.e_phoff;
	size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (*n > HEADERS_MAX || (wide ? e.wide.e_phentsize : e.narrow.e_phentsize) != size ||
	    (wide ? e.wide.e_machine != EM_X86_64 : e.narrow.e_machine != EM_386))
		return -EINVAL;
	raw = malloc(*n * size + 1);
	*headers = calloc(*n + 1, sizeof(**headers));
	err = raw && *headers ? read_at(fd, at, raw, *n * size) : -ENOMEM;
	for (i = 0; !err && i < *n; i++) {
		Elf32_Phdr narrow;

		if (wide) {
			memcpy(&(*headers)[i], raw + i * size, size);
			continue;
		}
		memcpy(&narrow, raw + i * size, size);
		(*headers)[i] = widen(&narrow);
	}
	free(raw);
	if (err) {
		free(*headers);
		*headers = NULL;
	}
	return err;
}

static void find_note(const uint8_t *bytes, size_t len, struct foreign_build_id *id)
{
	struct span s = {bytes, len, false};

	while (!s.bad && s.left >= 12) {
		uint32_t name_len = span_u32(&s), desc_len = span_u32(&s), type = span_u32(&s);
		const uint8_t *name, *desc;

		if (name_len > len || desc_len > len)
			return;
		name = span_bytes(&s, (name_len + 3u) & ~3u);
		desc = span_bytes(&s, desc_len);
		if (name && desc && type == NT_GNU_BUILD_ID && name_len == 4 &&
		    !memcmp(name, "GNU", 4) && desc_len && desc_len <= FOREIGN_BUILD_ID) {
			memcpy(id->bytes, desc, desc_len);
			id->len = (uint8_t)desc_len;
			return;
		}
		(void)span_bytes(&s, -desc_len & 3u);
	}
}

int foreign_elf_build_id(int fd, struct foreign_build_id *id)
{
	Elf64_Phdr *headers = NULL;
	size_t n = 0, i;
	int err = read_headers(fd, &headers, &n);

	memset(id, 0, sizeof(*id));
	for (i = 0; !err && i < n && !id->len; i++) {
		size_t len = headers[i].p_filesz < NOTES_MAX ? headers[i].p_filesz : NOTES_MAX;
		uint8_t *notes;

		if (headers[i].p_type != PT_NOTE)
			continue;
		notes = malloc(len + 1);
		if (!notes)
			err = -ENOMEM;
		else if (!read_at(fd, headers[i].p_offset, notes, len))
			find_note(notes, len, id);
		free(notes);
	}
	free(headers);
	return err == -EINVAL ? 0 : err;
}

int foreign_elf_loads(int fd, struct foreign_loads *loads)
{
	Elf64_Phdr *headers = NULL;
	size_t n = 0, i;
	int err = read_headers(fd, &headers, &n);

	memset(loads, 0, sizeof(*loads));
	for (i = 0; !err && i < n; i++) {
		const Elf64_Phdr *p = &headers[i];

		if (p->p_type != PT_LOAD || !p->p_filesz)
			continue;
		if (!trace_vec_room(loads))
			err = -ENOMEM;
		else
			loads->at[loads->n++] = (struct foreign_load){
				p->p_vaddr, p->p_offset, p->p_filesz, p->p_flags & PF_X};
	}
	free(headers);
	if (err)
		free(loads->at);
	return err;
}

bool foreign_elf_has_symbols(int fd)
{
	Elf64_Ehdr e;
	Elf64_Shdr section;
	unsigned int i;

	if (read_at(fd, 0, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_shentsize != sizeof(section))
		return false;
	for (i = 0; i < e.e_shnum && i < HEADERS_MAX; i++) {
		if (e.e_shoff > INT64_MAX / 2 ||
		    read_at(fd, e.e_shoff + i * sizeof(section), &section, sizeof(section)))
			return false;
		if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
		    section.sh_size)
			return true;
	}
	return false;
}
