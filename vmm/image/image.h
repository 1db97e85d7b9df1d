/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image of physical memory, page by page: a file, or the memory of a process.
 *
 * These files are known: ELF cores of QEMU's dump-guest-memory and of virsh dump, and vmcores of
 * kdump. Compressed dumps ("KDUMP   ", flattened by makedumpfile or not) may have plain pages and
 * pages compressed with zlib. Any other file is raw memory from a base address on. The content of
 * an image is hostile. Only the requested pages are read, and each of them once.
 */
#ifndef VMM_IMAGE_IMAGE_H
#define VMM_IMAGE_IMAGE_H

#include "image/walk.h"

struct image_image;

/* The maximum number of pages of an image in memory, 1 GiB. Further pages are not found. */
#define IMAGE_PAGES_MAX (1u << 18)

/*
 * Open the file at @path. @base is the physical address of the first byte of a raw image; other
 * formats have addresses of their own, and only 0 is accepted. Returns 0 or -errno with one line
 * in @why: -EINVAL if the content is wrong, -ENOTSUP if it is of a kind that cannot be read.
 */
int image_open(const char *path, uint64_t base, struct image_image **image, char *why, size_t size);

/* A range of physical memory, and the position of its bytes in a file. */
struct image_range {
	uint64_t address, bytes, offset;
};

/*
 * Create an image from ranges of an open file, such as /proc/PID/mem. The image owns @fd from then
 * on, also after an error. Returns 0 or -ENOMEM.
 */
int image_of_ranges(int fd, const struct image_range *ranges, size_t count,
		    struct image_image **image);

void image_close(struct image_image *image);

/*
 * Return the page that contains physical @address: IMAGE_PAGE_BYTES bytes, which live as long as
 * the image. NULL if the image does not have it. A page is always at the same address, so the
 * pointer identifies the physical page.
 */
const uint8_t *image_page(struct image_image *image, uint64_t address);

/* Copy bytes, for struct image_memory. @image is a struct image_image. */
bool image_read(void *image, uint64_t address, void *to, size_t len);

/* Return the number of bytes of memory in the image. */
uint64_t image_bytes(const struct image_image *image);
/* Return "raw", "ELF core" or "compressed dump". */
const char *image_format(const struct image_image *image);

/* Return the paging mode from the file's notes, or IMAGE_PAGINGS if they lack it. */
enum image_paging image_known_paging(const struct image_image *image);

/* Return a line about the first page that could not be read, or NULL. */
const char *image_damage(const struct image_image *image);

#endif /* VMM_IMAGE_IMAGE_H */
