// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolves a path to its file, which need not exist yet. */
#include "trace/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the limit of the kernel */

const char *trace_place_name(const struct trace_place *place)
{
	const char *slash = strrchr(place->path, '/');

	return slash ? slash + 1 : place->path;
}

/* Return the directory of a path, which the caller frees. Returns NULL if there is no memory. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *trace_place_dir(const struct trace_place *place)
{
	return directory_of(place->path);
}

static int stat_directory(const char *path, struct stat *st)
{
	char *dir = directory_of(path);
	int err = 0;

	if (!dir)
		return -ENOMEM;
	if (stat(dir, st))
		err = -errno;
	free(dir);
	return err;
}

/* Returns true for a link of /proc/PID/fd. It leads to an open file, which need not have a name. */
static bool is_descriptor(const struct stat *link)
{
	struct stat proc;

	return !stat("/proc", &proc) && link->st_dev == proc.st_dev;
}

/* Apply the rule of the kernel's fs.protected_symlinks, which readlink() does not apply. */
static bool may_follow(const struct stat *link, const struct stat *dir)
{
	return link->st_uid == geteuid() || link->st_uid == dir->st_uid ||
	       (dir->st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH);
}

/* Replace the path of a link by the path of its target. Returns 0 or -errno. */
static int follow(struct trace_place *place)
{
	char target[PATH_MAX], *dir = NULL, *path;
	ssize_t n = readlink(place->path, target, sizeof(target) - 1);
	int made;

	if (n < 0)
		return -errno;
	target[n] = 0;
	if (target[0] != '/') {
		dir = directory_of(place->path);
		if (!dir)
			return -ENOMEM;
	}
	made = asprintf(&path, "%s%s%s", dir ? dir : "", dir ? "/" : "", target);
	free(dir);
	if (made < 0)
		return -ENOMEM;
	free(place->path);
	place->path = path;
	return 0;
}

static int inspect(struct trace_place *place)
{
	unsigned int links;

	for (links = 0; links < LINKS_MAX; links++) {
		int err = stat_directory(place->path, &place->dir);

		if (err)
			return err;
		if (lstat(place->path, &place->st)) {
			place->kind = TRACE_PLACE_NONE;
			return errno == ENOENT ? 0 : -errno;
		}
		if (!S_ISLNK(place->st.st_mode)) {
			place->kind = S_ISREG(place->st.st_mode) ? TRACE_PLACE_REGULAR
								 : TRACE_PLACE_OTHER;
			return 0;
		}
		if (is_descriptor(&place->st)) {
			place->kind = TRACE_PLACE_OTHER;
			return stat(place->path, &place->st) ? -errno : 0;
		}
		if (!may_follow(&place->st, &place->dir))
			return -EACCES;
		err = follow(place);
		if (err)
			return err;
	}
	return -ELOOP;
}

int trace_place_find(const char *path, struct trace_place *place)
{
	size_t len = strlen(path);
	int err;

	while (len > 1 && path[len - 1] == '/')
		len--;
	*place = (struct trace_place){.path = strndup(path, len)};
	if (!place->path)
		return -ENOMEM;
	err = len ? inspect(place) : -ENOENT;
	if (err)
		trace_place_free(place);
	return err;
}

void trace_place_free(struct trace_place *place)
{
	free(place->path);
	place->path = NULL;
}

bool trace_place_same(const struct trace_place *a, const struct trace_place *b)
{
	if ((a->kind == TRACE_PLACE_NONE) != (b->kind == TRACE_PLACE_NONE))
		return false;
	if (a->kind == TRACE_PLACE_NONE)
		return a->dir.st_dev == b->dir.st_dev && a->dir.st_ino == b->dir.st_ino &&
		       !strcmp(trace_place_name(a), trace_place_name(b));
	if (!S_ISREG(a->st.st_mode) && !S_ISDIR(a->st.st_mode) && !S_ISBLK(a->st.st_mode))
		return false;
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}
