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

struct decode_coverage {
	size_t files;
	size_t lines, lines_hit;
	size_t functions, functions_hit;
};

/*
 * Write the coverage of a tally that decode_tally_sort() has sorted. *sum is the total. Returns 0
 * or -ENOMEM.
 */
int decode_coverage_write(struct debug_symbols *symbols, const struct decode_tally *tally,
			  FILE *out, struct decode_coverage *sum);

#endif /* VMM_DECODE_COVERAGE_H */
