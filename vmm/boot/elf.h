/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading a static x86-64 ELF file into guest RAM. */
#ifndef VMM_BOOT_ELF_H
#define VMM_BOOT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/mem.h"

#define VPT_ELF_SEGMENTS  32
#define VPT_ELF_MAGIC	  "\177ELF"
#define VPT_ELF_MAGIC_LEN 4

enum vpt_elf_error {
	VPT_ELF_OK = 0,
	VPT_ELF_NOT_ELF,
	VPT_ELF_NOT_X86_64,
	VPT_ELF_NOT_LINKED, /* an object */
	VPT_ELF_NOT_EXEC,   /* position-independent, or a library */
	VPT_ELF_DYNAMIC,    /* needs an interpreter or a dynamic linker */
	VPT_ELF_PROGRAM,    /* of Linux, by its ABI tag: linked with a libc */
	VPT_ELF_KERNEL,	    /* of Linux: vmlinux or bzImage */
	VPT_ELF_TRUNCATED,  /* a header or segment ends beyond the file */
	VPT_ELF_MALFORMED,
	VPT_ELF_NO_SEGMENTS,
	VPT_ELF_TOO_MANY,
	VPT_ELF_OVERLAP,
	VPT_ELF_LOW,	   /* below VPT_BOOT_RESERVED */
	VPT_ELF_NO_ROOM,   /* beyond RAM */
	VPT_ELF_BAD_ENTRY, /* the entry is in no loaded code */
	VPT_ELF_ERRORS
};

struct vpt_elf_segment {
	uint64_t gpa, vaddr, file_bytes, mem_bytes;
	uint64_t offset;
	bool executable;
};

struct vpt_elf {
	uint64_t entry;
	uint64_t end; /* first address past everything that is loaded */
	size_t count;
	struct vpt_elf_segment segment[VPT_ELF_SEGMENTS];
	size_t culprit; /* on an error: which segment, if one */
};

/*
 * Check a file and find out what it loads into @ram bytes of RAM. Linux programs and kernels are
 * refused, since they need a boot loader or a kernel and would crash after some instructions.
 */
enum vpt_elf_error vpt_elf_parse(const void *file, size_t len, uint64_t ram, struct vpt_elf *elf);

/* Copy what vpt_elf_parse() accepted, into RAM of at least that size. */
void vpt_elf_load(const void *file, const struct vpt_elf *elf, const struct vpt_mem *mem);

/* The error, and what the user can do, for a message of one line. */
const char *vpt_elf_error_text(enum vpt_elf_error error);

#endif /* VMM_BOOT_ELF_H */
