/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading a static x86-64 ELF file into guest RAM. */
#ifndef VMM_BOOT_ELF_H
#define VMM_BOOT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/mem.h"

#define BOOT_ELF_SEGMENTS  32
#define BOOT_ELF_MAGIC	   "\177ELF"
#define BOOT_ELF_MAGIC_LEN 4

enum boot_elf_error {
	BOOT_ELF_OK = 0,
	BOOT_ELF_NOT_ELF,
	BOOT_ELF_NOT_X86_64,
	BOOT_ELF_NOT_LINKED, /* an object */
	BOOT_ELF_NOT_EXEC,   /* position-independent, or a library */
	BOOT_ELF_DYNAMIC,    /* needs an interpreter or a dynamic linker */
	BOOT_ELF_PROGRAM,    /* of Linux, by its ABI tag: linked with a libc */
	BOOT_ELF_KERNEL,     /* of Linux: vmlinux or bzImage */
	BOOT_ELF_TRUNCATED,  /* a header or segment ends beyond the file */
	BOOT_ELF_MALFORMED,
	BOOT_ELF_NO_SEGMENTS,
	BOOT_ELF_TOO_MANY,
	BOOT_ELF_OVERLAP,
	BOOT_ELF_LOW,	    /* below VPT_BOOT_RESERVED */
	BOOT_ELF_NO_ROOM,   /* beyond RAM */
	BOOT_ELF_BAD_ENTRY, /* the entry is in no loaded code */
	BOOT_ELF_ERRORS
};

struct boot_elf_segment {
	uint64_t gpa, vaddr, file_bytes, mem_bytes;
	uint64_t offset;
	bool executable;
};

struct boot_elf {
	uint64_t entry;
	uint64_t end; /* first address past everything that is loaded */
	size_t count;
	struct boot_elf_segment segment[BOOT_ELF_SEGMENTS];
	size_t culprit; /* on an error: which segment, if one */
};

/*
 * Check a file and find out what it loads into @ram bytes of RAM. Linux programs and kernels are
 * refused, since they need a boot loader or a kernel and would crash after some instructions.
 */
enum boot_elf_error boot_elf_parse(const void *file, size_t len, uint64_t ram,
				   struct boot_elf *elf);

/* Copy what boot_elf_parse() accepted, into RAM of at least that size. */
void boot_elf_load(const void *file, const struct boot_elf *elf, const struct x86_mem *mem);

/* The error, and what the user can do, for a message of one line. */
const char *boot_elf_error_text(enum boot_elf_error error);

#endif /* VMM_BOOT_ELF_H */
