// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ToPA STOP (33.2.7.2): the trace ends with the last byte of the region. Stopped is set, the
 * position stays at that entry, and the guest continues.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/ring.h"

PAYLOAD("ToPA: STOP ends the trace when its region is full");

#define REGION	    GUEST_TOPA_REGION_MIN
#define REGIONS_MAX 2
#define ROUNDS	    (3 * REGION / NOISE_BYTES)

static void check(struct trace *reference, struct guest_drv *drv, const uint64_t *table,
		  const uint8_t *out, unsigned int regions)
{
	const uint64_t bits =
		VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(TRIGGER_EN);
	struct guest_topa_pos end = guest_topa_pos(drv->end_base, drv->end_mask_ptrs);

	report_equal(drv->status & bits, VPT_STATUS_MASK(STOPPED),
		     "STATUS: Stopped and nothing else");
	report(end.table == table, "OUTPUT_BASE is the table with the STOP entry");
	report_equal(end.index, regions - 1, "the index is that entry's");
	/*
	 * The offset is beyond the last byte, so the registers must be rewritten before a restart.
	 */
	report_equal(end.offset, REGION, "OutputOffset is the region's size");
	report(!memcmp(out, reference->buf, regions * REGION), "the regions hold the trace");
	report(ring_guard_intact(out + regions * REGION, REGION), "nothing past the last region");
}

/* Software must change both Stopped and the position (33.2.7.2). */
static void check_restart(struct guest_drv *drv, uint8_t *out)
{
	uint64_t status;

	status = ring_trace(drv, 20);
	report(!(status & (VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(ERROR))),
	       "a fresh start traces again");
	report(guest_drv_bytes(drv) >= 20 * NOISE_BYTES, "from the first byte on");
	report(vpt_packet_find_psb(out, 64) == 0, "with a PSB");
}

void payload(void)
{
	unsigned int regions = REGIONS_MAX, i;
	uint64_t *table;
	struct guest_drv drv;
	struct trace t;
	uint8_t *out;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		noise(ROUNDS);
		return;
	}
	if (!ring_reference(&t, ROUNDS))
		return;
	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_TOPA_MULTI))
		regions = 1;
	drv = t.drv;
	table = page_alloc(PAGE_SIZE);
	out = page_alloc(4 * REGION);
	for (i = 0; i < regions; i++)
		table[i] = guest_topa_region(out + i * REGION, REGION,
					     i + 1 == regions ? GUEST_TOPA_STOP : 0);
	table[regions] = guest_topa_end(table);
	guest_drv_output_topa(&drv, table);
	ring_guard(out + regions * REGION, REGION);
	ring_trace(&drv, ROUNDS);
	check(&t, &drv, table, out, regions);
	check_restart(&drv, out);
}
