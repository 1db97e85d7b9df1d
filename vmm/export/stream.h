/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's packets as perf gets them: all time is in TSC packets, some of which are
 * added, and what perf cannot follow is said another way.
 *
 * TMA and MTC are folded into TSC packets, or else perf's reckoning with them would go
 * past a TSC packet that was added. For the same reason there is no CBR. perf takes CYC
 * for time, too, if a TSC comes right after it: then they change places.
 */
#ifndef VMM_EXPORT_STREAM_H
#define VMM_EXPORT_STREAM_H

#include <stdio.h>

#include "lane.h"

/* A TSC packet's ticks: perf's guesses between two of them stay below a nanosecond. */
#define VPT_EXPORT_TSC_SHIFT 10

/* 0 or -errno. *bytes: how many were written. */
int vpt_export_stream(struct vpt_export_lane *lane, FILE *out, uint64_t *bytes);

#endif /* VMM_EXPORT_STREAM_H */
