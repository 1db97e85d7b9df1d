// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF files as bytes: their sections and symbol tables. */
#include "debug/object.h"

#include <string.h>

static const char damaged[] = "its section headers are damaged";

/* A structure of the file, or false if it is not within the file. */
static bool get(const struct vpt_object *o, uint64_t at, void *to, size_t size)
{
	if (at > o->len || o->len - at < size)
		return false;
	memcpy(to, o->bytes + at, size);
	return true;
}

static Elf64_Shdr widen_section(const Elf32_Shdr *s)
{
	return (Elf64_Shdr){
		.sh_name = s->sh_name,
		.sh_type = s->sh_type,
		.sh_flags = s->sh_flags,
		.sh_addr = s->sh_addr,
		.sh_offset = s->sh_offset,
		.sh_size = s->sh_size,
		.sh_link = s->sh_link,
		.sh_info = s->sh_info,
		.sh_addralign = s->sh_addralign,
		.sh_entsize = s->sh_entsize,
	};
}

static bool get_header(const struct vpt_object *o, uint32_t index, Elf64_Shdr *header)
{
	Elf32_Shdr small;

	if (index >= o->sections)
		return false;
	if (!o->is32)
		return get(o, o->table + (uint64_t)index * sizeof(*header), header,
			   sizeof(*header));
	if (!get(o, o->table + (uint64_t)index * sizeof(small), &small, sizeof(small)))
		return false;
	*header = widen_section(&small);
	return true;
}

/* Counts that do not fit into the ELF header are in the first section header. */
static const char *count_sections(struct vpt_object *o, uint16_t sections, uint16_t names)
{
	size_t size = o->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	Elf64_Shdr first = {0};

	if (!o->table)
		return NULL;
	o->sections = 1;
	if (!get_header(o, 0, &first))
		return damaged;
	o->sections = sections ? sections : (uint32_t)first.sh_size;
	o->names = names == SHN_XINDEX ? first.sh_link : names;
	if (!sections && first.sh_size > UINT32_MAX)
		return damaged;
	return (o->len - o->table) / size < o->sections ? damaged : NULL;
}

static const char *open32(struct vpt_object *o)
{
	Elf32_Ehdr header;

	o->is32 = true;
	if (!get(o, 0, &header, sizeof(header)))
		return "its ELF header is cut off";
	if (header.e_shoff && header.e_shentsize != sizeof(Elf32_Shdr))
		return damaged;
	o->table = header.e_shoff;
	return count_sections(o, header.e_shnum, header.e_shstrndx);
}

static const char *open64(struct vpt_object *o)
{
	Elf64_Ehdr header;

	if (!get(o, 0, &header, sizeof(header)))
		return "its ELF header is cut off";
	if (header.e_shoff && header.e_shentsize != sizeof(Elf64_Shdr))
		return damaged;
	o->table = header.e_shoff;
	return count_sections(o, header.e_shnum, header.e_shstrndx);
}

const char *vpt_object_open(struct vpt_object *o, const void *bytes, size_t len)
{
	*o = (struct vpt_object){.bytes = bytes, .len = len};
	if (len < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG))
		return "it is no ELF file";
	if (o->bytes[EI_DATA] != ELFDATA2LSB)
		return "it is not for a little-endian processor";
	switch (o->bytes[EI_CLASS]) {
	case ELFCLASS32:
		return open32(o);
	case ELFCLASS64:
		return open64(o);
	default:
		return "its ELF header is damaged";
	}
}

bool vpt_object_section(const struct vpt_object *o, uint32_t index, struct vpt_section *section)
{
	Elf64_Shdr header;

	if (!get_header(o, index, &header))
		return false;
	*section = (struct vpt_section){
		.size = header.sh_size,
		.flags = header.sh_flags,
		.entry = header.sh_entsize,
		.type = header.sh_type,
		.link = header.sh_link,
		.name = header.sh_name,
	};
	if (header.sh_type == SHT_NOBITS || !header.sh_size)
		return true;
	if (header.sh_offset > o->len || o->len - header.sh_offset < header.sh_size)
		return false;
	section->bytes = o->bytes + header.sh_offset;
	return true;
}

/* Is this string at an offset of a section? */
static bool has_name(const struct vpt_section *names, uint32_t at, const char *name)
{
	size_t len = strlen(name) + 1;

	return names->bytes && at < names->size && names->size - at >= len &&
	       !memcmp(names->bytes + at, name, len);
}

bool vpt_object_find(const struct vpt_object *o, const char *name, struct vpt_section *section)
{
	struct vpt_section names;
	uint32_t i;

	if (!vpt_object_section(o, o->names, &names))
		return false;
	for (i = 0; i < o->sections; i++) {
		if (vpt_object_section(o, i, section) && section->bytes &&
		    has_name(&names, section->name, name))
			return true;
	}
	return false;
}

/* The names of a table, up to the last one that ends. */
static void find_names(const struct vpt_object *o, uint32_t index, struct vpt_symtab *table)
{
	struct vpt_section names;
	const char *last;

	if (!vpt_object_section(o, index, &names) || !names.bytes || (names.flags & SHF_COMPRESSED))
		return;
	last = memrchr(names.bytes, 0, names.size);
	if (!last)
		return;
	table->names = (const char *)names.bytes;
	table->nnames = (size_t)(last - table->names) + 1;
}

bool vpt_object_symtab(const struct vpt_object *o, uint32_t type, struct vpt_symtab *table)
{
	size_t entry = o->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	struct vpt_section section;
	uint32_t i;

	*table = (struct vpt_symtab){.is32 = o->is32};
	for (i = 0; i < o->sections; i++) {
		if (!vpt_object_section(o, i, &section) || section.type != type)
			continue;
		if (!section.bytes || section.entry != entry || (section.flags & SHF_COMPRESSED))
			return false;
		table->bytes = section.bytes;
		table->count = section.size / entry;
		find_names(o, section.link, table);
		return true;
	}
	return false;
}

bool vpt_symtab_get(const struct vpt_symtab *table, size_t index, struct vpt_elf_symbol *symbol)
{
	Elf64_Sym sym;
	Elf32_Sym small;

	if (table->is32) {
		memcpy(&small, table->bytes + index * sizeof(small), sizeof(small));
		sym = (Elf64_Sym){.st_name = small.st_name,
				  .st_info = small.st_info,
				  .st_shndx = small.st_shndx,
				  .st_value = small.st_value,
				  .st_size = small.st_size};
	} else {
		memcpy(&sym, table->bytes + index * sizeof(sym), sizeof(sym));
	}
	*symbol = (struct vpt_elf_symbol){
		.value = sym.st_value,
		.size = sym.st_size,
		.name = sym.st_name < table->nnames ? table->names + sym.st_name : NULL,
		.section = sym.st_shndx,
		.type = ELF64_ST_TYPE(sym.st_info),
	};
	return symbol->name && *symbol->name;
}
