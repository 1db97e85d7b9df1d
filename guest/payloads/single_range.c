// SPDX-License-Identifier: GPL-2.0-or-later
/* Single-range output (33.2.7.1): circular, from 128 bytes on, with exact positions. */
#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/ring.h"

PAYLOAD("single-range output, wrapping around");

#define ROUNDS 400

static const uint64_t sizes[] = {128, 1024, 4096, 8192};

static void one(struct trace *reference, uint8_t *area, uint64_t bytes)
{
	struct guest_drv drv = reference->drv;

	ring_guard(area, 4 * bytes);
	guest_drv_output_single(&drv, area + bytes, bytes);
	report_equal(ring_trace(&drv, ROUNDS) & (VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED)),
		     0, "STATUS");
	report_equal(drv.end_base, drv.output_base, "OUTPUT_BASE is unchanged");
	report_equal((uint32_t)drv.end_mask_ptrs, bytes - 1, "and so is the mask");
	ring_report(reference, area + bytes, bytes,
		    drv.end_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT);
	report(ring_guard_intact(area, bytes), "nothing before the range");
	report(ring_guard_intact(area + 2 * bytes, 2 * bytes), "nothing after the range");
}

void payload(void)
{
	struct trace t;
	unsigned int i;

	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_pt(&t)) {
		noise(ROUNDS);
		return;
	}
	if (!ring_reference(&t, ROUNDS))
		return;
	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_SINGLE_RANGE)) {
		report_skip("this processor has no single-range output");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		one(&t, page_alloc(sizes[i] < 1024 ? PAGE_SIZE : 4 * sizes[i]), sizes[i]);
}
