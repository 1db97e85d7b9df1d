/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions that perf finds in an export of a trace, against what ran. */
#ifndef VMM_ORACLE_BY_PERF_H
#define VMM_ORACLE_BY_PERF_H

#include <stdio.h>

#include "trace/reader.h"

/* The list with which perf's instructions are compared. */
enum oracle_perf_list {
	ORACLE_PERF_ORACLE, /* what ran, all of which is in the trace */
	/*
	 * Pieces of what ran, from one loss of packets to the next. Each must be somewhere in
	 * what ran, in this order.
	 */
	ORACLE_PERF_PIECES,
	/* The decoder's, which agrees with what ran where it should: the output was full. */
	ORACLE_PERF_DECODER,
};

struct oracle_by_perf {
	enum oracle_perf_list list;
	uint64_t retired; /* that should be in the trace; PIECES: that ran */
	uint64_t found;	  /* by perf */
	uint64_t skipped; /* instructions before the first one that is compared */
	uint64_t pieces;
	uint64_t mismatches; /* 0 or 1: nothing behind the first one is compared */
	char first[256];     /* the first one */
};

/*
 * @lines: what perf script --itrace=i0nse -F ip prints for the export of @vcpu. Without PIECES
 * nothing is kept of them; with PIECES 8 bytes for each instruction that ran. @skip: how many
 * instructions the export leaves out at its beginning. Returns 0 or -errno; what cannot be compared
 * at all is a mismatch.
 */
int oracle_by_perf(struct trace_reader *reader, unsigned int vcpu, uint64_t skip, FILE *lines,
		   struct oracle_by_perf *result);

#endif /* VMM_ORACLE_BY_PERF_H */
