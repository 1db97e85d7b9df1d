// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a shell script that decodes a plan with Slurm, GNU parallel or xargs. */
#include "cli/shard_script.h"

#include <inttypes.h>

/*
 * Slurm expands % in the path of a log, and removes backslashes, even in the name of the folder. The
 * tasks therefore open their logs.
 */
static const char task_head[] =
	"#!/bin/sh\n"
	"# Decodes each TASKS-th shard from shard $1 on, or from the index of the array job on.\n"
	"set -u\n";

static const char task_body[] =
	"exec >>\"$dir/task-$shard.log\" 2>&1 </dev/null\n"
	"echo \"task $shard on ${SLURMD_NODENAME:-$(uname -n)},"
	" job ${SLURM_JOB_ID:-none}, restarts: ${SLURM_RESTART_COUNT:-0}\"\n"
	"exec \"$vpt\" shard run --keep --step=$tasks --dir=\"$dir\" \\\n"
	"\t${trace:+\"--trace=$trace\"} ${piece:+\"--piece=$piece\"} \"$plan\" \"$shard\"\n";

static const char merge_body[] =
	"exec 2>\"$dir/merge.log\" </dev/null\n"
	"\"$vpt\" shard merge --dir=\"$dir\" ${trace:+\"--trace=$trace\"} \"$@\" \"$plan\" "
	">\"$plan.out.new\"\n"
	"status=$?\n"
	"# Status 1 with an output: part of the trace cannot be decoded.\n"
	"if [ $status -eq 0 ] || { [ $status -eq 1 ] && [ -s \"$plan.out.new\" ]; }; then\n"
	"\tmv -f -- \"$plan.out.new\" \"$plan.out\" || status=4\n"
	"else\n"
	"\trm -f -- \"$plan.out.new\"\n"
	"fi\n"
	"exit $status\n";

static const char slurm_body[] =
	"\tarray=$(sbatch --parsable --job-name=vpt-shard --array=\"0-$((tasks - 1))\" --requeue "
	"\\\n"
	"\t\t--ntasks=1 --cpus-per-task=1 --time=\"$minutes\" --mem=\"${megabytes}M\" \\\n"
	"\t\t--output=/dev/null ./task.sh) || return\n"
	"\tarray=${array%%;*}\n"
	"\tmerge=$(sbatch --parsable --job-name=vpt-merge --dependency=\"afterok:$array\" \\\n"
	"\t\t--kill-on-invalid-dep=yes --requeue --ntasks=1 --cpus-per-task=1 \\\n"
	"\t\t--time=\"$((minutes + 1 + shards / 1000))\" --mem=\"$((megabytes * 2))M\" \\\n"
	"\t\t--output=/dev/null ./merge.sh) || return\n"
	"\techo \"tasks: $array, merge: ${merge%%;*}\"\n";

/* Parallel and xargs get the file by its name in its folder, which needs no quotes. */
static const char parallel_body[] =
	"\tseq 0 \"$((tasks - 1))\" |\n"
	"\t\tparallel --will-cite --jobs=\"${JOBS:-100%}\" --workdir . --joblog ./parallel.log \\\n"
	"\t\t\tsh ./task.sh || {\n"
	"\t\techo \"shards failed: see $dir/task-*.log\" >&2\n"
	"\t\treturn 1\n"
	"\t}\n"
	"\tsh ./merge.sh\n";

static const char xargs_body[] =
	"\tseq 0 \"$((tasks - 1))\" |\n"
	"\t\txargs -P \"${JOBS:-$(getconf _NPROCESSORS_ONLN)}\" -n 1 sh ./task.sh || {\n"
	"\t\techo \"shards failed: see $dir/task-*.log\" >&2\n"
	"\t\treturn 1\n"
	"\t}\n"
	"\tsh ./merge.sh\n";

static const char *const bodies[] = {
	[CLI_SHARD_SLURM] = slurm_body,
	[CLI_SHARD_PARALLEL] = parallel_body,
	[CLI_SHARD_SH] = xargs_body,
};

void cli_shard_quote(const char *text, FILE *out)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	}
	putc('\'', out);
}

static void set(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s=", name);
	cli_shard_quote(text, out);
	putc('\n', out);
}

static void set_number(const char *name, uint64_t value, FILE *out)
{
	fprintf(out, "%s=%" PRIu64 "\n", name, value);
}

static void set_paths(const struct cli_shard_script *s, FILE *out)
{
	set("vpt", s->vpt, out);
	set("plan", s->plan, out);
	set("dir", s->dir, out);
	set("trace", s->trace ? s->trace : "", out);
	set("piece", s->piece ? s->piece : "", out);
}

/* Paths have no line breaks, so no line of theirs ends the here-document. */
static void write_file(const char *name, const char *head, const struct cli_shard_script *s,
		       FILE *out)
{
	fprintf(out, "\tcat >./%s.new <<'VPT_END' || return\n%s", name, head);
	set_paths(s, out);
}

static void end_file(const char *name, FILE *out)
{
	fprintf(out, "VPT_END\n\tmv -f ./%s.new ./%s || return\n", name, name);
}

static void write_task(const struct cli_shard_script *s, FILE *out)
{
	write_file("task.sh", task_head, s, out);
	set_number("tasks", s->tasks, out);
	fprintf(out, "shard=${%s:?}\n%s",
		s->runner == CLI_SHARD_SLURM ? "SLURM_ARRAY_TASK_ID" : "1", task_body);
	end_file("task.sh", out);
}

static void write_merge(const struct cli_shard_script *s, FILE *out)
{
	write_file("merge.sh", "#!/bin/sh\n# Writes PLAN.out.\nset -u\n", s, out);
	fputs("set --", out);
	if (s->coverage)
		fputs(" --coverage", out);
	if (s->json)
		fputs(" --json", out);
	if (s->to)
		fprintf(out, " --to=%s", s->to);
	if (s->has_base)
		fprintf(out, " --base=0x%" PRIx64, s->base);
	if (s->limit != UINT64_MAX)
		fprintf(out, " --limit=%" PRIu64, s->limit);
	fprintf(out, "\n%s", merge_body);
	end_file("merge.sh", out);
}

void cli_shard_script(const struct cli_shard_script *s, FILE *out)
{
	fputs("#!/bin/sh\n"
	      "# Decodes the shards that have no result, and then writes PLAN.out.\n"
	      "set -u\n",
	      out);
	set_paths(s, out);
	set_number("shards", s->shards, out);
	set_number("tasks", s->tasks, out);
	if (s->runner == CLI_SHARD_SLURM) {
		set_number("minutes", s->minutes, out);
		set_number("megabytes", s->megabytes, out);
	}
	fputs("\nmain() {\n\tmkdir -p -- \"$dir\" && cd -- \"$dir\" || return\n", out);
	write_task(s, out);
	write_merge(s, out);
	fprintf(out, "%s}\n\nmain </dev/null\n", bodies[s->runner]);
}
