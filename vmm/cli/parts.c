// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifies the parts of a run in another process, which reads them in its own sandbox. Two files in
 * memory take turns. A pipe has the number of each file that is ready, and another pipe has the
 * results.
 */
#include "cli/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/verify.h"
#include "oracle/targets.h"

#define FILES 2u

struct result {
	int error; /* 0 or -errno */
	struct cli_parts_sum sum;
};

struct cli_parts {
	pid_t pid;
	/* The other end of `ask` stays open here too, so that a write never raises SIGPIPE. */
	int ask, asked, answer;
	int file[FILES];
	unsigned int next;    /* index of the file of the next cli_parts_next() */
	unsigned int waiting; /* parts without a result */
	int error;	      /* the first error */
	struct cli_parts_sum sum;
};

/* The state of the other process. */
struct worker {
	const char *verb;
	bool quiet;
	int ask, answer;
	const int *file;
	bool shown; /* a mismatch has been shown */
};

static void add(struct cli_parts_sum *to, const struct cli_parts_sum *from)
{
	to->parts += from->parts;
	to->retired += from->retired;
	to->decoded += from->decoded;
	to->mismatches += from->mismatches;
	to->skipped += from->skipped;
	to->untold += from->untold;
	to->loops += from->loops;
	to->looped += from->looped;
	to->without_tnt += from->without_tnt;
}

static int compare(struct worker *w, struct trace_reader *reader, struct cli_parts_sum *sum)
{
	struct oracle_comparison c = {.by = DECODE_FLOW_BY_LIBVPTDECODE};
	struct debug_symbols *symbols = NULL;
	unsigned int v;
	int err = 0;

	for (v = 0; v < trace_reader_info(reader)->vcpus && !err; v++)
		err = oracle_compare(reader, v, &c);
	if (!err && c.mismatches && !w->quiet && !w->shown) {
		w->shown = true;
		err = cli_verify_show_places(stderr, reader, &symbols, &c);
		fflush(stderr);
	}
	*sum = (struct cli_parts_sum){
		.retired = c.retired,
		.decoded = c.decoded,
		.mismatches = c.mismatches,
		.skipped = c.skipped,
		.untold = c.untold,
		.loops = c.loops,
		.looped = c.looped,
	};
	debug_symbols_close(symbols);
	oracle_comparison_free(&c);
	return err;
}

/* Read the part as standard input, because no file can be opened by its name here. */
static int verify(struct worker *w, unsigned int file, struct cli_parts_sum *sum)
{
	struct trace_reader *reader;
	char why[256];
	int err;

	/* The lowest free descriptor is that of standard input. */
	close(STDIN_FILENO);
	if (fcntl(w->file[file], F_DUPFD, STDIN_FILENO) != STDIN_FILENO)
		return -EBADF;
	err = trace_reader_open_as("-", TRACE_READER_CODE_IN_PLACE, &reader, why, sizeof(why));
	if (err) {
		cli_fail(CLI_EXIT_HOST, "%s: --verify: %s", w->verb, why);
		return err;
	}
	if (oracle_targets_needed(reader))
		sum->without_tnt = 1;
	else
		err = compare(w, reader, sum);
	sum->parts = 1;
	trace_reader_close(reader);
	return err;
}

static void work(struct worker *w)
{
	unsigned char file;

	if (cli_confine_reader(w->verb))
		_exit(CLI_EXIT_HOST);
	while (read(w->ask, &file, 1) == 1) {
		struct result result = {.error = 0};

		result.error = verify(w, file, &result.sum);
		if (write(w->answer, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(CLI_EXIT_OK);
}

static int open_files(struct cli_parts *p)
{
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		p->file[i] = memfd_create("vpt-part", MFD_CLOEXEC);
		if (p->file[i] < 0)
			return -errno;
	}
	return 0;
}

static int fork_worker(struct cli_parts *p, struct worker *w)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
		return -errno;
	p->pid = fork();
	if (p->pid < 0)
		return -errno;
	if (!p->pid) {
		close(ask[1]);
		close(answer[0]);
		w->ask = ask[0];
		w->answer = answer[1];
		w->file = p->file;
		/* An interrupt ends the run, and then the last part is verified. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		work(w);
	}
	close(answer[1]);
	p->ask = ask[1];
	p->asked = ask[0];
	p->answer = answer[0];
	return 0;
}

struct cli_parts *cli_parts_start(const char *verb, bool quiet, int *status)
{
	struct cli_parts *p = calloc(1, sizeof(*p));
	struct worker w = {.verb = verb, .quiet = quiet};
	int err = p ? open_files(p) : -ENOMEM;

	if (!err)
		err = fork_worker(p, &w);
	if (!err)
		return p;
	*status = cli_fail(CLI_EXIT_HOST, "%s: --verify: %s", verb, cli_reason(-err));
	free(p);
	return NULL;
}

static int read_result(struct cli_parts *p, struct result *result)
{
	size_t have = 0;

	while (have < sizeof(*result)) {
		ssize_t n = read(p->answer, (char *)result + have, sizeof(*result) - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ECHILD;
		have += (size_t)n;
	}
	return result->error;
}

/* Wait for the result of a part. */
static void take_result(struct cli_parts *p)
{
	struct result result;
	int err = read_result(p, &result);

	p->waiting--;
	if (err)
		p->error = p->error ? p->error : err;
	else
		add(&p->sum, &result.sum);
}

int cli_parts_next(struct cli_parts *p, int *fd)
{
	while (p->waiting)
		take_result(p);
	if (p->error)
		return p->error;
	*fd = p->file[p->next];
	p->next = (p->next + 1) % FILES;
	return ftruncate(*fd, 0) || lseek(*fd, 0, SEEK_SET) ? -errno : 0;
}

int cli_parts_verify(struct cli_parts *p, int fd)
{
	const unsigned char file = fd != p->file[0];
	ssize_t n;

	do {
		n = write(p->ask, &file, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return -errno;
	p->waiting++;
	return 0;
}

int cli_parts_end(struct cli_parts *p, struct cli_parts_sum *sum)
{
	unsigned int i;
	int err;

	if (!p)
		return 0;
	while (p->waiting)
		take_result(p);
	close(p->ask);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(p->asked);
	close(p->answer);
	for (i = 0; i < FILES; i++)
		close(p->file[i]);
	*sum = p->sum;
	err = p->error;
	free(p);
	return err;
}
