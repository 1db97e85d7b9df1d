/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of vpt shard, as a file of JSON lines: the first describes the trace, and each further
 * one is a shard. Plans are not trusted: their checksum, their bounds and their places are checked.
 */
#ifndef VMM_CLI_SHARD_PLAN_H
#define VMM_CLI_SHARD_PLAN_H

#include <limits.h>
#include <stdio.h>

#include "cli/symbols.h"
#include "decode/partial.h"
#include "decode/shard_listing.h"
#include "decode/shard_plan.h"

/* More shards make the plan longer than a shard. */
#define CLI_SHARDS_MAX 1000000u

struct cli_planned {
	unsigned int vcpu;
	bool whole; /* all of a vCPU whose stream cannot be cut; @shard is not used */
	struct decode_shard shard;
	uint64_t bytes; /* of the stream */
};

struct cli_plan {
	uint64_t id;	      /* the checksum of everything else */
	char trace[PATH_MAX]; /* the trace file */
	uint64_t file_bytes;
	enum decode_partial_kind kind;
	bool pti;			   /* of decode_by_cr3_new() */
	struct decode_listing_how listing; /* of a kind that is one */
	unsigned int vcpus;
	struct cli_symbols symbols; /* its words are owned by the plan */
	struct {
		struct cli_planned *at;
		size_t n, room;
	} shards; /* by vCPU, in the order of the stream */
};

/* Compute the number that identifies a plan. */
uint64_t cli_plan_id(const struct cli_plan *plan);

void cli_plan_write(const struct cli_plan *plan, FILE *out);

/* Read a plan. Returns CLI_EXIT_OK, or another exit status after one line. Free it in any case. */
int cli_plan_read(const char *path, struct cli_plan *plan);
void cli_plan_free(struct cli_plan *plan);

#endif /* VMM_CLI_SHARD_PLAN_H */
