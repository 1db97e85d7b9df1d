/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an image, for the files of its formats only. */
#ifndef VMM_IMAGE_INSIDE_H
#define VMM_IMAGE_INSIDE_H

#include "image/image.h"

/* A piece of a file that makedumpfile flattened. */
struct image_piece {
	uint64_t offset; /* offset in the original file */
	uint64_t bytes;
	uint64_t at; /* in this file */
};

struct image_kdump;

struct image_image {
	int fd;
	uint64_t file_bytes;
	const char *format;
	enum image_paging paging;

	struct {
		struct image_piece *at;
		size_t n, room;
	} pieces; /* sorted; empty if the file is not flattened */
	struct {
		struct image_range *at;
		size_t n, room;
	} ranges;		   /* sorted, without overlaps */
	struct image_kdump *kdump; /* NULL if pages are found by range */
	const char *damage;

	/* Pages that were read, by page number, with open addressing. */
	struct image_kept {
		uint64_t number;
		uint8_t *bytes; /* NULL for a free slot */
	} * kept;
	size_t nkept, mask;
};

/* A reason for refusing a file. */
struct image_why {
	char *text;
	size_t size;
};

/* Write the line to @why, and return @err. */
__attribute__((format(printf, 3, 4))) int image_refuse(const struct image_why *why, int err,
						       const char *format, ...);

/*
 * Read bytes of the file at their offset before it was flattened. Returns 0 or -errno: -ENODATA if
 * they are missing.
 */
int image_file_read(const struct image_image *image, uint64_t offset, void *to, size_t len);

/* Sort ranges, and remove overlaps. */
void image_ranges_sort(struct image_image *image);

/* elf.c: read program headers and notes. Returns 0 or -errno. */
int image_elf_open(struct image_image *image, const struct image_why *why);

/*
 * notes.c: read the paging mode from ELF notes at @offset. @wide: the machine is x86-64. Damaged
 * notes are ignored.
 */
void image_notes_read(struct image_image *image, uint64_t offset, uint64_t bytes, bool wide);
/* Read the paging mode from the text of a VMCOREINFO note. */
void image_vmcoreinfo_read(struct image_image *image, uint64_t offset, uint64_t bytes, bool wide);

/* flat.c: read the pieces of a flattened file. Returns 0 or -errno. */
int image_flat_open(struct image_image *image, const struct image_why *why);
int image_flat_read(const struct image_image *image, uint64_t offset, void *to, size_t len);

/* kdump.c: open a compressed dump. Returns 0 or -errno. */
int image_kdump_open(struct image_image *image, const struct image_why *why);
void image_kdump_close(struct image_kdump *kdump);
/* Returns 0, -ENODATA if there is no such page, or another error with a line in @image. */
int image_kdump_page(struct image_image *image, uint64_t number, uint8_t *bytes);

#endif /* VMM_IMAGE_INSIDE_H */
