/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes memory images as dump tools do, from their documents and with no code of vpt's readers.
 * Pages of zeros are left out of all but the raw format.
 */
#ifndef TESTS_LIB_IMAGEFILE_H
#define TESTS_LIB_IMAGEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum imagefile_format {
	IMAGEFILE_RAW,
	IMAGEFILE_ELF,	 /* ELF64 core, p_paddr, with a VMCOREINFO note if there is one */
	IMAGEFILE_ELF32, /* ELF32 core of EM_386 */
	IMAGEFILE_PAGED, /* ELF64 core as with dump-guest-memory -p: ranges overlap */
	IMAGEFILE_KDUMP, /* compressed dump, zlib, some pages plain */
	IMAGEFILE_FLAT,	 /* the same as makedumpfile -F writes it */
	IMAGEFILE_LZO,	 /* a compressed dump whose pages say that they are LZO */
	IMAGEFILE_FORMATS
};

/* The names, "raw" and so on, as programs take them. */
extern const char *const imagefile_names[IMAGEFILE_FORMATS];

struct imagefile {
	const uint8_t *ram;
	size_t bytes; /* a multiple of 4096 */
	uint64_t base;
	const char *vmcoreinfo; /* NULL: none */
};

/* Returns true if all was written. */
bool imagefile_write(const char *path, enum imagefile_format format, const struct imagefile *i);

#endif /* TESTS_LIB_IMAGEFILE_H */
