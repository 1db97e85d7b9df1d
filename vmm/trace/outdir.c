// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates directories that appear when they are complete. */
#include "trace/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_MODE  0700
#define FILE_MODE 0600
#define OPEN_DIR  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEEPEST	  8

/*
 * Return the absolute path of the directory that holds @path; the caller frees it. Returns NULL
 * with errno on failure.
 */
static char *parent_of(const char *path, size_t len, const char **name)
{
	char *copy = strndup(path, len), *slash, *parent;

	if (!copy)
		return NULL;
	slash = strrchr(copy, '/');
	*name = path + (slash ? slash + 1 - copy : 0);
	if (slash)
		slash[slash == copy] = 0;
	parent = realpath(slash ? copy : ".", NULL);
	free(copy);
	return parent;
}

static int make_paths(struct trace_outdir *d, const char *path)
{
	size_t len = strlen(path);
	const char *name;
	char *parent;
	int err = 0;

	while (len > 1 && path[len - 1] == '/')
		len--;
	parent = parent_of(path, len, &name);
	if (!parent)
		return -errno;
	if (asprintf(&d->path, "%s/%.*s", strcmp(parent, "/") ? parent : "",
		     (int)(path + len - name), name) < 0)
		d->path = NULL;
	if (asprintf(&d->temp, "%s/.vpt-XXXXXX", strcmp(parent, "/") ? parent : "") < 0)
		d->temp = NULL;
	if (!d->path || !d->temp)
		err = -ENOMEM;
	free(parent);
	return err;
}

int trace_outdir_open(struct trace_outdir *d, const char *path)
{
	struct stat st;
	int err;

	*d = (struct trace_outdir){0};
	err = *path ? make_paths(d, path) : -ENOENT;
	if (!err && !lstat(d->path, &st))
		err = -EEXIST;
	/* mkdtemp() sets mode 0700. */
	if (!err && !mkdtemp(d->temp))
		err = -errno;
	if (err)
		trace_outdir_free(d);
	return err;
}

static char *inside(const struct trace_outdir *d, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", d->temp, name) >= 0)
		return path;
	errno = ENOMEM;
	return NULL;
}

int trace_outdir_mkdir(const struct trace_outdir *d, const char *name)
{
	char *path = inside(d, name);
	int err = !path || mkdir(path, DIR_MODE) ? -errno : 0;

	free(path);
	return err;
}

FILE *trace_outdir_create(const struct trace_outdir *d, const char *name)
{
	char *path = inside(d, name);
	FILE *file = NULL;
	int fd = -1, err;

	if (path)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd >= 0)
		file = fdopen(fd, "wb");
	err = errno;
	if (fd >= 0 && !file)
		close(fd);
	free(path);
	errno = err;
	return file;
}

enum task { SYNC, REMOVE };

static int walk(int fd, enum task task, unsigned int depth);

/* Apply a task to a name in an open directory. Returns 0 or -errno. */
static int visit(int dir, const char *name, enum task task, unsigned int depth)
{
	struct stat st;
	int fd, err = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISDIR(st.st_mode) || task == SYNC) {
		fd = openat(dir, name,
			    S_ISDIR(st.st_mode) ? OPEN_DIR : O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (S_ISDIR(st.st_mode))
			err = walk(fd, task, depth + 1);
		if (!err && task == SYNC && fsync(fd))
			err = -errno;
		close(fd);
	}
	if (!err && task == REMOVE && unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0))
		err = -errno;
	return err;
}

static int walk(int fd, enum task task, unsigned int depth)
{
	int copy = depth < DEEPEST ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1, err = 0;
	DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *e;

	if (!stream) {
		err = depth < DEEPEST ? -errno : -ELOOP;
		if (copy >= 0)
			close(copy);
		return err;
	}
	while (!err && (errno = 0, e = readdir(stream)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = visit(fd, e->d_name, task, depth);
	if (!err && errno)
		err = -errno;
	closedir(stream);
	return err;
}

/* Apply a task to the directory and everything in it. */
static int work(const struct trace_outdir *d, enum task task)
{
	int fd = open(d->temp, OPEN_DIR), err;

	if (fd < 0)
		return -errno;
	err = walk(fd, task, 0);
	if (!err && task == SYNC && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && task == REMOVE && rmdir(d->temp))
		err = -errno;
	return err;
}

static int sync_parent(const struct trace_outdir *d)
{
	char *parent = strndup(d->path, (size_t)(strrchr(d->path, '/') + 1 - d->path));
	int fd, err = 0;

	if (!parent)
		return -ENOMEM;
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	/* A file without read permission cannot be synchronised. */
	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

/* rename() itself refuses every target but an empty directory. */
static int rename_new(const struct trace_outdir *d)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, d->temp, AT_FDCWD, d->path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!lstat(d->path, &st))
		return -EEXIST;
	return rename(d->temp, d->path) ? -errno : 0;
}

int trace_outdir_commit(struct trace_outdir *d)
{
	int err = work(d, SYNC);

	if (!err)
		err = rename_new(d);
	if (err) {
		trace_outdir_drop(d);
		return err;
	}
	free(d->temp);
	d->temp = NULL;
	return sync_parent(d);
}

void trace_outdir_drop(struct trace_outdir *d)
{
	if (d->temp)
		work(d, REMOVE);
	free(d->temp);
	d->temp = NULL;
}

void trace_outdir_free(struct trace_outdir *d)
{
	free(d->path);
	free(d->temp);
	*d = (struct trace_outdir){0};
}
