/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary and the coverage of a decoded trace, for vpt decode and vpt shard. */
#ifndef VMM_CLI_DECODE_SHOW_H
#define VMM_CLI_DECODE_SHOW_H

#include "cli/decode_side.h"
#include "cli/decode_stop.h"
#include "decode/cut.h"
#include "decode/pace.h"
#include "decode/summary.h"

/* The output. The caller owns everything. */
struct cli_decode_show {
	struct trace_reader *reader;
	struct debug_symbols *symbols;
	const struct cli_names *names;
	int vcpu; /* the only vCPU, or -1 */
	bool json;
	uint64_t limit; /* of functions and marks */
	const struct decode_summary *sum;
	struct decode_tally *tally;	  /* is sorted afterwards */
	const struct decode_pace *pace;	  /* NULL without time */
	struct decode_shares *shares;	  /* NULL without address spaces */
	bool told;			  /* the file describes the spaces by more than CR3 */
	const struct decode_window *cuts; /* by vCPU; NULL without a cut */
	const struct cli_decode_stop *stop;
};

/* Print the summary on standard output. */
void cli_decode_show_summary(const struct cli_decode_show *show);

/*
 * Print the coverage as an lcov tracefile on standard output. Sets *no_lines if there is no debug
 * information for it. Returns 0 or -errno.
 */
int cli_decode_show_coverage(const struct cli_decode_show *show, bool *no_lines);

#endif /* VMM_CLI_DECODE_SHOW_H */
