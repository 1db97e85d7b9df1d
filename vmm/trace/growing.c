// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for the bytes of a file that grows, and copies those of a pipe. */
#include "trace/growing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/outfile.h"

#define SECOND 1000000000ull
#define PIECE  65536u
/* A regular file does not wake up its reader. */
#define SEE_MS	   20
#define PIPE_BYTES (1 << 20)
/* The most bytes to copy before the reader may decode them. */
#define TURN_BYTES (1u << 20)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

int trace_growing_scratch(void)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(name, sizeof(name), "%s/vpt-XXXXXX", dir) >= sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static int open_input(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Use the descriptor of a regular file, or make a copy of a pipe. Returns 0 or -errno. */
static int begin(struct trace_growing *g, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode)) {
		g->fd = fd;
		return 0;
	}
	g->input = fd;
	/* The writer need not wait while the reader decodes. The kernel may refuse the size. */
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
	g->fd = trace_growing_scratch();
	return g->fd < 0 ? g->fd : 0;
}

int trace_growing_open(struct trace_growing *g, const char *path, char *why, size_t size)
{
	int fd = open_input(path), err = fd;

	*g = (struct trace_growing){.fd = -1, .input = -1, .since = now()};
	if (fd >= 0)
		err = begin(g, fd);
	if (err >= 0)
		return 0;
	snprintf(why, size, "%s", strerror(-err));
	if (fd >= 0 && g->fd != fd && g->input != fd)
		close(fd);
	trace_growing_close(g);
	return err;
}

static int put(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Copy what the pipe has. Returns 0 or -errno. */
static int copy(struct trace_growing *g, int ms)
{
	struct pollfd ready = {.fd = g->input, .events = POLLIN};
	uint8_t piece[PIECE];
	size_t copied = 0;
	int err;

	for (; copied < TURN_BYTES; ms = 0) {
		ssize_t n = poll(&ready, 1, ms);

		if (!n || (n < 0 && errno == EINTR))
			return 0;
		if (n > 0)
			n = read(g->input, piece, sizeof(piece));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (n < 0)
			return -errno;
		g->ended = !n;
		if (!n)
			return 0;
		err = put(g->fd, piece, (size_t)n);
		if (err)
			return err;
		g->bytes += (uint64_t)n;
		copied += (size_t)n;
	}
	return 0;
}

/* Find out whether a regular file has grown or ended. Returns 0 or -errno. */
static int see(struct trace_growing *g)
{
	const bool had = g->has_writer;
	struct stat st;

	/* The writer writes its last bytes before it releases the lock. */
	g->has_writer = trace_outfile_writer(g->fd) == TRACE_OUTFILE_HAS_WRITER;
	if (fstat(g->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size != g->bytes) {
		g->bytes = (uint64_t)st.st_size;
		g->since = now();
		g->has_writer |= had;
		return 0;
	}
	g->ended = !g->has_writer && (had || now() - g->since > TRACE_GROWING_QUIET * SECOND);
	return 0;
}

int trace_growing_wait(struct trace_growing *g, unsigned int ms)
{
	const uint64_t until = now() + ms * 1000000ull, before = g->bytes;
	int err;

	if (g->input >= 0)
		return g->ended ? 0 : copy(g, (int)ms);
	for (;;) {
		err = see(g);
		if (err || g->ended || g->bytes != before || now() >= until)
			return err;
		(void)poll(NULL, 0, SEE_MS);
	}
}

void trace_growing_close(struct trace_growing *g)
{
	if (g->fd >= 0)
		close(g->fd);
	if (g->input >= 0)
		close(g->input);
	g->fd = g->input = -1;
}
