/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write the lines and functions that ran as an lcov tracefile (geninfo(1)). They are derived from
 * counted blocks and from the debug information of the images in the trace file.
 */
#ifndef VMM_DECODE_COVERAGE_H
#define VMM_DECODE_COVERAGE_H

#include <stdio.h>

#include "debug/symbol.h"
#include "decode/tally.h"
#include "trace/pairs.h"

struct decode_coverage {
	size_t files;
	size_t lines, lines_hit;
	size_t functions, functions_hit;
	size_t branches, branches_hit; /* each conditional branch has two */
};

/*
 * Write the coverage of a tally that decode_tally_sort() has sorted. The caller has called
 * debug_symbols_read_lines(). @branches counts (address of a conditional branch, 1 if it was taken),
 * or is NULL. *sum is the total. Returns 0 or -ENOMEM.
 */
int decode_coverage_write(const struct debug_symbols *symbols, const struct decode_tally *tally,
			  const struct trace_pairs *branches, FILE *out,
			  struct decode_coverage *sum);

#endif /* VMM_DECODE_COVERAGE_H */
