/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the verb top: shared by top*.c only. */
#ifndef VMM_CLI_TOP_H
#define VMM_CLI_TOP_H

#include <stdio.h>

#include "debug/symbol.h"
#include "decode/summary.h"
#include "trace/pairs.h"
#include "trace/reader.h"

/* The counts of an interval. */
struct cli_top_interval {
	uint64_t number; /* from 1 on */
	double seconds;	 /* its length */
	uint64_t bytes;	 /* bytes of trace that arrived */
	uint64_t behind; /* bytes of trace that arrived and are not decoded yet, at its end */
	uint64_t lost;	 /* sessions that ended because trace bytes were lost */
	struct decode_summary sum;
	struct decode_tally tally;
	struct trace_pairs spaces; /* (CR3, 0) to the number of instructions */
};

struct cli_top_screen {
	bool terminal;	    /* draw over the screen, and not one table after the other */
	unsigned int lines; /* size of the terminal */
	unsigned int columns;
};

/*
 * Print an interval as text, or as one line of JSON. Sorts the tally and the spaces. @reader has the
 * names of tasks.
 */
void cli_top_text(struct cli_top_interval *t, const struct cli_top_screen *screen,
		  const struct debug_symbols *symbols, const struct trace_reader *reader);
void cli_top_json(struct cli_top_interval *t, const struct debug_symbols *symbols,
		  const struct trace_reader *reader);

#endif /* VMM_CLI_TOP_H */
