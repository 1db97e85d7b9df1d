/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initial state of a guest, as abi/boot.h defines it. */
#ifndef VMM_BOOT_BOOT_H
#define VMM_BOOT_BOOT_H

#include "boot/elf.h"
#include "core/vcpu.h"

struct boot_config {
	uint64_t seed;
	uint64_t arg[4];
	const void *initrd; /* NULL: none */
	size_t initrd_bytes;
};

/*
 * Write tables and boot information to RAM below VPT_BOOT_RESERVED, and an initrd after the
 * program. Then set the vCPU's registers for the entry point. Returns 0, or -ENOSPC if the initrd
 * does not fit.
 */
int boot_guest(struct core_vm *vm, const struct boot_elf *elf, const struct boot_config *config);

/*
 * Find the bytes of CPUID instructions in the program's code, because the host's own CPUID would be
 * visible there. Stores at most @room addresses. Returns their number, which may exceed @room.
 */
size_t boot_find_cpuid(const struct x86_mem *mem, const struct boot_elf *elf, uint64_t *ips,
		       size_t room);

#endif /* VMM_BOOT_BOOT_H */
