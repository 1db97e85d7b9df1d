/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build-id of an ELF file, and its load addresses. The file is hostile. */
#ifndef VMM_FOREIGN_ELF_NOTE_H
#define VMM_FOREIGN_ELF_NOTE_H

#include "foreign/foreign.h"

/* A loaded part of the file. */
struct foreign_load {
	uint64_t vaddr, offset, len;
	bool executable;
};

struct foreign_loads {
	struct foreign_load *at;
	size_t n, room;
};

/*
 * Read the build-id of the ELF file @fd. id->len is 0 if it has none, or if it is not an ELF file.
 * Returns 0 or -errno.
 */
int foreign_elf_build_id(int fd, struct foreign_build_id *id);
/* List the loaded parts. Returns 0, -errno, or -EINVAL if it is not an ELF file for x86. */
int foreign_elf_loads(int fd, struct foreign_loads *loads);
/* Returns true if the 64-bit ELF file has a table of symbols. */
bool foreign_elf_has_symbols(int fd);

#endif /* VMM_FOREIGN_ELF_NOTE_H */
