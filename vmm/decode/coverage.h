/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines and functions ran, as an lcov tracefile (geninfo(1)), from blocks that
 * were counted and the debug information of the images in the trace file.
 */
#ifndef VMM_DECODE_COVERAGE_H
#define VMM_DECODE_COVERAGE_H

#include <stdio.h>

#include "debug/symbol.h"
#include "tally.h"

struct vpt_coverage {
	size_t files;
	size_t lines, lines_hit;
	size_t functions, functions_hit;
};

/* Write what was sorted by vpt_tally_sort(). 0 or -ENOMEM; *sum what it comes to. */
int vpt_coverage_write(struct vpt_symbols *symbols, const struct vpt_tally *tally, FILE *out,
		       struct vpt_coverage *sum);

#endif /* VMM_DECODE_COVERAGE_H */
