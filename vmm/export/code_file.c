// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the user code of a process as an ELF file that perf reads. */
#include "export/code_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define PATCH_PAGES 3 /* the previous page, the page, the next page */

enum section { SEC_NULL, SEC_TEXT, SEC_SYMTAB, SEC_STRTAB, SEC_NAMES, SECTIONS };

static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

struct symtab {
	struct {
		Elf64_Sym *at;
		size_t n, room;
	} syms;
	struct {
		char *at;
		size_t n, room;
	} text;
};

int export_code_list(struct export_code *code, const struct export_pages *all)
{
	const struct export_page *page;
	size_t n, i, used = 0;

	/*
	 * List only the process's own pages. Over all processes these are no more than the pages of
	 * the trace.
	 */
	page = export_pages_of(all, code->process, &n);
	for (i = 0; i < n; i++)
		used += page[i].base && page[i].base_width == code->width;
	if (!used)
		return 0;
	code->pages = calloc(used, sizeof(*code->pages));
	if (!code->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (page[i].base && page[i].base_width == code->width)
			code->pages[code->n++] = &page[i];
	}
	return 0;
}

void export_code_free(struct export_code *code)
{
	free(code->pages);
	code->pages = NULL;
}

static size_t patches(const struct export_code *code)
{
	return code->process->patches[code->width].n;
}

bool export_code_any(const struct export_code *code)
{
	return code->n || patches(code);
}

size_t export_code_run(const struct export_code *code, size_t first)
{
	size_t n = 1;

	while (first + n < code->n &&
	       code->pages[first + n]->vaddr == code->pages[first]->vaddr + n * TRACE_CODE_BYTES)
		n++;
	return n;
}

uint64_t export_code_page(size_t index)
{
	/* The first page has the ELF header. */
	return (index + 1) * (uint64_t)TRACE_CODE_BYTES;
}

void export_code_patch(const struct export_code *code, size_t index, struct export_code_patch *out)
{
	const struct export_patch *patch = &code->process->patches[code->width].at[index];

	out->vaddr = patch->page->vaddr;
	out->bytes = TRACE_CODE_BYTES;
	out->offset = export_code_page(code->n + index * PATCH_PAGES + 1);
	if (patch->before) {
		out->vaddr -= TRACE_CODE_BYTES;
		out->bytes += TRACE_CODE_BYTES;
		out->offset -= TRACE_CODE_BYTES;
	}
}

static int add_text(struct symtab *t, const char *name)
{
	do {
		if (!trace_vec_room(&t->text))
			return -ENOMEM;
		t->text.at[t->text.n++] = *name;
	} while (*name++);
	return 0;
}

static int add_symbol(struct symtab *t, const struct debug_symbol *symbol, uint64_t offset)
{
	if (!trace_vec_room(&t->syms))
		return -ENOMEM;
	t->syms.at[t->syms.n++] = (Elf64_Sym){
		.st_name = (Elf64_Word)t->text.n,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = SEC_TEXT,
		/*
		 * perf expects the file offset as the value, because the file is not relocatable.
		 */
		.st_value = offset,
		.st_size = symbol->end - symbol->start,
	};
	return add_text(t, symbol->name);
}

/* List the symbols of the pages that exist from the beginning. */
static int list_symbols(const struct export_code *code, const struct debug_symbols *symbols,
			struct symtab *t)
{
	size_t n, i, page;
	const struct debug_symbol *all = debug_symbols_all(symbols, &n);
	int err = trace_vec_room(&t->syms) ? add_text(t, "") : -ENOMEM;

	if (err)
		return err;
	memset(&t->syms.at[t->syms.n++], 0, sizeof(t->syms.at[0]));
	for (page = 0; page < code->n; page++) {
		uint64_t vaddr = code->pages[page]->vaddr;

		i = trace_vec_before(all, n, e, e->start < vaddr);
		for (; i < n && all[i].start - vaddr < TRACE_CODE_BYTES && !err; i++)
			err = add_symbol(t, &all[i], export_code_page(page) + all[i].start - vaddr);
	}
	return err;
}

static void put(FILE *out, const void *bytes, size_t len)
{
	fwrite(bytes, 1, len, out);
}

static void put_page(FILE *out, const uint8_t *bytes)
{
	static const uint8_t none[TRACE_CODE_BYTES];

	put(out, bytes ? bytes : none, TRACE_CODE_BYTES);
}

static void put_pages(const struct export_code *code, FILE *out)
{
	const struct export_patch *all = code->process->patches[code->width].at;
	size_t i;

	for (i = 0; i < code->n; i++)
		put_page(out, code->pages[i]->base);
	for (i = 0; i < patches(code); i++) {
		put_page(out, all[i].before);
		put_page(out, all[i].bytes);
		put_page(out, all[i].after);
	}
}

/* Fill in the sections as for ELF64. ELF32 differs only in sizes. */
static void list_sections(const struct export_code *code, const struct symtab *t, Elf64_Shdr *all)
{
	bool is32 = code->width == EXPORT_CODE32;
	size_t sym = is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	uint64_t end = export_code_page(code->n + PATCH_PAGES * patches(code));
	uint64_t text = export_code_page(0);

	memset(all, 0, SECTIONS * sizeof(*all));
	all[SEC_TEXT] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = text,
		.sh_offset = text,
		.sh_size = end - text,
		.sh_addralign = 1,
	};
	all[SEC_SYMTAB] = (Elf64_Shdr){
		.sh_name = 7,
		.sh_type = SHT_SYMTAB,
		.sh_offset = end,
		.sh_size = t->syms.n * sym,
		.sh_link = SEC_STRTAB,
		.sh_info = 1,
		.sh_addralign = 1,
		.sh_entsize = sym,
	};
	all[SEC_STRTAB] = (Elf64_Shdr){
		.sh_name = 15,
		.sh_type = SHT_STRTAB,
		.sh_offset = end + t->syms.n * sym,
		.sh_size = t->text.n,
		.sh_addralign = 1,
	};
	all[SEC_NAMES] = (Elf64_Shdr){
		.sh_name = 23,
		.sh_type = SHT_STRTAB,
		.sh_offset = end + t->syms.n * sym + t->text.n,
		.sh_size = sizeof(names),
		.sh_addralign = 1,
	};
}

/* The ELF header of this class, with the section headers at @sections. */
#define FILE_HEADER(bits, machine, sections)                                                  \
	{                                                                                     \
		.e_ident = {ELFMAG0,	    ELFMAG1,	 ELFMAG2,   ELFMAG3,                  \
			    ELFCLASS##bits, ELFDATA2LSB, EV_CURRENT},                         \
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT,              \
		.e_shoff = (Elf##bits##_Off)(sections), .e_ehsize = sizeof(Elf##bits##_Ehdr), \
		.e_shentsize = sizeof(Elf##bits##_Shdr), .e_shnum = SECTIONS,                 \
		.e_shstrndx = SEC_NAMES,                                                      \
	}

static void put_header(const struct export_code *code, uint64_t sections, FILE *out)
{
	const Elf64_Ehdr header64 = FILE_HEADER(64, EM_X86_64, sections);
	const Elf32_Ehdr header32 = FILE_HEADER(32, EM_386, sections);
	uint8_t page[TRACE_CODE_BYTES] = {0};

	if (code->width == EXPORT_CODE32)
		memcpy(page, &header32, sizeof(header32));
	else
		memcpy(page, &header64, sizeof(header64));
	put(out, page, sizeof(page));
}

static void put_symbol32(const Elf64_Sym *sym, FILE *out)
{
	const Elf32_Sym s = {
		.st_name = sym->st_name,
		.st_value = (Elf32_Addr)sym->st_value,
		.st_size = (Elf32_Word)sym->st_size,
		.st_info = sym->st_info,
		.st_shndx = sym->st_shndx,
	};

	put(out, &s, sizeof(s));
}

static void put_section32(const Elf64_Shdr *section, FILE *out)
{
	const Elf32_Shdr s = {
		.sh_name = section->sh_name,
		.sh_type = section->sh_type,
		.sh_flags = (Elf32_Word)section->sh_flags,
		.sh_addr = (Elf32_Addr)section->sh_addr,
		.sh_offset = (Elf32_Off)section->sh_offset,
		.sh_size = (Elf32_Word)section->sh_size,
		.sh_link = section->sh_link,
		.sh_info = section->sh_info,
		.sh_addralign = (Elf32_Word)section->sh_addralign,
		.sh_entsize = (Elf32_Word)section->sh_entsize,
	};

	put(out, &s, sizeof(s));
}

static void put_tables(const struct export_code *code, const struct symtab *t,
		       const Elf64_Shdr *sections, FILE *out)
{
	bool is32 = code->width == EXPORT_CODE32;
	size_t i;

	for (i = 0; i < t->syms.n; i++) {
		if (is32)
			put_symbol32(&t->syms.at[i], out);
		else
			put(out, &t->syms.at[i], sizeof(t->syms.at[i]));
	}
	put(out, t->text.at, t->text.n);
	put(out, names, sizeof(names));
	for (i = 0; i < SECTIONS; i++) {
		if (is32)
			put_section32(&sections[i], out);
		else
			put(out, &sections[i], sizeof(sections[i]));
	}
}

int export_code_write(const struct export_code *code, const struct debug_symbols *symbols,
		      FILE *out)
{
	Elf64_Shdr sections[SECTIONS];
	struct symtab t = {0};
	int err = list_symbols(code, symbols, &t);
	uint64_t at;

	if (!err) {
		list_sections(code, &t, sections);
		at = sections[SEC_NAMES].sh_offset + sections[SEC_NAMES].sh_size;
		put_header(code, at, out);
		put_pages(code, out);
		put_tables(code, &t, sections, out);
	}
	free(t.syms.at);
	free(t.text.at);
	return err;
}
