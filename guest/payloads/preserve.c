// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two traces that take turns. XSAVES and XRSTORS or MSRs save and restore their state (33.3.5),
 * while ToPA PMIs arrive at any time, also between the two. It runs with PMI and PSB preservation
 * (33.2.7.2, 33.3.7) and without it, by vector and as NMI. A handler runs for each full region, no
 * handler finds nothing to do, and no PSB is missing.
 *
 * --arg=N is how many times they take turns, a second one bits for CTL.
 *
 * Exercises PRES-PMI-OWED, PRES-PSB-KEPT, PRES-XSAVES, XSAVE-SAVE-ORDER and XSAVE-RESTORE-ORDER.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "lib/simd.h"
#include "pt/grow.h"
#include "pt/noise.h"
#include "pt/pmi.h"
#include "pt/trace.h"
#include "pt/xstate.h"

PAYLOAD("PT state across XSAVES and XRSTORS, and PMIs that come in between");

#define VEC_PMI	  0x72
#define LOG_SIZE  (512ull << 10)
#define STRETCHES 120u
#define PATIENCE  100000u
#define PERIOD	  2048u
/* The maximum distance between the byte at which a PSB is due and the PSB. */
#define SLACK 96u

#define TRACE_EN VPT_CTL_MASK(TRACE_EN)
#define PEND_PMI VPT_STATUS_MASK(PEND_TOPA_PMI)

static const uint32_t msrs[] = {VPT_MSR_STATUS, VPT_MSR_OUTPUT_BASE, VPT_MSR_OUTPUT_MASK_PTRS,
				VPT_MSR_CTL};

enum { STATUS, BASE, MASK_PTRS, CTL, MSRS };

struct task {
	struct grow grow;
	uint64_t msr[MSRS];
	struct xstate area;
	unsigned int nothing; /* number of handlers that found no full region */
};

static struct trace t;
static struct rng rng;
static uint8_t *log;
static struct task tasks[2], *current;
static bool by_xsaves, inject, nmi;
static unsigned int stretches, pmis, ignored, others, unlatched;

static void save(struct task *k)
{
	unsigned int i;

	if (by_xsaves) {
		if (!xsaves(&k->area, XSTATE_PT))
			report(false, "XSAVES raised an exception");
		return;
	}
	k->msr[CTL] = rdmsr(VPT_MSR_CTL);
	wrmsr(VPT_MSR_CTL, k->msr[CTL] & ~TRACE_EN);
	for (i = 0; i < CTL; i++)
		k->msr[i] = rdmsr(msrs[i]);
}

static void restore(struct task *k)
{
	unsigned int i;

	current = k;
	if (by_xsaves && !xrstors(&k->area, XSTATE_PT))
		report(false, "XRSTORS raised an exception");
	for (i = 0; !by_xsaves && i < MSRS; i++)
		wrmsr(msrs[i], k->msr[i]);
}

/* Return a register of a task that is not current. */
static uint64_t saved(struct task *k, unsigned int n)
{
	static const unsigned int slot[MSRS] = {3, 1, 2, 0};

	return by_xsaves ? *xstate_slot(&k->area, XSTATE_FIRST + 8 * slot[n]) : k->msr[n];
}

/* Returns true if no action is necessary now. */
static bool not_for_now(uint64_t ctl)
{
	uint64_t status;

	if (!inject)
		return false;
	if (!(ctl & TRACE_EN)) {
		ignored++;
		return true;
	}
	status = rdmsr(VPT_MSR_STATUS);
	if (!(status & PEND_PMI)) {
		others++;
		return true;
	}
	wrmsr(VPT_MSR_STATUS, status & ~PEND_PMI);
	return false;
}

static void on_pmi(struct trap_frame *f)
{
	uint64_t ctl = rdmsr(VPT_MSR_CTL);

	(void)f;
	pmis++;
	unlatched += !pmi_is_topa();
	wrmsr(VPT_MSR_CTL, ctl & ~TRACE_EN);
	if (!not_for_now(ctl) && !grow_handle(&current->grow, rdmsr(VPT_MSR_OUTPUT_BASE),
					      rdmsr(VPT_MSR_OUTPUT_MASK_PTRS)))
		current->nothing++;
	pmi_done();
	wrmsr(VPT_MSR_CTL, ctl);
}

/* Some machines interrupt untraced code a little late. */
static void let_in(void)
{
	unsigned int wait;

	sti();
	__asm__ volatile("nop; nop");
	for (wait = 0; pmi_is_masked() && wait < PATIENCE; wait++)
		barrier();
	cli();
}

/* Without preservation, a PMI must find its own state in the MSRs. */
static void stretch(struct task *k, bool hold)
{
	restore(k);
	if (!hold)
		sti();
	noise(1 + rng_below(&rng, hold ? 150 : 60));
	cli();
	save(k);
	if (!inject || rng_chance(&rng, 50))
		let_in();
}

static void make_task(struct task *k)
{
	uint64_t ctl = TRACE_ALL | VPT_CTL_MASK(TOPA) | boot->arg[1];

	grow_init(&k->grow, &rng);
	k->nothing = 0;
	wrmsr(VPT_MSR_STATUS, 0);
	wrmsr(VPT_MSR_OUTPUT_BASE, (uintptr_t)k->grow.plan[0].table);
	wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, 0);
	wrmsr(VPT_MSR_CTL, inject ? ctl | VPT_CTL_MASK(INJECT_PSB_PMI) : ctl);
	memset(&k->area, 0, sizeof(k->area));
	save(k);
	/* From here on, the saved state has TraceEn set. */
	k->msr[CTL] |= TRACE_EN;
	*xstate_slot(&k->area, XSTATE_FIRST) |= TRACE_EN;
}

/* Return the maximum distance from a PSB to the next, or to the end. */
static uint64_t psb_distance(uint64_t bytes)
{
	uint64_t at = 0, most = 0;

	while (at < bytes) {
		uint64_t next = at + 1 + vpt_packet_find_psb(log + at + 1, bytes - at - 1);

		most = next - at > most ? next - at : most;
		at = next;
	}
	return most;
}

static void check_task(struct task *k)
{
	unsigned int left = grow_handle(&k->grow, saved(k, BASE), saved(k, MASK_PTRS));
	bool owed = inject && saved(k, STATUS) & PEND_PMI;
	struct guest_scan scan;
	uint64_t bytes;

	report(!left == !owed, "no PMI was lost");
	report_equal(k->nothing, 0, "PMIs without a full region");
	bytes = grow_log(&k->grow, saved(k, BASE), saved(k, MASK_PTRS), log, LOG_SIZE);
	guest_scan(&scan, log, bytes);
	report(!k->grow.lost && bytes > stretches / 2 * 20 * NOISE_BYTES,
	       "output went where it was led");
	report(scan.end == VPT_OK && scan.parsed == bytes, "the log is whole packets");
	report(scan.count[VPT_PKT_TIP_PGE] >= stretches / 2 &&
		       scan.count[VPT_PKT_TIP_PGE] == scan.count[VPT_PKT_TIP_PGD],
	       "a TIP.PGE and a TIP.PGD for each part of the trace");
	report(psb_distance(bytes) < PERIOD + SLACK, "no PSB was lost");
}

static void one_way(void)
{
	uint8_t vector = nmi ? PMI_NMI : VEC_PMI;
	unsigned int i;

	report(true, "by %s, PMIs %s, %s preservation", by_xsaves ? "XSAVES" : "MSRs",
	       nmi ? "as NMI" : "by vector", inject ? "with" : "without");
	pmis = unlatched = 0;
	idt_hook(vector, on_pmi);
	pmi_route(vector);
	make_task(&tasks[0]);
	make_task(&tasks[1]);
	for (i = 0; i < stretches; i++)
		stretch(&tasks[i & 1], rng_chance(&rng, 50) && i & 2);
	for (i = 0; i < 4; i++)
		stretch(&tasks[i & 1], false);
	let_in();
	report(pmis > stretches / 16 && !unlatched,
	       "PMIs came, and GLOBAL_STATUS told whose they were");
	check_task(&tasks[0]);
	check_task(&tasks[1]);
}

static void all_ways(void)
{
	inject = false;
	do {
		nmi = false;
		one_way();
		nmi = true;
		one_way();
		inject = !inject && vpt_caps_has(&t.drv.caps, VPT_CAP_PSB_PMI);
	} while (inject);
}

static struct xstate area, other;

static uint64_t *slot(unsigned int n)
{
	return xstate_slot(&area, XSTATE_FIRST + 8 * n);
}

static void shapes(void)
{
	struct cpuid_regs one = cpuid(0xd, 1), pt = cpuid(0xd, 8);

	report_equal(pt.eax, 128, "bytes of the component");
	report_equal(pt.ecx & 3, 1, "it is a supervisor's, without alignment");
	report(wrmsr_safe(MSR_XSS, XSTATE_PT) && rdmsr(MSR_XSS) == XSTATE_PT,
	       "IA32_XSS takes its bit");
	report(!wrmsr_safe(MSR_XSS, XSTATE_PT | ~(uint64_t)one.ecx), "and no reserved ones");
	report(cpuid(0xd, 1).ebx >= one.ebx + 128, "an area with it is longer");
}

static bool refused(unsigned int at, uint64_t value)
{
	bool faulted;

	memcpy(&other, &area, sizeof(area));
	*xstate_slot(&other, at) = value;
	faulted = !xrstors(&other, XSTATE_PT);
	return faulted && rdmsr(VPT_MSR_OUTPUT_MASK_PTRS) == *slot(2);
}

static void headers(void)
{
	report(refused(XSTATE_HEADER + 8, 0), "XRSTORS refuses an area that is not compacted");
	report(refused(XSTATE_HEADER + 8, 1ull << 63), "a component that the area has no room for");
	report(refused(XSTATE_HEADER, 1ull << 62), "a component that is not enabled");
	report(refused(XSTATE_HEADER + 16, 1), "a reserved byte of the header");
	report(refused(XSTATE_FIRST, 1ull << 62), "what CTL would refuse");
	report(refused(XSTATE_FIRST + 8, 1), "what OUTPUT_BASE would refuse");
	report(refused(XSTATE_FIRST + 24, 1ull << 63), "what STATUS would refuse");
	report(!xsaves(area.bytes + 8, XSTATE_PT), "XSAVES wants 64 bytes' alignment");
	write_cr4(read_cr4() & ~CR4_OSXSAVE);
	report(!xsaves(&other, XSTATE_PT) && !xrstors(&area, XSTATE_PT), "and CR4.OSXSAVE");
	write_cr4(read_cr4() | CR4_OSXSAVE);
}

/* Exercise XSAVE-COMPONENT, XSAVE-INIT, XSAVE-RESTORE-LOCKED and XSAVE-RESTORE-VALUES. */
static void instructions(void)
{
	shapes();
	guest_drv_start(&t.drv, TRACE_ALL);
	noise(10);
	report(!xrstors(&area, XSTATE_PT), "XRSTORS is refused while TraceEn is set");
	report(xsaves(&area, XSTATE_PT), "XSAVES");
	report(!(rdmsr(VPT_MSR_CTL) & TRACE_EN), "clears TraceEn");
	report(*xstate_slot(&area, XSTATE_HEADER) == XSTATE_PT &&
		       *xstate_slot(&area, XSTATE_HEADER + 8) == (1ull << 63 | XSTATE_PT),
	       "the header says what there is");
	report_equal(*slot(0), rdmsr(VPT_MSR_CTL) | TRACE_EN, "CTL in the area");
	report_equal(*slot(1), rdmsr(VPT_MSR_OUTPUT_BASE), "OUTPUT_BASE");
	report_equal(*slot(2), rdmsr(VPT_MSR_OUTPUT_MASK_PTRS), "OUTPUT_MASK_PTRS");
	report_equal(*slot(3), rdmsr(VPT_MSR_STATUS), "STATUS");
	headers();
	memcpy(&other, &area, sizeof(area));
	*xstate_slot(&other, XSTATE_HEADER) = 0;
	report(xrstors(&other, XSTATE_PT) && !rdmsr(VPT_MSR_CTL) && !rdmsr(VPT_MSR_STATUS) &&
		       rdmsr(VPT_MSR_OUTPUT_MASK_PTRS) == VPT_MASK_PTRS_LOW,
	       "XRSTORS without it initializes");
	report(xsaves(&other, XSTATE_PT) && !*xstate_slot(&other, XSTATE_HEADER),
	       "and then it need not be saved");
	report(xrstors(&area, XSTATE_PT), "XRSTORS");
	noise(10);
	guest_drv_stop(&t.drv);
	report(t.drv.end_mask_ptrs > *slot(2), "begins the trace where it was");
}

/* Save PT's component together with those of user code. */
static void all_components(void)
{
	static uint8_t all[4096] __attribute__((aligned(64)));
	uint32_t bytes = cpuid(0xd, 1).ebx;
	uint64_t *header = (uint64_t *)(all + XSTATE_HEADER);
	uint64_t ctl = TRACE_ALL | VPT_CTL_MASK(TSC_EN), *saved_ctl;
	uint32_t mxcsr = read_mxcsr();

	wrmsr(VPT_MSR_CTL, ctl);
	write_mxcsr(mxcsr ^ 0x40);
	report(bytes <= sizeof(all) && xsaves(all, ~0ull), "XSAVES of all components");
	saved_ctl = (uint64_t *)(all + bytes - 128);
	report_equal(header[1], 1ull << 63 | xgetbv(0) | XSTATE_PT, "XCOMP_BV");
	report(header[0] & XSTATE_PT && *saved_ctl == ctl, "PT's is the last one");
	write_mxcsr(mxcsr);
	*saved_ctl |= 1ull << 62;
	report(!xrstors(all, ~0ull) && read_mxcsr() == mxcsr, "what faults restores nothing");
	*saved_ctl = TRACE_ALL;
	report(xrstors(all, ~0ull) && read_mxcsr() == (mxcsr ^ 0x40) &&
		       rdmsr(VPT_MSR_CTL) == TRACE_ALL,
	       "XRSTORS of all components");
	write_mxcsr(mxcsr);
}

static bool has_component(void)
{
	return cpu_has(CPU_XSAVE) && cpuid(0xd, 1).eax & 1u << 3 && cpuid(0xd, 1).ecx & XSTATE_PT;
}

/* Chance determines the place of a PMI. */
static void report_chances(void)
{
	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_PSB_PMI))
		return;
	report(ignored, "PMIs came while nothing was traced, and came again");
	if (!others)
		report_note("none came while the other one was traced");
}

void payload(void)
{
	trace_init(&t, 1ull << 16);
	if (!trace_need_pt(&t)) {
		noise(STRETCHES);
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
	stretches = boot->arg[0] ? (unsigned int)boot->arg[0] : STRETCHES;
	log = page_alloc(LOG_SIZE);
	all_ways();
	if (!has_component()) {
		report_note("no XSAVES with a component of PT");
		report_chances();
		return;
	}
	simd_init();
	write_cr4(read_cr4() | CR4_OSXSAVE);
	xsetbv(0, xgetbv(0) | XCR0_X87 | XCR0_SSE);
	instructions();
	all_components();
	by_xsaves = true;
	all_ways();
	report_chances();
}
