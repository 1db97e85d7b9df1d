// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds an ELF image with the functions of the VMM model, for its symbols in a trace file. */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/run.h"
#include "pt/root.h"
#include "pt/spaces.h"

#define SYMBOLS 64
#define STRINGS 2048

enum section { SECTION_NONE, SECTION_TEXT, SECTION_SYMBOLS, SECTION_STRINGS, SECTIONS };

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS];
	Elf64_Sym symbol[SYMBOLS];
	char string[STRINGS];
};

/* Return the string's offset in the string table, or 0 (the empty string) if there is no room. */
static Elf64_Word add_string(struct image *e, const char *text)
{
	Elf64_Shdr *strings = &e->section[SECTION_STRINGS];
	size_t bytes = strlen(text) + 1;
	Elf64_Word at = (Elf64_Word)strings->sh_size;

	if (bytes > STRINGS - strings->sh_size)
		return 0;
	memcpy(e->string + at, text, bytes);
	strings->sh_size += bytes;
	return at;
}

static void fill_header(Elf64_Ehdr *header)
{
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_EXEC;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_shoff = offsetof(struct image, section);
	header->e_ehsize = sizeof(*header);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = SECTIONS;
	header->e_shstrndx = SECTION_STRINGS;
}

static void fill_sections(struct image *e)
{
	e->section[SECTION_STRINGS] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, string),
		.sh_size = 1,
		.sh_addralign = 1,
	};
	e->section[SECTION_STRINGS].sh_name = add_string(e, ".strtab");
	e->section[SECTION_TEXT] = (Elf64_Shdr){
		.sh_name = add_string(e, ".text"),
		.sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TRACER_ROOT_CODE,
		.sh_size = TRACER_ROOT_PAGE,
		.sh_addralign = TRACER_ROOT_PAGE,
	};
	e->section[SECTION_SYMBOLS] = (Elf64_Shdr){
		.sh_name = add_string(e, ".symtab"),
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct image, symbol),
		.sh_size = sizeof(Elf64_Sym),
		.sh_link = SECTION_STRINGS,
		.sh_info = 1,
		.sh_addralign = 8,
		.sh_entsize = sizeof(Elf64_Sym),
	};
}

static void fill_symbols(struct image *e)
{
	Elf64_Shdr *symbols = &e->section[SECTION_SYMBOLS];
	uint64_t ip, bytes;
	const char *name;
	unsigned int i;

	for (i = 0; i + 1 < SYMBOLS && (name = tracer_root_symbol(i, &ip, &bytes)); i++) {
		e->symbol[i + 1] = (Elf64_Sym){
			.st_name = add_string(e, name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SECTION_TEXT,
			.st_value = ip,
			.st_size = bytes,
		};
		symbols->sh_size += sizeof(Elf64_Sym);
	}
}

int cli_run_write_root(struct trace_writer *writer)
{
	struct trace_elf_image image = {.bias = 0};
	struct image e;

	memset(&e, 0, sizeof(e));
	fill_header(&e.header);
	fill_sections(&e);
	fill_symbols(&e);
	snprintf(image.name, sizeof(image.name), "%s", TRACER_ROOT_NAME);
	return trace_writer_elf(writer, &image, &e, sizeof(e));
}
