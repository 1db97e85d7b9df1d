/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that verifies a run in parts, while the run goes on. A part is a .vpt file in memory,
 * with the oracle's log. One part is verified while the next one is written.
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

/*
 * Start the process, before the guest has memory, and before the sandbox. It prints the first
 * mismatch to standard error unless @quiet is set. Returns NULL with an exit status in *status,
 * after one line.
 */
struct cli_parts *cli_parts_start(const char *verb, bool quiet, int *status);

/*
 * Get the descriptor of the next part, an empty file that stays ours. There are two files, so this
 * function waits for the result of the part that used the file before. Returns 0 or -errno.
 */
int cli_parts_next(struct cli_parts *p, int *fd);
/* Verify the part with a descriptor from cli_parts_next(). Returns 0 or -errno. */
int cli_parts_verify(struct cli_parts *p, int fd);
/*
 * Wait for all results, add them up, end the process and free *p. @p may be NULL. Returns 0, or
 * -errno if a part could not be verified.
 */
int cli_parts_end(struct cli_parts *p, struct cli_parts_sum *sum);

#endif /* VMM_CLI_PARTS_H */
