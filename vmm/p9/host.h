/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files below one directory of the host. A path is relative to this directory: components with one
 * '/' between them, or "" for the directory itself. No component is "." or "..", and no symbolic
 * link is followed. All functions return 0 or a descriptor, or -errno.
 */
#ifndef VMM_P9_HOST_H
#define VMM_P9_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "p9/wire.h"

/* The longest path with its NUL. */
#define P9_PATH_MAX 4096u

struct p9_attr {
	enum p9_qid_type type;
	uint32_t mode; /* as in st_mode; the permissions are 0755, 0644, or 0777 of a link */
	uint64_t size;
};

/* Any other type of file fails with ENOENT, as if there was no such file. */
int p9_host_stat(int root, const char *path, struct p9_attr *attr);
int p9_host_stat_open(int fd, struct p9_attr *attr);
/* Open a regular file or create one. @flags and @mode are those of open(). */
int p9_host_open(int root, const char *path, int flags, mode_t mode);
int p9_host_open_dir(int root, const char *path);
/* Returns the length of the link's text, at most @room. */
ssize_t p9_host_readlink(int root, const char *path, char *text, size_t room);
int p9_host_mkdir(int root, const char *path);
/* Remove a file or a link, or with @dir an empty directory. */
int p9_host_remove(int root, const char *path, bool dir);
int p9_host_rename(int root, const char *from, const char *to);

#endif /* VMM_P9_HOST_H */
