/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a vCPU as perf gets them. Packets that perf cannot follow are replaced by others.
 * Unless timing packets are kept, all of them become TSC packets, and some TSC packets are added.
 *
 * TMA and MTC are folded into TSC packets, since perf's own arithmetic would run past a TSC packet
 * that was added. For the same reason CBR is left out. perf also takes time from a CYC that a TSC
 * follows directly. So the export swaps the two packets.
 */
#ifndef VMM_EXPORT_STREAM_H
#define VMM_EXPORT_STREAM_H

#include <stdio.h>

#include "export/lane.h"

/*
 * The shift from nanoseconds to ticks of a TSC packet. perf's estimates between two packets stay
 * below a nanosecond.
 */
#define EXPORT_TSC_SHIFT 10

/*
 * Write the packets. *bytes is the number of written bytes. If `keep` is set, the trace's timing
 * packets are kept. Returns 0 or -errno.
 */
int export_stream(struct export_lane *lane, bool keep, FILE *out, uint64_t *bytes);

#endif /* VMM_EXPORT_STREAM_H */
