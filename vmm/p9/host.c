// SPDX-License-Identifier: GPL-2.0-or-later
/* Access to the host's files below one directory. */
#include "p9/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open directory, and a name in it. */
struct place {
	int dir;
	char name[P9_NAME_MAX + 1];
};

/* Take the next component of a path. Returns the rest of the path, or NULL if it is too long. */
static const char *next(const char *path, char *name)
{
	const size_t len = strcspn(path, "/");

	if (len > P9_NAME_MAX)
		return NULL;
	memcpy(name, path, len);
	name[len] = 0;
	return path + len + (path[len] == '/');
}

/* Open the directory that has the last component of a path. Close place->dir afterwards. */
static int find(int root, const char *path, struct place *place)
{
	int dir = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), below;

	if (dir < 0)
		return -errno;
	strcpy(place->name, ".");
	while (*path) {
		path = next(path, place->name);
		if (!path) {
			close(dir);
			return -ENAMETOOLONG;
		}
		if (!*path)
			break;
		below = openat(dir, place->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0) {
			int err = -errno;

			close(dir);
			return err;
		}
		close(dir);
		dir = below;
	}
	place->dir = dir;
	return 0;
}

/* The result of a system call at a place, which is closed. */
static int leave(struct place *place, int result)
{
	int err = result < 0 ? -errno : result;

	close(place->dir);
	return err;
}

static int set_attr(const struct stat *st, struct p9_attr *attr)
{
	const bool runs = st->st_mode & 0100;

	*attr = (struct p9_attr){.size = (uint64_t)st->st_size};
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		attr->type = P9_QID_FILE;
		attr->mode = S_IFREG | (runs ? 0755 : 0644);
		return 0;
	case S_IFDIR:
		attr->type = P9_QID_DIR;
		attr->mode = S_IFDIR | 0755;
		/* The size of a directory depends on the host's file system. */
		attr->size = 4096;
		return 0;
	case S_IFLNK:
		attr->type = P9_QID_LINK;
		attr->mode = S_IFLNK | 0777;
		return 0;
	default:
		return -ENOENT;
	}
}

int p9_host_stat(int root, const char *path, struct p9_attr *attr)
{
	struct place place;
	struct stat st;
	int err = find(root, path, &place);

	if (!err)
		err = leave(&place, fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW));
	return err ? err : set_attr(&st, attr);
}

int p9_host_stat_open(int fd, struct p9_attr *attr)
{
	struct stat st;

	return fstat(fd, &st) ? -errno : set_attr(&st, attr);
}

/* An open of a device or a pipe can have effects, so the type is checked before. */
static int check_regular(const struct place *place, int flags)
{
	struct stat st;

	if (fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT && flags & O_CREAT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return flags & O_CREAT ? -EEXIST : -ENOENT;
	return 0;
}

int p9_host_open(int root, const char *path, int flags, mode_t mode)
{
	struct place place;
	struct p9_attr attr;
	int fd, err = find(root, path, &place);

	if (err)
		return err;
	err = check_regular(&place, flags);
	if (err) {
		close(place.dir);
		return err;
	}
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	fd = leave(&place, openat(place.dir, place.name, flags, mode));
	if (fd < 0)
		return fd;
	err = p9_host_stat_open(fd, &attr);
	if (!err && attr.type != P9_QID_FILE)
		err = -ENOENT;
	if (err)
		close(fd);
	return err ? err : fd;
}

int p9_host_open_dir(int root, const char *path)
{
	struct place place;
	int err = find(root, path, &place);

	if (err)
		return err;
	return leave(&place, openat(place.dir, place.name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

ssize_t p9_host_readlink(int root, const char *path, char *text, size_t room)
{
	struct place place;
	int err = find(root, path, &place);

	if (err)
		return err;
	return leave(&place, (int)readlinkat(place.dir, place.name, text, room));
}

int p9_host_mkdir(int root, const char *path)
{
	struct place place;
	int err = find(root, path, &place);

	return err ? err : leave(&place, mkdirat(place.dir, place.name, 0755));
}

int p9_host_remove(int root, const char *path, bool dir)
{
	struct place place;
	struct p9_attr attr;
	int err = p9_host_stat(root, path, &attr);

	if (!err)
		err = find(root, path, &place);
	if (err)
		return err;
	return leave(&place, unlinkat(place.dir, place.name, dir ? AT_REMOVEDIR : 0));
}

/* A file of a type that does not exist for the guest is not replaced. */
static int check_replaced(const struct place *place)
{
	struct p9_attr attr;
	struct stat st;

	if (fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	return set_attr(&st, &attr) ? -EEXIST : 0;
}

int p9_host_rename(int root, const char *from, const char *to)
{
	struct place old, new;
	struct p9_attr attr;
	int err = p9_host_stat(root, from, &attr);

	if (!err)
		err = find(root, from, &old);
	if (err)
		return err;
	err = find(root, to, &new);
	if (err) {
		close(old.dir);
		return err;
	}
	err = check_replaced(&new);
	if (!err && renameat(old.dir, old.name, new.dir, new.name))
		err = -errno;
	close(old.dir);
	close(new.dir);
	return err;
}
