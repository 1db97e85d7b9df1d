// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for gdb, at a port of the loopback address or at a UNIX socket. */
#include "cli/gdb_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cli.h"
#include "gdb/session.h"

/* Returns a listener at a port of 127.0.0.1, or -errno. */
static int listen_port(unsigned long port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		error = -errno;
	if (error) {
		close(fd);
		return error;
	}
	fprintf(stderr, "in gdb: target remote 127.0.0.1:%u\n", ntohs(at.sin_port));
	return fd;
}

/* Returns a listener at a UNIX socket that only its owner can open, or -errno. */
static int listen_path(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd, error = 0;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		error = -errno;
	umask(mask);
	if (error) {
		close(fd);
		return error;
	}
	fprintf(stderr, "in gdb: target remote %s\n", path);
	return fd;
}

/* Wait for the client. Returns its socket or -errno. */
static int await(int listener)
{
	const int on = 1;
	int fd;

	do
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	/* Packets are short, and each waits for its answer. A UNIX socket has no such option. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	/* A client that has gone is an error of write(). */
	signal(SIGPIPE, SIG_IGN);
	return fd;
}

int cli_gdb_listen(const char *verb, const char *where, struct gdb_session **session)
{
	const char *path = strchr(where, '/') ? where : NULL;
	char *end;
	const unsigned long port = strtoul(where, &end, 10);
	int listener, fd, error;

	if (!path && (end == where || *end || port > UINT16_MAX))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --gdb=%s: a port (0 to 65535), or a path with a \"/\"", verb,
				where);
	listener = path ? listen_path(path) : listen_port(port);
	fd = listener < 0 ? listener : await(listener);
	if (listener >= 0) {
		close(listener);
		if (path)
			(void)unlink(path);
	}
	error = fd < 0 ? fd : gdb_session_create(session, fd);
	if (error && fd >= 0)
		close(fd);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "%s: --gdb=%s: %s", verb, where, cli_reason(-error));
	return CLI_EXIT_OK;
}
