// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ToPA INT (33.2.7.2): a performance-monitoring interrupt when a region is full. The handler drains
 * the buffer and starts again, like a real driver.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("ToPA: INT raises a PMI, its handler drains the buffer");

#define VEC_PMI	 0x70
#define REGION	 GUEST_TOPA_REGION_MIN
#define LOG_SIZE (128ull << 10)
/* Enough rounds to fill the INT region more than four times. */
#define ROUNDS	 (4 * REGION / NOISE_BYTES + 30)
#define PATIENCE 1000000u

static struct trace t;
static uint8_t *out, *log;
static uint64_t logged;
static volatile unsigned int pmis, early;
static bool latch_was_clear;

/* Append the contents of the regions, in order, to the log. */
static void drain(void)
{
	struct guest_drv *drv = &t.drv;

	logged += guest_topa_copy(guest_topa_pos(drv->output_base, drv->output_mask_ptrs),
				  guest_topa_pos(drv->end_base, drv->end_mask_ptrs), log + logged,
				  LOG_SIZE - logged);
}

static void on_pmi(struct trap_frame *f)
{
	uint64_t offset;

	(void)f;
	guest_drv_stop(&t.drv);
	pmis++;
	latch_was_clear |= inl(VPT_PORT_PMI) != 1;
	/* Output is still in the INT region, which only a processor with one region may do. */
	offset = t.drv.end_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
	if (!((uint32_t)t.drv.end_mask_ptrs >> VPT_MASK_PTRS_TABLE_SHIFT) && offset >= REGION / 2)
		early++;
	drain();
	guest_drv_start(&t.drv, TRACE_ALL);
}

static void make_table(void)
{
	uint64_t *table = page_alloc(PAGE_SIZE);
	unsigned int last = 1;

	out = page_alloc(2 * REGION);
	table[0] = guest_topa_region(out, REGION, GUEST_TOPA_INT);
	if (vpt_caps_has(&t.drv.caps, VPT_CAP_TOPA_MULTI))
		table[last++] = guest_topa_region(out + REGION, REGION, 0);
	table[last] = guest_topa_end(table);
	guest_drv_output_topa(&t.drv, table);
}

static void drained_run(void)
{
	bool multi = vpt_caps_has(&t.drv.caps, VPT_CAP_TOPA_MULTI);

	sti();
	guest_drv_start(&t.drv, TRACE_ALL);
	noise(ROUNDS);
	guest_drv_stop(&t.drv);
	cli();
	drain();
	guest_scan(&t.scan, log, logged);
	report(pmis >= 4 && pmis <= 5, "a PMI each time the region is full");
	report(multi ? !early : early == pmis, "%s the region is full", multi ? "after" : "before");
	report(!latch_was_clear, "the PMI latch was set in each handler");
	report(t.scan.end == VPT_OK && t.scan.parsed == logged, "the log is whole packets");
	report_equal(t.scan.count[VPT_PKT_TIP_PGE], pmis + 1, "a TIP.PGE for each start");
	report_equal(t.scan.count[VPT_PKT_TIP_PGD], pmis + 1, "a TIP.PGD for each stop");
	report(t.scan.count[VPT_PKT_TIP] >= 8 * ROUNDS, "no jump is missing");
}

/* With IF clear the PMI stays pending; two of them are one interrupt. */
static void held_back(void)
{
	unsigned int before = pmis, wait;

	guest_drv_start(&t.drv, TRACE_ALL);
	noise(ROUNDS);
	guest_drv_stop(&t.drv);
	report_equal(pmis, before, "IF clear holds the PMI back");
	/* Untraced, the guest may be interrupted a little late. */
	sti();
	for (wait = 0; pmis == before && wait < PATIENCE; wait++)
		barrier();
	noise(10);
	cli();
	report_equal(pmis, before + 1, "then it comes once");
	guest_drv_stop(&t.drv);
}

void payload(void)
{
	trace_init(&t, PAGE_SIZE);
	if (!trace_need_pt(&t)) {
		noise(ROUNDS);
		return;
	}
	log = page_alloc(LOG_SIZE);
	make_table();
	idt_hook(VEC_PMI, on_pmi);
	outl(VPT_PORT_PMI, VEC_PMI);
	drained_run();
	held_back();

	/* No vector is set: the latch reports the PMI. */
	outl(VPT_PORT_PMI, 0);
	pmis = 0;
	guest_drv_start(&t.drv, TRACE_ALL);
	sti();
	noise(ROUNDS);
	cli();
	guest_drv_stop(&t.drv);
	report_equal(pmis, 0, "without a vector no interrupt comes");
	report_equal(inl(VPT_PORT_PMI), 1, "but the latch is set");
	report_equal(inl(VPT_PORT_PMI), 0, "until it is read");
}
