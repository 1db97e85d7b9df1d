/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a vCPU as perf gets them. Packets that perf cannot follow are replaced by others.
 * Unless timing packets are kept, all of them become TSC packets, and some TSC packets are added.
 *
 * TMA and MTC are folded into TSC packets, since perf's own arithmetic would run past a TSC packet
 * that was added. For the same reason CBR is left out. A CYC is time to perf too if a TSC follows
 * at once, so the two change places.
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
