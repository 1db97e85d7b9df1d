// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifies the parts of a run in another process, which reads them in its own sandbox. Each part is
 * in one of several files in memory. A pipe has the number of each file that is ready, and another
 * pipe has the results, in the same order.
 */
#include "cli/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/verify.h"
#include "oracle/targets.h"

struct result {
	uint32_t file;
	int error; /* 0 or -errno */
	struct cli_parts_sum sum;
};

enum file_state {
	FILE_FREE,   /* empty */
	FILE_TAKEN,  /* a part is being written to it */
	FILE_WAITING /* a part without a result */
};

struct file {
	int fd;
	enum file_state state;
	uint64_t bytes; /* its size while it is waiting */
};

struct cli_parts {
	pid_t pid;
	/* The other end of `ask` stays open here too, so that a write never raises SIGPIPE. */
	int ask, asked, answer;
	struct file *file;
	unsigned int files;
	unsigned int waiting; /* files without a result */
	uint64_t bytes;	      /* their size */
	uint64_t most;	      /* the limit of `bytes` and the next part together */
	int error;	      /* the first error */
	struct cli_parts_sum sum;
};

/* The state of the other process. */
struct worker {
	const char *verb;
	bool quiet;
	int ask, answer;
	const struct file *file;
	unsigned int files;
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
static int verify(struct worker *w, int fd, struct cli_parts_sum *sum)
{
	struct trace_reader *reader;
	char why[256];
	int err;

	/* The lowest free descriptor is that of standard input. */
	close(STDIN_FILENO);
	if (fcntl(fd, F_DUPFD, STDIN_FILENO) != STDIN_FILENO)
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
	while (read(w->ask, &file, 1) == 1 && file < w->files) {
		struct result result = {.file = file};

		result.error = verify(w, w->file[file].fd, &result.sum);
		/* Free the memory now, as the next part may be in another file. */
		if (ftruncate(w->file[file].fd, 0) && !result.error)
			result.error = -errno;
		if (write(w->answer, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(CLI_EXIT_OK);
}

static int open_files(struct cli_parts *p)
{
	unsigned int i;

	p->file = calloc(p->files, sizeof(*p->file));
	if (!p->file)
		return -ENOMEM;
	for (i = 0; i < p->files; i++) {
		p->file[i].fd = memfd_create("vpt-part", MFD_CLOEXEC);
		if (p->file[i].fd < 0)
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
		w->files = p->files;
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

struct cli_parts *cli_parts_start(const struct cli_parts_config *config, int *status)
{
	struct cli_parts *p = calloc(1, sizeof(*p));
	struct worker w = {.verb = config->verb, .quiet = config->quiet};
	int err = p ? 0 : -ENOMEM;

	if (p) {
		p->files = 2 * config->most;
		p->most = config->bytes;
		err = open_files(p);
	}
	if (!err)
		err = fork_worker(p, &w);
	if (!err)
		return p;
	*status = cli_fail(CLI_EXIT_HOST, "%s: --verify: %s", config->verb, cli_reason(-err));
	if (p)
		free(p->file);
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

/* Wait for the result of the part that has waited longest. */
static void take_result(struct cli_parts *p)
{
	struct result result;
	int err = read_result(p, &result);
	struct file *file;

	p->waiting--;
	/* The other process has read what a guest made. */
	if (!err && (result.file >= p->files || p->file[result.file].state != FILE_WAITING))
		err = -EPROTO;
	if (err) {
		p->error = p->error ? p->error : err;
		return;
	}
	file = &p->file[result.file];
	file->state = FILE_FREE;
	p->bytes -= file->bytes;
	add(&p->sum, &result.sum);
}

static bool has_result(const struct cli_parts *p)
{
	struct pollfd answer = {.fd = p->answer, .events = POLLIN};

	return poll(&answer, 1, 0) > 0;
}

static struct file *find_free(struct cli_parts *p)
{
	unsigned int i;

	for (i = 0; i < p->files; i++)
		if (p->file[i].state == FILE_FREE)
			return &p->file[i];
	return NULL;
}

int cli_parts_next(struct cli_parts *p, uint64_t bytes, int *fd)
{
	struct file *file;

	while (p->waiting && !p->error &&
	       (p->bytes + bytes > p->most || !find_free(p) || has_result(p)))
		take_result(p);
	if (p->error)
		return p->error;
	file = find_free(p);
	if (!file)
		return -EMFILE;
	if (lseek(file->fd, 0, SEEK_SET))
		return -errno;
	file->state = FILE_TAKEN;
	*fd = file->fd;
	return 0;
}

int cli_parts_verify(struct cli_parts *p, int fd)
{
	unsigned char number = 0;
	struct stat st;
	ssize_t n;

	while (p->file[number].fd != fd)
		number++;
	if (fstat(fd, &st))
		return -errno;
	do {
		n = write(p->ask, &number, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return -errno;
	p->file[number].state = FILE_WAITING;
	p->file[number].bytes = (uint64_t)st.st_size;
	p->bytes += (uint64_t)st.st_size;
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
	for (i = 0; i < p->files; i++)
		close(p->file[i].fd);
	*sum = p->sum;
	err = p->error;
	free(p->file);
	free(p);
	return err;
}
