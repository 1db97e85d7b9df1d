/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Convert a trace of another trace system to Intel PT, in a .vpt file of its own. The flow of our
 * decoder becomes packets that every PT decoder reads. Code, address spaces and symbols are copied
 * from the trace.
 */
#ifndef VMM_EXPORT_RECAST_H
#define VMM_EXPORT_RECAST_H

#include "trace/reader.h"

struct export_recast_report {
	uint64_t insns, sessions, bytes;
	uint64_t errors; /* the places that cannot be decoded; they are written as overflows */
	char error[160]; /* the first error */
	bool timed;
	bool oracle; /* the file has the oracle's records and can be verified */
};

/* Returns true if the trace is of a system that must be converted to PT. */
bool export_recast_needed(const struct trace_reader *reader);

/*
 * Write the trace to @fd, which the caller closes. The new file has no END block if the trace is
 * incomplete. The new file has no oracle if the trace is damaged, or if there is VMX operation. It
 * also has no oracle if address ranges filtered the trace, since PT filters differently. Returns 0
 * or -errno.
 */
int export_recast(struct trace_reader *reader, int fd, struct export_recast_report *report);

#endif /* VMM_EXPORT_RECAST_H */
