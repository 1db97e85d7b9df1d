// SPDX-License-Identifier: GPL-2.0-or-later
/* Input for the guest's console, from a terminal, a pipe or a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/irq.h"

#define ESCAPE 1 /* Ctrl-A */
/* The shortest time between two looks at a pipe or a terminal while the guest runs. */
#define LOOK_NS 1000000u

const char *cli_run_console_file(const struct cli_run_options *o)
{
	if (!o->console || !strcmp(o->console, "stdio") || !strcmp(o->console, "none"))
		return NULL;
	return o->console;
}

bool cli_run_has_input(const struct cli_run_options *o)
{
	return o->input || (o->console && !strcmp(o->console, "stdio"));
}

static bool has_room(const struct cli_run_input *in)
{
	return in->kind == CLI_RUN_INPUT_TERMINAL || in->first == in->count;
}

int cli_run_input_fd(const struct cli_run_input *in)
{
	if (in->ended || in->kind == CLI_RUN_INPUT_FILE || !has_room(in))
		return -1;
	return in->fd;
}

const char *cli_run_outside(const struct cli_run_options *o)
{
	if (o->input)
		return "--input";
	if (cli_run_has_input(o))
		return "--console=stdio";
	if (o->realtime)
		return "--realtime";
	if (o->monitor)
		return "--monitor";
	if (o->net.given)
		return "--net";
	if (o->share.given)
		return "--share";
	if (o->disks.count)
		return "--disk";
	if (o->virtio_rng)
		return "--virtio-rng";
	return o->virtio_console ? "--virtio-console" : NULL;
}

static int open_fd(const struct cli_run_options *o)
{
	if (!o->input || !strcmp(o->input, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return open(o->input, O_RDONLY | O_CLOEXEC);
}

int cli_run_input_open(struct cli_run_input *in, const struct cli_run_options *o)
{
	const char *name = o->input ? o->input : "standard input";
	struct stat st;
	int error = 0;

	*in = (struct cli_run_input){.fd = -1, .other = -1};
	if (!cli_run_has_input(o)) {
		in->ended = !o->realtime && !o->monitor && !o->net.given;
		return CLI_EXIT_OK;
	}
	if (o->input && o->console && !strcmp(o->console, "stdio"))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --input: --console=stdio takes standard input; give one",
				o->verb);
	in->fd = open_fd(o);
	if (in->fd < 0 || fstat(in->fd, &st))
		return cli_fail(CLI_EXIT_INPUT, "%s: --input: %s: %s", o->verb, name,
				cli_reason(errno));
	if (S_ISDIR(st.st_mode))
		return cli_fail(CLI_EXIT_INPUT, "%s: --input: %s: %s", o->verb, name,
				cli_reason(EISDIR));
	if (S_ISREG(st.st_mode))
		in->kind = CLI_RUN_INPUT_FILE;
	else if (isatty(in->fd))
		in->kind = CLI_RUN_INPUT_TERMINAL;
	if (in->kind == CLI_RUN_INPUT_TERMINAL)
		error = cli_raw_begin(&in->raw, in->fd);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "%s: --input: %s: %s", o->verb, name,
				cli_reason(-error));
	if (in->kind == CLI_RUN_INPUT_TERMINAL && !o->quiet)
		fprintf(stderr, "vpt %s: Ctrl-A x ends the run, Ctrl-A h prints help\n", o->verb);
	return CLI_EXIT_OK;
}

void cli_run_input_close(struct cli_run_input *in)
{
	cli_raw_end(&in->raw);
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}

static void help(void)
{
	fputs("\nCtrl-A x       end the run\n"
	      "Ctrl-A h       print this help\n"
	      "Ctrl-A Ctrl-A  send Ctrl-A to the guest\n",
	      stderr);
}

/* Keep a byte for the guest. What does not fit was typed faster than the guest reads. */
static void keep(struct cli_run_input *in, uint8_t byte)
{
	if (in->count < sizeof(in->bytes))
		in->bytes[in->count++] = byte;
}

static void type(struct cli_run_input *in, uint8_t byte)
{
	if (!in->escape) {
		in->escape = byte == ESCAPE;
		if (!in->escape)
			keep(in, byte);
		return;
	}
	in->escape = false;
	switch (byte) {
	case 'x':
		in->quit = true;
		break;
	case 'h':
		help();
		break;
	case ESCAPE:
		keep(in, ESCAPE);
		break;
	default:
		break;
	}
}

/* Drop the bytes that were taken, and read more. The read does not wait. */
static void read_more(struct cli_run_input *in)
{
	uint8_t typed[256];
	ssize_t n, i;

	memmove(in->bytes, in->bytes + in->first, in->count - in->first);
	in->count -= in->first;
	in->first = 0;
	if (in->kind == CLI_RUN_INPUT_TERMINAL)
		n = read(in->fd, typed, sizeof(typed));
	else
		n = read(in->fd, in->bytes + in->count, sizeof(in->bytes) - in->count);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		in->ended = true;
		return;
	}
	if (in->kind != CLI_RUN_INPUT_TERMINAL) {
		in->count += (size_t)n;
		return;
	}
	for (i = 0; i < n; i++)
		type(in, typed[i]);
}

/* Wait up to @ns, and if @reads is true no longer than until there are bytes to read. */
static bool await(const struct cli_run_input *in, uint64_t ns, bool reads)
{
	const struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	struct pollfd fd[] = {
		{.fd = reads ? in->fd : -1, .events = POLLIN},
		{.fd = in->other, .events = POLLIN},
	};

	return ppoll(fd, 2, &most, NULL) > 0 && fd[0].revents;
}

void cli_run_input_poll(struct cli_run_input *in)
{
	if (in->fd >= 0 && in->kind == CLI_RUN_INPUT_TERMINAL && !in->ended && await(in, 0, true))
		read_more(in);
}

enum core_input_ready cli_run_input_wait(struct cli_run_input *in, uint64_t ns, bool wants)
{
	const bool has = in->first < in->count;
	const bool reads = in->fd >= 0 && !in->ended && !has && has_room(in);
	uint64_t now;

	if (reads && in->kind == CLI_RUN_INPUT_FILE) {
		read_more(in);
	} else if (ns) {
		if ((!has || !wants) && await(in, ns, reads) && reads)
			read_more(in);
	} else if (reads) {
		now = core_now();
		if (now - in->looked >= LOOK_NS && await(in, 0, true))
			read_more(in);
		if (now - in->looked >= LOOK_NS)
			in->looked = now;
	}
	if (in->first < in->count)
		return CORE_INPUT_READY;
	return in->ended ? CORE_INPUT_ENDED : CORE_INPUT_LATER;
}

size_t cli_run_input_take(struct cli_run_input *in, uint8_t *bytes, size_t most)
{
	size_t n = in->count - in->first;

	if (n > most)
		n = most;
	memcpy(bytes, in->bytes + in->first, n);
	in->first += n;
	return n;
}

bool cli_run_input_type(struct cli_run_input *in, const char *text, size_t len)
{
	memmove(in->bytes, in->bytes + in->first, in->count - in->first);
	in->count -= in->first;
	in->first = 0;
	if (len > sizeof(in->bytes) - in->count)
		return false;
	memcpy(in->bytes + in->count, text, len);
	in->count += len;
	return true;
}

void cli_run_input_skip(struct cli_run_input *in, uint64_t count)
{
	if (in->kind == CLI_RUN_INPUT_FILE && count)
		(void)lseek(in->fd, (off_t)count, SEEK_SET);
}
