/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's packets as perf gets them: what perf cannot follow is said another way, and
 * unless they are kept, all packets that tell the time become TSC packets, some of which
 * are added.
 *
 * TMA and MTC are folded into these, or else perf's reckoning with them would go
 * past a TSC packet that was added. For the same reason there is no CBR. perf takes CYC
 * for time, too, if a TSC comes right after it: then they change places.
 */
#ifndef VMM_EXPORT_STREAM_H
#define VMM_EXPORT_STREAM_H

#include <stdio.h>

#include "export/lane.h"

/* A TSC packet's ticks: perf's guesses between two of them stay below a nanosecond. */
#define EXPORT_TSC_SHIFT 10

/* 0 or -errno. *bytes: how many were written. `keep`: time is as it is in the trace. */
int export_stream(struct export_lane *lane, bool keep, FILE *out, uint64_t *bytes);

#endif /* VMM_EXPORT_STREAM_H */
