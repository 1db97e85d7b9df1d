// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_map.h"
#include "trace/input.h"
#include "trace/vec.h"

struct image {
	Elf *elf;
	Dwarf *dwarf;
	uint64_t bias;
};

struct vpt_symbols {
	struct {
		struct image *at;
		size_t n, room;
	} images;
	struct {
		struct vpt_input *at;
		size_t n, room;
	} inputs;
	struct {
		struct vpt_symbol_map *at;
		size_t n, room;
	} maps;
	struct {
		struct vpt_symbol *at;
		size_t n, room;
	} symbols;
	struct {
		struct vpt_line *at;
		size_t n, room;
	} lines;
	bool lines_read;
};

static bool names_code(const GElf_Sym *sym, Elf *elf)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (type == STT_FUNC)
		return sym->st_shndx != SHN_UNDEF;
	/* Assembly often has labels only. */
	if (type != STT_NOTYPE || sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	scn = elf_getscn(elf, sym->st_shndx);
	return scn && gelf_getshdr(scn, &shdr) && (shdr.sh_flags & SHF_EXECINSTR);
}

static int add_table(struct vpt_symbols *s, const struct image *image, Elf_Scn *scn,
		     const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n, i;

	if (!data || !shdr->sh_entsize)
		return 0;
	n = shdr->sh_size / shdr->sh_entsize;
	for (i = 0; i < n && i <= INT32_MAX; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (!names_code(&sym, image->elf))
			continue;
		name = elf_strptr(image->elf, shdr->sh_link, sym.st_name);
		if (!name || !*name || !strncmp(name, ".L", 2))
			continue;
		if (!vpt_vec_room(&s->symbols))
			return -ENOMEM;
		s->symbols.at[s->symbols.n++] = (struct vpt_symbol){
			.start = sym.st_value + image->bias,
			.end = sym.st_value + image->bias + sym.st_size,
			.name = name,
		};
	}
	return 0;
}

/* .symtab, or .dynsym in an image that was stripped. */
static int add_symbols(struct vpt_symbols *s, const struct image *image)
{
	static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};
	size_t had = s->symbols.n;
	size_t i;

	for (i = 0; i < 2 && s->symbols.n == had; i++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(image->elf, scn))) {
			GElf_Shdr shdr;
			int err;

			if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != types[i])
				continue;
			err = add_table(s, image, scn, &shdr);
			if (err)
				return err;
		}
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct vpt_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of several at one place, the longest, then the first by name. */
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * One symbol per place, each up to the next at most and those without size up to it: of
 * those from `first` on, which are an image's, and then of all.
 */
static void tidy(struct vpt_symbols *s, size_t first)
{
	size_t all = s->symbols.n - first, i, n = 0;
	struct vpt_symbol *at;

	if (!all)
		return;
	at = s->symbols.at + first;
	qsort(at, all, sizeof(*at), by_start);
	for (i = 0; i < all; i++) {
		if (!n || at[n - 1].start != at[i].start)
			at[n++] = at[i];
	}
	for (i = 0; i < n; i++) {
		uint64_t next = i + 1 < n ? at[i + 1].start : UINT64_MAX;

		if (at[i].end <= at[i].start)
			at[i].end = i + 1 < n ? next : at[i].start + 4096;
		else if (at[i].end > next)
			at[i].end = next;
	}
	s->symbols.n = first + n;
}

/* 0, -ENOMEM, or -EINVAL: it is no ELF file. */
static int add_image(struct vpt_symbols *s, const uint8_t *bytes, size_t len, uint64_t bias)
{
	size_t first = s->symbols.n;
	struct image *image;
	int err;

	if (!vpt_vec_room(&s->images))
		return -ENOMEM;
	image = &s->images.at[s->images.n];
	/* libelf wants it writable; what the reader hands out is private. */
	*image = (struct image){.elf = elf_memory((char *)bytes, len), .bias = bias};
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF) {
		elf_end(image->elf);
		return -EINVAL;
	}
	s->images.n++;
	err = add_symbols(s, image);
	if (!err)
		tidy(s, first);
	return err;
}

int vpt_symbols_open(const struct vpt_reader *reader, struct vpt_symbols **symbols)
{
	struct vpt_symbols *s = calloc(1, sizeof(*s));
	const struct vpt_elf_file *files;
	size_t n, i;

	if (!s)
		return -ENOMEM;
	files = vpt_reader_elf(reader, &n);
	elf_version(EV_CURRENT);
	for (i = 0; i < n; i++) {
		if (add_image(s, files[i].bytes, files[i].len, files[i].image->bias) == -ENOMEM) {
			vpt_symbols_close(s);
			return -ENOMEM;
		}
	}
	tidy(s, 0);
	*symbols = s;
	return 0;
}

static bool is_elf(const struct vpt_input *in)
{
	return in->size >= SELFMAG && !memcmp(in->bytes, ELFMAG, SELFMAG);
}

static int add_map(struct vpt_symbols *s, const struct vpt_input *in, uint64_t bias, char *why,
		   size_t size)
{
	struct vpt_symbol_map *map;
	size_t i;
	int err;

	if (!vpt_vec_room(&s->maps))
		return -ENOMEM;
	map = &s->maps.at[s->maps.n++];
	memset(map, 0, sizeof(*map));
	err = vpt_symbol_map_read(map, in->bytes, in->size, bias);
	if (err == -EINVAL)
		snprintf(why, size, "it is no ELF file, and line %zu is not of a symbol map",
			 map->line);
	if (err)
		return err;
	/* So it is for those who may not see a kernel's addresses. */
	if (!map->n || map->at[map->n - 1].start == bias) {
		snprintf(why, size, "it has no address of code%s",
			 map->n ? ": they are all 0, as without the right to see them" : "");
		return -EINVAL;
	}
	for (i = 0; i < map->n; i++) {
		if (!vpt_vec_room(&s->symbols))
			return -ENOMEM;
		s->symbols.at[s->symbols.n++] = map->at[i];
	}
	return 0;
}

static int add_file(struct vpt_symbols *s, const char *path, uint64_t bias, char *why, size_t size)
{
	size_t had = s->symbols.n;
	struct vpt_input *in;
	int err;

	if (!vpt_vec_room(&s->inputs))
		return -ENOMEM;
	in = &s->inputs.at[s->inputs.n++];
	memset(in, 0, sizeof(*in));
	err = vpt_input_open(in, path);
	if (err)
		return err;
	if (!is_elf(in))
		return add_map(s, in, bias, why, size);
	err = add_image(s, in->bytes, in->size, bias);
	if (err == -EINVAL)
		snprintf(why, size, "the ELF file is damaged");
	if (!err && s->symbols.n == had) {
		snprintf(why, size, "it has no symbols of code");
		err = -EINVAL;
	}
	return err;
}

int vpt_symbols_add(struct vpt_symbols *s, const char *path, uint64_t bias, char *why, size_t size)
{
	int err;

	*why = 0;
	err = add_file(s, path, bias, why, size);
	if (err && !*why)
		snprintf(why, size, "%s", strerror(-err));
	if (!err)
		tidy(s, 0);
	return err;
}

void vpt_symbols_close(struct vpt_symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->images.n; i++) {
		dwarf_end(s->images.at[i].dwarf);
		elf_end(s->images.at[i].elf);
	}
	for (i = 0; i < s->inputs.n; i++)
		vpt_input_close(&s->inputs.at[i]);
	for (i = 0; i < s->maps.n; i++)
		vpt_symbol_map_free(&s->maps.at[i]);
	free(s->images.at);
	free(s->inputs.at);
	free(s->maps.at);
	free(s->symbols.at);
	free(s->lines.at);
	free(s);
}

const struct vpt_symbol *vpt_symbols_all(const struct vpt_symbols *s, size_t *count)
{
	*count = s->symbols.n;
	return s->symbols.at;
}

const struct vpt_symbol *vpt_symbols_find(const struct vpt_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s ? s->symbols.n : 0;

	/* The first that starts after the address. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->symbols.at[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= s->symbols.at[lo - 1].end)
		return NULL;
	return &s->symbols.at[lo - 1];
}

static int add_row(struct vpt_symbols *s, uint64_t addr, const char *file, int line)
{
	if (!vpt_vec_room(&s->lines))
		return -ENOMEM;
	s->lines.at[s->lines.n++] = (struct vpt_line){
		.addr = addr,
		.file = file,
		.line = line > 0 ? (unsigned int)line : 0,
	};
	return 0;
}

static int add_unit(struct vpt_symbols *s, const struct image *image, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n, i;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0;
	for (i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		const char *file = NULL;
		Dwarf_Addr addr;
		bool end = false;
		int line = 0;

		if (!row || dwarf_lineaddr(row, &addr))
			continue;
		if (dwarf_lineendsequence(row, &end) || dwarf_lineno(row, &line))
			continue;
		if (!end && line > 0)
			file = dwarf_linesrc(row, NULL, NULL);
		if (add_row(s, addr + image->bias, file, line))
			return -ENOMEM;
	}
	return 0;
}

/* Sort key: rows that end a sequence come before those that begin one there. */
static int by_addr(const void *a, const void *b)
{
	const struct vpt_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->file != NULL) - (y->file != NULL);
}

static int read_lines(struct vpt_symbols *s)
{
	size_t i;

	for (i = 0; i < s->images.n; i++) {
		struct image *image = &s->images.at[i];
		Dwarf_Off at = 0, next;
		size_t head;

		image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
		if (!image->dwarf)
			continue;
		while (!dwarf_nextcu(image->dwarf, at, &next, &head, NULL, NULL, NULL)) {
			Dwarf_Die unit;

			if (dwarf_offdie(image->dwarf, at + head, &unit) &&
			    add_unit(s, image, &unit))
				return -ENOMEM;
			if (next <= at)
				break;
			at = next;
		}
	}
	if (s->lines.n)
		qsort(s->lines.at, s->lines.n, sizeof(*s->lines.at), by_addr);
	return 0;
}

const struct vpt_line *vpt_symbols_lines(struct vpt_symbols *s, size_t *count)
{
	if (!s->lines_read) {
		/* Without memory there are just fewer lines. */
		(void)read_lines(s);
		s->lines_read = true;
	}
	*count = s->lines.n;
	return s->lines.at;
}

const struct vpt_line *vpt_symbols_line(struct vpt_symbols *s, uint64_t addr)
{
	const struct vpt_line *rows;
	size_t lo = 0, hi;

	rows = vpt_symbols_lines(s, &hi);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && rows[lo - 1].file ? &rows[lo - 1] : NULL;
}

size_t vpt_symbols_format(const struct vpt_symbols *s, uint64_t addr, char *text, size_t size)
{
	const struct vpt_symbol *symbol = vpt_symbols_find(s, addr);
	const char *module = symbol && symbol->module ? symbol->module : "";
	const char *before = *module ? " [" : "", *after = *module ? "]" : "";
	int len;
	char *p;

	if (!symbol)
		len = snprintf(text, size, "0x%llx", (unsigned long long)addr);
	else if (symbol->start == addr)
		len = snprintf(text, size, "%s%s%s%s", symbol->name, before, module, after);
	else
		len = snprintf(text, size, "%s+0x%llx%s%s%s", symbol->name,
			       (unsigned long long)(addr - symbol->start), before, module, after);
	/* Names come from the file: nothing that a terminal would act on. */
	for (p = text; size && *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	return len < 0 ? 0 : (size_t)len;
}
