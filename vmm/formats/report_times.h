/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known times of a vCPU for the page of vpt report. The decoder computes a time at each packet.
 * Few of these points are written: a line through them is near all others.
 */
#ifndef VMM_FORMATS_REPORT_TIMES_H
#define VMM_FORMATS_REPORT_TIMES_H

#include <stdio.h>

#include "decode/timeline.h"

/* A known time: @clock instructions ran before. Two points of one clock enclose a sleep. */
struct format_report_time {
	uint64_t clock, tsc;
};

struct format_report_times {
	struct format_report_time *at;
	size_t n, room;
	bool inside;	/* the cut of the page has begun */
	uint64_t known; /* the number of points that were added */
	uint64_t error; /* a dropped point is at most so many ticks away from the line */
	uint64_t first; /* the earliest time */
	uint64_t last;	/* the latest time */
};

/* Add the time of a clock, unless it is relative. Clocks do not decrease. Returns 0 or -ENOMEM. */
int format_report_times_add(struct format_report_times *t, uint64_t clock,
			    const struct decode_when *when);

/* Drop points until at most @max are left. */
void format_report_times_thin(struct format_report_times *t, size_t max);

/* Write the points as an object of JSON. */
void format_report_times_write(const struct format_report_times *t, FILE *out);

#endif /* VMM_FORMATS_REPORT_TIMES_H */
