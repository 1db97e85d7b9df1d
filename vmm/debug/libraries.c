// SPDX-License-Identifier: GPL-2.0-or-later
/* The child's side: reads the file with libelf and libdw, and writes records. */
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

#include "debug/debug.h"
#include "debug/record.h"

struct child {
	Elf *elf;
	struct debug_out *out;
	bool damaged;
	uint64_t begin, end; /* the code section of the last row */
};

/* Handle a failed library call, which means a lack of memory or an error in the file. */
static void failed(struct child *c)
{
	if (errno == ENOMEM)
		debug_no_memory();
	c->damaged = true;
}

static uint16_t flags_of(struct child *c, const GElf_Sym *sym)
{
	uint16_t flags = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (sym->st_shndx == SHN_UNDEF)
		return flags;
	flags |= DEBUG_RECORD_DEFINED;
	if (sym->st_shndx >= SHN_LORESERVE)
		return flags;
	scn = elf_getscn(c->elf, sym->st_shndx);
	if (scn && gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR)
		flags |= DEBUG_RECORD_IN_CODE;
	return flags;
}

static bool put_table(struct child *c, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	bool any = false;
	GElf_Sym sym;
	size_t n, i;

	if (!data || !shdr->sh_entsize) {
		failed(c);
		return false;
	}
	n = shdr->sh_size / shdr->sh_entsize;
	for (i = 0; i < n && i <= INT32_MAX; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym)) {
			failed(c);
			break;
		}
		name = elf_strptr(c->elf, shdr->sh_link, sym.st_name);
		if (!name) {
			failed(c);
			continue;
		}
		if (!*name)
			continue;
		debug_put(c->out,
			  &(struct debug_record){.kind = DEBUG_RECORD_SYMBOL,
						 .flags = flags_of(c, &sym),
						 .value = sym.st_value,
						 .size = sym.st_size},
			  name);
		any = true;
	}
	return any;
}

/* Write .symtab, or .dynsym of a stripped file. */
static void put_symbols(struct child *c)
{
	static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};
	bool any = false;
	size_t i;

	for (i = 0; i < 2 && !any; i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr shdr;

		while ((scn = elf_nextscn(c->elf, scn))) {
			if (!gelf_getshdr(scn, &shdr))
				failed(c);
			else if (shdr.sh_type == types[i])
				any |= put_table(c, scn, &shdr);
		}
	}
}

/* Return the size of a section after decompression. */
static uint64_t inflated(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name)
{
	GElf_Chdr chdr;
	Elf_Data *raw;

	if (shdr->sh_flags & SHF_COMPRESSED && gelf_getchdr(scn, &chdr))
		return chdr.ch_size;
	/* The older form of compression: "ZLIB" and the size, big-endian. */
	raw = strncmp(name, ".zdebug", 7) ? NULL : elf_rawdata(scn, NULL);
	if (raw && raw->d_buf && raw->d_size >= 12 && !memcmp(raw->d_buf, "ZLIB", 4)) {
		uint64_t size;

		memcpy(&size, (const char *)raw->d_buf + 4, sizeof(size));
		return be64toh(size);
	}
	return 0;
}

/* Returns true if the file has line tables. *grows is the growth of its debug sections. */
static bool has_lines(struct child *c, uint64_t *grows)
{
	bool lines = false;
	size_t names;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	*grows = 0;
	if (elf_getshdrstrndx(c->elf, &names)) {
		failed(c);
		return false;
	}
	while ((scn = elf_nextscn(c->elf, scn))) {
		const char *name = NULL;
		uint64_t size;

		if (gelf_getshdr(scn, &shdr))
			name = elf_strptr(c->elf, names, shdr.sh_name);
		if (!name) {
			failed(c);
			continue;
		}
		if (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8))
			continue;
		lines |= !strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line");
		size = inflated(scn, &shdr, name);
		*grows = *grows + size < size ? UINT64_MAX : *grows + size;
	}
	return lines;
}

static void put_row(struct child *c, Dwarf_Line *row, const char **file)
{
	struct debug_record record = {.kind = DEBUG_RECORD_ROW};
	const char *path = NULL;
	Dwarf_Addr addr;
	bool end = false;
	int line = 0;

	if (!row || dwarf_lineaddr(row, &addr) || dwarf_lineendsequence(row, &end) ||
	    dwarf_lineno(row, &line)) {
		failed(c);
		return;
	}
	if (!end && line > 0) {
		path = dwarf_linesrc(row, NULL, NULL);
		if (!path) {
			failed(c);
			return;
		}
		record.size = (uint64_t)line;
	}
	/*
	 * libdw keeps one string for each file of a unit, so that its address identifies the file.
	 */
	if (path && path != *file) {
		*file = path;
		debug_put(c->out, &(struct debug_record){.kind = DEBUG_RECORD_FILE}, path);
	}
	record.value = addr;
	debug_put(c->out, &record, NULL);
}

/*
 * Returns true if code of the file is at @addr. The lines of a function that the linker dropped have
 * addresses near 0, where a guest may have other code. In an object file all sections are there.
 */
static bool has_code(struct child *c, Dwarf_Addr addr)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;

	if (addr - c->begin < c->end - c->begin)
		return true;
	if (!gelf_getehdr(c->elf, &ehdr) || ehdr.e_type == ET_REL)
		return true;
	while ((scn = elf_nextscn(c->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    addr - shdr.sh_addr >= shdr.sh_size)
			continue;
		c->begin = shdr.sh_addr;
		c->end = shdr.sh_addr + shdr.sh_size;
		return true;
	}
	return false;
}

/* Write the rows of a unit that are of code of the file. The end of a sequence follows its last row. */
static void put_unit(struct child *c, Dwarf_Lines *lines, size_t n, const char **file)
{
	bool keep = true, end;
	Dwarf_Addr addr;
	size_t i;

	for (i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (row && !dwarf_lineendsequence(row, &end) && !end && !dwarf_lineaddr(row, &addr))
			keep = has_code(c, addr);
		if (keep)
			put_row(c, row, file);
	}
}

static void put_lines(struct child *c)
{
	Dwarf *dwarf = dwarf_begin_elf(c->elf, DWARF_C_READ, NULL);
	const char *file = NULL;
	Dwarf_Off at = 0, next;
	Dwarf_Lines *lines;
	Dwarf_CU *cu = NULL;
	size_t n;
	int more = -1;

	if (dwarf)
		dwarf_new_oom_handler(dwarf, debug_no_memory);
	while (dwarf && !(more = dwarf_next_lines(dwarf, at, &next, &cu, NULL, NULL, &lines, &n))) {
		put_unit(c, lines, n, &file);
		at = next;
	}
	if (more < 0)
		failed(c);
}

int debug_child(const void *elf, size_t len, unsigned int what, struct debug_out *out)
{
	struct child c = {.out = out};
	uint64_t grows;

	errno = 0;
	elf_version(EV_CURRENT);
	/* libelf requires writable memory, and this process has its own copy. */
	c.elf = elf_memory((char *)elf, len);
	if (!c.elf && errno == ENOMEM)
		debug_no_memory();
	if (!c.elf || elf_kind(c.elf) != ELF_K_ELF)
		return DEBUG_CHILD_NO_ELF;
	if (what & DEBUG_SYMBOLS)
		put_symbols(&c);
	if (what & DEBUG_LINES && has_lines(&c, &grows)) {
		if (grows > out->room / 2) {
			debug_flush(out);
			return DEBUG_CHILD_INFLATES;
		}
		put_lines(&c);
	}
	/* A library may have omitted data for lack of memory without an error. */
	if (errno == ENOMEM)
		debug_no_memory();
	debug_flush(out);
	return c.damaged ? DEBUG_CHILD_DAMAGED : DEBUG_CHILD_OK;
}
