/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes that verify a run in parts, while the run goes on. A part is a .vpt file in memory,
 * with the oracle's log. Two parts are verified at a time, while the next ones are written.
 */
#ifndef VMM_CLI_PARTS_H
#define VMM_CLI_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_parts;

/* The result of all parts together. The counts are those of struct oracle_comparison. */
struct cli_parts_sum {
	uint64_t parts;
	uint64_t retired, decoded, mismatches;
	uint64_t skipped;	/* in overflows, or before the first PSB */
	uint64_t untold;	/* instructions that look as if they had run */
	uint64_t loops, looped; /* loops whose iterations no packet reports */
	uint64_t without_tnt;	/* parts with DisTNT, which were not compared */
};

struct cli_parts_config {
	const char *verb;
	bool quiet;	   /* print no mismatch */
	unsigned int most; /* parts that are written at the same time, 1 to 64 */
	uint64_t bytes;	   /* the size of a part; ended parts have 2.5 times as much at most */
};

/*
 * Start the processes, before the guest has memory, and before the sandbox. The first mismatch is
 * printed to standard error. Returns NULL with an exit status in *status, after one line.
 */
struct cli_parts *cli_parts_start(const struct cli_parts_config *config, int *status);

/*
 * Get the descriptor of the next part, an empty file that stays ours. @bytes: the size of the part
 * that the caller will pass to cli_parts_verify() next. This function waits for results while that
 * part and those that wait are too large together, or too many. Returns 0 or -errno.
 */
int cli_parts_next(struct cli_parts *p, uint64_t bytes, int *fd);
/* Verify the part with a descriptor from cli_parts_next(). Returns 0 or -errno. */
int cli_parts_verify(struct cli_parts *p, int fd);
/*
 * Wait for all results, add them up, end the processes and free *p. @p may be NULL. Returns 0, or
 * -errno if a part could not be verified.
 */
int cli_parts_end(struct cli_parts *p, struct cli_parts_sum *sum);

#endif /* VMM_CLI_PARTS_H */
