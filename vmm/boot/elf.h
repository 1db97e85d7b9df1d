/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loader of static x86-64 ELF files into guest RAM. */
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
	BOOT_ELF_PROGRAM,    /* a Linux program by its ABI tag, linked with a libc */
	BOOT_ELF_KERNEL,     /* a Linux kernel: vmlinux or bzImage */
	BOOT_ELF_NO_KERNEL,  /* not a vmlinux, where only that is accepted */
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
	uint64_t first; /* the lowest address of a segment */
	uint64_t end;	/* the first address after all segments */
	size_t count;
	struct boot_elf_segment segment[BOOT_ELF_SEGMENTS];
	size_t culprit; /* after an error: the index of the program header, if one is wrong */
};

/*
 * Check a file and list its segments for @ram bytes of RAM. Linux programs and kernels are refused,
 * since they need a kernel or a boot loader and would crash after some instructions.
 */
enum boot_elf_error boot_elf_parse(const void *file, size_t len, uint64_t ram,
				   struct boot_elf *elf);
/*
 * Check a vmlinux in the same way. A static ELF file is a vmlinux if it has a note of the name
 * "Linux", as every kernel since 4.19 has. Any other file is BOOT_ELF_NO_KERNEL.
 */
enum boot_elf_error boot_elf_parse_vmlinux(const void *file, size_t len, uint64_t ram,
					   struct boot_elf *elf);

/* Copy the segments that boot_elf_parse() accepted into RAM, which has at least the same size. */
void boot_elf_load(const void *file, const struct boot_elf *elf, const struct x86_mem *mem);

/* Returns the error and the remedy, as text for a message of one line. */
const char *boot_elf_error_text(enum boot_elf_error error);

#endif /* VMM_BOOT_ELF_H */
