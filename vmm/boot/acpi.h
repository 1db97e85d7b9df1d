/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ACPI tables for the devices of vmm/dev. */
#ifndef VMM_BOOT_ACPI_H
#define VMM_BOOT_ACPI_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/mem.h"

/* Guest-physical addresses of the tables, in the legacy area of firmware. RSDP is first. */
#define BOOT_ACPI_FIRST 0xe0000ull
#define BOOT_ACPI_END	0xf0000ull

struct boot_acpi_config {
	unsigned int cpus;
	bool pci; /* there is a PCI bus */
};

/* Write the tables into RAM. Returns false if they do not fit. */
bool boot_acpi_write(const struct x86_mem *mem, const struct boot_acpi_config *config);

#endif /* VMM_BOOT_ACPI_H */
