/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of time for perf: the timing packets of the trace, or TSC packets alone.
 *
 * A reader of the raw trace needs its own packets. But perf applies records of processes and code
 * by its own estimate of the time, which is a guess between two packets. If something changes after
 * the beginning, the time is therefore moved into TSC packets (stream.h). The same is done if perf
 * cannot use the packets, because time runs backwards or MTC has two rates.
 */
#ifndef VMM_EXPORT_TIMING_H
#define VMM_EXPORT_TIMING_H

#include "export/export.h"
#include "export/plan.h"
#include "export/record.h"

/*
 * perf treats a time of 0 as no time, but a TSC can be 0. Packets do not have the highest byte of
 * the TSC, and perf takes it from the AUXTRACE record. The TSC's zero is therefore 2^56, and one
 * unit is a nanosecond.
 */
#define EXPORT_REFERENCE (1ull << 56)
#define EXPORT_BEGINNING 1

/*
 * Choose the timing of all lanes, once the plan is complete. Returns -ENOTSUP if perf cannot use
 * the packets that `how` requires.
 */
int export_timing(const struct export_plan *plan, enum export_how how,
		  enum export_record_timing *timing);

/* Compute the conversion of TSC ticks to nanoseconds for perf. With hz 0 the two are equal. */
void export_conversion(uint64_t hz, struct export_record_time *time);

#endif /* VMM_EXPORT_TIMING_H */
