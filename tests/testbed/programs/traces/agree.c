// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trace code of ring 3 with perf's intel_pt, to compare decoders. Export the trace by itself,
 * and in a perf.data as `perf record` would write it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "perf.h"
#include "perfdata.h"
#include "testbed.h"
#include "traces.h"

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Calls by pointer, recursion, string instructions and system calls. */
static unsigned int work(void)
{
	char text[64] = "";
	int numbers[100];
	unsigned int sum;

	for (int i = 0; i < 100; i++)
		numbers[i] = (i * 7919 + 13) % 101;
	qsort(numbers, 100, sizeof(numbers[0]), compare);
	sum = fibonacci(12) + (unsigned int)numbers[50];
	for (int i = 0; i < 20; i++)
		sum += (unsigned int)getppid() != 0;
	snprintf(text, sizeof(text), "%u %s %d", sum, "and", numbers[3]);
	return sum + (unsigned int)strlen(text);
}

void perf_user(void)
{
	/* Without TSC perf needs no clock. */
	static const struct perf_pt_want want = {
		.config = PERF_PT_NORETCOMP | PERF_PT_BRANCH | 1,
		.only_user = true,
		.this_thread = true,
		.aux_pages = 64,
	};
	volatile unsigned int result;
	struct perf_pt pt;

	if (perf_pt_open(&pt, &want))
		fail("perf_event_open of intel_pt");
	/* Run the code once before the trace, so that the trace has no page faults. */
	result = work();
	bed_command(BED_ORACLE_ON, 0);
	if (perf_pt_enable(&pt))
		fail("PERF_EVENT_IOC_ENABLE");
	result += work();
	perf_pt_disable(&pt);
	bed_command(BED_ORACLE_OFF, 0);
	perf_pt_read(&pt);
	if (pt.dropped || pt.truncated || pt.lost || pt.size < 500)
		fail("the trace is not whole: %zu bytes", pt.size);
	bed_export("host.pt", pt.bytes, pt.size);
	perf_data_export("perf.data", &pt);
	perf_pt_close(&pt);
}
