// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes ELF files by their headers, tables and sections. */
#include <elf.h>
#include <string.h>

#include "fuzz/forged/change.h"

static Elf64_Ehdr header_of(const struct change *c)
{
	Elf64_Ehdr eh = {0};

	memcpy(&eh, c->bytes, c->len < sizeof(eh) ? c->len : sizeof(eh));
	return eh;
}

/* Find entry `i` of a table. Returns false if it is not in the file. */
static bool entry_at(const struct change *c, uint64_t table, size_t size, size_t i, size_t *at)
{
	if (table > c->len || (c->len - table) / size <= i)
		return false;
	*at = (size_t)table + i * size;
	return true;
}

/* One field of a struct, of 8, 4 or 2 bytes as most of ELF's are. */
static void change_struct(struct change *c, size_t at, size_t size)
{
	change_field(c, at, at + size);
}

static void change_header(struct change *c)
{
	change_struct(c, 0, c->len < sizeof(Elf64_Ehdr) ? c->len : sizeof(Elf64_Ehdr));
}

static void change_segment(struct change *c)
{
	Elf64_Ehdr eh = header_of(c);
	size_t at;

	if (entry_at(c, eh.e_phoff, sizeof(Elf64_Phdr), change_below(c, eh.e_phnum), &at))
		change_struct(c, at, sizeof(Elf64_Phdr));
}

/* Choose a section. Returns false if there is none, or it is not in the file. */
static bool choose(struct change *c, Elf64_Shdr *sh, size_t *at)
{
	Elf64_Ehdr eh = header_of(c);

	if (!entry_at(c, eh.e_shoff, sizeof(*sh), change_below(c, eh.e_shnum), at))
		return false;
	memcpy(sh, c->bytes + *at, sizeof(*sh));
	return true;
}

static void change_section(struct change *c)
{
	Elf64_Shdr sh;
	size_t at;

	if (choose(c, &sh, &at))
		change_struct(c, at, sizeof(sh));
}

/* Let one section have the place, the size, the type or the link of another. */
static void mix_sections(struct change *c)
{
	Elf64_Shdr a, b;
	size_t at, other;

	if (!choose(c, &a, &at) || !choose(c, &b, &other))
		return;
	switch (change_below(c, 5)) {
	case 0:
		a.sh_offset = b.sh_offset;
		break;
	case 1:
		a.sh_size = b.sh_size;
		break;
	case 2:
		a.sh_type = b.sh_type;
		break;
	case 3:
		a.sh_link = b.sh_link;
		break;
	default:
		a.sh_name = b.sh_name;
		a.sh_flags ^= SHF_COMPRESSED;
	}
	memcpy(c->bytes + at, &a, sizeof(a));
}

/* The content of a section: symbols by their fields, others anywhere. */
static void change_content(struct change *c)
{
	Elf64_Shdr sh;
	size_t at, entry;

	if (!choose(c, &sh, &at) || sh.sh_type == SHT_NOBITS || sh.sh_offset > c->len ||
	    sh.sh_size > c->len - sh.sh_offset || !sh.sh_size)
		return;
	if (sh.sh_type == SHT_SYMTAB &&
	    entry_at(c, sh.sh_offset, sizeof(Elf64_Sym),
		     change_below(c, sh.sh_size / sizeof(Elf64_Sym)), &entry))
		change_struct(c, entry, sizeof(Elf64_Sym));
	else if (sh.sh_size > 64 && change_next(c) & 1)
		change_field(c, sh.sh_offset, sh.sh_offset + 64); /* headers of units */
	else
		change_field(c, sh.sh_offset, sh.sh_offset + sh.sh_size);
}

/* Bytes of DWARF are LEB128: one that does not end, or is very large. */
static void change_leb(struct change *c)
{
	Elf64_Shdr sh;
	size_t at, n, i;

	if (!choose(c, &sh, &at) || sh.sh_type == SHT_NOBITS || sh.sh_offset > c->len ||
	    sh.sh_size > c->len - sh.sh_offset || sh.sh_size < 16)
		return;
	n = 1 + change_below(c, 12);
	at = sh.sh_offset + change_below(c, sh.sh_size - n);
	for (i = 0; i < n; i++)
		c->bytes[at + i] |= 0x80;
}

/* Cut bytes out of a section, or repeat some: all behind it lies elsewhere. */
static void shift(struct change *c)
{
	size_t at = change_below(c, c->len), n = 1 + change_below(c, 64);

	if (n > c->len - at)
		n = c->len - at;
	if (change_next(c) & 1)
		change_resize(c, at, n, 0);
	else if (change_resize(c, at, 0, n))
		memmove(c->bytes + at, c->bytes + at + n, n);
}

void change_elf(struct change *c)
{
	static void (*const ways[])(struct change *) = {
		change_header,	change_segment, change_section, change_section,
		mix_sections,	change_content, change_content, change_content,
		change_content, change_leb,	change_leb,	shift};
	size_t steps;

	for (steps = 1 + change_below(c, 4); steps && c->len; steps--)
		ways[change_below(c, sizeof(ways) / sizeof(ways[0]))](c);
	if (!change_below(c, 32))
		c->len = change_below(c, c->len + 1);
}
