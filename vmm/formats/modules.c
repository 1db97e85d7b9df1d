// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the ELF images of addresses. The images are not trusted. */
#include "formats/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE   0xfffull
#define WINDOW (1ull << 32)

/* Extend a module by a segment. @type, @vaddr and @size are those of its program header. */
static void add_segment(struct format_module *m, uint32_t type, uint64_t vaddr, uint64_t size)
{
	const uint64_t start = (vaddr + m->image->bias) & ~PAGE;
	const uint64_t end = ((vaddr + m->image->bias + size - 1) | PAGE) + 1;

	if (type != PT_LOAD || !size || end <= start)
		return;
	if (m->end <= m->start) {
		m->start = start;
		m->end = end;
	}
	m->start = start < m->start ? start : m->start;
	m->end = end > m->end ? end : m->end;
}

static void add_segments(struct format_module *m, const uint8_t *bytes, size_t len, bool is64)
{
	const size_t entry = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	Elf64_Ehdr head;
	Elf32_Ehdr head32;
	uint64_t at, n, i;

	memcpy(&head, bytes, sizeof(head));
	memcpy(&head32, bytes, sizeof(head32));
	at = is64 ? head.e_phoff : head32.e_phoff;
	n = is64 ? head.e_phnum : head32.e_phnum;
	for (i = 0; i < n && at <= len && len - at >= entry; i++, at += entry) {
		Elf64_Phdr p;
		Elf32_Phdr p32;

		memcpy(&p32, bytes + at, sizeof(p32));
		if (is64) {
			memcpy(&p, bytes + at, sizeof(p));
			add_segment(m, p.p_type, p.p_vaddr, p.p_memsz);
		} else {
			add_segment(m, p32.p_type, p32.p_vaddr, p32.p_memsz);
		}
	}
}

/* Returns false if the file has no segment, or if offsets in it need more than 32 bits. */
static bool read_image(struct format_module *m, const struct trace_elf_file *file)
{
	*m = (struct format_module){.image = file->image};
	if (file->len < sizeof(Elf64_Ehdr) || memcmp(file->bytes, ELFMAG, SELFMAG))
		return false;
	add_segments(m, file->bytes, file->len, file->bytes[EI_CLASS] == ELFCLASS64);
	return m->end > m->start && m->end - m->start <= WINDOW;
}

static int by_start(const void *a, const void *b)
{
	const struct format_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int format_modules_open(const struct trace_reader *reader, struct format_modules *modules)
{
	const struct trace_elf_file *files;
	size_t n, i;

	files = trace_reader_elf(reader, &n);
	modules->n = 0;
	modules->at = calloc(n + 1, sizeof(*modules->at));
	if (!modules->at)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		modules->n += read_image(&modules->at[modules->n], &files[i]);
	if (modules->n)
		qsort(modules->at, modules->n, sizeof(*modules->at), by_start);
	return 0;
}

struct format_module format_modules_find(const struct format_modules *modules, uint64_t ip)
{
	const uint64_t window = ip & ~(WINDOW - 1);
	size_t i;

	for (i = modules->n; i--;) {
		if (ip >= modules->at[i].start && ip < modules->at[i].end)
			return modules->at[i];
	}
	return (struct format_module){.start = window, .end = window + WINDOW - 1};
}

int format_modules_begin(const struct trace_reader *reader, uint64_t *begin)
{
	struct format_modules modules;
	int err = format_modules_open(reader, &modules);

	if (err)
		return err;
	if (modules.n != 1)
		err = -ENOENT;
	else
		*begin = modules.at[0].start;
	format_modules_close(&modules);
	return err;
}

void format_modules_close(struct format_modules *modules)
{
	free(modules->at);
}
