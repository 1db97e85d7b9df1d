// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest whose trace overwrites the guest itself: its code, page tables, descriptors, the BIOS's
 * memory, and the ToPA tables in use. The guest soon crashes, and each reset starts it again with
 * another seed. The emulator must survive. The guest never ends by itself.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "pt/hostile.h"
#include "pt/modes.h"
#include "pt/topa.h"
#include "vpt/msr.h"

PAYLOAD("trace output over the guest itself");

#define TABLES	   4u
#define ENTRIES	   512u
#define CMOS	   0x70
#define CMOS_BOOTS 0x62u /* 16 bits that neither the machine nor its BIOS uses */

extern const uint8_t image_start[], image_end[];

static struct rng rng;
static uint64_t *tables[TABLES];

static uint8_t cmos_read(uint8_t index)
{
	outb(CMOS, index);
	return inb(CMOS + 1);
}

static void cmos_write(uint8_t index, uint8_t value)
{
	outb(CMOS, index);
	outb(CMOS + 1, value);
}

/* Return the number of resets of this machine, which its CMOS preserves. */
static uint32_t count_boots(void)
{
	uint32_t boots = cmos_read(CMOS_BOOTS) | (uint32_t)cmos_read(CMOS_BOOTS + 1) << 8;

	cmos_write(CMOS_BOOTS, (uint8_t)(boots + 1));
	cmos_write(CMOS_BOOTS + 1, (uint8_t)((boots + 1) >> 8));
	return boots;
}

/* Return a random place, and prefer the most harmful ones. */
static uint64_t random_place(void)
{
	uint64_t image = (uint64_t)(image_end - image_start) & ~(PAGE_SIZE - 1);

	switch (rng_below(&rng, 10)) {
	case 0:
	case 1:
		return (uintptr_t)image_start + (rng_next(&rng) % image & ~(PAGE_SIZE - 1));
	case 2:
		return read_cr3() & ~(PAGE_SIZE - 1);
	case 3:
		return (uintptr_t)tables[rng_below(&rng, TABLES)];
	case 4:
		return rng_next(&rng) & 0xff000;
	case 5:
		return hostile_no_ram(&rng);
	case 6:
		return hostile_read_only(&rng);
	default:
		return rng_next(&rng) % (boot->ram_bytes + 0x100000) & ~(PAGE_SIZE - 1);
	}
}

static uint64_t random_entry(void)
{
	uint64_t entry = random_place();

	if (rng_chance(&rng, 10))
		entry |= rng_next(&rng) & 0x3ff;
	if (rng_chance(&rng, 5))
		entry = (uintptr_t)tables[rng_below(&rng, TABLES)] | GUEST_TOPA_END;
	return entry;
}

static void change_tables(unsigned int entries)
{
	while (entries--)
		tables[rng_below(&rng, TABLES)][rng_below(&rng, ENTRIES)] = random_entry();
}

static void on_pmi(void)
{
	hostile_set_lvtpc(hostile_lvtpc(&rng));
}

static void start(void)
{
	uint64_t ctl = hostile_ctl(&rng);

	if (rng_chance(&rng, 30))
		ctl &= ~VPT_CTL_MASK(TOPA);
	wrmsr_safe(VPT_MSR_CTL, 0);
	wrmsr_safe(VPT_MSR_STATUS, 0);
	wrmsr_safe(VPT_MSR_OUTPUT_BASE, rng_chance(&rng, 60)
						? (uintptr_t)tables[rng_below(&rng, TABLES)]
						: random_place());
	wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS,
		   VPT_MASK_PTRS_LOW | (rng_next(&rng) & rng_next(&rng) & 0xffff00ffffffull));
	wrmsr_safe(VPT_MSR_CTL, ctl);
}

void payload(void)
{
	uint32_t boots = count_boots();
	struct modes_other *other;
	unsigned int i;
	uint64_t ctl;

	if (!rdmsr_safe(VPT_MSR_CTL, &ctl)) {
		report_skip("no PT");
		return;
	}
	printk("  boot %u\n", boots);
	rng_seed(&rng, boot->seed << 16 | boots);
	for (i = 0; i < TABLES; i++)
		tables[i] = page_alloc(PAGE_SIZE);
	change_tables(TABLES * ENTRIES * 2);
	hostile_init(on_pmi);
	other = modes_start_other((uint32_t)rng_next(&rng));
	for (;;) {
		for (i = 0; i < MODES_OTHER_BASES; i++)
			other->bases[i] = rng_chance(&rng, 50) ? (uintptr_t)tables[i % TABLES]
							       : random_place();
		other->lvtpc = hostile_lvtpc(&rng);
		hostile_set_lvtpc(hostile_lvtpc(&rng));
		start();
		for (i = 0; i < 8; i++) {
			change_tables(4);
			hostile_flow(&rng);
		}
	}
}
