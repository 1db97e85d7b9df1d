// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile guest that knows its memory. ToPA tables have random entries, lead to other tables, and
 * change while two processors use them. Output goes to devices, ROM and holes. PMIs of all kinds
 * arrive while the flow passes through rings, modes and address spaces. Only memory that was named
 * for output may change.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "pt/hostile.h"
#include "pt/modes.h"
#include "pt/topa.h"
#include "vpt/msr.h"

PAYLOAD("random ToPA output of two processors, all memory watched");

#define ROUNDS	   2000u
#define STEPS	   8u
#define TABLES	   8u
#define ENTRIES	   512u
#define OUTPUT_AT  (16ull << 20)
#define OUTPUT_END (20ull << 20)
#define WATCH_END  (48ull << 20)
#define LOW_AT	   0x10000ull
#define LOW_END	   0x80000ull
#define ROM_AT	   0xe0000ull
#define ROM_END	   0x100000ull
#define FLASH_AT   0xfffc0000ull
#define FLASH_END  0x100000000ull
#define PATIENCE   60000000000ull /* in TSC ticks, many times the expected duration */
#define CANARY	   0x9d3c5ae1u

static struct rng rng, rng_in_interrupt;
static uint64_t *tables[TABLES];
static unsigned int traced, refused, stopped, errors, stuck;

static uint64_t output_page(struct rng *from, uint64_t bytes)
{
	uint64_t pages = (OUTPUT_END - OUTPUT_AT) / bytes;

	return OUTPUT_AT + rng_below(from, (uint32_t)pages) * bytes;
}

/* Memory is either for output or not at all: a region may not exceed it. */
static uint64_t random_entry(struct rng *from)
{
	unsigned int size = rng_chance(from, 75) ? 0 : rng_below(from, 8);
	uint64_t entry = output_page(from, GUEST_TOPA_REGION_MIN << size) |
			 (uint64_t)size << GUEST_TOPA_SIZE_SHIFT;

	if (rng_chance(from, 20))
		entry = hostile_no_ram(from) | (rng_next(from) & 0x3c0);
	else if (rng_chance(from, 5))
		entry = hostile_read_only(from) | (rng_next(from) & 0xc0);
	if (rng_chance(from, 10))
		return (uintptr_t)tables[rng_below(from, TABLES)] | GUEST_TOPA_END;
	if (rng_chance(from, 3))
		return hostile_no_ram(from) | GUEST_TOPA_END;
	if (rng_chance(from, 30))
		entry |= GUEST_TOPA_INT;
	if (rng_chance(from, 5))
		entry |= GUEST_TOPA_STOP;
	if (rng_chance(from, 3))
		entry |= rng_next(from) & 0x2a;
	/*
	 * A bit that is not reserved, or a table: keep it away from entries that could name memory.
	 */
	if (entry & GUEST_TOPA_END)
		entry = (uintptr_t)tables[0] | GUEST_TOPA_END;
	return entry;
}

static void change_tables(struct rng *from, unsigned int entries)
{
	volatile uint64_t *table;

	while (entries--) {
		table = tables[rng_below(from, TABLES)];
		table[rng_below(from, ENTRIES - 1)] = random_entry(from);
	}
}

static void on_pmi(void)
{
	change_tables(&rng_in_interrupt, 2);
	if (rng_chance(&rng_in_interrupt, 50))
		hostile_set_lvtpc(hostile_lvtpc(&rng_in_interrupt));
}

/* Fill the tables completely: no data past the last entry can be read as an entry. */
static void make_tables(void)
{
	unsigned int i, j;

	for (i = 0; i < TABLES; i++)
		tables[i] = page_alloc(PAGE_SIZE);
	for (i = 0; i < TABLES; i++) {
		for (j = 0; j < ENTRIES - 1; j++)
			tables[i][j] = random_entry(&rng);
		tables[i][ENTRIES - 1] = (uintptr_t)tables[(i + 1) % TABLES] | GUEST_TOPA_END;
	}
}

static uint64_t random_base(void)
{
	return rng_chance(&rng, 85) ? (uintptr_t)tables[rng_below(&rng, TABLES)]
				    : hostile_no_ram(&rng);
}

static void random_write(void)
{
	static const uint32_t msrs[] = {
		VPT_MSR_STATUS,
		VPT_MSR_OUTPUT_BASE,
		VPT_MSR_OUTPUT_MASK_PTRS,
		VPT_MSR_CR3_MATCH,
		VPT_MSR_ADDR0_A,
		VPT_MSR_ADDR0_B,
		VPT_MSR_ADDR1_A,
		VPT_MSR_ADDR3_B,
		0x562,
		0x573,
		0x588,
		VPT_MSR_CTL,
	};
	uint32_t msr = msrs[rng_below(&rng, ARRAY_SIZE(msrs))];
	uint64_t value = rng_next(&rng) & rng_next(&rng);

	switch (msr) {
	case VPT_MSR_CTL:
		value = hostile_ctl(&rng);
		break;
	case VPT_MSR_OUTPUT_BASE:
		value = random_base();
		break;
	case VPT_MSR_OUTPUT_MASK_PTRS:
		value &= 0xfff00000ffffull;
		break;
	default:
		break;
	}
	refused += !wrmsr_safe(msr, value);
}

static void start(void)
{
	wrmsr_safe(VPT_MSR_CTL, 0);
	wrmsr_safe(VPT_MSR_STATUS, 0);
	wrmsr_safe(VPT_MSR_OUTPUT_BASE, random_base());
	wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS,
		   VPT_MASK_PTRS_LOW | (rng_chance(&rng, 50) ? rng_next(&rng) & 0xf80 : 0));
	wrmsr_safe(VPT_MSR_CTL, hostile_ctl(&rng));
}

static void one_round(void)
{
	uint64_t status = 0, ctl = 0;
	unsigned int i;

	change_tables(&rng, 20);
	hostile_set_lvtpc(hostile_lvtpc(&rng));
	start();
	for (i = 0; i < STEPS; i++) {
		if (rng_chance(&rng, 30))
			random_write();
		if (rng_chance(&rng, 50))
			change_tables(&rng, 2);
		hostile_flow(&rng);
	}
	if (rdmsr_safe(VPT_MSR_CTL, &ctl) && ctl & VPT_CTL_MASK(TRACE_EN))
		traced++;
	stuck += !wrmsr_safe(VPT_MSR_CTL, 0);
	if (rdmsr_safe(VPT_MSR_STATUS, &status)) {
		stopped += !!(status & VPT_STATUS_MASK(STOPPED));
		errors += !!(status & VPT_STATUS_MASK(ERROR));
	}
}

/* Each watched word holds its own address. */
static void fill(uint64_t start_at, uint64_t end)
{
	uint64_t at;

	for (at = start_at; at < end; at += 4)
		*(volatile uint32_t *)at = (uint32_t)at ^ CANARY;
}

static uint64_t changed(uint64_t start_at, uint64_t end)
{
	uint64_t at;

	for (at = start_at; at < end; at += 4) {
		if (*(volatile uint32_t *)at != ((uint32_t)at ^ CANARY))
			return at;
	}
	return 0;
}

static uint64_t sum(uint64_t start_at, uint64_t end)
{
	uint64_t at, total = 0;

	for (at = start_at; at < end; at += 8)
		total = (total << 7 | total >> 57) ^ *(volatile uint64_t *)at;
	return total;
}

/* Send no SMI: if the BIOS did not prepare a processor for it, its state goes to low memory. */
static uint32_t lvtpc_of_other(void)
{
	uint32_t value = hostile_lvtpc(&rng);

	return value == HOSTILE_LVT_SMI ? 4u << 8 : value;
}

static bool stop_other(struct modes_other *other)
{
	uint64_t since = rdtsc();

	other->stop = 1;
	while (other->stop && rdtsc() - since < PATIENCE)
		hostile_flow(&rng);
	return !other->stop;
}

void payload(void)
{
	uint64_t first_cr3 = read_cr3(), rom, flash, ctl;
	struct modes_other *other;
	unsigned int i;

	if (!rdmsr_safe(VPT_MSR_CTL, &ctl)) {
		report_skip("no PT");
		return;
	}
	if (boot->ram_bytes < WATCH_END || boot->free_start > OUTPUT_AT / 2) {
		report(false, "memory is as this needs it");
		return;
	}
	rom = sum(ROM_AT, ROM_END);
	flash = sum(FLASH_AT, FLASH_END);
	fill(LOW_AT, LOW_END);
	fill(OUTPUT_END, WATCH_END);
	rng_seed(&rng, boot->seed);
	rng_seed(&rng_in_interrupt, ~boot->seed);
	make_tables();
	hostile_init(on_pmi);
	other = modes_start_other((uint32_t)boot->seed);
	for (i = 0; i < MODES_OTHER_BASES; i++)
		other->bases[i] = random_base();
	for (i = 0; i < ROUNDS; i++) {
		other->lvtpc = lvtpc_of_other();
		other->bases[i % MODES_OTHER_BASES] = random_base();
		one_round();
	}
	hostile_set_lvtpc(1u << 16);
	if (other->rounds)
		report(stop_other(other), "the other processor could stop its trace");
	cli();
	write_cr3(first_cr3);
	printk("  seed %lu: %u rounds, %u traced, %u writes refused, %u stopped, %u errors\n",
	       boot->seed, ROUNDS, traced, refused, stopped, errors);
	printk("  %u NMIs, %u interrupts; the other one: %u rounds, %u traced, %u refused\n",
	       hostile_counts.nmis, hostile_counts.interrupts, other->rounds, other->traced,
	       other->refused);
	report_equal(changed(LOW_AT, LOW_END), 0, "nothing written to low memory");
	report_equal(changed(OUTPUT_END, WATCH_END), 0, "nothing written past the output");
	report(rom == sum(ROM_AT, ROM_END), "the BIOS's copy is what it was");
	report(flash == sum(FLASH_AT, FLASH_END), "the BIOS is what it was");
	report(traced > 0 && hostile_counts.nmis && hostile_counts.interrupts,
	       "some of it traced, with NMIs and interrupts");
	report_equal(stuck, 0, "each time it could stop its trace");
}
