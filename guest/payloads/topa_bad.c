// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output configurations that are operational errors (33.2.7, 33.3.10), one in each row.
 * STATUS.Error must be set and the guest must continue, with or without a trace. Nothing may be
 * written outside RAM or outside a region.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/ring.h"

PAYLOAD("bad output configurations: STATUS.Error, and the guest goes on");

#define REGION GUEST_TOPA_REGION_MIN
/* Enough rounds to reach the second entry. */
#define ROUNDS (REGION * 5 / 4 / NOISE_BYTES)

static struct trace t;
static uint64_t *table, *other;
static uint8_t *region;
static unsigned int phy_bits;

static uint64_t good(unsigned int i)
{
	return guest_topa_region(region + i * REGION, REGION, 0);
}

static uint64_t past_ram(void)
{
	return (boot->ram_bytes + REGION - 1) & ~(REGION - 1);
}

/* A setup function sets up `table`, `other` and the MSR values in *drv. */
typedef void setup_fn(struct guest_drv *drv);

static void reserved_1(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(1);
}

static void reserved_3(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(3);
}

static void reserved_5(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(5);
}

static void reserved_10(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(10);
}

static void reserved_11(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(11);
}

static void table_unaligned(struct guest_drv *drv)
{
	drv->output_base += 0x80;
}

static void region_unaligned(struct guest_drv *drv)
{
	(void)drv;
	table[0] = guest_topa_region(region + REGION, 2 * REGION, 0);
}

static void region_too_wide(struct guest_drv *drv)
{
	(void)drv;
	table[0] = good(0) | VPT_BIT64(phy_bits);
}

static void offset_past_region(struct guest_drv *drv)
{
	drv->output_mask_ptrs |= REGION << VPT_MASK_PTRS_OFFSET_SHIFT;
}

static void end_first(struct guest_drv *drv)
{
	(void)drv;
	table[0] = guest_topa_end(table);
}

static void end_with_stop(struct guest_drv *drv)
{
	(void)drv;
	table[1] = guest_topa_end(table) | GUEST_TOPA_STOP;
}

static void end_with_int(struct guest_drv *drv)
{
	(void)drv;
	table[1] = guest_topa_end(table) | GUEST_TOPA_INT;
}

/* Two tables that link only to each other: entry 0 of the second is END. */
static void end_loop(struct guest_drv *drv)
{
	(void)drv;
	table[1] = guest_topa_end(other);
	other[0] = guest_topa_end(table);
}

static void region_past_ram(struct guest_drv *drv)
{
	(void)drv;
	table[0] = past_ram();
}

static void table_past_ram(struct guest_drv *drv)
{
	drv->output_base = past_ram();
}

static void next_table_past_ram(struct guest_drv *drv)
{
	(void)drv;
	table[1] = past_ram() | GUEST_TOPA_END;
}

static void index_past_ram(struct guest_drv *drv)
{
	/* The maximum index: 256 MiB beyond the table. */
	drv->output_mask_ptrs |= 0xffffff80;
}

static void second_entry_not_end(struct guest_drv *drv)
{
	(void)drv;
	table[1] = good(1);
	table[2] = guest_topa_end(table);
}

static void end_elsewhere(struct guest_drv *drv)
{
	(void)drv;
	table[1] = guest_topa_end(other);
	other[0] = good(1);
	other[1] = guest_topa_end(other);
}

static void mask_gap(struct guest_drv *drv)
{
	guest_drv_output_single(drv, region, REGION);
	drv->output_mask_ptrs = 0xd7f;
}

static void base_and_mask_overlap(struct guest_drv *drv)
{
	guest_drv_output_single(drv, region + 0x800, REGION);
}

static void offset_past_mask(struct guest_drv *drv)
{
	guest_drv_output_single(drv, region, REGION);
	drv->output_mask_ptrs |= REGION << VPT_MASK_PTRS_OFFSET_SHIFT;
}

static void single_past_ram(struct guest_drv *drv)
{
	guest_drv_output_single(drv, (void *)(uintptr_t)past_ram(), REGION);
}

enum needs { ANY, MULTI_ENTRY, SINGLE_ENTRY, SINGLE_RANGE, PHY_BITS };

static const struct row {
	setup_fn *setup;
	enum needs needs;
	const char *what;
} rows[] = {
	{reserved_1, ANY, "entry sets reserved bit 1"},
	{reserved_3, ANY, "entry sets reserved bit 3"},
	{reserved_5, ANY, "entry sets reserved bit 5"},
	{reserved_10, ANY, "entry sets reserved bit 10"},
	{reserved_11, ANY, "entry sets reserved bit 11"},
	{table_unaligned, ANY, "table is not 4 KiB aligned"},
	{region_unaligned, ANY, "region is not aligned to its size"},
	{region_too_wide, PHY_BITS, "region has address bits beyond MAXPHYADDR"},
	{offset_past_region, ANY, "offset is past the region"},
	{end_first, ANY, "entry 0 is END"},
	{end_with_stop, ANY, "END with STOP"},
	{end_with_int, ANY, "END with INT"},
	{end_loop, MULTI_ENTRY, "tables that only lead to each other"},
	{region_past_ram, ANY, "region is outside RAM"},
	{table_past_ram, ANY, "table is outside RAM"},
	{next_table_past_ram, ANY, "END leads outside RAM"},
	{index_past_ram, ANY, "index leads outside RAM"},
	{second_entry_not_end, SINGLE_ENTRY, "entry 1 is not END"},
	{end_elsewhere, SINGLE_ENTRY, "END leads to another table"},
	{mask_gap, SINGLE_RANGE, "mask has a gap"},
	{base_and_mask_overlap, SINGLE_RANGE, "base and mask overlap"},
	{offset_past_mask, SINGLE_RANGE, "offset is past the mask"},
	{single_past_ram, SINGLE_RANGE, "single range is outside RAM"},
};

static bool applies(enum needs needs)
{
	const struct vpt_caps *caps = &t.drv.caps;

	switch (needs) {
	case MULTI_ENTRY:
		return vpt_caps_has(caps, VPT_CAP_TOPA_MULTI);
	case SINGLE_ENTRY:
		return !vpt_caps_has(caps, VPT_CAP_TOPA_MULTI);
	case SINGLE_RANGE:
		return vpt_caps_has(caps, VPT_CAP_SINGLE_RANGE);
	case PHY_BITS:
		return phy_bits < 52;
	default:
		return true;
	}
}

static void reset(struct guest_drv *drv)
{
	memset(table, 0, PAGE_SIZE);
	memset(other, 0, PAGE_SIZE);
	table[0] = good(0);
	table[1] = guest_topa_end(table);
	*drv = t.drv;
	guest_drv_output_topa(drv, table);
}

static void one(const struct row *row)
{
	const uint64_t bits =
		VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(TRIGGER_EN);
	struct guest_drv drv;
	uint64_t status;

	reset(&drv);
	row->setup(&drv);
	status = ring_trace(&drv, ROUNDS);
	report(ring_guard_intact(region + 2 * REGION, 2 * REGION) &&
		       (status & bits) == VPT_STATUS_MASK(ERROR),
	       "%s", row->what);
}

/* After an error and its repair, tracing works as before. */
static void recovers(void)
{
	struct guest_drv drv;
	uint64_t status;

	reset(&drv);
	table[0] = good(0) | VPT_BIT64(1);
	ring_trace(&drv, ROUNDS);
	/* Error is still set: TraceEn starts nothing (33.2.6.2). */
	table[0] = good(0);
	guest_drv_resume(&drv, TRACE_ALL);
	noise(3);
	status = guest_drv_stop(&drv);
	report(!!(status & VPT_STATUS_MASK(ERROR)) && !guest_drv_bytes(&drv),
	       "Error stays until software clears it");
	status = ring_trace(&drv, 3);
	report(!(status & VPT_STATUS_MASK(ERROR)) && guest_drv_bytes(&drv) > 3 * NOISE_BYTES,
	       "a repaired table works");
}

void payload(void)
{
	unsigned int i, done = 0;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		noise(4 * ROUNDS);
		return;
	}
	phy_bits = t.drv.caps.max_phy_addr;
	table = page_alloc(PAGE_SIZE);
	other = page_alloc(PAGE_SIZE);
	region = page_alloc(4 * REGION);
	ring_guard(region + 2 * REGION, 2 * REGION);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!applies(rows[i].needs))
			continue;
		one(&rows[i]);
		done++;
	}
	report(done >= 16, "most rows apply to every processor");
	recovers();
}
