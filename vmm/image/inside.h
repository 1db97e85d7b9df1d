/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an image, for the files of its formats alone. */
#ifndef VMM_IMAGE_INSIDE_H
#define VMM_IMAGE_INSIDE_H

#include "image/image.h"

/* A piece of a file that makedumpfile flattened. */
struct img_piece {
	uint64_t offset; /* in the file that it was flattened from */
	uint64_t bytes;
	uint64_t at; /* in this file */
};

struct img_kdump;

struct img_image {
	int fd;
	uint64_t file_bytes;
	const char *format;
	enum img_paging paging;

	struct {
		struct img_piece *at;
		size_t n, room;
	} pieces; /* sorted; none: the file is not flattened */
	struct {
		struct img_range *at;
		size_t n, room;
	} ranges;		 /* sorted, and apart from each other */
	struct img_kdump *kdump; /* NULL: pages are found by range */
	const char *damage;

	/* Pages that were read, by page number: open addressing. */
	struct img_kept {
		uint64_t number;
		uint8_t *bytes; /* NULL: a free slot */
	} * kept;
	size_t nkept, mask;
};

/* A reason for refusing a file. */
struct img_why {
	char *text;
	size_t size;
};

/* Put the line into @why, and return @err. */
__attribute__((format(printf, 3, 4))) int img_refuse(const struct img_why *why, int err,
						     const char *format, ...);

/*
 * Read bytes of the file, as it was before it was flattened. Returns 0 or -errno: -ENODATA if they
 * are not there.
 */
int img_file_read(const struct img_image *image, uint64_t offset, void *to, size_t len);

/* Sort ranges, and cut what overlaps. */
void img_ranges_sort(struct img_image *image);

/* elf.c: program headers and notes. 0 or -errno. */
int img_elf_open(struct img_image *image, const struct img_why *why);

/*
 * notes.c: learn the paging from ELF notes at @offset. @wide: the machine is x86-64. Notes that
 * are damaged are ignored.
 */
void img_notes_read(struct img_image *image, uint64_t offset, uint64_t bytes, bool wide);
/* The same for the text of a VMCOREINFO note. */
void img_vmcoreinfo_read(struct img_image *image, uint64_t offset, uint64_t bytes, bool wide);

/* flat.c: the pieces of a flattened file. 0 or -errno. */
int img_flat_open(struct img_image *image, const struct img_why *why);
int img_flat_read(const struct img_image *image, uint64_t offset, void *to, size_t len);

/* kdump.c: 0 or -errno. */
int img_kdump_open(struct img_image *image, const struct img_why *why);
void img_kdump_close(struct img_kdump *kdump);
/* Returns 0, -ENODATA: there is no such page, or another error, with a line in @image. */
int img_kdump_page(struct img_image *image, uint64_t number, uint8_t *bytes);

#endif /* VMM_IMAGE_INSIDE_H */
