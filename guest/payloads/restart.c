// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TraceEn is set and cleared many times. The registers keep the state between runs (33.2.8.3). A
 * table that changes between runs takes effect at the next start.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("TraceEn on and off, state kept, tables rewritten between runs");

#define TOGGLES 60
#define REGION	GUEST_TOPA_REGION_MIN
#define REGIONS 8

static uint32_t value;

static noinline void step(unsigned int i)
{
	unsigned int k;

	for (k = 0; k < 1 + i % 5; k++)
		value = value * 3 + (i & k ? 1 : 2);
}

static void without_pt(void)
{
	unsigned int i;

	for (i = 0; i < 20 * TOGGLES; i++)
		step(i);
}

/* One trace in many pieces. */
static void toggles(struct trace *t)
{
	bool moved = true, kept = true;
	uint64_t bytes = 0;
	unsigned int i;

	guest_drv_start(&t->drv, TRACE_ALL);
	guest_drv_stop(&t->drv);
	for (i = 1; i < TOGGLES; i++) {
		kept &= rdmsr(VPT_MSR_OUTPUT_MASK_PTRS) == t->drv.end_mask_ptrs &&
			rdmsr(VPT_MSR_OUTPUT_BASE) == t->drv.end_base &&
			rdmsr(VPT_MSR_STATUS) == t->drv.status;
		bytes = guest_drv_bytes(&t->drv);
		guest_drv_resume(&t->drv, TRACE_ALL);
		step(i);
		guest_drv_stop(&t->drv);
		moved &= guest_drv_bytes(&t->drv) > bytes;
	}
	t->bytes = guest_drv_bytes(&t->drv);
	guest_scan(&t->scan, t->buf, t->bytes);
	trace_report(t);
	report(moved, "each run adds bytes");
	report(kept, "nothing moves in between");
	report_equal(t->scan.count[VPT_PKT_TIP_PGE], TOGGLES, "as many runs as starts");
}

/*
 * A PSB opens each run, or only a run for which PacketByteCnt is 0 (table 33-11, EBX[1]). The
 * pieces here are too short for a PSB in their middle.
 */
static void psb_on_start(const struct trace *t)
{
	uint64_t psbs = t->scan.count[VPT_PKT_PSB];

	if (vpt_caps_has(&t->drv.caps, VPT_CAP_PSB_CYC))
		report(psbs >= 1 && psbs <= 1 + t->bytes / 2048, "PSB by PacketByteCnt");
	else
		report_equal(psbs, TOGGLES, "PSB at each start");
}

static void packet_byte_count(struct trace *t)
{
	uint64_t count;

	if (!vpt_caps_has(&t->drv.caps, VPT_CAP_PSB_CYC)) {
		report_equal(t->drv.status >> 32, 0, "PacketByteCnt is not there");
		return;
	}
	guest_drv_start(&t->drv, TRACE_ALL);
	noise(4);
	guest_drv_stop(&t->drv);
	count = VPT_STATUS_GET(t->drv.status, PACKET_BYTE_CNT);
	report(count && count <= guest_drv_bytes(&t->drv), "PacketByteCnt counts");

	/* After a write of 0, a resume begins with a PSB again. */
	wrmsr(VPT_MSR_STATUS, 0);
	guest_drv_resume(&t->drv, TRACE_ALL);
	guest_drv_stop(&t->drv);
	t->bytes = guest_drv_bytes(&t->drv);
	guest_scan(&t->scan, t->buf, t->bytes);
	report_equal(t->scan.count[VPT_PKT_PSB], 2, "PacketByteCnt 0: a PSB at the start");
}

/* Use the same table with another region each time. */
static void rewritten_table(struct trace *t)
{
	uint8_t *regions = page_alloc(REGIONS * REGION);
	uint64_t *table = page_alloc(PAGE_SIZE);
	struct guest_drv drv = t->drv;
	struct guest_scan scan;
	bool ok = true;
	unsigned int i;

	table[1] = guest_topa_end(table);
	guest_drv_output_topa(&drv, table);
	for (i = 0; i < REGIONS; i++) {
		table[0] = guest_topa_region(regions + i * REGION, REGION, 0);
		guest_drv_start(&drv, TRACE_ALL);
		step(i);
		guest_drv_stop(&drv);
		guest_scan(&scan, regions + i * REGION, guest_drv_bytes(&drv));
		ok &= scan.end == VPT_OK && scan.first == VPT_PKT_PSB &&
		      scan.last == VPT_PKT_TIP_PGD && scan.count[VPT_PKT_TIP_PGE] == 1;
	}
	report(ok, "each run went to the region of its time");
}

/* Resume in the middle of the same region, like a driver. */
static void own_position(struct trace *t)
{
	struct guest_drv drv = t->drv;

	drv.output_mask_ptrs = 1000ull << VPT_MASK_PTRS_OFFSET_SHIFT | VPT_MASK_PTRS_LOW;
	guest_drv_start(&drv, TRACE_ALL);
	step(3);
	guest_drv_stop(&drv);
	report(vpt_packet_find_psb(t->buf + 1000, 64) == 0, "output begins at OutputOffset");
	report_equal((drv.end_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT) - 1000,
		     guest_drv_bytes(&drv), "and is counted from there");
}

void payload(void)
{
	struct trace t;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		without_pt();
		return;
	}
	toggles(&t);
	psb_on_start(&t);
	packet_byte_count(&t);
	rewritten_table(&t);
	own_position(&t);
}
