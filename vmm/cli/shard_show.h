/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the joined result of all shards. */
#ifndef VMM_CLI_SHARD_SHOW_H
#define VMM_CLI_SHARD_SHOW_H

#include "cli/shard.h"
#include "decode/last_calls.h"

/* The formats that are made of partial results, for an option's words. */
extern const char *const cli_shard_formats[];

/* The result of a plan. The caller owns everything. */
struct cli_shard_result {
	struct trace_reader *reader;
	struct debug_symbols *symbols;
	struct decode_summary sum;
	struct decode_tally tally;	  /* of COUNTS */
	struct decode_shares shares;	  /* of COUNTS, if the file describes spaces */
	struct decode_calls *calls;	  /* of CALLS */
	struct decode_space_parts *parts; /* of SPACES and EDGES, by vCPU */
	struct {
		struct cli_shard_range *at;
		size_t n, room;
	} ranges;			     /* of listings: the results, in order */
	struct decode_last_calls last_calls; /* of COUNTS, if the guest was stopped */
	uint64_t base;			     /* the address that is 0 in a format with `relative` */
};

/* Check that the plan has what the options want. Returns an exit status. */
int cli_shard_show_check(const struct cli_shard_options *o, const struct cli_plan *plan);

/* Find the base of the format, of an open trace. Returns an exit status. */
int cli_shard_base(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct cli_shard_result *result);

/*
 * Print the result on standard output. Its trees are closed. Sets *no_lines if there is no debug
 * information for what is wanted. Returns 0 or -errno.
 */
int cli_shard_show(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct cli_shard_result *result, bool *no_lines);

/*
 * shard_listing.c: print the listings of the ranges on standard output, and set the number of errors
 * to those that were printed. Returns an exit status.
 */
int cli_shard_listing(const struct cli_shard_options *o, const struct cli_plan *plan,
		      struct cli_shard_result *result);

#endif /* VMM_CLI_SHARD_SHOW_H */
