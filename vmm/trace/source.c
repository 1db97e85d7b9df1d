// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files by position: regular files on demand, others at once. */
#include "trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/vec.h"

#define WINDOW 65536u

/* Read up to @room bytes; fewer only at the end. Returns their number or -errno. */
static ssize_t read_some(int fd, uint8_t *to, size_t room)
{
	size_t have = 0;

	while (have < room) {
		ssize_t n = read(fd, to + have, room - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* Read a file that cannot seek into memory. */
static int slurp(struct trace_source *s, int fd, const void *magic, size_t len)
{
	size_t room = 0;

	while (s->size == room) {
		ssize_t n;
		void *p;

		if (len && room >= len && memcmp(s->bytes, magic, len))
			return 0;
		if (room >= TRACE_SOURCE_PIPE_MAX)
			return -EFBIG;
		p = trace_vec_grow(s->bytes, &room, 1);
		if (!p)
			return -ENOMEM;
		s->bytes = p;
		n = read_some(fd, s->bytes + s->size, room - s->size);
		if (n < 0)
			return (int)n;
		s->size += (uint64_t)n;
	}
	return 0;
}

int trace_source_open(struct trace_source *s, const char *path, const void *magic, size_t len)
{
	bool is_input = !strcmp(path, "-");
	struct stat st;
	int err = 0, fd;

	*s = (struct trace_source){.fd = -1};
	fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
		      : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		err = -EISDIR;
	} else if (S_ISREG(st.st_mode) && st.st_size > 0) {
		s->fd = fd;
		s->size = (uint64_t)st.st_size;
		return 0;
	} else {
		/* Files of /proc claim to be regular, and to have no bytes. */
		err = slurp(s, fd, magic, len);
	}
	close(fd);
	return err;
}

int trace_source_grow(struct trace_source *s)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return -errno;
	s->size = (uint64_t)st.st_size;
	return 0;
}

int trace_source_open_fd(struct trace_source *s, int fd)
{
	*s = (struct trace_source){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
	return s->fd < 0 ? -errno : trace_source_grow(s);
}

void trace_source_close(struct trace_source *s)
{
	trace_filemap_close(&s->map);
	if (s->fd >= 0)
		close(s->fd);
	free(s->bytes);
	free(s->window);
	*s = (struct trace_source){.fd = -1};
}

/* Returns 0, -ENODATA, or -errno; *have: bytes that were read. */
static int read_at(int fd, uint64_t at, uint8_t *to, size_t len, size_t *have)
{
	*have = 0;
	while (*have < len) {
		ssize_t n = pread(fd, to + *have, len - *have, (off_t)(at + *have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		*have += (size_t)n;
	}
	return 0;
}

void trace_source_map(struct trace_source *s)
{
	/* Without a map, bytes are copied. */
	if (s->fd >= 0 && s->size <= SIZE_MAX)
		(void)trace_filemap_open(&s->map, s->fd, (size_t)s->size);
}

const uint8_t *trace_source_bytes(struct trace_source *s, uint64_t at, size_t len)
{
	if (at > s->size || len > s->size - at)
		return NULL;
	if (s->fd < 0)
		return s->bytes + at;
	return s->map.at ? trace_filemap_bytes(&s->map, at, len) : NULL;
}

bool trace_source_torn(const struct trace_source *s)
{
	return s->map.torn;
}

/* Read through the window, which also holds some following bytes. */
static int read_window(struct trace_source *s, uint64_t at, void *to, size_t len)
{
	int err;

	if (!s->window)
		s->window = malloc(WINDOW);
	if (!s->window)
		return -ENOMEM;
	if (at < s->at || at - s->at > s->have || len > s->have - (size_t)(at - s->at)) {
		s->have = 0;
		err = read_at(s->fd, at, s->window, WINDOW, &s->have);
		if (err && err != -ENODATA)
			return err;
		s->at = at;
		if (s->have < len)
			return -ENODATA;
	}
	memcpy(to, s->window + (at - s->at), len);
	return 0;
}

int trace_source_read(struct trace_source *s, uint64_t at, void *to, size_t len)
{
	const uint8_t *bytes;
	size_t have;

	if (at > s->size || len > s->size - at)
		return -ENODATA;
	if (!len)
		return 0;
	bytes = s->fd < 0 || len < WINDOW ? trace_source_bytes(s, at, len) : NULL;
	if (bytes) {
		memcpy(to, bytes, len);
		return trace_source_torn(s) ? -ENODATA : 0;
	}
	if (len >= WINDOW)
		return read_at(s->fd, at, to, len, &have);
	return read_window(s, at, to, len);
}

uint64_t trace_source_data(const struct trace_source *s, uint64_t at)
{
	off_t next;

	if (s->fd < 0)
		return at;
	next = lseek(s->fd, (off_t)at, SEEK_DATA);
	if (next < 0)
		return errno == ENXIO ? s->size : at;
	return (uint64_t)next < s->size ? (uint64_t)next : s->size;
}
