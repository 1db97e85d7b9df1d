/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start Linux by the 64-bit boot protocol (Documentation/arch/x86/boot.rst). */
#ifndef VMM_BOOT_LINUX_H
#define VMM_BOOT_LINUX_H

#include "boot/bzimage.h"
#include "boot/elf.h"
#include "core/vcpu.h"

struct boot_linux_config {
	const void *file;	    /* a bzImage, or a vmlinux */
	const struct boot_elf *elf; /* of a vmlinux; NULL for a bzImage */
	struct boot_bzimage image;  /* of a bzImage */
	const void *initrd;	    /* NULL: none */
	size_t initrd_bytes;
	const char *cmdline;
};

/*
 * Put the kernel, the initrd, the command line, the zero page and ACPI tables into RAM, and put the
 * vCPU before the kernel's 64-bit entry. For a vmlinux, it is the entry of the file.
 *
 * Returns BOOT_BZIMAGE_NO_ROOM or BOOT_BZIMAGE_LONG if these do not fit.
 */
enum boot_bzimage_error boot_linux(struct core_vm *vm, const struct boot_linux_config *config);

#endif /* VMM_BOOT_LINUX_H */
