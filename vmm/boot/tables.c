// SPDX-License-Identifier: GPL-2.0-or-later
/* Write page tables and a GDT. */
#include "boot/tables.h"

#include "core/descriptor.h"

#define PTE_PRESENT_WRITE 3ull
#define PDE_2M		  0x83ull

static void put64(const struct x86_mem *mem, uint64_t gpa, uint64_t value)
{
	(void)x86_mem_write(mem, gpa, &value, sizeof(value));
}

void boot_tables_write(const struct x86_mem *mem, uint16_t code, uint16_t data)
{
	uint64_t i;

	put64(mem, BOOT_TABLES_PML4, BOOT_TABLES_PDPT | PTE_PRESENT_WRITE);
	for (i = 0; i < 4; i++)
		put64(mem, BOOT_TABLES_PDPT + 8 * i,
		      (BOOT_TABLES_PD + i * X86_PAGE_SIZE) | PTE_PRESENT_WRITE);
	for (i = 0; i < 4 * 512; i++)
		put64(mem, BOOT_TABLES_PD + 8 * i, i << 21 | PDE_2M);
	put64(mem, BOOT_TABLES_GDT + code, 0x00af9b000000ffffull);
	put64(mem, BOOT_TABLES_GDT + data, 0x00cf93000000ffffull);
}

void boot_tables_use(struct x86_sregs *s, uint16_t code, uint16_t data)
{
	s->cs = core_flat_segment(code, true, true, 0);
	s->ds = core_flat_segment(data, false, false, 0);
	s->es = s->fs = s->gs = s->ss = s->ds;
	s->gdt = (struct x86_table){BOOT_TABLES_GDT, data + 7u};
	s->idt = (struct x86_table){0, 0};
	s->cr3 = BOOT_TABLES_PML4;
}
