/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that abi/boot.h promises a guest. */
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
 * Put tables and boot information into RAM, below VPT_BOOT_RESERVED, and an initrd after the
 * program. Then put the vCPU before the entry. Returns 0, or -ENOSPC if the initrd does not fit.
 */
int boot_guest(struct core_vm *vm, const struct boot_elf *elf, const struct boot_config *config);

/* Where in the program's code the host's own CPUID would show: addresses, at most
 * `room`; returns how many there are. */
size_t boot_find_cpuid(const struct x86_mem *mem, const struct boot_elf *elf, uint64_t *ips,
		       size_t room);

#endif /* VMM_BOOT_BOOT_H */
