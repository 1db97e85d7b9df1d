// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes files beside the files that they replace, with one writer at a time. */
#include "trace/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MODE	  0600
#define ATTEMPTS  100 /* attempts to find a name that no other process takes first */
#define PART	  ".part"
#define CREATE	  (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define EARLY_MAX 1000 /* part files that are kept */

/* The destination of an error message. */
struct why {
	char *text;
	size_t size;
};

static int complain(const struct why *why, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int complain(const struct why *why, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, why->size, fmt, args);
	va_end(args);
	return err;
}

static int fail(const struct why *why, int err)
{
	return complain(why, err, "%s", strerror(-err));
}

/*
 * Lock a file. Returns 0, or -EAGAIN if another process has the lock. A file system without locks
 * cannot exclude a second writer.
 */
static int lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!fcntl(fd, F_OFD_SETLK, &whole))
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EAGAIN : 0;
}

enum trace_outfile_writer trace_outfile_writer(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return !fcntl(fd, F_OFD_GETLK, &whole) && whole.l_type != F_UNLCK ? TRACE_OUTFILE_HAS_WRITER
									  : TRACE_OUTFILE_NO_WRITER;
}

char *trace_outfile_part(const struct trace_place *place)
{
	char *part;

	if (place->kind == TRACE_PLACE_OTHER || asprintf(&part, "%s" PART, place->path) < 0)
		return NULL;
	return part;
}

/* Returns true if the name still refers to the open file. */
static bool has_name(int dir, const char *name, int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Rename like RENAME_NOREPLACE, also on file systems that lack it. */
static int rename_new(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir, from, dir, to, 0))
		return -errno;
	return unlinkat(dir, from, 0) ? -errno : 0;
}

/* Give the part file of an earlier run another name, NAME.part.1 or a later number. */
static int move_aside(struct trace_outfile *o)
{
	char name[sizeof(o->temp) + 16];
	unsigned int n;
	int err = -EEXIST;

	for (n = 1; n <= EARLY_MAX && err == -EEXIST; n++) {
		snprintf(name, sizeof(name), "%s.%u", o->temp, n);
		err = rename_new(o->dir, o->temp, name);
	}
	if (err)
		return err;
	free(o->earlier);
	return asprintf(&o->earlier, "%s.%u", o->part, n - 1) < 0 ? -ENOMEM : 0;
}

/*
 * Handle an existing file with the part file's name. Returns 0 once the name is free. A killed run
 * may have left the file: an unlocked file of ours without another name. An empty one is removed.
 */
static int clear_name(struct trace_outfile *o, const struct why *why)
{
	int fd = openat(o->dir, o->temp, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink > 1)
		err = complain(why, -EEXIST, "%s is in the way: remove it", o->part);
	else if (lock(fd))
		err = complain(why, -EBUSY, "another process is writing it, to %s", o->part);
	else if (has_name(o->dir, o->temp, fd))
		err = st.st_size ? move_aside(o) : unlinkat(o->dir, o->temp, 0) ? -errno : 0;
	if (err && err != -EEXIST && err != -EBUSY)
		err = complain(why, err, "%s: %s", o->part, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_part(struct trace_outfile *o, const struct why *why)
{
	unsigned int i;

	o->part = trace_outfile_part(&o->place);
	if (!o->part)
		return fail(why, -ENOMEM);
	if ((size_t)snprintf(o->temp, sizeof(o->temp), "%s" PART, trace_place_name(&o->place)) >=
	    sizeof(o->temp))
		return fail(why, -ENAMETOOLONG);
	for (i = 0; i < ATTEMPTS; i++) {
		int err;

		o->fd = openat(o->dir, o->temp, CREATE, MODE);
		/* Another process may mistake an unlocked file for a left-over one. */
		if (o->fd >= 0 && !lock(o->fd) && has_name(o->dir, o->temp, o->fd))
			return 0;
		if (o->fd < 0 && errno != EEXIST)
			return fail(why, -errno);
		if (o->fd >= 0)
			close(o->fd);
		o->fd = -1;
		err = clear_name(o, why);
		if (err)
			return err;
	}
	return complain(why, -EBUSY, "other processes are writing it, to %s", o->part);
}

static int random_name(struct trace_outfile *o)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(o->temp, sizeof(o->temp), ".vpt-%016llx.tmp", (unsigned long long)number);
	return 0;
}

/*
 * Open a file that vanishes with the process, or one with a random name if the file system has no
 * such files.
 */
static int open_nameless(struct trace_outfile *o, const struct why *why)
{
	unsigned int i;
	int err = -EEXIST;

	o->fd = openat(o->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
	if (o->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
		return fail(why, -errno);
	for (i = 0; i < ATTEMPTS && err == -EEXIST; i++) {
		err = random_name(o);
		if (err)
			break;
		o->fd = openat(o->dir, o->temp, CREATE, MODE);
		err = o->fd < 0 ? -errno : 0;
	}
	if (!err)
		return 0;
	o->temp[0] = 0;
	return fail(why, err);
}

static int open_dir(struct trace_outfile *o)
{
	const size_t len = (size_t)(trace_place_name(&o->place) - o->place.path);
	char *path = len ? strndup(o->place.path, len) : strdup(".");
	int err = 0;

	if (!path)
		return -ENOMEM;
	o->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A directory without read permission cannot be synchronised. */
	if (o->dir < 0 && errno == EACCES)
		o->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->dir < 0)
		err = -errno;
	free(path);
	return err;
}

/* Returns true for standard output. A socket cannot be opened by /dev/stdout. */
static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && st->st_dev == out.st_dev && st->st_ino == out.st_ino;
}

/* Open a device, a pipe or a descriptor. */
static int open_in_place(struct trace_outfile *o, const struct why *why)
{
	if (S_ISDIR(o->place.st.st_mode))
		return fail(why, -EISDIR);
	o->fd = open(o->place.path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (o->fd < 0 && errno == ENXIO && is_stdout(&o->place.st))
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (o->fd < 0)
		return fail(why, -errno);
	if (!S_ISREG(o->place.st.st_mode))
		return 0;
	if (lock(o->fd))
		return complain(why, -EBUSY, "another process is writing it");
	return ftruncate(o->fd, 0) ? fail(why, -errno) : 0;
}

static int begin(struct trace_outfile *o, enum trace_outfile_kind kind, const struct why *why)
{
	int err;

	if (o->place.kind == TRACE_PLACE_OTHER)
		return open_in_place(o, why);
	/* A rename would replace a file that is protected against writing. */
	if (o->place.kind == TRACE_PLACE_REGULAR &&
	    faccessat(AT_FDCWD, o->place.path, W_OK, AT_EACCESS))
		return fail(why, -errno);
	err = open_dir(o);
	if (err)
		return fail(why, err);
	return kind == TRACE_OUTFILE_TRACE ? open_part(o, why) : open_nameless(o, why);
}

int trace_outfile_open(struct trace_outfile *o, const char *path, enum trace_outfile_kind kind,
		       char *text, size_t size)
{
	const struct why why = {text, size};
	int err;

	*o = (struct trace_outfile){.fd = -1, .dir = -1};
	err = trace_place_find(path, &o->place);
	if (err)
		return fail(&why, err);
	err = begin(o, kind, &why);
	if (err) {
		trace_outfile_keep(o);
		trace_outfile_free(o);
	}
	return err;
}

static int put_name(struct trace_outfile *o)
{
	unsigned int i;
	char self[32];
	int err = -EEXIST;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	for (i = 0; i < ATTEMPTS && err == -EEXIST; i++) {
		err = random_name(o);
		if (err)
			break;
		err = linkat(AT_FDCWD, self, o->dir, o->temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
	}
	if (err)
		o->temp[0] = 0;
	return err;
}

int trace_outfile_commit(struct trace_outfile *o)
{
	int err = 0;

	if (o->dir >= 0) {
		if (fsync(o->fd))
			err = -errno;
		if (!err && !o->temp[0])
			err = put_name(o);
		/* Another process may have moved the file, and another file has the name. */
		if (!err && !has_name(o->dir, o->temp, o->fd))
			err = -ENOENT;
		if (!err && renameat(o->dir, o->temp, o->dir, trace_place_name(&o->place)))
			err = -errno;
		if (err && !o->part) {
			trace_outfile_drop(o);
			return err;
		}
		if (!err) {
			free(o->part);
			o->part = NULL;
		}
		/* Some file systems cannot synchronise directories. */
		if (!err && fsync(o->dir) && errno != EBADF && errno != EINVAL)
			err = -errno;
	}
	trace_outfile_keep(o);
	return err;
}

void trace_outfile_keep(struct trace_outfile *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	o->fd = o->dir = -1;
}

void trace_outfile_drop(struct trace_outfile *o)
{
	if (o->dir >= 0 && o->temp[0] && has_name(o->dir, o->temp, o->fd))
		unlinkat(o->dir, o->temp, 0);
	if (o->dir >= 0 && o->earlier)
		rename_new(o->dir,
			   strrchr(o->earlier, '/') ? strrchr(o->earlier, '/') + 1 : o->earlier,
			   o->temp);
	trace_outfile_keep(o);
}

void trace_outfile_free(struct trace_outfile *o)
{
	trace_place_free(&o->place);
	free(o->part);
	free(o->earlier);
	o->part = o->earlier = NULL;
}
