// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the setup header of a bzImage. */
#include "boot/bzimage.h"

#include <string.h>

#define SECTOR		512u
#define BOOT_FLAG	0x1feu
#define BOOT_FLAG_MAGIC 0xaa55u
#define JUMP		0x201u /* the offset of a short JMP; the header ends at its target */
#define MAGIC		0x202u
#define MAGIC_HDRS	0x53726448u
#define VERSION		0x206u
#define VERSION_2_12	0x20cu
#define SETUP_SECTS	0x1f1u
#define SYSSIZE		0x1f4u /* in paragraphs of 16 bytes */
#define LOADFLAGS	0x211u
#define INITRD_MAX	0x22cu
#define ALIGNMENT	0x230u
#define RELOCATABLE	0x234u
#define XLOADFLAGS	0x236u
#define CMDLINE_SIZE	0x238u
#define PREFERRED	0x258u
#define INIT_SIZE	0x260u
#define HEADER_LEAST	0x264u /* the end of INIT_SIZE */
#define HEADER_MOST	0x290u /* the end of the header's place in the zero page */

#define LOADED_HIGH   0x01u
#define XLF_KERNEL_64 0x01u
#define ENTRY_64      0x200u

static uint16_t get16(const uint8_t *file, size_t at)
{
	uint16_t value;

	memcpy(&value, file + at, sizeof(value));
	return value;
}

static uint32_t get32(const uint8_t *file, size_t at)
{
	uint32_t value;

	memcpy(&value, file + at, sizeof(value));
	return value;
}

static uint64_t get64(const uint8_t *file, size_t at)
{
	uint64_t value;

	memcpy(&value, file + at, sizeof(value));
	return value;
}

bool boot_bzimage_is(const void *file, size_t size)
{
	return size >= VERSION && get16(file, BOOT_FLAG) == BOOT_FLAG_MAGIC &&
	       get32(file, MAGIC) == MAGIC_HDRS;
}

static enum boot_bzimage_error find_kernel(const uint8_t *f, size_t size, struct boot_bzimage *b)
{
	/* 0 means 4, for the sake of old boot loaders. The boot sector precedes these sectors. */
	size_t sectors = f[SETUP_SECTS] ? f[SETUP_SECTS] : 4;

	b->offset = (sectors + 1) * SECTOR;
	b->bytes = (size_t)get32(f, SYSSIZE) * 16;
	/* The last paragraph can be partial. */
	if (b->offset >= size || b->bytes > size - b->offset + 15)
		return BOOT_BZIMAGE_TRUNCATED;
	if (b->bytes > size - b->offset)
		b->bytes = size - b->offset;
	return b->bytes > ENTRY_64 ? BOOT_BZIMAGE_OK : BOOT_BZIMAGE_MALFORMED;
}

static enum boot_bzimage_error find_places(const uint8_t *f, struct boot_bzimage *b)
{
	uint32_t alignment = get32(f, ALIGNMENT);

	b->preferred = get64(f, PREFERRED);
	b->alignment = f[RELOCATABLE] ? alignment : 0;
	b->init_bytes = get32(f, INIT_SIZE);
	b->initrd_max = get32(f, INITRD_MAX);
	b->cmdline_max = get32(f, CMDLINE_SIZE);
	if (b->init_bytes < b->bytes || b->preferred & 0xfff || b->preferred >> 32)
		return BOOT_BZIMAGE_MALFORMED;
	if (f[RELOCATABLE] && (alignment < 0x1000 || alignment & (alignment - 1)))
		return BOOT_BZIMAGE_MALFORMED;
	return BOOT_BZIMAGE_OK;
}

enum boot_bzimage_error boot_bzimage_parse(const void *file, size_t size,
					   struct boot_bzimage *image)
{
	const uint8_t *f = file;
	enum boot_bzimage_error error;
	size_t end;

	memset(image, 0, sizeof(*image));
	if (size < HEADER_LEAST)
		return BOOT_BZIMAGE_TRUNCATED;
	if (get16(f, VERSION) < VERSION_2_12)
		return BOOT_BZIMAGE_OLD;
	if (!(get16(f, XLOADFLAGS) & XLF_KERNEL_64) || !(f[LOADFLAGS] & LOADED_HIGH))
		return BOOT_BZIMAGE_NOT_64;
	end = JUMP + 1 + f[JUMP];
	if (end < HEADER_LEAST || end > HEADER_MOST || end > size)
		return BOOT_BZIMAGE_MALFORMED;
	image->header_bytes = end - BOOT_BZIMAGE_HEADER;
	error = find_kernel(f, size, image);
	return error ? error : find_places(f, image);
}

const char *boot_bzimage_error_text(enum boot_bzimage_error error)
{
	static const char *const text[BOOT_BZIMAGE_ERRORS] = {
		[BOOT_BZIMAGE_OK] = "no error",
		[BOOT_BZIMAGE_TRUNCATED] = "the Linux kernel is truncated",
		[BOOT_BZIMAGE_OLD] = "a Linux kernel before 3.8, which vpt cannot start",
		[BOOT_BZIMAGE_NOT_64] = "a 32-bit Linux kernel: give one for x86-64",
		[BOOT_BZIMAGE_MALFORMED] = "the header of the Linux kernel is malformed",
		[BOOT_BZIMAGE_NO_ROOM] =
			"no room for the kernel and the initrd: give more with --mem",
		[BOOT_BZIMAGE_LONG] = "--append is longer than the kernel accepts",
	};

	return error < BOOT_BZIMAGE_ERRORS ? text[error] : "unknown error";
}
