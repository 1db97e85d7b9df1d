// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile guest that has PT. It writes random values to all registers, builds ToPA tables of
 * random entries, and sends output to memory, to holes and to devices. The guest and its host must
 * continue, and only memory that was named for output may change.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/topa.h"
#include "vpt/msr.h"

PAYLOAD("random RTIT writes and ToPA tables of a guest");

#define ROUNDS	    1000u
#define WRITES	    12u
#define AREA	    (64ull << 10)
#define ENTRIES	    64u
#define CANARY_BYTE 0x3a
#define HOLE	    0xc0000000ull
#define APIC	    0xfee00000ull
#define PAST_MEMORY 0x7ff000000ull

static struct rng rng;
static uint8_t *area; /* canary, output, canary */
static uint64_t *table;
static unsigned int traced, refused, stopped, errors, stuck;

/* Return a page for output: its own memory, a hole, a device, or beyond all memory. */
static uint64_t random_page(void)
{
	switch (rng_below(&rng, 8)) {
	case 0:
		return HOLE;
	case 1:
		return APIC;
	case 2:
		return PAST_MEMORY;
	default:
		return (uintptr_t)area + AREA + rng_below(&rng, AREA / PAGE_SIZE) * PAGE_SIZE;
	}
}

static void random_table(void)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++) {
		table[i] = random_page();
		if (rng_chance(&rng, 10))
			table[i] |= rng_next(&rng) & 0x3f;
		/* A table that links elsewhere could name memory that is not for output. */
		if (table[i] & GUEST_TOPA_END)
			table[i] = (uintptr_t)table | GUEST_TOPA_END;
	}
	table[ENTRIES - 1] = (uintptr_t)table | GUEST_TOPA_END;
}

static uint64_t random_ctl(void)
{
	uint64_t ctl = rng_next(&rng);

	if (rng_chance(&rng, 80))
		ctl &= VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN) |
		       VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(DIS_RETC);
	if (rng_chance(&rng, 70))
		ctl |= VPT_CTL_MASK(TRACE_EN);
	/* With single-range output, the old OUTPUT_BASE could be that of a table. */
	return ctl | VPT_CTL_MASK(TOPA);
}

static void random_write(void)
{
	static const uint32_t msrs[] = {VPT_MSR_STATUS,
					VPT_MSR_OUTPUT_MASK_PTRS,
					VPT_MSR_CR3_MATCH,
					VPT_MSR_ADDR0_A,
					VPT_MSR_ADDR1_B,
					VPT_MSR_ADDR3_B,
					0x573,
					0x588,
					VPT_MSR_CTL};
	uint32_t msr = msrs[rng_below(&rng, ARRAY_SIZE(msrs))];
	uint64_t value = msr == VPT_MSR_CTL ? random_ctl() : rng_next(&rng) & rng_next(&rng);

	if (msr == VPT_MSR_OUTPUT_MASK_PTRS)
		value &= 0xfff00001fffull;
	refused += !wrmsr_safe(msr, value);
}

static void one_round(void)
{
	uint64_t status = 0, ctl = 0;
	unsigned int i;

	wrmsr_safe(VPT_MSR_CTL, 0);
	wrmsr_safe(VPT_MSR_STATUS, 0);
	wrmsr_safe(VPT_MSR_OUTPUT_BASE, rng_chance(&rng, 90) ? (uintptr_t)table : random_page());
	wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS, VPT_MASK_PTRS_LOW);
	random_table();
	for (i = 0; i < WRITES; i++)
		random_write();
	noise(200);
	if (rdmsr_safe(VPT_MSR_CTL, &ctl) && ctl & VPT_CTL_MASK(TRACE_EN))
		traced++;
	stuck += !wrmsr_safe(VPT_MSR_CTL, 0);
	if (rdmsr_safe(VPT_MSR_STATUS, &status)) {
		stopped += !!(status & VPT_STATUS_MASK(STOPPED));
		errors += !!(status & VPT_STATUS_MASK(ERROR));
	}
}

static bool intact(const uint8_t *bytes)
{
	uint64_t i;

	for (i = 0; i < AREA; i++) {
		if (bytes[i] != CANARY_BYTE)
			return false;
	}
	return true;
}

void payload(void)
{
	uint64_t ctl;
	unsigned int i;

	if (!rdmsr_safe(VPT_MSR_CTL, &ctl)) {
		report_skip("no PT");
		return;
	}
	rng_seed(&rng, boot->seed);
	area = page_alloc(4 * AREA);
	table = page_alloc(PAGE_SIZE);
	memset(area, CANARY_BYTE, 4 * AREA);
	for (i = 0; i < ROUNDS; i++)
		one_round();
	printk("  seed %lu: %u rounds, %u traced, %u writes refused, %u stopped, %u errors\n",
	       boot->seed, ROUNDS, traced, refused, stopped, errors);
	report(intact(area) && intact(area + 2 * AREA) && intact(area + 3 * AREA),
	       "no trace outside of its memory");
	report(traced > 0, "some of it traced");
	report_equal(stuck, 0, "each time it could stop its trace");
}
