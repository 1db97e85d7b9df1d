/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of vpt shard. Each returns an exit status, after one line if it is not 0. */
#ifndef VMM_CLI_SHARD_H
#define VMM_CLI_SHARD_H

#include "cli/shard_plan.h"

/* Enough for a path and a reason. */
#define CLI_SHARD_WHY (PATH_MAX + 160)

struct cli_shard_options {
	const char *action, *path, *which; /* the operands */
	const char *out;		   /* of plan */
	const char *dir;		   /* the folder of results, or NULL: PLAN.d */
	const char *trace;		   /* in place of the plan's trace file, or NULL */
	uint64_t shards, bytes;
	/* plan: for the tree of calls, one for each address space, or the changes of flow. */
	bool calls, spaces, edges;
	bool insn, blocks, lines; /* plan: for a listing */
	bool pti;		  /* plan: of vpt decode */
	const char *to;		  /* merge, sbatch: a format, or NULL */
	bool has_base;
	uint64_t base; /* merge, sbatch: of vpt export; valid only if @has_base is set */
	bool coverage, json, quiet;
	uint64_t limit, jobs;
	struct cli_symbols symbols;
	bool keep;		     /* run: keep a result that is complete */
	uint64_t step;		     /* run: also each step-th shard behind; 0: none */
	uint64_t tasks;		     /* sbatch: 0: one for each shard */
	uint64_t minutes, megabytes; /* sbatch: 0: measure */
	unsigned int runner;	     /* sbatch: enum cli_shard_runner */
	bool submit;		     /* sbatch: run the script */
	const char *piece;	     /* run, sbatch: a piece, or the folder of pieces; or NULL */
};

/* A range of shards, from @first to before @end. */
struct cli_shard_range {
	uint32_t first, end;
};

/* Make the name of the folder of results, or of the result of a range. Returns false if too long. */
bool cli_shard_dir(const struct cli_shard_options *o, char *text, size_t size);
bool cli_shard_file(const struct cli_shard_options *o, const struct cli_shard_range *range,
		    char *text, size_t size);
/* Return the path of the trace file: --trace, or the plan's. */
const char *cli_shard_trace(const struct cli_shard_options *o, const struct cli_plan *plan);
/* Make the folder of results, and enter the sandbox in which only it is written. */
int cli_shard_confine(const struct cli_shard_options *o);
/* Open the trace and its symbols. Close both if they are not NULL, also after an error. */
int cli_shard_open(const struct cli_shard_options *o, const struct cli_plan *plan,
		   struct trace_reader **reader, struct debug_symbols **symbols);
/* Open the symbols of a plan, with its source lines. */
int cli_shard_symbols(const struct cli_plan *plan, const struct trace_reader *reader,
		      struct debug_symbols **symbols);
/*
 * shard_piece.c: open the piece of a range, like cli_shard_open(). Sets *@piece to its path, of PATH_MAX
 * bytes. The name in a folder is that of the range.
 */
int cli_shard_open_piece(const struct cli_shard_options *o, const struct cli_plan *plan,
			 const struct cli_shard_range *range, char *piece,
			 struct trace_reader **reader, struct debug_symbols **symbols);
bool cli_shard_piece_name(const char *dir, const struct cli_shard_range *range, char *text);
/* Decode a range, and write its result. */
int cli_shard_decode(const struct cli_shard_options *o, const struct cli_plan *plan,
		     struct trace_reader *reader, struct debug_symbols *symbols,
		     const struct cli_shard_range *range);
/*
 * Read the result of a range. Returns an exit status, and in @why a text if it is not CLI_EXIT_OK.
 * Free @p in any case.
 */
int cli_shard_read(const struct cli_shard_options *o, const struct cli_plan *plan,
		   const struct cli_shard_range *range, struct decode_partial *p, char *why,
		   size_t size);
/* Parse "K" or "K-L" of an action. */
int cli_shard_parse(const struct cli_shard_options *o, const struct cli_plan *plan,
		    struct cli_shard_range *range);
/* Describe a range for decode_shard_part(). *shard is a part of the description. */
struct decode_shard_part cli_shard_part(const struct cli_plan *plan,
					const struct cli_shard_range *range,
					struct decode_shard *shard);
/* Print why decode_shard_part() returned @err. Returns an exit status. */
int cli_shard_failed(const struct cli_shard_options *o, const struct cli_plan *plan,
		     const struct cli_shard_range *range, int err);

int cli_shard_plan(struct cli_shard_options *o);
int cli_shard_run(const struct cli_shard_options *o);
int cli_shard_cut(const struct cli_shard_options *o);
int cli_shard_merge(const struct cli_shard_options *o);
int cli_shard_batch(const struct cli_shard_options *o);

#endif /* VMM_CLI_SHARD_H */
