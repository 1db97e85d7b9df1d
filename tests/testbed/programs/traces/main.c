// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make traces of guests by themselves and of the host by perf, for scenarios that compare them
 * with the oracle's log.
 *
 * usage: traces WHAT [FILE]     The exit status is 0 if no step failed.
 */
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "perf.h"
#include "testbed.h"
#include "traces.h"

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"guest-range", guest_range}, {"guest-topa", guest_topa},
	{"guest-pmi", guest_pmi},     {"guest-hole", guest_hole},
	{"host", trace_host},	      {"both", trace_both},
	{"memory", trace_memory},     {"cpu", trace_cpu},
	{"pmi-host", pmi_host},	      {"pmi-host-full", pmi_host_full},
	{"two-vcpus", two_vcpus},     {"system-two", system_two},
	{"tsc-offset", tsc_offset},   {"tsc-scaled", tsc_scaled},
	{"count-guest", count_guest}, {"count-both", count_both},
	{"failed-late", failed_late}, {"failed-early", failed_early},
	{"perf-user", perf_user},     {"load", load},
};

const char *result_file = "traced";

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (bed_open()) {
		printf("FAIL this is not the test bed\n");
		return 2;
	}
	if (argc > 2)
		result_file = argv[2];
	for (size_t i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[1], tests[i].name))
			continue;
		tests[i].run();
		return 0;
	}
	printf("FAIL there is no such trace\n");
	return 2;
}
