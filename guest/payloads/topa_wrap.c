// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ToPA output through several tables of small regions, with wrap-around (33.2.7.2). Every byte must
 * be in its place, and the MSRs exact. A processor with one output entry wraps within that entry.
 */
#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/ring.h"

PAYLOAD("ToPA: several tables, END, wrapping around");

#define REGIONS 4
#define REGION	GUEST_TOPA_REGION_MIN
#define LAP	(REGIONS * REGION)
/* One and a half laps. */
#define ROUNDS (LAP * 3 / 2 / NOISE_BYTES)

static uint8_t *guard_low, *guard_high;

/* Regions are consecutive in memory, but used in another order. */
static uint8_t *regions_with_guards(void)
{
	uint8_t *area = page_alloc(2 * LAP);

	guard_low = area;
	guard_high = area + PAGE_SIZE + LAP;
	ring_guard(guard_low, PAGE_SIZE);
	ring_guard(guard_high, PAGE_SIZE);
	return area + PAGE_SIZE;
}

static void several_tables(struct trace *reference)
{
	static const unsigned int order[REGIONS] = {2, 0, 3, 1};
	uint8_t *regions = regions_with_guards();
	uint64_t *first = page_alloc(PAGE_SIZE), *second = page_alloc(PAGE_SIZE);
	struct guest_drv drv = reference->drv;
	struct guest_topa_pos start, end;
	uint8_t *lap = page_alloc(LAP);
	unsigned int i;

	for (i = 0; i < REGIONS; i++)
		(i < 3 ? first : second)[i % 3] =
			guest_topa_region(regions + order[i] * REGION, REGION, 0);
	first[3] = guest_topa_end(second);
	second[1] = guest_topa_end(first);
	guest_drv_output_topa(&drv, first);
	report_equal(ring_trace(&drv, ROUNDS) & (VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED)),
		     0, "STATUS");

	start = guest_topa_pos(drv.output_base, drv.output_mask_ptrs);
	end = guest_topa_pos(drv.end_base, drv.end_mask_ptrs);
	report(end.table == first || end.table == second, "OUTPUT_BASE is one of the tables");
	report(end.offset < REGION, "OutputOffset is inside the region");
	for (i = 0; i < REGIONS; i++)
		__builtin_memcpy(lap + i * REGION, regions + order[i] * REGION, REGION);
	ring_report(reference, lap, LAP, guest_topa_copy(start, end, NULL, LAP));
}

static void single_entry(struct trace *reference)
{
	uint8_t *region = regions_with_guards();
	uint64_t *table = page_alloc(PAGE_SIZE);
	struct guest_drv drv = reference->drv;

	table[0] = guest_topa_region(region, REGION, 0);
	table[1] = guest_topa_end(table);
	guest_drv_output_topa(&drv, table);
	ring_guard(region + REGION, LAP - REGION);
	ring_trace(&drv, ROUNDS);
	report_equal(drv.end_base, (uintptr_t)table, "OUTPUT_BASE is the table");
	report_equal((uint32_t)drv.end_mask_ptrs, VPT_MASK_PTRS_LOW, "the index is 0");
	ring_report(reference, region, REGION, drv.end_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT);
	report(ring_guard_intact(region + REGION, LAP - REGION), "nothing past the region");
}

void payload(void)
{
	struct trace t;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		noise(ROUNDS);
		return;
	}
	if (!ring_reference(&t, ROUNDS))
		return;
	if (vpt_caps_has(&t.drv.caps, VPT_CAP_TOPA_MULTI))
		several_tables(&t);
	else
		single_entry(&t);
	report(ring_guard_intact(guard_low, PAGE_SIZE), "nothing before the regions");
	report(ring_guard_intact(guard_high, PAGE_SIZE), "nothing after the regions");
}
