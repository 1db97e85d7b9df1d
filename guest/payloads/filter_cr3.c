// SPDX-License-Identifier: GPL-2.0-or-later
/* CR3 filtering (33.2.5.2): only one of two address spaces is in the trace. */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/twin.h"
#include "pt/trace.h"

PAYLOAD("CR3 filter: one of two address spaces is traced");

#define ROUNDS 40

static struct twin twin;
static unsigned int wrong;

static noinline void visit(unsigned int space, uint64_t n)
{
	write_cr3(twin.cr3[space]);
	wrong += TWIN_FUNCTION(n) != twin_result(space, n);
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		visit(1, i);
		visit(0, i % 9);
	}
}

/* Space 0 is current at the start and at the end of work(). */
static void traced(struct trace *t, unsigned int space, const char *what)
{
	/* Packets that pass the filter in addition to ROUNDS visits: start and stop. */
	unsigned int want = ROUNDS + (space == 0);

	guest_drv_cr3(&t->drv, twin.cr3[space]);
	trace_run(t, TRACE_ALL, work);
	trace_report(t);
	report(t->scan.count[VPT_PKT_TIP_PGE] == want, "%s: it is entered %u times", what, want);
}

void payload(void)
{
	struct trace t;

	twin_init(&twin);
	write_cr3(twin.cr3[0]);
	trace_init(&t, TRACE_BUFFER);
	if (!t.on || !vpt_caps_has(&t.drv.caps, VPT_CAP_CR3_FILTER)) {
		trace_run(&t, TRACE_ALL, work);
		trace_report(&t);
		report_equal(wrong, 0, "each space ran its own code");
		if (t.on)
			report_skip("this processor has no CR3 filter");
		return;
	}
	traced(&t, 0, "the space that starts the trace");
	traced(&t, 1, "the other space");

	/* The filter ignores bits 11:0 of CR3. */
	guest_drv_cr3(&t.drv, twin.cr3[1] | 0xfe0);
	trace_run(&t, TRACE_ALL, work);
	report(t.scan.count[VPT_PKT_TIP_PGE] == ROUNDS, "bits 11:5 of CR3_MATCH do not count");

	/* A space that does not exist. */
	guest_drv_cr3(&t.drv, 0x12345000);
	trace_run(&t, TRACE_ALL, work);
	report(!t.scan.count[VPT_PKT_TIP_PGE] && !t.scan.tnt_bits, "no match, no flow");
	report(t.scan.count[VPT_PKT_PSB] > 0, "but a PSB");
	report_equal(wrong, 0, "each space ran its own code");
}
