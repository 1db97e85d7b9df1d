// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads compressed dumps of kdump ("KDUMP "), as makedumpfile and QEMU's dump-guest-memory write
 * them. A header, a second header and two bitmaps of pages precede a descriptor for each page of
 * the second bitmap.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "image/inside.h"

/* Offsets in the header for x86-64. */
#define HEADER_VERSION	     8
#define HEADER_MACHINE	     272
#define HEADER_BLOCK_SIZE    428
#define HEADER_SUB_BLOCKS    432
#define HEADER_BITMAP_BLOCKS 436
#define HEADER_MAX_MAPNR     440
#define HEADER_BYTES	     464

/* Offsets in the second header. */
#define SUB_SPLIT	 12
#define SUB_VMCOREINFO	 32
#define SUB_VMCOREINFO_N 40
#define SUB_NOTES	 48
#define SUB_NOTES_N	 56
#define SUB_MAX_MAPNR	 96
#define SUB_BYTES	 104

/* 4 TiB of memory. */
#define BITMAP_MAX (128u << 20)
/* Bytes of the bitmap whose set bits are counted once. */
#define GROUP 64u

enum page_flags { ZLIB = 1, LZO = 2, SNAPPY = 4, ZSTD = 0x20 };

struct page_descriptor {
	uint64_t offset;
	uint32_t bytes, flags;
	uint64_t page_flags;
};

struct image_kdump {
	uint8_t *bitmap;
	uint64_t bitmap_bytes;
	uint32_t *before; /* pages before each group */
	uint64_t descriptors;
};

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static unsigned int count_bits(const uint8_t *bytes, size_t n)
{
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (unsigned int)__builtin_popcount(bytes[i]);
	return sum;
}

static int count_groups(struct image_kdump *k)
{
	uint64_t groups = k->bitmap_bytes / GROUP, i;
	uint32_t sum = 0;

	k->before = calloc(groups + 1, sizeof(*k->before));
	if (!k->before)
		return -ENOMEM;
	for (i = 0; i < groups; i++) {
		k->before[i] = sum;
		sum += count_bits(k->bitmap + i * GROUP, GROUP);
	}
	return 0;
}

/* The second bitmap has the pages that are in the file. */
static int read_bitmap(struct image_image *image, uint64_t offset, uint64_t bytes,
		       const struct image_why *why)
{
	struct image_kdump *k = image->kdump;

	k->bitmap_bytes = bytes / 2;
	if (!k->bitmap_bytes || k->bitmap_bytes % GROUP || k->bitmap_bytes > BITMAP_MAX)
		return image_refuse(why, -EINVAL,
				    "a compressed dump with a bitmap of a wrong size");
	k->bitmap = malloc(k->bitmap_bytes);
	if (!k->bitmap)
		return image_refuse(why, -ENOMEM, "%s", strerror(ENOMEM));
	if (image_file_read(image, offset + k->bitmap_bytes, k->bitmap, k->bitmap_bytes))
		return image_refuse(why, -EINVAL, "a compressed dump that is cut short");
	return count_groups(k) ? image_refuse(why, -ENOMEM, "%s", strerror(ENOMEM)) : 0;
}

static void read_paging(struct image_image *image, const uint8_t *sub)
{
	image_vmcoreinfo_read(image, get64(sub + SUB_VMCOREINFO), get64(sub + SUB_VMCOREINFO_N),
			      true);
	image_notes_read(image, get64(sub + SUB_NOTES), get64(sub + SUB_NOTES_N), true);
}

int image_kdump_open(struct image_image *image, const struct image_why *why)
{
	uint8_t header[HEADER_BYTES], sub[SUB_BYTES];
	uint64_t bitmap, bitmap_bytes;

	image->format = "compressed dump";
	if (image_file_read(image, 0, header, sizeof(header)) ||
	    image_file_read(image, IMAGE_PAGE_BYTES, sub, sizeof(sub)))
		return image_refuse(why, -EINVAL, "a compressed dump that is cut short");
	if (memcmp(header + HEADER_MACHINE, "x86_64", 7))
		return image_refuse(why, -ENOTSUP,
				    "a compressed dump of another machine than x86-64");
	if (get32(header + HEADER_BLOCK_SIZE) != IMAGE_PAGE_BYTES)
		return image_refuse(why, -EINVAL, "a compressed dump with blocks of %u bytes",
				    get32(header + HEADER_BLOCK_SIZE));
	if (get32(header + HEADER_VERSION) >= 2 && get32(sub + SUB_SPLIT))
		return image_refuse(why, -ENOTSUP, "a part of a dump that makedumpfile split");
	image->kdump = calloc(1, sizeof(*image->kdump));
	if (!image->kdump)
		return image_refuse(why, -ENOMEM, "%s", strerror(ENOMEM));
	bitmap = (1ull + get32(header + HEADER_SUB_BLOCKS)) * IMAGE_PAGE_BYTES;
	bitmap_bytes = (uint64_t)get32(header + HEADER_BITMAP_BLOCKS) * IMAGE_PAGE_BYTES;
	image->kdump->descriptors = bitmap + bitmap_bytes;
	read_paging(image, sub);
	return read_bitmap(image, bitmap, bitmap_bytes, why);
}

void image_kdump_close(struct image_kdump *k)
{
	if (!k)
		return;
	free(k->bitmap);
	free(k->before);
	free(k);
}

static int damaged(struct image_image *image, const char *what)
{
	if (!image->damage)
		image->damage = what;
	return -EIO;
}

static int inflate_page(struct image_image *image, const uint8_t *from, uint32_t len,
			uint8_t *bytes)
{
	uLongf room = IMAGE_PAGE_BYTES;

	if (uncompress(bytes, &room, from, len) != Z_OK || room != IMAGE_PAGE_BYTES)
		return damaged(image, "a page cannot be decompressed");
	return 0;
}

/* Returns 0 or -EIO. */
static int read_compressed(struct image_image *image, const struct page_descriptor *d,
			   uint8_t *bytes)
{
	uint8_t from[IMAGE_PAGE_BYTES];

	if (d->flags & LZO)
		return damaged(image, "its pages are compressed with LZO: use zlib (-z)");
	if (d->flags & SNAPPY)
		return damaged(image, "its pages are compressed with snappy: use zlib (-z)");
	if (d->flags & ZSTD)
		return damaged(image, "its pages are compressed with zstd: use zlib");
	if (d->bytes > sizeof(from) || (!d->flags && d->bytes != sizeof(from)))
		return damaged(image, "a page with a wrong size");
	if (image_file_read(image, d->offset, from, d->bytes))
		return damaged(image, "a page is beyond the end of the file");
	if (d->flags & ZLIB)
		return inflate_page(image, from, d->bytes, bytes);
	memcpy(bytes, from, sizeof(from));
	return 0;
}

int image_kdump_page(struct image_image *image, uint64_t number, uint8_t *bytes)
{
	const struct image_kdump *k = image->kdump;
	struct page_descriptor d;
	uint64_t at = number / 8, group = at / GROUP, index;
	uint8_t low = (uint8_t)((1u << number % 8) - 1);
	uint8_t raw[24];

	if (at >= k->bitmap_bytes || !(k->bitmap[at] & 1u << number % 8))
		return -ENODATA;
	index = k->before[group] + count_bits(k->bitmap + group * GROUP, (size_t)(at % GROUP)) +
		(unsigned int)__builtin_popcount(k->bitmap[at] & low);
	if (image_file_read(image, k->descriptors + index * sizeof(raw), raw, sizeof(raw)))
		return damaged(image, "a page's descriptor is beyond the end of the file");
	d = (struct page_descriptor){get64(raw), get32(raw + 8), get32(raw + 12), 0};
	return read_compressed(image, &d, bytes);
}
