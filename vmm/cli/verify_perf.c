// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs perf as a second decoder, in two processes. This process reads the trace in the sandbox, and
 * requests a vCPU. The other process exports the vCPU, and runs perf on the export. A pipe carries
 * the output of perf, then a mark and a status.
 */
#include "cli/verify_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

#define MARK '\004' /* a byte that perf never prints */

struct cli_perf_judge {
	pid_t pid;
	int ask, answer;
	bool marked;	      /* the answer is complete, */
	unsigned char status; /* and this is its status */
};

/*
 * Statuses in addition to those of vpt export: perf failed, or a program could not be run, as in
 * shells.
 */
#define NOT_FINISHED 126
#define NOT_FOUND    127

/* Run a program, with its output to `out` and its errors to `err`. Returns its exit status. */
static int spawn(const char *const argv[], const char *program, int out, int err)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return NOT_FOUND;
	if (!pid) {
		if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
			execvp(program, (char *const *)argv);
		_exit(NOT_FOUND);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return NOT_FOUND;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_EXIT_FAIL;
}

struct runner {
	const char *path;
	char dir[PATH_MAX], export[PATH_MAX + 8];
	int ask, answer, null;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void clean(const char *dir)
{
	(void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * Run vpt export, and print its errors. The first line of the answer is the number of instructions
 * that it omits. Returns its exit status.
 */
static int spawn_export(const char *const argv[], const struct runner *r)
{
	FILE *errors = tmpfile();
	uint64_t left_out = 0;
	char line[512];
	int status;

	if (!errors)
		return CLI_EXIT_HOST;
	status = spawn(argv, "/proc/self/exe", r->null, fileno(errors));
	rewind(errors);
	while (fgets(line, sizeof(line), errors)) {
		fputs(line, stderr);
		if (!strncmp(line, CLI_EXPORT_LEFT_OUT, strlen(CLI_EXPORT_LEFT_OUT)))
			left_out = strtoull(line + strlen(CLI_EXPORT_LEFT_OUT), NULL, 10);
	}
	fclose(errors);
	dprintf(r->answer, "%" PRIu64 "\n", left_out);
	return status;
}

/* Export a vCPU, and let perf print it. Returns one of these statuses. */
static unsigned char run_perf(struct runner *r, unsigned int vcpu)
{
	char number[32];
	const char *const export[] = {"vpt", "export", "-q",	  "--to=perf", number,
				      "--",  r->path,  r->export, NULL};
	const char *const perf[] = {"perf",	      "script", "-i", r->export,
				    "--itrace=i0nse", "-F",	"ip", NULL};
	int status;

	snprintf(number, sizeof(number), "--vcpu=%u", vcpu);
	snprintf(r->export, sizeof(r->export), "%s/perf", r->dir);
	status = spawn_export(export, r);
	/* perf also needs the list of places that the export could not decode or name. */
	if (access(r->export, R_OK))
		return (unsigned char)(status ? status : CLI_EXIT_HOST);
	status = spawn(perf, "perf", r->answer, r->null);
	clean(r->export);
	return status && status != NOT_FOUND ? NOT_FINISHED : (unsigned char)status;
}

static void run(struct runner *r)
{
	unsigned int vcpu;

	/* Keep perf from reading the settings of the user. */
	setenv("HOME", r->dir, 1);
	setenv("PERF_CONFIG", "/dev/null", 1);
	while (read(r->ask, &vcpu, sizeof(vcpu)) == sizeof(vcpu)) {
		const unsigned char end[2] = {MARK, run_perf(r, vcpu)};

		if (write(r->answer, end, sizeof(end)) != sizeof(end))
			break;
	}
	clean(r->dir);
	_exit(0);
}

static int fork_runner(struct cli_perf_judge *judge, struct runner *r)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC))
		return -errno;
	if (pipe2(answer, O_CLOEXEC))
		return -errno;
	judge->pid = fork();
	if (judge->pid < 0)
		return -errno;
	if (!judge->pid) {
		close(ask[1]);
		close(answer[0]);
		r->ask = ask[0];
		r->answer = answer[1];
		/*
		 * An interrupt ends the other process. This process then ends too, and cleans up.
		 */
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		run(r);
	}
	close(ask[0]);
	close(answer[1]);
	judge->ask = ask[1];
	judge->answer = answer[0];
	return 0;
}

struct cli_perf_judge *cli_perf_judge_start(const char *path, int *status)
{
	const char *tmp = getenv("TMPDIR");
	struct runner r = {.path = path, .null = open("/dev/null", O_RDWR | O_CLOEXEC)};
	struct cli_perf_judge *judge = calloc(1, sizeof(*judge));
	int err = judge && r.null >= 0 ? 0 : -ENOMEM;

	snprintf(r.dir, sizeof(r.dir), "%s/vpt-verify.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!err && !mkdtemp(r.dir))
		err = -errno;
	if (!err)
		err = fork_runner(judge, &r);
	if (r.null >= 0)
		close(r.null);
	if (!err)
		return judge;
	*status = cli_fail(CLI_EXIT_HOST, "verify: --with=perf: %s: %s", r.dir, cli_reason(-err));
	free(judge);
	return NULL;
}

/* Read lines up to the mark, for fopencookie(). Only the status follows the mark. */
static ssize_t read_lines(void *cookie, char *bytes, size_t size)
{
	struct cli_perf_judge *judge = cookie;
	char *mark;
	ssize_t n;

	if (judge->marked)
		return 0;
	do {
		n = read(judge->answer, bytes, size);
	} while (n < 0 && errno == EINTR);
	mark = n > 0 ? memchr(bytes, MARK, (size_t)n) : NULL;
	if (n > 0 && !mark)
		return n;
	judge->marked = true;
	judge->status = NOT_FINISHED;
	if (!mark)
		return 0;
	if (mark + 1 < bytes + n)
		judge->status = (unsigned char)mark[1];
	else if (read(judge->answer, &judge->status, 1) != 1)
		judge->status = NOT_FINISHED;
	return mark - bytes;
}

/* A failed export has already printed its line. */
static int status_of(const struct cli_perf_judge *judge)
{
	switch (judge->status) {
	case NOT_FOUND:
		return cli_fail(CLI_EXIT_HOST,
				"verify: --with=perf: perf cannot be run: install linux-perf");
	case NOT_FINISHED:
		return cli_fail(CLI_EXIT_HOST, "verify: --with=perf: perf has failed");
	default:
		return judge->status;
	}
}

int cli_perf_judge_vcpu(struct cli_perf_judge *judge, struct trace_reader *reader,
			unsigned int vcpu, struct oracle_by_perf *result)
{
	FILE *lines = fopencookie(judge, "r", (cookie_io_functions_t){.read = read_lines});
	char first[32], rest[4096];
	int err = lines ? 0 : -ENOMEM;

	judge->marked = false;
	if (!err && write(judge->ask, &vcpu, sizeof(vcpu)) != sizeof(vcpu))
		err = -EPIPE;
	if (!err && !fgets(first, sizeof(first), lines))
		err = -EPIPE;
	if (!err)
		err = oracle_by_perf(reader, vcpu, strtoull(first, NULL, 10), lines, result);
	while (!err && fread(rest, 1, sizeof(rest), lines))
		;
	if (lines)
		fclose(lines);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "verify: --with=perf: %s", cli_reason(-err));
	return status_of(judge);
}

void cli_perf_judge_end(struct cli_perf_judge *judge)
{
	if (!judge)
		return;
	close(judge->ask);
	close(judge->answer);
	while (waitpid(judge->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(judge);
}
