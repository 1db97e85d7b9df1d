/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header of a bzImage, as the x86 boot protocol of Linux defines it (Documentation/arch/x86/
 * boot.rst). The file is hostile: each value is checked against the size of the file.
 */
#ifndef VMM_BOOT_BZIMAGE_H
#define VMM_BOOT_BZIMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum boot_bzimage_error {
	BOOT_BZIMAGE_OK = 0,
	BOOT_BZIMAGE_TRUNCATED, /* the setup code or the kernel ends beyond the file */
	BOOT_BZIMAGE_OLD,	/* protocol before 2.12 */
	BOOT_BZIMAGE_NOT_64,	/* no 64-bit entry, so a kernel of 32 bits */
	BOOT_BZIMAGE_MALFORMED,
	BOOT_BZIMAGE_NO_ROOM, /* the kernel or the initrd does not fit in RAM */
	BOOT_BZIMAGE_LONG,    /* the command line is longer than the kernel accepts */
	BOOT_BZIMAGE_ERRORS
};

/* The offset of the setup header in the file and in the zero page. */
#define BOOT_BZIMAGE_HEADER 0x1f1u

struct boot_bzimage {
	size_t header_bytes;  /* from BOOT_BZIMAGE_HEADER on */
	size_t offset, bytes; /* the protected-mode kernel in the file */
	uint64_t preferred;   /* the address where the kernel wants to be */
	uint64_t alignment;   /* of any other address; 0 if there is no other */
	uint64_t init_bytes;  /* the RAM that the kernel needs at its address */
	uint64_t initrd_max;  /* the last address that the initrd may have */
	uint32_t cmdline_max; /* bytes of the command line, without the final 0 */
};

/* Returns true if the file has the magic numbers of a bzImage. */
bool boot_bzimage_is(const void *file, size_t size);
/* Read the header of a file for which boot_bzimage_is() returns true. */
enum boot_bzimage_error boot_bzimage_parse(const void *file, size_t size,
					   struct boot_bzimage *image);
/* Describe the error, and what the user can do, in a message of one line. */
const char *boot_bzimage_error_text(enum boot_bzimage_error error);

#endif /* VMM_BOOT_BZIMAGE_H */
