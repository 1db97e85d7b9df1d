/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace of another trace system as one of Intel PT, in a .vpt file of its own. Our decoder's flow
 * becomes packets that every PT decoder reads. Code, address spaces and symbols are those of the
 * trace.
 */
#ifndef VMM_EXPORT_RECAST_H
#define VMM_EXPORT_RECAST_H

#include "trace/reader.h"

struct export_recast_report {
	uint64_t insns, sessions, bytes;
	uint64_t errors; /* places that cannot be decoded: overflows in what is written */
	char error[160]; /* the first */
	bool timed;
	bool oracle; /* what ran is in it, so that it can be verified */
};

/* Is it of a system that is to be told as PT? */
bool export_recast_needed(const struct trace_reader *reader);

/*
 * Write the trace to @fd, which the caller closes. The new file has no END block if the trace is
 * not whole. It has no oracle if the file is damaged, or if there is VMX operation. It has none
 * either if address ranges filtered the trace, since PT filters differently. Returns 0 or -errno.
 */
int export_recast(struct trace_reader *reader, int fd, struct export_recast_report *report);

#endif /* VMM_EXPORT_RECAST_H */
