/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of instructions, on one axis for all vCPUs. Times are known at packets, and interpolated
 * by instructions in between.
 */
#ifndef VMM_FORMATS_CLOCKS_H
#define VMM_FORMATS_CLOCKS_H

#include "trace/reader.h"

struct format_clocks;

/*
 * Decode the trace once to find the times. *clocks is NULL if they cannot relate vCPUs. This is the
 * case with one vCPU, without a TSC frequency, and if a vCPU ran without TSC packets. Returns 0 or
 * -errno.
 */
int format_clocks_open(struct trace_reader *reader, struct format_clocks **clocks);
void format_clocks_close(struct format_clocks *clocks);

/*
 * Return the nanoseconds between the first known time of all vCPUs and the time at which a vCPU had
 * run @clock instructions. They do not decrease.
 */
uint64_t format_clocks_ns(const struct format_clocks *clocks, unsigned int vcpu, uint64_t clock);

#endif /* VMM_FORMATS_CLOCKS_H */
