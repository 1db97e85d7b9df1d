// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the kernel's code as kcore, and its symbols and modules. */
#include "export/kernel.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

/* The range of an x86-64 kernel's text and modules. Data and the memory maps are below it. */
#define TEXT_BEGIN 0xffffffff80000000ull

/* Pages closer than this share a segment, so that perf has fewer maps to search. */
#define GAP (64ull * TRACE_CODE_BYTES)

static bool in_kernel(const struct export_page *page)
{
	return !page->process && page->base;
}

void export_kernel_text(const struct export_pages *p, struct export_text *text)
{
	uint64_t first = 0;
	size_t i;

	memset(text, 0, sizeof(*text));
	for (i = 0; i < p->npages; i++) {
		const struct export_page *page = &p->pages[i];

		if (!in_kernel(page))
			continue;
		if (!first || (first < TEXT_BEGIN && page->vaddr >= TEXT_BEGIN))
			first = page->vaddr;
		text->end = page->vaddr + TRACE_CODE_BYTES;
	}
	/* The last page of the address space ends at 2^64. */
	if (first && text->end < first)
		text->end = UINT64_MAX & ~(uint64_t)(TRACE_CODE_BYTES - 1);
	text->begin = first;
}

/* The code of one map of perf. */
struct segment {
	uint64_t begin, bytes; /* whole pages, which do not wrap at 2^64 */
};

struct segments {
	struct segment *at;
	size_t n, room;
};

static int add_page(struct segments *s, uint64_t vaddr)
{
	struct segment *last = s->n ? &s->at[s->n - 1] : NULL;

	if (last && vaddr - last->begin < last->bytes)
		return 0;
	if (last && vaddr - last->begin - last->bytes <= GAP) {
		last->bytes = vaddr - last->begin + TRACE_CODE_BYTES;
		return 0;
	}
	if (!trace_vec_room(s))
		return -ENOMEM;
	s->at[s->n++] = (struct segment){vaddr, TRACE_CODE_BYTES};
	return 0;
}

/*
 * List the segments, including the page of the text's beginning. perf looks for that page even if
 * it did not run.
 */
static int list_segments(const struct export_pages *p, uint64_t text, struct segments *s)
{
	bool seen = false;
	int err = 0;
	size_t i;

	for (i = 0; i < p->npages && !err; i++) {
		if (!in_kernel(&p->pages[i]))
			continue;
		if (!seen && p->pages[i].vaddr >= text) {
			seen = true;
			err = add_page(s, text);
		}
		if (!err)
			err = add_page(s, p->pages[i].vaddr);
	}
	return err || seen ? err : add_page(s, text);
}

static void put_headers(const struct segments *s, FILE *out)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)s->n,
	};
	uint64_t at = sizeof(header) + s->n * sizeof(Elf64_Phdr);
	size_t i;

	fwrite(&header, sizeof(header), 1, out);
	for (i = 0; i < s->n; i++) {
		Elf64_Phdr load = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W | PF_X,
			.p_offset = at,
			.p_vaddr = s->at[i].begin,
			.p_filesz = s->at[i].bytes,
			.p_memsz = s->at[i].bytes,
			.p_align = TRACE_CODE_BYTES,
		};

		at += s->at[i].bytes;
		fwrite(&load, sizeof(load), 1, out);
	}
}

/* Write each page to its place. The file has holes between them. */
static int put_pages(const struct export_pages *p, const struct segments *s, FILE *out)
{
	uint64_t at = sizeof(Elf64_Ehdr) + s->n * sizeof(Elf64_Phdr);
	size_t i, k = 0;

	for (i = 0; i < p->npages; i++) {
		const struct export_page *page = &p->pages[i];

		if (!in_kernel(page))
			continue;
		for (; page->vaddr - s->at[k].begin >= s->at[k].bytes; k++)
			at += s->at[k].bytes;
		if (fseeko(out, (off_t)(at + page->vaddr - s->at[k].begin), SEEK_SET))
			return -errno;
		fwrite(page->base, TRACE_CODE_BYTES, 1, out);
	}
	return 0;
}

int export_kcore(const struct export_pages *p, struct export_text *text, FILE *out)
{
	uint64_t first = text->begin & ~(uint64_t)(TRACE_CODE_BYTES - 1);
	struct segments s = {0};
	int err = list_segments(p, first, &s);
	size_t i;

	if (!err && s.n >= PN_XNUM)
		err = -EFBIG;
	if (!err) {
		put_headers(&s, out);
		err = put_pages(p, &s, out);
	}
	for (i = 0; i < s.n; i++) {
		if (first - s.at[i].begin < s.at[i].bytes)
			text->end = s.at[i].begin + s.at[i].bytes;
	}
	free(s.at);
	return err;
}

/* Write a name from an untrusted file as one word, because each line has three words. */
static void put_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name > ' ' && *name < 0x7f ? *name : '_', out);
	fputc('\n', out);
}

int export_kallsyms(const struct debug_symbols *symbols, const struct export_text *text, FILE *out)
{
	const struct debug_symbol *all;
	size_t n, i;

	all = debug_symbols_all(symbols, &n);
	fprintf(out, "%016" PRIx64 " T _text\n%016" PRIx64 " T _stext\n", text->begin, text->begin);
	for (i = 0; i < n; i++) {
		if (all[i].start < EXPORT_KERNEL)
			continue;
		fprintf(out, "%016" PRIx64 " t ", all[i].start);
		put_name(all[i].name, out);
	}
	fprintf(out, "%016" PRIx64 " T _etext\n", text->end);
	return 0;
}

static bool named(const char *line, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(line, name, len) && (!line[len] || line[len] == '\n');
}

int export_kallsyms_copy(FILE *in, struct export_text *text, FILE *out)
{
	uint64_t begin = 0, start = 0, end = 0, addr;
	char *line = NULL, type;
	size_t room = 0;
	int err = 0, name;

	while (!err && getline(&line, &room, in) > 0) {
		if (sscanf(line, "%" SCNx64 " %c %n", &addr, &type, &name) != 2) {
			err = -EINVAL;
			break;
		}
		if (named(line + name, "_text"))
			begin = addr;
		else if (named(line + name, "_stext"))
			start = addr;
		else if (named(line + name, "_etext"))
			end = addr;
		fputs(line, out);
	}
	if (!err && ferror(in))
		err = -EIO;
	free(line);
	if (!begin)
		begin = start;
	/* All addresses are zero if the user lacked permission to read them. */
	if (!err && !begin)
		err = -EINVAL;
	if (err)
		return err;
	text->begin = begin;
	if (end > begin)
		text->end = end;
	return 0;
}
