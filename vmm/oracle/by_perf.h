/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of perf's instructions, from an export of a trace, with the executed ones. */
#ifndef VMM_ORACLE_BY_PERF_H
#define VMM_ORACLE_BY_PERF_H

#include <stdio.h>

#include "trace/reader.h"

/* The list with which perf's instructions are compared. */
enum oracle_perf_list {
	ORACLE_PERF_ORACLE, /* the executed instructions, all of which are in the trace */
	/*
	 * Pieces of the executed instructions, between losses of packets. Each must occur in the
	 * execution, in this order.
	 */
	ORACLE_PERF_PIECES,
	/*
	 * The decoder's list, which agrees with the execution up to the end: the output was full.
	 */
	ORACLE_PERF_DECODER,
};

struct oracle_by_perf {
	enum oracle_perf_list list;
	uint64_t retired; /* instructions that the trace should contain; PIECES: executed ones */
	uint64_t found;	  /* instructions that perf found */
	uint64_t skipped; /* instructions before the first compared one */
	uint64_t pieces;
	uint64_t mismatches; /* 0 or 1; the comparison ends at the first mismatch */
	char first[256];     /* description of the first mismatch */
};

/*
 * @lines: the output of perf script --itrace=i0nse -F ip for the export of @vcpu. PIECES needs 8
 * bytes of memory for each executed instruction; the other lists need none. @skip: number of
 * instructions that the export omits at its beginning. Returns 0 or -errno. Lists that cannot be
 * compared at all are a mismatch.
 */
int oracle_by_perf(struct trace_reader *reader, unsigned int vcpu, uint64_t skip, FILE *lines,
		   struct oracle_by_perf *result);

#endif /* VMM_ORACLE_BY_PERF_H */
