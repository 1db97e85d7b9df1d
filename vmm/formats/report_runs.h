/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When an address space runs: intervals of a vCPU's clock, which are joined if they become too many. */
#ifndef VMM_FORMATS_REPORT_RUNS_H
#define VMM_FORMATS_REPORT_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* The largest number of intervals. */
#define FORMAT_REPORT_RUNS_MAX 1000u

struct format_report_run {
	uint64_t begin, end; /* clocks; @end is the first one behind the interval */
};

/* All zero when empty; the owner frees @at. */
struct format_report_runs {
	struct format_report_run *at;
	size_t n, room;
	uint64_t gap; /* intervals with no more than this between them are one */
};

/* Add an interval that begins at or behind the end of the last one. Returns 0 or -ENOMEM. */
int format_report_runs_add(struct format_report_runs *runs, uint64_t begin, uint64_t end);

#endif /* VMM_FORMATS_REPORT_RUNS_H */
