/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shell scripts of vpt shard sbatch. They decode the shards of a plan, and merge the results. */
#ifndef VMM_CLI_SHARD_SCRIPT_H
#define VMM_CLI_SHARD_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_shard_runner {
	CLI_SHARD_SLURM,
	CLI_SHARD_PARALLEL,
	CLI_SHARD_SH,
};

/* Paths are absolute, and each is one line. */
struct cli_shard_script {
	enum cli_shard_runner runner;
	const char *vpt, *plan;
	const char *dir;   /* of results and logs */
	const char *trace; /* NULL: the plan's */
	const char *piece; /* the folder of pieces, or NULL */
	uint64_t shards;
	uint64_t tasks;	     /* task K decodes shards K, K + tasks, ... */
	uint64_t minutes;    /* of a task; only for Slurm */
	uint64_t megabytes;  /* likewise */
	bool coverage, json; /* options of the merge */
	const char *to;	     /* likewise, or NULL */
	bool has_base;
	uint64_t base;	/* likewise; valid only if @has_base is set */
	uint64_t limit; /* likewise; UINT64_MAX: none */
};

/* Write a word of the shell that stands for @text, whatever its bytes are. */
void cli_shard_quote(const char *text, FILE *out);

/* Write a script for a POSIX shell. It does nothing unless all of it is read. */
void cli_shard_script(const struct cli_shard_script *s, FILE *out);

#endif /* VMM_CLI_SHARD_SCRIPT_H */
