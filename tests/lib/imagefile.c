// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes memory images in the formats of dump tools. */
#include "lib/imagefile.h"

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PAGE	  4096u
#define VMCORE	  "VMCOREINFO"
#define FLAT_PART 1000u /* bytes of a piece, which is not even a page */

const char *const imagefile_names[IMAGEFILE_FORMATS] = {"raw",	 "elf",	 "elf32", "paged",
							"kdump", "flat", "lzo"};

/* A file that is built in memory. */
struct bytes {
	uint8_t *at;
	size_t n, room;
	bool failed;
};

static void put(struct bytes *b, const void *from, size_t n)
{
	if (b->n + n > b->room) {
		size_t room = 2 * (b->n + n);
		uint8_t *at = realloc(b->at, room);

		if (!at) {
			b->failed = true;
			return;
		}
		b->at = at;
		b->room = room;
	}
	if (from)
		memcpy(b->at + b->n, from, n);
	else
		memset(b->at + b->n, 0, n);
	b->n += n;
}

static bool is_zero(const uint8_t *page)
{
	size_t i;

	for (i = 0; i < PAGE && !page[i]; i++)
		;
	return i == PAGE;
}

/* Find the next run of nonzero pages from page *first on. Returns its number of pages, or 0. */
static size_t next_run(const struct imagefile *i, size_t *first)
{
	size_t pages = i->bytes / PAGE, n = 0;

	while (*first < pages && is_zero(i->ram + *first * PAGE))
		++*first;
	while (*first + n < pages && !is_zero(i->ram + (*first + n) * PAGE))
		n++;
	return n;
}

static size_t count_runs(const struct imagefile *i)
{
	size_t first = 0, n, runs = 0;

	for (; (n = next_run(i, &first)); first += n)
		runs++;
	return runs;
}

static void put_note(struct bytes *b, const struct imagefile *i)
{
	Elf64_Nhdr h = {.n_namesz = sizeof(VMCORE), .n_type = 0};
	static const char padding[4];
	size_t len = i->vmcoreinfo ? strlen(i->vmcoreinfo) : 0;

	if (!len)
		return;
	h.n_descsz = (Elf64_Word)len;
	put(b, &h, sizeof(h));
	put(b, VMCORE, sizeof(VMCORE));
	put(b, padding, -sizeof(VMCORE) & 3);
	put(b, i->vmcoreinfo, len);
	put(b, padding, -len & 3);
}

static void put_segment(struct bytes *b, bool wide, const Elf64_Phdr *p)
{
	const Elf32_Phdr narrow = {
		.p_type = p->p_type,
		.p_offset = (Elf32_Off)p->p_offset,
		.p_paddr = (Elf32_Addr)p->p_paddr,
		.p_filesz = (Elf32_Word)p->p_filesz,
		.p_memsz = (Elf32_Word)p->p_memsz,
	};

	if (wide)
		put(b, p, sizeof(*p));
	else
		put(b, &narrow, sizeof(narrow));
}

static void put_elf_header(struct bytes *b, bool wide, size_t segments)
{
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)segments,
	};
	const Elf32_Ehdr narrow = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(narrow),
		.e_ehsize = sizeof(narrow),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = (Elf32_Half)segments,
	};

	if (wide)
		put(b, &h, sizeof(h));
	else
		put(b, &narrow, sizeof(narrow));
}

/*
 * Make an ELF core. @again: each range occurs twice, once with a virtual address and one page less.
 */
static void make_elf(struct bytes *b, const struct imagefile *i, bool wide, bool again)
{
	size_t runs = count_runs(i) * (again ? 2 : 1), first = 0, n;
	size_t entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t at = (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) + (runs + 1) * entry;
	struct bytes note = {0};
	Elf64_Phdr p = {.p_type = PT_NOTE, .p_offset = at};

	put_note(&note, i);
	put_elf_header(b, wide, runs + 1);
	p.p_filesz = note.n;
	put_segment(b, wide, &p);
	at += note.n;
	for (; (n = next_run(i, &first)); first += n) {
		p = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_offset = at,
			.p_paddr = i->base + first * PAGE,
			.p_filesz = n * PAGE,
			.p_memsz = n * PAGE,
		};
		put_segment(b, wide, &p);
		if (again) {
			p.p_vaddr = 0xffff888000000000 + p.p_paddr;
			p.p_filesz -= n > 1 ? PAGE : 0;
			p.p_memsz = p.p_filesz;
			put_segment(b, wide, &p);
		}
		at += n * PAGE;
	}
	put(b, note.at, note.n);
	free(note.at);
	for (first = 0; (n = next_run(i, &first)); first += n)
		put(b, i->ram + first * PAGE, n * PAGE);
}

static void set32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void set64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

/* Write both headers: struct disk_dump_header and struct kdump_sub_header. */
static void put_kdump_headers(struct bytes *b, const struct imagefile *i, size_t bitmap_blocks)
{
	uint8_t h[PAGE] = "KDUMP   ", sub[PAGE] = {0};
	size_t len = i->vmcoreinfo ? strlen(i->vmcoreinfo) : 0;

	set32(h + 8, 6);
	memcpy(h + 12, "Linux", 5);
	memcpy(h + 12 + 4 * 65, "x86_64", 6);
	set32(h + 428, PAGE);
	set32(h + 432, 1);
	set32(h + 436, (uint32_t)bitmap_blocks);
	set64(sub + 96, (i->base + i->bytes) / PAGE);
	if (len && len < 1024) {
		set64(sub + 32, PAGE + 1024);
		set64(sub + 40, len);
		memcpy(sub + 1024, i->vmcoreinfo, len);
	}
	put(b, h, PAGE);
	put(b, sub, PAGE);
}

static void put_bitmap(struct bytes *b, const struct imagefile *i, size_t bytes)
{
	uint8_t *map = calloc(1, bytes);
	size_t first = 0, n, k;

	for (; map && (n = next_run(i, &first)); first += n) {
		for (k = first; k < first + n; k++) {
			size_t number = i->base / PAGE + k;

			map[number / 8] |= (uint8_t)(1u << number % 8);
		}
	}
	put(b, map, bytes);
	put(b, map, bytes);
	b->failed |= !map;
	free(map);
}

/* Compress a page, except one page in four. */
static size_t pack(const uint8_t *page, size_t number, uint8_t *to, uint32_t *flags)
{
	uLongf n = compressBound(PAGE);

	*flags = 1;
	if (number % 4 && compress2(to, &n, page, PAGE, 1) == Z_OK && n < PAGE)
		return n;
	memcpy(to, page, PAGE);
	*flags = 0;
	return PAGE;
}

static void make_kdump(struct bytes *b, const struct imagefile *i, bool lzo)
{
	size_t pages = (i->base + i->bytes) / PAGE, half = (pages / 8 + PAGE) / PAGE * PAGE;
	size_t first = 0, n, k, count = 0, at;
	uint8_t packed[2 * PAGE], d[24];
	struct bytes data = {0};

	for (; (n = next_run(i, &first)); first += n)
		count += n;
	put_kdump_headers(b, i, 2 * half / PAGE);
	put_bitmap(b, i, half);
	at = b->n + count * sizeof(d);
	for (first = 0; (n = next_run(i, &first)); first += n) {
		for (k = first; k < first + n; k++) {
			uint32_t flags;
			size_t len = pack(i->ram + k * PAGE, k, packed, &flags);

			set64(d, at + data.n);
			set32(d + 8, (uint32_t)len);
			set32(d + 12, lzo ? 2 : flags);
			set64(d + 16, 0);
			put(b, d, sizeof(d));
			put(&data, packed, len);
		}
	}
	put(b, data.at, data.n);
	free(data.at);
}

/* Write pieces in another order than that of the file. One piece is replaced by a later one. */
static void make_flat(struct bytes *b, const struct bytes *plain)
{
	char header[PAGE] = "makedumpfile";
	size_t parts = (plain->n + FLAT_PART - 1) / FLAT_PART, i;
	const uint64_t end[2] = {UINT64_MAX, UINT64_MAX};
	static const uint8_t wrong[16];

	header[23] = 1; /* type and version, big-endian */
	header[31] = 1;
	put(b, header, sizeof(header));
	for (i = 0; i <= parts; i++) {
		size_t part = i ? parts - i : 0, at = part * FLAT_PART;
		size_t n = plain->n - at < FLAT_PART ? plain->n - at : FLAT_PART;
		const uint64_t h[2] = {htobe64(at), htobe64(i ? n : sizeof(wrong))};

		put(b, h, sizeof(h));
		put(b, i ? plain->at + at : wrong, i ? n : sizeof(wrong));
	}
	put(b, end, sizeof(end));
}

static bool write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fwrite(bytes, 1, n, file) == n;

	return file && !fclose(file) && ok;
}

bool imagefile_write(const char *path, enum imagefile_format format, const struct imagefile *i)
{
	struct bytes b = {0}, flat = {0};
	bool ok;

	switch (format) {
	case IMAGEFILE_ELF:
	case IMAGEFILE_ELF32:
	case IMAGEFILE_PAGED:
		make_elf(&b, i, format != IMAGEFILE_ELF32, format == IMAGEFILE_PAGED);
		break;
	case IMAGEFILE_KDUMP:
	case IMAGEFILE_FLAT:
	case IMAGEFILE_LZO:
		make_kdump(&b, i, format == IMAGEFILE_LZO);
		break;
	default:
		return write_bytes(path, i->ram, i->bytes);
	}
	if (format == IMAGEFILE_FLAT) {
		make_flat(&flat, &b);
		ok = !flat.failed && write_bytes(path, flat.at, flat.n);
	} else {
		ok = write_bytes(path, b.at, b.n);
	}
	free(b.at);
	free(flat.at);
	return ok && !b.failed;
}
