// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recommended handler of ToPA PMIs (33.2.7.2 table 33-4), by vector and as NMI. The trace
 * continues without end, and its tables grow.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/grow.h"
#include "pt/noise.h"
#include "pt/pmi.h"
#include "pt/trace.h"

PAYLOAD("ToPA PMIs through LVTPC, whose handler lets the tables grow");

#define VEC_PMI	 0x71
#define LOG_SIZE (1ull << 20)
#define ROUNDS	 1500u

static struct trace t;
static struct rng rng;
static uint8_t *log;
static unsigned int added, tables, rings;

static struct run {
	struct grow grow;
	unsigned int pmis, regions, spurious, unlatched, unmasked, running, off;
} r;

static void on_pmi(struct trap_frame *f)
{
	uint64_t ctl = rdmsr(VPT_MSR_CTL);
	unsigned int filled;

	(void)f;
	r.pmis++;
	r.unlatched += !pmi_is_topa();
	r.unmasked += !pmi_is_masked();
	r.off += !(ctl & VPT_CTL_MASK(TRACE_EN));
	r.running += VPT_STATUS_GET(rdmsr(VPT_MSR_STATUS), TRIGGER_EN);
	wrmsr(VPT_MSR_CTL, ctl & ~VPT_CTL_MASK(TRACE_EN));
	filled = grow_handle(&r.grow, rdmsr(VPT_MSR_OUTPUT_BASE), rdmsr(VPT_MSR_OUTPUT_MASK_PTRS));
	r.regions += filled;
	r.spurious += !filled;
	pmi_done();
	wrmsr(VPT_MSR_CTL, ctl);
}

static void traced(unsigned int rounds)
{
	while (rounds) {
		unsigned int n = 1 + rng_below(&rng, 90);

		n = n < rounds ? n : rounds;
		noise(n);
		rounds -= n;
	}
}

static void begin(uint8_t vector)
{
	r = (struct run){.pmis = 0};
	grow_init(&r.grow, &rng);
	guest_drv_output_topa(&t.drv, r.grow.plan[0].table);
	idt_hook(vector, on_pmi);
	pmi_route(vector);
}

static void check_log(const char *how)
{
	uint64_t bytes = grow_log(&r.grow, t.drv.end_base, t.drv.end_mask_ptrs, log, LOG_SIZE);
	struct guest_scan scan;

	guest_scan(&scan, log, bytes);
	report(!r.grow.lost && bytes < LOG_SIZE, "%s: output went where it was led", how);
	report(scan.end == VPT_OK && scan.parsed == bytes, "%s: the log is whole packets", how);
	/* There are more packets if a VMM enters and leaves this guest. */
	report(scan.count[VPT_PKT_TIP_PGE] >= r.pmis + 1 &&
		       scan.count[VPT_PKT_TIP_PGE] == scan.count[VPT_PKT_TIP_PGD],
	       "%s: a TIP.PGE for each start, a TIP.PGD for each stop", how);
	report(scan.count[VPT_PKT_TIP] >= 8 * ROUNDS, "%s: no jump is missing", how);
	report(!scan.count[VPT_PKT_OVF], "%s: nothing is lost", how);
}

/* Exercise PMI-LVT, PMI-LATCH and TOPA-INT. */
static void one_mode(uint8_t vector, const char *how)
{
	begin(vector);
	/* RFLAGS.IF does not delay an NMI. */
	if (vector != PMI_NMI)
		sti();
	guest_drv_start(&t.drv, TRACE_ALL);
	traced(ROUNDS);
	guest_drv_stop(&t.drv);
	cli();
	/* The packets that end a trace may fill a region: its PMI finds TraceEn clear. */
	report(r.pmis > 6 && r.off <= 1, "%s: PMIs come while the trace is on", how);
	report(!r.spurious && r.regions == r.pmis, "%s: one for each region", how);
	report(!r.unlatched, "%s: GLOBAL_STATUS says whose they are", how);
	report(!r.unmasked, "%s: their delivery masks LVTPC", how);
	report_equal(r.running, r.pmis - r.off, "handlers that found the trace running");
	added += r.grow.added;
	tables += r.grow.tables;
	rings += r.grow.rings;
	check_log(how);
}

/* Two regions become full while IF is clear: one interrupt, delivered after STI. */
static void held_back(void)
{
	unsigned int before;

	begin(VEC_PMI);
	guest_drv_start(&t.drv, TRACE_ALL);
	noise(3 * GUEST_TOPA_REGION_MIN / NOISE_BYTES);
	before = r.pmis;
	report(!before && pmi_is_topa(), "IF clear: the latch is set, and no interrupt came");
	sti();
	__asm__ volatile("nop; nop");
	cli();
	guest_drv_stop(&t.drv);
	report_equal(r.pmis, 1, "then it comes once");
	report(r.regions >= 2, "for more than one region");
}

/* Returns true and *value, or false if it raised #GP. */
static bool rdpmc_safe(uint32_t index, uint64_t *value)
{
	uint32_t lo = 0, hi = 0;
	int fault = 1;

	__asm__ volatile("1: rdpmc\n"
			 "xorl %2, %2\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "+a"(lo), "=d"(hi), "+r"(fault)
			 : "c"(index));
	*value = (uint64_t)hi << 32 | lo;
	return !fault;
}

static void reading(void)
{
	uint64_t value = 0;

	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	wrmsr(MSR_FIXED_CTR0, 0x123456789a);
	if (!rdpmc_safe(1u << 30, &value)) {
		report_note("RDPMC has no counters here");
		return;
	}
	report_equal(value, 0x123456789a, "RDPMC of a fixed counter");
	report(rdpmc_safe(0, &value), "and of a general one");
	report(!rdpmc_safe(1u << 30 | 9, &value), "but not of one that is not there");
	wrmsr(MSR_FIXED_CTR0, 0);
}

static unsigned int moved_in_handler, frozen, still_on;

static void on_freezing_pmi(struct trap_frame *f)
{
	uint64_t first = rdmsr(MSR_FIXED_CTR0);

	(void)f;
	frozen += rdmsr(MSR_PERF_GLOBAL_STATUS) & GLOBAL_STATUS_COUNT_FREEZE ||
		  !rdmsr(MSR_PERF_GLOBAL_CTRL);
	still_on += VPT_STATUS_GET(rdmsr(VPT_MSR_STATUS), TRIGGER_EN);
	moved_in_handler += rdmsr(MSR_FIXED_CTR0) != first;
	on_pmi(f);
	/* Freezing on an old processor clears the enables. */
	wrmsr(MSR_PERF_GLOBAL_CTRL, 1ull << 32);
}

/*
 * Exercise PMI-FREEZE: with the bit in DEBUGCTL, a ToPA PMI stops the counters, and not the trace.
 */
static void freezing(void)
{
	uint64_t counted;

	if (!wrmsr_safe(MSR_DEBUGCTL, DEBUGCTL_FREEZE_COUNTS) ||
	    rdmsr(MSR_DEBUGCTL) != DEBUGCTL_FREEZE_COUNTS) {
		report_note("DEBUGCTL does not freeze counters here");
		return;
	}
	moved_in_handler = frozen = still_on = 0;
	begin(VEC_PMI);
	idt_hook(VEC_PMI, on_freezing_pmi);
	wrmsr(MSR_FIXED_CTR_CTRL, 3);
	wrmsr(MSR_PERF_GLOBAL_CTRL, 1ull << 32);
	wrmsr(MSR_FIXED_CTR0, 0);
	sti();
	guest_drv_start(&t.drv, TRACE_ALL);
	noise(5 * GUEST_TOPA_REGION_MIN / NOISE_BYTES);
	guest_drv_stop(&t.drv);
	cli();
	counted = rdmsr(MSR_FIXED_CTR0);
	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	wrmsr(MSR_DEBUGCTL, 0);
	report(r.pmis >= 4 && frozen == r.pmis, "a PMI freezes counters");
	report(!moved_in_handler, "they do not move in its handler");
	report(still_on + r.off == r.pmis, "and the trace goes on");
	if (!counted)
		report_note("no instructions are counted here");
	else
		report(counted > 5 * GUEST_TOPA_REGION_MIN / NOISE_BYTES * 10,
		       "beside it they count instructions");
}

void payload(void)
{
	unsigned int i;

	trace_init(&t, PAGE_SIZE);
	if (!trace_need_pt(&t)) {
		noise(ROUNDS);
		return;
	}
	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_TOPA_MULTI)) {
		report_skip("tables of one region cannot grow");
		return;
	}
	if (!pmi_init()) {
		report_skip("no local APIC, or no performance monitoring");
		return;
	}
	rng_seed(&rng, boot->seed);
	log = page_alloc(LOG_SIZE);
	one_mode(VEC_PMI, "by vector");
	one_mode(PMI_NMI, "as NMI");
	/* Random choice may have omitted one of them so far. */
	for (i = 0; i < 4 && !(added && tables && rings); i++)
		one_mode(VEC_PMI, "once more");
	report(added && tables && rings, "tables grew, led on and became rings");
	held_back();
	reading();
	freezing();
}
