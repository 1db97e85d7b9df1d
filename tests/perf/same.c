// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf's instructions against what ran (oracle/by_perf.h).
 *
 * usage: perf-same TRACE <PERF      PERF: what perf script --itrace=i0nse -F ip prints
 *
 * Prints one line: how many instructions, which list, and the first difference if there is
 * one. The exit status is 0 if there is none.
 */
#include <inttypes.h>
#include <string.h>

#include "oracle/by_perf.h"

int main(int argc, char **argv)
{
	static const char *const lists[] = {"the oracle", "the oracle", "the decoder"};
	struct oracle_by_perf result;
	struct trace_reader *r;
	char why[256];
	int err;

	if (argc != 2)
		return 2;
	err = trace_reader_open(argv[1], &r, why, sizeof(why));
	if (err) {
		puts(why);
		return 2;
	}
	err = oracle_by_perf(r, 0, 0, stdin, &result);
	trace_reader_close(r);
	if (err) {
		puts(strerror(-err));
		return 2;
	}
	printf("%" PRIu64 " of perf", result.found);
	if (result.list == ORACLE_PERF_PIECES)
		printf(" in %" PRIu64 " pieces, all", result.pieces);
	printf(" of %" PRIu64 " of %s%s%s\n", result.retired, lists[result.list],
	       result.mismatches ? ": " : "", result.first);
	/* Nothing may be traced at all, but there are pieces of something only. */
	return result.mismatches || (result.list == ORACLE_PERF_PIECES && !result.found);
}
