// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard sbatch: prints or runs a script that decodes a plan on a cluster. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/shard.h"
#include "cli/shard_show.h"
#include "cli/shard_script.h"

/* Shards differ, and so do machines. */
#define TIME_FACTOR   4
#define MEMORY_FACTOR 2
#define MEMORY_LEAST  64 /* MB */

struct batch {
	const struct cli_shard_options *o;
	struct cli_plan plan;
	char vpt[PATH_MAX], path[PATH_MAX], dir[PATH_MAX], trace[PATH_MAX], piece[PATH_MAX];
	struct cli_shard_script script;
};

/* The measured cost of a shard. */
struct cost {
	size_t shard;
	double seconds;
	uint64_t megabytes;
};

static uint64_t task_bytes(const struct batch *b, uint64_t task)
{
	uint64_t bytes = 0, i;

	for (i = task; i < b->plan.shards.n; i += b->script.tasks)
		bytes += b->plan.shards.at[i].bytes;
	return bytes;
}

/* Find the first shard that is not smaller than the average. */
static size_t typical(const struct cli_plan *plan)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < plan->shards.n; i++)
		total += plan->shards.at[i].bytes;
	for (i = 0; i + 1 < plan->shards.n && plan->shards.at[i].bytes < total / plan->shards.n;
	     i++)
		;
	return i;
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Decode a shard in a child process, which keeps its result, and measure it. */
static int measure(const struct batch *b, struct cost *cost)
{
	struct cli_shard_options o = *b->o;
	struct timespec began, ended;
	struct rusage usage;
	double elapsed;
	char which[24];
	int status;
	pid_t pid;

	cost->shard = typical(&b->plan);
	snprintf(which, sizeof(which), "%zu", cost->shard);
	o.which = which;
	o.keep = false;
	o.step = 0;
	o.quiet = true;
	clock_gettime(CLOCK_MONOTONIC, &began);
	pid = fork();
	if (!pid)
		_exit(cli_shard_run(&o));
	if (pid < 0)
		return cli_fail(CLI_EXIT_HOST, "shard: sbatch: %s", cli_reason(errno));
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return cli_fail(CLI_EXIT_HOST, "shard: sbatch: %s", cli_reason(errno));
	}
	clock_gettime(CLOCK_MONOTONIC, &ended);
	elapsed = (double)(ended.tv_sec - began.tv_sec) +
		  (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
	cost->seconds = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	if (cost->seconds < elapsed)
		cost->seconds = elapsed;
	cost->megabytes = (uint64_t)usage.ru_maxrss / 1024 + 1;
	if (WIFSIGNALED(status))
		return cli_fail(CLI_EXIT_HOST, "shard: sbatch: shard %zu: signal %d", cost->shard,
				WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* Compute the time and the memory of the largest task, and of the largest shard. */
static void scale(struct batch *b, const struct cost *cost)
{
	const double bytes = (double)b->plan.shards.at[cost->shard].bytes + 1;
	uint64_t task = 0, shard = 0, i;

	for (i = 0; i < b->script.tasks; i++)
		if (task < task_bytes(b, i))
			task = task_bytes(b, i);
	for (i = 0; i < b->plan.shards.n; i++)
		if (shard < b->plan.shards.at[i].bytes)
			shard = b->plan.shards.at[i].bytes;
	b->script.minutes =
		1 + (uint64_t)(TIME_FACTOR * cost->seconds * ((double)task + 1) / bytes / 60);
	b->script.megabytes = MEMORY_LEAST + (uint64_t)(MEMORY_FACTOR * (double)cost->megabytes *
							((double)shard + 1) / bytes);
}

static int fill_resources(struct batch *b)
{
	const struct cli_shard_options *o = b->o;
	struct cost cost = {.shard = 0};
	int status;

	if (o->runner != CLI_SHARD_SLURM)
		return CLI_EXIT_OK;
	if (!o->minutes || !o->megabytes) {
		status = measure(b, &cost);
		if (status)
			return status;
		scale(b, &cost);
	}
	if (o->minutes)
		b->script.minutes = o->minutes;
	if (o->megabytes)
		b->script.megabytes = o->megabytes;
	return CLI_EXIT_OK;
}

/* Make a path absolute. The script has a line for each path. */
static int absolute(const char *path, char *to)
{
	const char *at;

	if (!realpath(path, to))
		return cli_fail(CLI_EXIT_INPUT, "shard: %s: %s", path, cli_reason(errno));
	for (at = to; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return cli_fail(CLI_EXIT_USAGE,
					"shard: sbatch: a path has a control character: rename the "
					"file or its folder");
	return CLI_EXIT_OK;
}

static int fill_paths(struct batch *b)
{
	const struct cli_shard_options *o = b->o;
	char dir[PATH_MAX];
	int status = absolute("/proc/self/exe", b->vpt);

	if (!status)
		status = absolute(o->path, b->path);
	if (!status && !cli_shard_dir(o, dir, sizeof(dir)))
		status = cli_fail(CLI_EXIT_USAGE, "shard: %s: the name is too long", o->path);
	if (!status && mkdir(dir, 0777) && errno != EEXIST)
		status = cli_fail(CLI_EXIT_HOST, "shard: %s: %s", dir, cli_reason(errno));
	if (!status)
		status = absolute(dir, b->dir);
	if (!status && o->trace)
		status = absolute(o->trace, b->trace);
	if (!status && o->piece)
		status = absolute(o->piece, b->piece);
	return status;
}

static int print_script(const struct cli_shard_script *script)
{
	cli_shard_script(script, stdout);
	return fflush(stdout) || ferror(stdout)
		       ? cli_fail(CLI_EXIT_HOST, "shard: cannot write: %s", cli_reason(errno))
		       : CLI_EXIT_OK;
}

static int run_script(const struct cli_shard_script *script)
{
	FILE *shell;
	int status;

	signal(SIGPIPE, SIG_IGN);
	shell = popen("exec sh -s", "w");
	if (!shell)
		return cli_fail(CLI_EXIT_HOST, "shard: sbatch: sh: %s", cli_reason(errno));
	cli_shard_script(script, shell);
	status = pclose(shell);
	if (!status)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_FAIL, "shard: sbatch: the script failed: %s %d",
			WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int batch(struct batch *b)
{
	const struct cli_shard_options *o = b->o;
	const uint64_t shards = b->plan.shards.n;
	/* Slurm's default MaxArraySize is 1001, and other tasks are not an array. */
	const uint64_t most = o->runner == CLI_SHARD_SLURM ? 1000 : shards;
	int status = fill_paths(b);

	if (!status)
		status = cli_shard_show_check(o, &b->plan);
	if (!status && !shards)
		status = cli_fail(CLI_EXIT_INPUT, "shard: sbatch: %s: it has no shards", o->path);
	if (status)
		return status;
	b->script = (struct cli_shard_script){
		.runner = (enum cli_shard_runner)o->runner,
		.vpt = b->vpt,
		.plan = b->path,
		.dir = b->dir,
		.trace = o->trace ? b->trace : NULL,
		.piece = o->piece ? b->piece : NULL,
		.shards = shards,
		.tasks = o->tasks ? o->tasks : most,
		.coverage = o->coverage,
		.json = o->json,
		.to = o->to,
		.has_base = o->has_base,
		.base = o->base,
		.limit = o->limit,
	};
	if (b->script.tasks > shards)
		b->script.tasks = shards;
	status = fill_resources(b);
	if (status)
		return status;
	return o->submit ? run_script(&b->script) : print_script(&b->script);
}

int cli_shard_batch(const struct cli_shard_options *o)
{
	struct batch b = {.o = o};
	int status = cli_plan_read(o->path, &b.plan);

	if (!status)
		status = batch(&b);
	cli_plan_free(&b.plan);
	return status;
}
