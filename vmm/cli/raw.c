// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw mode of a terminal, and the keeper that ends it. */
#include "cli/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Wait until the other end of the pipe closes. No signal for the whole group ends the keeper. */
static void keep(int fd, int pipe, const struct termios *before)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	tcflush(fd, TCIFLUSH);
	tcsetattr(fd, TCSANOW, before);
	_exit(0);
}

static int set_raw(int fd, const struct termios *before)
{
	struct termios raw = *before;

	raw.c_iflag &=
		~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(fd, TCSANOW, &raw) ? -errno : 0;
}

int cli_raw_begin(struct cli_raw *raw, int fd)
{
	struct termios before;
	int ends[2], error;

	*raw = (struct cli_raw){0};
	if (tcgetattr(fd, &before) || pipe2(ends, O_CLOEXEC))
		return -errno;
	raw->keeper = fork();
	if (!raw->keeper) {
		close(ends[1]);
		keep(fd, ends[0], &before);
	}
	close(ends[0]);
	raw->pipe = ends[1];
	if (raw->keeper < 0) {
		close(raw->pipe);
		*raw = (struct cli_raw){0};
		return -EAGAIN;
	}
	error = set_raw(fd, &before);
	if (error)
		cli_raw_end(raw);
	return error;
}

void cli_raw_end(struct cli_raw *raw)
{
	if (!raw->keeper)
		return;
	close(raw->pipe);
	while (waitpid(raw->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	*raw = (struct cli_raw){0};
}
