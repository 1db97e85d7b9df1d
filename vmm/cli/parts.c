// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifies the parts of a run in two other processes, which read them in their own sandboxes. Each
 * part is in one of several files in memory. The processes take parts in turn. A pipe has the number
 * of each file that is ready, and another pipe has the results, in the same order.
 */
#include "cli/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
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

#define WORKERS 2u

struct result {
	uint32_t file;
	int error;   /* 0 or -errno */
	size_t text; /* the length of the text in the file: the places of the mismatches */
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

struct process {
	pid_t pid;
	/* The other end of `ask` stays open here too, so that a write never raises SIGPIPE. */
	int ask, asked, answer;
};

struct cli_parts {
	struct process process[WORKERS];
	unsigned int started;	  /* processes */
	uint64_t asked, answered; /* parts; part N is for process N % WORKERS */
	bool shown;		  /* a mismatch has been shown */
	struct file *file;
	unsigned int files;
	uint64_t bytes; /* the size of parts without a result */
	uint64_t most;	/* the limit of `bytes` and the next part together */
	int error;	/* the first error */
	struct cli_parts_sum sum;
};

static bool is_waiting(const struct cli_parts *p)
{
	return p->asked != p->answered;
}

/* The state of another process. */
struct worker {
	const char *verb;
	bool quiet;
	int ask, answer;
	const struct file *file;
	unsigned int files;
	bool shown; /* the text of a mismatch has been made */
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

/*
 * Return the text of the first mismatch of this process in *text, which the caller must free. The
 * first one of the run is the first one of its process.
 */
static int describe(struct worker *w, struct trace_reader *reader, struct oracle_comparison *c,
		    char **text)
{
	struct debug_symbols *symbols = NULL;
	size_t len;
	FILE *to;
	int err;

	if (!c->mismatches || w->quiet || w->shown)
		return 0;
	w->shown = true;
	to = open_memstream(text, &len);
	if (!to)
		return -errno;
	err = cli_verify_show_places(to, reader, &symbols, c);
	debug_symbols_close(symbols);
	return fclose(to) && !err ? -ENOMEM : err;
}

static int compare(struct worker *w, struct trace_reader *reader, struct cli_parts_sum *sum,
		   char **text)
{
	struct oracle_comparison c = {.by = DECODE_FLOW_BY_LIBVPTDECODE};
	unsigned int v;
	int err = 0;

	for (v = 0; v < trace_reader_info(reader)->vcpus && !err; v++)
		err = oracle_compare(reader, v, &c);
	if (!err)
		err = describe(w, reader, &c, text);
	*sum = (struct cli_parts_sum){
		.retired = c.retired,
		.decoded = c.decoded,
		.mismatches = c.mismatches,
		.skipped = c.skipped,
		.untold = c.untold,
		.loops = c.loops,
		.looped = c.looped,
	};
	oracle_comparison_free(&c);
	return err;
}

/* Read the part as standard input, because no file can be opened by its name here. */
static int verify(struct worker *w, int fd, struct cli_parts_sum *sum, char **text)
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
		err = compare(w, reader, sum, text);
	sum->parts = 1;
	trace_reader_close(reader);
	return err;
}

/* Free the memory of the part now, as the next part may be in another file. */
static int replace(int fd, const char *text, size_t *len)
{
	if (ftruncate(fd, 0))
		return -errno;
	*len = text ? strlen(text) : 0;
	if (*len && pwrite(fd, text, *len, 0) != (ssize_t)*len)
		return -EIO;
	return 0;
}

static _Noreturn void work(struct worker *w)
{
	unsigned char file;

	if (cli_confine_reader(w->verb))
		_exit(CLI_EXIT_HOST);
	while (read(w->ask, &file, 1) == 1 && file < w->files) {
		struct result result = {.file = file};
		char *text = NULL;
		int err;

		result.error = verify(w, w->file[file].fd, &result.sum, &text);
		err = replace(w->file[file].fd, text, &result.text);
		if (!result.error)
			result.error = err;
		free(text);
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
	for (i = 0; i < p->files; i++)
		p->file[i].fd = -1;
	for (i = 0; i < p->files; i++) {
		p->file[i].fd = memfd_create("vpt-part", MFD_CLOEXEC);
		if (p->file[i].fd < 0)
			return -errno;
	}
	return 0;
}

static void close_process(const struct process *process)
{
	close(process->ask);
	close(process->asked);
	close(process->answer);
}

/* The worker's end. An interrupt ends the run, and then the last parts are verified. */
static _Noreturn void run_worker(const struct cli_parts *p, struct worker *w)
{
	unsigned int i;

	/* A process ends when no other has the other end of its pipe. */
	for (i = 0; i < p->started; i++)
		close_process(&p->process[i]);
	w->file = p->file;
	w->files = p->files;
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	work(w);
}

static int fork_worker(struct cli_parts *p, struct worker *w)
{
	struct process *process = &p->process[p->started];
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
		return -errno;
	process->pid = fork();
	if (process->pid < 0)
		return -errno;
	if (!process->pid) {
		close(ask[1]);
		close(answer[0]);
		w->ask = ask[0];
		w->answer = answer[1];
		run_worker(p, w);
	}
	close(answer[1]);
	process->ask = ask[1];
	process->asked = ask[0];
	process->answer = answer[0];
	p->started++;
	return 0;
}

static void end_workers(struct cli_parts *p)
{
	unsigned int i;

	for (i = 0; i < p->started; i++)
		close(p->process[i].ask);
	for (i = 0; i < p->started; i++) {
		while (waitpid(p->process[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(p->process[i].asked);
		close(p->process[i].answer);
	}
}

static void free_parts(struct cli_parts *p)
{
	unsigned int i;

	for (i = 0; p->file && i < p->files; i++)
		if (p->file[i].fd >= 0)
			close(p->file[i].fd);
	free(p->file);
	free(p);
}

struct cli_parts *cli_parts_start(const struct cli_parts_config *config, int *status)
{
	struct cli_parts *p = calloc(1, sizeof(*p));
	struct worker w = {.verb = config->verb, .quiet = config->quiet};
	int err = p ? 0 : -ENOMEM;

	if (p) {
		p->files = config->most + WORKERS;
		if (p->files < 2 * config->most)
			p->files = 2 * config->most;
		p->most = WORKERS * config->bytes + config->bytes / 2;
		err = open_files(p);
	}
	while (!err && p->started < WORKERS)
		err = fork_worker(p, &w);
	if (!err)
		return p;
	*status = cli_fail(CLI_EXIT_HOST, "%s: --verify: %s", config->verb, cli_reason(-err));
	if (p) {
		end_workers(p);
		free_parts(p);
	}
	return NULL;
}

/* The process that has the oldest part. */
static int answer_of(const struct cli_parts *p)
{
	return p->process[p->answered % WORKERS].answer;
}

static int read_result(struct cli_parts *p, struct result *result)
{
	size_t have = 0;

	while (have < sizeof(*result)) {
		ssize_t n = read(answer_of(p), (char *)result + have, sizeof(*result) - have);

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

/* Print the text of the first mismatch of the run, and empty its file. Returns 0 or -errno. */
static int show(struct cli_parts *p, const struct result *result)
{
	const int fd = p->file[result->file].fd;
	char text[1024];
	size_t at = 0;

	while (!p->shown && at < result->text) {
		ssize_t n = pread(fd, text, sizeof(text), (off_t)at);

		if (n <= 0)
			break;
		fwrite(text, 1, (size_t)n, stderr);
		at += (size_t)n;
	}
	fflush(stderr);
	p->shown |= result->text > 0;
	return result->text && ftruncate(fd, 0) ? -errno : 0;
}

/* Wait for the result of the part that has waited longest. */
static void take_result(struct cli_parts *p)
{
	struct result result;
	int err = read_result(p, &result);
	struct file *file;

	p->answered++;
	/* The other process has read what a guest made. */
	if (!err && (result.file >= p->files || p->file[result.file].state != FILE_WAITING))
		err = -EPROTO;
	if (!err)
		err = show(p, &result);
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
	struct pollfd answer = {.fd = answer_of(p), .events = POLLIN};

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

	while (is_waiting(p) && !p->error &&
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
		n = write(p->process[p->asked % WORKERS].ask, &number, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return -errno;
	p->file[number].state = FILE_WAITING;
	p->file[number].bytes = (uint64_t)st.st_size;
	p->bytes += (uint64_t)st.st_size;
	p->asked++;
	return 0;
}

int cli_parts_end(struct cli_parts *p, struct cli_parts_sum *sum)
{
	int err;

	if (!p)
		return 0;
	while (is_waiting(p))
		take_result(p);
	end_workers(p);
	*sum = p->sum;
	err = p->error;
	free_parts(p);
	return err;
}
