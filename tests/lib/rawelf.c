// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes ELF64 files in memory, section by section. */
#include "lib/rawelf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static size_t put(struct rawelf *e, const void *bytes, size_t len)
{
	size_t at = e->len;

	if (e->room - e->len < len) {
		e->room = 2 * (e->len + len);
		e->bytes = realloc(e->bytes, e->room);
		if (!e->bytes)
			abort();
	}
	if (len)
		memcpy(e->bytes + e->len, bytes, len);
	e->len += len;
	return at;
}

void rawelf_open(struct rawelf *e)
{
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	memset(e, 0, sizeof(*e));
	put(e, &header, sizeof(header));
	e->nnames = 1;
	e->count = 1;
}

Elf64_Shdr *rawelf_add(struct rawelf *e, const char *name, uint32_t type, const void *bytes,
		       size_t len)
{
	Elf64_Shdr *s = &e->sections[e->count++];

	if (e->count > RAWELF_SECTIONS || e->nnames + strlen(name) >= sizeof(e->names))
		abort();
	s->sh_name = (Elf64_Word)e->nnames;
	s->sh_type = type;
	s->sh_offset = put(e, bytes, len);
	s->sh_size = len;
	s->sh_addralign = 1;
	strcpy(e->names + e->nnames, name);
	e->nnames += strlen(name) + 1;
	return s;
}

Elf64_Shdr *rawelf_add_compressed(struct rawelf *e, const char *name, const void *bytes, size_t len)
{
	const Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = len, .ch_addralign = 1};
	uLongf bound = compressBound(len);
	uint8_t *packed = malloc(sizeof(head) + bound);
	Elf64_Shdr *s;

	if (!packed || compress(packed + sizeof(head), &bound, bytes, len) != Z_OK)
		abort();
	memcpy(packed, &head, sizeof(head));
	s = rawelf_add(e, name, SHT_PROGBITS, packed, sizeof(head) + bound);
	s->sh_flags = SHF_COMPRESSED;
	free(packed);
	return s;
}

void rawelf_close(struct rawelf *e)
{
	Elf64_Ehdr header;
	uint64_t table;

	rawelf_add(e, ".shstrtab", SHT_STRTAB, NULL, 0);
	e->sections[e->count - 1].sh_size = e->nnames;
	put(e, e->names, e->nnames);
	put(e, "\0\0\0\0\0\0\0", -e->len & 7);
	table = put(e, e->sections, e->count * sizeof(e->sections[0]));
	memcpy(&header, e->bytes, sizeof(header));
	header.e_shoff = table;
	header.e_shnum = (Elf64_Half)e->count;
	header.e_shstrndx = (Elf64_Half)(e->count - 1);
	memcpy(e->bytes, &header, sizeof(header));
}
