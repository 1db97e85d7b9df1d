// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads ELF cores of a machine: PT_LOAD segments by their physical addresses. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/inside.h"
#include "trace/vec.h"

/* A limit above that of any dump. Each segment has 56 bytes. */
#define SEGMENTS_MAX (1u << 20)
#define PHYSICAL_MAX (1ull << 52)

struct core {
	struct image_image *image;
	const struct image_why *why;
	bool wide; /* ELF64 */
	uint16_t machine, type, entry_bytes;
	uint64_t headers, sections;
	uint32_t count;
};

static int cut_short(const struct core *c)
{
	return image_refuse(c->why, -EINVAL, "an ELF file that is cut short");
}

static int read_header(struct core *c)
{
	uint8_t ident[EI_NIDENT];
	Elf64_Ehdr h64;
	Elf32_Ehdr h32;

	if (image_file_read(c->image, 0, ident, sizeof(ident)))
		return cut_short(c);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return image_refuse(c->why, -EINVAL, "an ELF file, but not of x86");
	c->wide = ident[EI_CLASS] == ELFCLASS64;
	if (image_file_read(c->image, 0, c->wide ? (void *)&h64 : (void *)&h32,
			    c->wide ? sizeof(h64) : sizeof(h32)))
		return cut_short(c);
#define TAKE(to, field) (c->to = c->wide ? h64.field : h32.field)
	TAKE(machine, e_machine);
	TAKE(type, e_type);
	TAKE(entry_bytes, e_phentsize);
	TAKE(headers, e_phoff);
	TAKE(sections, e_shoff);
	TAKE(count, e_phnum);
#undef TAKE
	return 0;
}

/* A count that does not fit into e_phnum is sh_info of the first section. */
static int read_long_count(struct core *c)
{
	Elf64_Shdr s64;
	Elf32_Shdr s32;

	if (c->count != PN_XNUM)
		return 0;
	if (image_file_read(c->image, c->sections, c->wide ? (void *)&s64 : (void *)&s32,
			    c->wide ? sizeof(s64) : sizeof(s32)))
		return cut_short(c);
	c->count = c->wide ? s64.sh_info : s32.sh_info;
	return 0;
}

static int read_segment(const struct core *c, uint32_t i, Elf64_Phdr *p)
{
	uint64_t at = c->headers + (uint64_t)i * c->entry_bytes;
	Elf32_Phdr narrow;

	if (at < c->headers)
		return cut_short(c);
	if (c->wide)
		return image_file_read(c->image, at, p, sizeof(*p)) ? cut_short(c) : 0;
	if (image_file_read(c->image, at, &narrow, sizeof(narrow)))
		return cut_short(c);
	*p = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_offset = narrow.p_offset,
		.p_paddr = narrow.p_paddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
	};
	return 0;
}

/* Memory that a dump omits has no bytes in the file. */
static int add_segment(const struct core *c, const Elf64_Phdr *p)
{
	uint64_t bytes = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;

	/* /proc/kcore also has segments of virtual memory, which have no physical address. */
	if (!bytes || p->p_paddr == UINT64_MAX)
		return 0;
	if (p->p_paddr >= PHYSICAL_MAX || bytes > PHYSICAL_MAX - p->p_paddr ||
	    p->p_offset > UINT64_MAX - bytes)
		return image_refuse(c->why, -EINVAL, "a PT_LOAD segment is beyond physical memory");
	if (!trace_vec_room(&c->image->ranges))
		return image_refuse(c->why, -ENOMEM, "%s", strerror(ENOMEM));
	c->image->ranges.at[c->image->ranges.n++] =
		(struct image_range){p->p_paddr, bytes, p->p_offset};
	return 0;
}

static int read_segments(struct core *c)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < c->count && !err; i++) {
		Elf64_Phdr p;

		err = read_segment(c, i, &p);
		if (!err && p.p_type == PT_NOTE)
			image_notes_read(c->image, p.p_offset, p.p_filesz, c->machine == EM_X86_64);
		if (!err && p.p_type == PT_LOAD)
			err = add_segment(c, &p);
	}
	return err;
}

int image_elf_open(struct image_image *image, const struct image_why *why)
{
	struct core c = {.image = image, .why = why};
	int err = read_header(&c);

	if (err)
		return err;
	if (c.type != ET_CORE || (c.machine != EM_X86_64 && c.machine != EM_386))
		return image_refuse(why, -EINVAL, "an ELF file, but not a core of an x86 machine");
	err = read_long_count(&c);
	if (err)
		return err;
	if (c.count > SEGMENTS_MAX ||
	    (c.count && c.entry_bytes < (c.wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		return image_refuse(why, -EINVAL,
				    "an ELF core with program headers that are wrong");
	image->format = "ELF core";
	err = read_segments(&c);
	if (err)
		return err;
	image_ranges_sort(image);
	/* Cores of processes have no physical addresses: everything overlaps at 0. */
	if (!image->ranges.n)
		return image_refuse(why, -EINVAL, "an ELF core without memory");
	return 0;
}
