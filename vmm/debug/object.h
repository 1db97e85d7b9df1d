/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files as bytes: their sections and symbol tables. ELF64 and ELF32, little-endian.
 *
 * The file is hostile. Nothing is allocated, nothing is written, and no byte outside the file
 * is read; what the functions return points into the file's bytes, which the caller keeps.
 */
#ifndef VMM_DEBUG_OBJECT_H
#define VMM_DEBUG_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_object {
	const uint8_t *bytes;
	size_t len;
	bool is32;
	uint64_t table;	   /* file offset of the section headers */
	uint32_t sections; /* their number; 0: the file has none */
	uint32_t names;	   /* index of the section that has their names */
};

struct vpt_section {
	const uint8_t *bytes; /* NULL: the file has no bytes of it */
	uint64_t size;
	uint64_t flags;
	uint64_t entry; /* size of an entry, for tables */
	uint32_t type;
	uint32_t link;
	uint32_t name; /* offset in the section of names */
};

/* Returns NULL, or what is wrong with the file in a few words that follow its name. */
const char *vpt_object_open(struct vpt_object *o, const void *bytes, size_t len);

/* Fill @section. Returns false if there is no such section or its bytes are not in the file. */
bool vpt_object_section(const struct vpt_object *o, uint32_t index, struct vpt_section *section);
/* Find the first section of that name that has bytes. */
bool vpt_object_find(const struct vpt_object *o, const char *name, struct vpt_section *section);

struct vpt_symtab {
	const uint8_t *bytes;
	size_t count;
	bool is32;
	const char *names; /* each offset below `nnames` begins a string that ends */
	size_t nnames;
};

struct vpt_elf_symbol {
	uint64_t value, size;
	const char *name;
	uint16_t section; /* its index, or SHN_UNDEF, SHN_ABS and so on */
	uint8_t type;	  /* STT_FUNC and so on */
};

/* Find the first table of a type, SHT_SYMTAB or SHT_DYNSYM, with its names. */
bool vpt_object_symtab(const struct vpt_object *o, uint32_t type, struct vpt_symtab *table);
/* Read a symbol, @index below `count`. Returns false if it has no name. */
bool vpt_symtab_get(const struct vpt_symtab *table, size_t index, struct vpt_elf_symbol *symbol);

#endif /* VMM_DEBUG_OBJECT_H */
