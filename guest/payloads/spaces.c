// SPDX-License-Identifier: GPL-2.0-or-later
/* Two alternating address spaces with different code at one address: PIP packets. */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/twin.h"
#include "pt/trace.h"

PAYLOAD("two address spaces, other code at the same address");

#define ROUNDS 80

static struct twin twin;
static unsigned int wrong;

static void work(void)
{
	uint64_t i;

	wrong = 0;
	for (i = 0; i < ROUNDS; i++) {
		write_cr3(twin.cr3[0]);
		wrong += TWIN_FUNCTION(i % 9) != twin_result(0, i % 9);
		write_cr3(twin.cr3[1]);
		wrong += TWIN_FUNCTION(i) != twin_result(1, i);
		/* A write of the same value also sends a PIP. */
		if (i % 8 == 0)
			write_cr3(twin.cr3[1]);
	}
}

void payload(void)
{
	struct trace t;

	twin_init(&twin);
	write_cr3(twin.cr3[0]);
	trace_simple(&t, work);
	report_equal(wrong, 0, "each space ran its own code");
	report_equal(read_cr3(), twin.cr3[1], "the last CR3");
	if (t.on)
		report(t.scan.count[VPT_PKT_PIP] >= 2 * ROUNDS + ROUNDS / 8,
		       "a PIP for each CR3 write");
}
