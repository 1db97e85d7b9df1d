// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard: decodes a trace in shards, on any number of machines. */
#include "cli/shard.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/jobs.h"
#include "cli/option.h"
#include "cli/shard_show.h"

#define AT(member)    .field = offsetof(struct cli_shard_options, member)
#define GIVEN(member) .given = offsetof(struct cli_shard_options, member)

static const char *const actions[] = {"plan", "cut", "run", "merge", "sbatch", NULL};
static const char *const runners[] = {"slurm", "parallel", "sh", NULL};

static const struct cli_option rows[] = {
	{'o', "output", "=OUT",
	 "plan: the plan (default: FILE.plan); cut: the piece of SHARD, or the folder of pieces "
	 "(default: PLAN.d)",
	 cli_take_text, AT(out)},
	{'n', "shards", "=N", "plan: about N shards in all (default: 8)", cli_take_number,
	 AT(shards), .least = 1, .most = CLI_SHARDS_MAX},
	{'b', "bytes", "=SIZE", "plan: shards of at least SIZE bytes, instead of --shards",
	 cli_take_size, AT(bytes)},
	{'t', "calls", NULL, "plan: for the tree of calls, not for the summary and the coverage",
	 cli_take_flag, AT(calls)},
	{0, "spaces", NULL,
	 "plan: for a tree of calls for each address space; with --insn and --blocks: print the "
	 "space",
	 cli_take_flag, AT(spaces)},
	{0, "edges", NULL, "plan: for the blocks and changes of flow of each address space",
	 cli_take_flag, AT(edges)},
	{'i', "insn", NULL, "plan: for a listing of all instructions and events", cli_take_flag,
	 AT(insn)},
	{0, "blocks", NULL, "plan: for a listing of blocks and events", cli_take_flag, AT(blocks)},
	{0, "lines", NULL, "plan: with --insn and --blocks: source lines", cli_take_flag,
	 AT(lines)},
	{0, "pti", NULL,
	 "plan: with --spaces and --edges: treat two CR3s that differ only in bit 12 as one space, "
	 "for Linux' PTI",
	 cli_take_flag, AT(pti)},
	{'J', "jobs", "=N",
	 "plan: threads that find the counters of shards, if code changes in the trace (default: "
	 "0, "
	 "one for each core)",
	 cli_take_number, AT(jobs), .most = CLI_JOBS_MAX},
	{'S', "symbols", "=FILE[@BIAS]",
	 "plan: also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and "
	 "add BIAS to their addresses; can be repeated",
	 cli_symbols_take, AT(symbols)},
	{'k', "keep", NULL, "run: keep a complete result instead of decoding the shard again",
	 cli_take_flag, AT(keep)},
	{'p', "step", "=N", "run: also each N-th shard after SHARD", cli_take_number, AT(step),
	 .least = 1, .most = CLI_SHARDS_MAX},
	{'P', "piece", "=PIECE",
	 "run, sbatch: read a piece that cut wrote, or that of SHARD in a folder, and not the "
	 "trace",
	 cli_take_text, AT(piece)},
	{'d', "dir", "=DIR", "run, merge, sbatch: the folder of results (default: PLAN.d)",
	 cli_take_text, AT(dir)},
	{0, "trace", "=FILE",
	 "cut, run, merge, sbatch: the trace, if it is no longer where the plan was made",
	 cli_take_text, AT(trace)},
	{'g', "coverage", NULL,
	 "merge, sbatch: the executed lines and functions, as an lcov tracefile", cli_take_flag,
	 AT(coverage)},
	{0, "to", "=FORMAT",
	 "merge, sbatch: a file of vpt export: folded, svg or callgrind of a plan with --spaces; "
	 "edges, lcov, drcov, bolt, autofdo or bitmap of one with --edges",
	 cli_take_name, AT(to), .words = cli_shard_formats},
	{0, "base", "=ADDR", "merge, sbatch: with --to=bolt and autofdo: as in vpt export",
	 cli_take_number, AT(base), GIVEN(has_base)},
	{'l', "limit", "=N", "merge, sbatch: at most N lines, or functions", cli_take_number,
	 AT(limit)},
	{'j', "json", NULL,
	 "merge, sbatch: one JSON object per line; plan: the same for --insn and --blocks",
	 cli_take_flag, AT(json)},
	{'f', "for", "=NAME", "sbatch: a script for slurm (default), parallel or sh", cli_take_word,
	 AT(runner), .words = runners},
	{'T', "tasks", "=N",
	 "sbatch: N tasks (default: one for each shard, at most 1000 with Slurm)", cli_take_number,
	 AT(tasks), .least = 1, .most = CLI_SHARDS_MAX},
	{'m', "time", "=MIN", "sbatch: minutes of a task (default: measured)", cli_take_number,
	 AT(minutes), .least = 1, .most = 1000000},
	{'M', "memory", "=MB", "sbatch: megabytes of a task (default: measured)", cli_take_number,
	 AT(megabytes), .least = 1, .most = 100000000},
	{'s', "submit", NULL, "sbatch: run the script instead of printing it", cli_take_flag,
	 AT(submit)},
	{'q', "quiet", NULL, "plan, cut, run: say nothing", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_shard = {
	.name = "shard",
	.run = cli_cmd_shard,
	.summary = "decode a large trace in shards, on many machines",
	.usage = "plan [OPTION]... FILE\ncut [OPTION]... PLAN [SHARD]\nrun [OPTION]... PLAN SHARD\n"
		 "merge [OPTION]... PLAN\n"
		 "sbatch [OPTION]... PLAN",
	.about = "Cuts the streams of a .vpt trace at PSBs. plan writes the list of shards. run "
		 "decodes one shard, and can run for all shards at once, on any machine that sees "
		 "the files. cut writes a piece of the trace for each shard, with only the code "
		 "that "
		 "it uses, for machines that do not see the trace. merge joins the results, and "
		 "prints what vpt decode prints of the "
		 "whole trace. sbatch prints a script that does all this with Slurm, GNU parallel "
		 "or xargs.",
	.notes =
		"merge proves that each shard begins with the state in which the shard before "
		"ends. "
		"Where this fails, such as at damaged bytes, merge decodes both as one. It names "
		"the "
		"shards without a result. A shard that failed is run again alone.\n\n"
		"The exit status is that of vpt decode. merge returns 1 if results are missing.\n\n"
		"  vpt shard plan --shards=64 t.vpt               writes t.vpt.plan\n"
		"  vpt shard sbatch --for=sh --submit t.vpt.plan  on this machine: t.vpt.plan.out\n"
		"  vpt shard sbatch --submit t.vpt.plan           the same with Slurm\n"
		"  vpt shard merge t.vpt.plan                     as vpt decode t.vpt",
	.options = rows,
	.column = 23,
	.operands = {{"ACTION", AT(action)},
		     {"FILE or PLAN", AT(path)},
		     {"SHARD", AT(which), .optional = true}},
};

int cli_cmd_shard(int argc, char **argv)
{
	struct cli_shard_options o = {.shards = 8, .limit = UINT64_MAX};
	int status = cli_options_parse(&cli_verb_shard, argc, argv, &o);
	unsigned int i;

	if (status)
		return status;
	for (i = 0; actions[i] && strcmp(o.action, actions[i]); i++)
		;
	if (!actions[i])
		return cli_fail(CLI_EXIT_USAGE,
				"shard: %s: no such action: plan, cut, run, merge or sbatch",
				o.action);
	if (strcmp(o.action, "cut") && !o.which == !strcmp(o.action, "run"))
		return cli_fail(CLI_EXIT_USAGE,
				o.which ? "shard: %s %s: %s: not wanted"
					: "shard: %s %s: SHARD is missing%s",
				o.action, o.path, o.which ? o.which : "");
	switch (i) {
	case 0:
		return cli_shard_plan(&o);
	case 1:
		return cli_shard_cut(&o);
	case 2:
		return cli_shard_run(&o);
	case 3:
		return cli_shard_merge(&o);
	default:
		return cli_shard_batch(&o);
	}
}
