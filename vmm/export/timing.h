/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How perf gets the time: by the timing packets of the trace, or by TSC packets alone.
 *
 * A reader who looks at the trace itself wants its own packets. But perf applies records of
 * processes and code by its own estimate of the time, which between two packets is a guess. If
 * something changes after the beginning, the time is therefore moved into TSC packets (stream.h).
 * The same is done if perf cannot use the packets, because time runs backwards or MTC has two
 * rates.
 */
#ifndef VMM_EXPORT_TIMING_H
#define VMM_EXPORT_TIMING_H

#include "export/export.h"
#include "export/plan.h"
#include "export/record.h"

/*
 * A time of 0 is none to perf, but a TSC can be 0. Packets do not have the highest byte of the TSC,
 * and perf takes it from the AUXTRACE record. The TSC's zero is therefore 2^56, and one unit is a
 * nanosecond.
 */
#define EXPORT_REFERENCE (1ull << 56)
#define EXPORT_BEGINNING 1

/* Of all lanes, once the plan is whole. -ENOTSUP: `how` cannot be. */
int export_timing(const struct export_plan *plan, enum export_how how,
		  enum export_record_timing *timing);

/* Ticks of the TSC to perf's nanoseconds; hz 0: they are the same. */
void export_conversion(uint64_t hz, struct export_record_time *time);

#endif /* VMM_EXPORT_TIMING_H */
