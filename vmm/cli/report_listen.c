// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt report --serve: accepts connections at the loopback address, and answers one request of each.
 * A browser opens connections that it does not use, so several are read at once.
 */
#include "cli/report_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 16u
#define READ_MS	    5000
#define WRITE_MS    20000

struct client {
	int fd; /* -1 if the slot is free */
	int64_t until;
	size_t len;
	char bytes[CLI_HTTP_MAX];
};

struct server {
	const struct cli_http_server *of;
	const struct cli_http_handler *handler;
	struct client clients[CLIENTS_MAX];
	sigset_t while_polling; /* the signals that ppoll() blocks */
};

static volatile sig_atomic_t stopped, is_busy;

/* Decoding can take seconds, and has nothing to save. */
static void on_signal(int signal)
{
	(void)signal;
	if (is_busy)
		_exit(0);
	stopped = 1;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int make_token(char *token)
{
	unsigned char random[CLI_HTTP_TOKEN / 2];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int cli_http_listen(uint16_t port, struct cli_http_server *server)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, (int)CLIENTS_MAX) ||
	    getsockname(fd, (struct sockaddr *)&at, &len))
		err = -errno;
	else
		err = make_token(server->token);
	server->port = ntohs(at.sin_port);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Send all bytes, or give up. */
static bool send_all(int fd, const char *bytes, size_t len, int64_t until)
{
	while (len) {
		const ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		struct pollfd out = {.fd = fd, .events = POLLOUT};
		const int64_t left = until - now_ms();

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (left <= 0 || poll(&out, 1, (int)left) == 0)
			return false;
	}
	return true;
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} all[] = {{200, "OK"},
		   {400, "Bad Request"},
		   {403, "Forbidden"},
		   {404, "Not Found"},
		   {405, "Method Not Allowed"},
		   {408, "Request Timeout"},
		   {431, "Request Header Fields Too Large"}};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].status == status)
			return all[i].text;
	return "Internal Server Error";
}

static void respond(int fd, const struct cli_http_answer *a)
{
	const int64_t until = now_ms() + WRITE_MS;
	char head[512];
	const int len = snprintf(head, sizeof(head),
				 "HTTP/1.1 %d %s\r\n"
				 "Content-Type: %s; charset=utf-8\r\n"
				 "Content-Length: %zu\r\n"
				 "%s"
				 "Cache-Control: no-store\r\n"
				 "Content-Security-Policy: frame-ancestors 'none'\r\n"
				 "Cross-Origin-Resource-Policy: same-origin\r\n"
				 "Referrer-Policy: no-referrer\r\n"
				 "X-Content-Type-Options: nosniff\r\n"
				 "Connection: close\r\n\r\n",
				 a->status, reason(a->status), a->type, a->len,
				 a->status == 405 ? "Allow: GET\r\n" : "");

	if (send_all(fd, head, (size_t)len, until))
		(void)send_all(fd, a->body, a->len, until);
}

static void drop(struct client *c)
{
	close(c->fd);
	c->fd = -1;
}

/* Send one line about an error. */
static void refuse(struct client *c, int status, const char *why)
{
	unsigned int reads = 64;
	char body[256];
	const int len = snprintf(body, sizeof(body), "vpt report: %s\n", why);

	respond(c->fd, &(struct cli_http_answer){status, "text/plain", body, (size_t)len});
	/* A close with unread bytes would be a reset, which can overtake the answer. */
	while (reads-- && read(c->fd, c->bytes, sizeof(c->bytes)) > 0)
		;
	drop(c);
}

static void answer(struct server *s, struct client *c, const struct cli_http_request *request)
{
	struct cli_http_answer a;
	sigset_t blocked;

	is_busy = 1;
	sigprocmask(SIG_SETMASK, &s->while_polling, &blocked);
	a = s->handler->answer(s->handler->context, request);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	is_busy = 0;
	respond(c->fd, &a);
	free(a.body);
	drop(c);
}

/* Read from a client, and answer it if its request is complete. */
static void serve_client(struct server *s, struct client *c)
{
	struct cli_http_request request;
	const ssize_t n = read(c->fd, c->bytes + c->len, sizeof(c->bytes) - c->len);
	int status;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->len += (size_t)n;
	status = cli_http_read(s->of, c->bytes, c->len, &request);
	if (status == 200)
		answer(s, c, &request);
	else if (status)
		refuse(c, status, request.why);
}

static void accept_client(struct server *s, int listener)
{
	unsigned int i;

	for (i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients[i];

		if (c->fd >= 0)
			continue;
		c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		c->until = now_ms() + READ_MS;
		c->len = 0;
		return;
	}
}

/* Refuse clients that have not sent a request in time. Returns the ms up to the next one, or -1. */
static int64_t check_times(struct server *s)
{
	const int64_t now = now_ms();
	int64_t next = -1;
	unsigned int i;

	for (i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			continue;
		if (c->until <= now && !c->len)
			drop(c);
		else if (c->until <= now)
			refuse(c, 408, "The request did not arrive in time.");
		else if (next < 0 || c->until - now < next)
			next = c->until - now;
	}
	return next;
}

/* Wait for clients, and serve those that are ready. Returns 0 or -errno. */
static int turn(struct server *s, int listener)
{
	struct pollfd fds[CLIENTS_MAX + 1];
	const int64_t ms = check_times(s);
	const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
	bool full = true;
	unsigned int i;

	for (i = 0; i < CLIENTS_MAX; i++) {
		fds[i] = (struct pollfd){.fd = s->clients[i].fd, .events = POLLIN};
		full &= s->clients[i].fd >= 0;
	}
	fds[CLIENTS_MAX] = (struct pollfd){.fd = full ? -1 : listener, .events = POLLIN};
	if (ppoll(fds, CLIENTS_MAX + 1, ms < 0 ? NULL : &wait, &s->while_polling) < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < CLIENTS_MAX; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			serve_client(s, &s->clients[i]);
	if (fds[CLIENTS_MAX].revents)
		accept_client(s, listener);
	return 0;
}

int cli_http_serve(int listener, const struct cli_http_server *server,
		   const struct cli_http_handler *handler)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct server *s = calloc(1, sizeof(*s));
	sigset_t ends, before;
	unsigned int i;
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->of = server;
	s->handler = handler;
	for (i = 0; i < CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	s->while_polling = before;
	sigdelset(&s->while_polling, SIGINT);
	sigdelset(&s->while_polling, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!err && !stopped)
		err = turn(s, listener);
	for (i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0)
			drop(&s->clients[i]);
	free(s);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}
