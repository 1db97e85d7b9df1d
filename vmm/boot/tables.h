/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page tables and the GDT of a guest that starts in 64-bit mode. */
#ifndef VMM_BOOT_TABLES_H
#define VMM_BOOT_TABLES_H

#include "x86/arch.h"
#include "x86/mem.h"

/* Guest-physical addresses of the tables, below VPT_BOOT_RESERVED. */
enum boot_tables_layout {
	BOOT_TABLES_GDT = 0x2000,
	BOOT_TABLES_PML4 = 0x3000,
	BOOT_TABLES_PDPT = 0x4000,
	BOOT_TABLES_PD = 0x5000, /* four of them: 4 GiB */
};

/*
 * Map the first 4 GiB to themselves, with pages of 2 MiB, and write the flat segments of these
 * selectors: 64-bit code and data.
 */
void boot_tables_write(const struct x86_mem *mem, uint16_t code, uint16_t data);
/* Set the segments, the tables and CR3 of a processor that uses them. There is no IDT. */
void boot_tables_use(struct x86_sregs *s, uint16_t code, uint16_t data);

#endif /* VMM_BOOT_TABLES_H */
