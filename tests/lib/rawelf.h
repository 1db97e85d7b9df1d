/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes valid or invalid ELF64 files in memory, section by section. */
#ifndef TESTS_LIB_RAWELF_H
#define TESTS_LIB_RAWELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define RAWELF_SECTIONS 16

struct rawelf {
	uint8_t *bytes; /* freed by the caller */
	size_t len, room;
	Elf64_Shdr sections[RAWELF_SECTIONS];
	unsigned int count;
	char names[512];
	size_t nnames;
};

/* Begin a file with the null section. The process ends if memory runs out. */
void rawelf_open(struct rawelf *e);
/* Append a section. Returns its header, so that the caller can set further fields. */
Elf64_Shdr *rawelf_add(struct rawelf *e, const char *name, uint32_t type, const void *bytes,
		       size_t len);
/* Append a SHF_COMPRESSED section that zlib compresses. Returns its header. */
Elf64_Shdr *rawelf_add_compressed(struct rawelf *e, const char *name, const void *bytes,
				  size_t len);
/* Append the names of the sections and their headers. */
void rawelf_close(struct rawelf *e);

#endif /* TESTS_LIB_RAWELF_H */
