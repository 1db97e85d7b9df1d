/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How perf is told the time: by the packets of the trace as they are, or by TSC packets
 * alone.
 *
 * As they are is what a reader wants who looks at the trace itself. But records that tell
 * of processes and code are put into effect by perf's own estimate of the time, and what
 * that is between two packets it makes up. So where something changes after the beginning,
 * time is moved into TSC packets (stream.h). Nor does it do where perf would not get over
 * what the packets say: time that runs backwards, or MTC packets at two rates.
 */
#ifndef VMM_EXPORT_TIMING_H
#define VMM_EXPORT_TIMING_H

#include "export/export.h"
#include "export/plan.h"
#include "export/record.h"

/*
 * To perf a time of 0 is none, but a TSC can be 0. perf takes what a packet does not have
 * of the TSC, the highest byte, from the AUXTRACE record: 2^56 is the TSC's zero, and a
 * nanosecond the time then.
 */
#define EXPORT_REFERENCE (1ull << 56)
#define EXPORT_BEGINNING 1

/* Of all lanes, once the plan is whole. -ENOTSUP: `how` cannot be. */
int export_timing(const struct export_plan *plan, enum export_how how,
		  enum export_record_timing *timing);

/* Ticks of the TSC to perf's nanoseconds; hz 0: they are the same. */
void export_conversion(uint64_t hz, struct export_record_time *time);

#endif /* VMM_EXPORT_TIMING_H */
