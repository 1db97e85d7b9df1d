// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PT whose registers work and which sees no branches, like QEMU's PT under KVM. A trace must have
 * a begin and an end, must report that the packets between them were lost, and must contain nothing
 * false.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "pt/check.h"
#include "pt/drv.h"
#include "pt/noise.h"
#include "lib/report.h"

PAYLOAD("PT that has lost all branches, and says so");

#define BUFFER	   (64ull << 10)
#define ROUNDS	   20u
#define TRACE_BITS (VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(TSC_EN))

static struct guest_drv drv;
static struct guest_scan scan;
static uint8_t *buf;

static void work(void)
{
	noise(100);
}

static uint64_t trace(uint64_t ctl)
{
	bool started = guest_drv_start(&drv, ctl);

	work();
	guest_drv_stop(&drv);
	report(started && !(drv.status & (VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED))),
	       "tracing starts and stops");
	return guest_drv_bytes(&drv);
}

static bool is_wrmsr(uint64_t ip)
{
	return *(const volatile uint8_t *)ip == 0x0f && *(const volatile uint8_t *)(ip + 1) == 0x30;
}

/* The trace begins and ends at CPL 0. */
static void kernel(uint64_t ctl, const char *what)
{
	static const struct guest_flow want[] = {
		FLOW_PGE(GUEST_FLOW_ANY), {VPT_PKT_OVF, 0},	      FLOW_FUP(GUEST_FLOW_ANY),
		FLOW_FUP(GUEST_FLOW_ANY), FLOW_PGD(GUEST_FLOW_NO_IP),
	};
	uint64_t bytes = trace(ctl);
	struct guest_flow got[ARRAY_SIZE(want)];

	guest_scan(&scan, buf, bytes);
	report(scan.end == VPT_OK && scan.parsed == bytes && scan.first == VPT_PKT_PSB,
	       "%s: whole packets, a PSB first", what);
	if (!guest_flow_report(buf, bytes, want, ARRAY_SIZE(want), what))
		return;
	guest_flow_read(buf, bytes, got, ARRAY_SIZE(got));
	report(is_wrmsr(got[0].value - 2) && is_wrmsr(got[2].value) && got[2].value == got[3].value,
	       "%s: IPs of the two WRMSR", what);
}

static void user(void)
{
	static const struct guest_flow want[] = {{VPT_PKT_OVF, 0}};
	uint64_t bytes = trace(TRACE_BITS | VPT_CTL_MASK(USER));

	guest_flow_report(buf, bytes, want, ARRAY_SIZE(want), "ring 3 alone: nothing but the loss");
}

void payload(void)
{
	uint64_t *table;
	unsigned int i;
	uint64_t ctl;

	/* Some KVMs show leaf 7 of the host's CPUID despite the VMM's setting. */
	if (!guest_drv_probe(&drv) && !rdmsr_safe(VPT_MSR_CTL, &ctl)) {
		report_skip("no PT");
		return;
	}
	table = page_alloc(PAGE_SIZE);
	buf = page_alloc(BUFFER);
	table[0] = guest_topa_region(buf, BUFFER, 0);
	table[1] = guest_topa_end(table);
	guest_drv_output_topa(&drv, table);
	kernel(TRACE_BITS | VPT_CTL_MASK(OS), "ring 0");
	kernel(TRACE_BITS | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER), "both rings");
	user();
	for (i = 0; i < ROUNDS; i++) {
		guest_drv_resume(&drv, TRACE_BITS | VPT_CTL_MASK(OS));
		work();
		guest_drv_stop(&drv);
	}
	guest_scan(&scan, buf, guest_drv_bytes(&drv));
	report(scan.end == VPT_OK && scan.count[VPT_PKT_TIP_PGE] == ROUNDS &&
		       scan.count[VPT_PKT_TIP_PGD] == ROUNDS &&
		       scan.count[VPT_PKT_OVF] == ROUNDS + 1 && !scan.tnt_bits &&
		       !scan.count[VPT_PKT_TIP],
	       "traces that go on where the last one ended");
}
