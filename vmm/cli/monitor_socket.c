// SPDX-License-Identifier: GPL-2.0-or-later
/* Listen on a UNIX socket, and exchange lines with its client. */
#include "cli/monitor_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/irq.h"

#define LOOK_NS 1000000u

/* Remove the socket of a run that was killed. One that somebody listens at stays. */
static int remove_stale(int fd, const struct sockaddr_un *at)
{
	struct stat st;

	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (!connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return -errno;
	return unlink(at->sun_path) ? -errno : 0;
}

static int bind_private(int fd, const struct sockaddr_un *at)
{
	const mode_t mask = umask(0177);
	int err = bind(fd, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;

	umask(mask);
	return err;
}

int cli_monitor_listen(struct cli_monitor_socket *s, const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int probe, err;

	s->listener = s->client = -1;
	s->path = NULL;
	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path));
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = probe < 0 || s->listener < 0 ? -errno : remove_stale(probe, &at);
	if (probe >= 0)
		close(probe);
	if (!err)
		err = bind_private(s->listener, &at);
	if (!err)
		s->path = path;
	if (!err && listen(s->listener, 8))
		err = -errno;
	if (err)
		cli_monitor_close(s);
	return err;
}

static void drop_client(struct cli_monitor_socket *s)
{
	if (s->client >= 0)
		close(s->client);
	s->client = -1;
	s->used = s->taken = 0;
}

void cli_monitor_close(struct cli_monitor_socket *s)
{
	/* A struct of zeros has no socket. */
	if (!s->path && !s->listener)
		return;
	drop_client(s);
	if (s->listener >= 0)
		close(s->listener);
	s->listener = -1;
	if (s->path)
		(void)unlink(s->path);
	s->path = NULL;
}

int cli_monitor_fd(const struct cli_monitor_socket *s)
{
	if (!s->path)
		return -1;
	return s->client >= 0 ? s->client : s->listener;
}

static bool is_ready(int fd)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	return fd >= 0 && poll(&in, 1, 0) > 0;
}

bool cli_monitor_has_input(struct cli_monitor_socket *s)
{
	const uint64_t now = core_now();

	if (now - s->looked < LOOK_NS)
		return false;
	s->looked = now;
	return is_ready(cli_monitor_fd(s));
}

static void read_more(struct cli_monitor_socket *s)
{
	ssize_t n;

	if (s->used == sizeof(s->bytes)) {
		cli_monitor_answer(s, "{\"error\": {\"desc\": \"the line is too long\"}}");
		drop_client(s);
		return;
	}
	n = read(s->client, s->bytes + s->used, sizeof(s->bytes) - s->used);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		drop_client(s);
	else
		s->used += (size_t)n;
}

const char *cli_monitor_line(struct cli_monitor_socket *s)
{
	char *end;

	if (!s->path)
		return NULL;
	if (s->client < 0)
		s->client = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (s->client < 0)
		return NULL;
	memmove(s->bytes, s->bytes + s->taken, s->used - s->taken);
	s->used -= s->taken;
	s->taken = 0;
	if (!memchr(s->bytes, '\n', s->used) && is_ready(s->client))
		read_more(s);
	end = memchr(s->bytes, '\n', s->used);
	if (!end)
		return NULL;
	*end = 0;
	s->taken = (size_t)(end - s->bytes) + 1;
	return s->bytes;
}

void cli_monitor_answer(struct cli_monitor_socket *s, const char *text)
{
	const char *const part[] = {text, "\n"};
	size_t i;

	for (i = 0; s->client >= 0 && i < 2; i++)
		if (send(s->client, part[i], strlen(part[i]), MSG_NOSIGNAL) !=
		    (ssize_t)strlen(part[i]))
			drop_client(s);
}
