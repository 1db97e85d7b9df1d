// SPDX-License-Identifier: GPL-2.0-or-later
/* The fids of a server: numbers that the guest chose for paths and open files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p9/server.h"

static struct p9_fid **chain_of(struct p9_server *s, uint32_t number)
{
	return &s->chain[(number * 0x9e3779b1u) >> 22];
}

struct p9_fid *p9_fid_find(struct p9_server *s, uint32_t number)
{
	struct p9_fid *fid = *chain_of(s, number);

	while (fid && fid->number != number)
		fid = fid->next;
	return fid;
}

struct p9_fid *p9_fid_take(struct p9_server *s, struct p9_in *in)
{
	return p9_fid_find(s, (uint32_t)p9_get(in, 4));
}

/* Copy a path within the bound of the server's memory. */
static char *copy_path(struct p9_server *s, const char *path)
{
	const size_t bytes = strlen(path) + 1;
	char *copy = bytes <= P9_BYTES - s->bytes ? malloc(bytes) : NULL;

	if (copy) {
		memcpy(copy, path, bytes);
		s->bytes += bytes;
	}
	return copy;
}

static void free_path(struct p9_server *s, char *path)
{
	s->bytes -= strlen(path) + 1;
	free(path);
}

int p9_fid_add(struct p9_server *s, uint32_t number, const char *path)
{
	struct p9_fid **chain = chain_of(s, number), *fid;

	if (number == P9_NO_FID || p9_fid_find(s, number))
		return -EBADF;
	if (s->fids == P9_FIDS)
		return -ENFILE;
	fid = malloc(sizeof(*fid));
	if (!fid)
		return -ENOMEM;
	*fid = (struct p9_fid){.next = *chain, .number = number, .fd = -1};
	fid->path = copy_path(s, path);
	if (!fid->path) {
		free(fid);
		return -ENOMEM;
	}
	*chain = fid;
	s->fids++;
	return 0;
}

int p9_fid_move(struct p9_server *s, struct p9_fid *fid, const char *path)
{
	char *copy = copy_path(s, path);

	if (!copy)
		return -ENOMEM;
	free_path(s, fid->path);
	fid->path = copy;
	return 0;
}

static void rename_one(struct p9_server *s, struct p9_fid *fid, const char *from, const char *to)
{
	const size_t len = strlen(from);
	char path[P9_PATH_MAX];

	if (strncmp(fid->path, from, len) || (fid->path[len] && fid->path[len] != '/'))
		return;
	/* A path that becomes too long, or finds no memory, is no longer that of a file. */
	if (strlen(to) + strlen(fid->path + len) >= P9_PATH_MAX)
		return;
	strcpy(path, to);
	strcat(path, fid->path + len);
	(void)p9_fid_move(s, fid, path);
}

void p9_fid_rename(struct p9_server *s, const char *from, const char *to)
{
	struct p9_fid *fid;
	size_t i;

	for (i = 0; i < P9_CHAINS; i++)
		for (fid = s->chain[i]; fid; fid = fid->next)
			rename_one(s, fid, from, to);
}

void p9_fid_open(struct p9_server *s, struct p9_fid *fid, int fd, uint32_t flags)
{
	fid->flags = P9_FID_OPEN | flags;
	fid->fd = fd;
	if (fd >= 0)
		s->open++;
}

int p9_fid_open_file(struct p9_server *s, struct p9_fid *fid, const char *path, uint32_t flags,
		     int create, mode_t mode)
{
	static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR};
	static const uint32_t may[] = {P9_FID_READ, P9_FID_WRITE, P9_FID_READ | P9_FID_WRITE};
	const uint32_t access = flags & P9_OPEN_ACCESS;
	int fd, err;

	if (access == P9_OPEN_ACCESS)
		return -EINVAL;
	if (s->open == P9_OPEN)
		return -ENFILE;
	if (flags & P9_OPEN_TRUNC)
		create |= O_TRUNC;
	fd = p9_host_open(s->root, path, modes[access] | create, mode);
	if (fd < 0)
		return fd;
	err = p9_fid_move(s, fid, path);
	if (err)
		close(fd);
	else
		p9_fid_open(s, fid, fd, may[access]);
	return err;
}

static void destroy(struct p9_server *s, struct p9_fid *fid)
{
	if (fid->fd >= 0) {
		close(fid->fd);
		s->open--;
	}
	p9_listing_free(s, &fid->listing);
	free_path(s, fid->path);
	free(fid);
	s->fids--;
}

void p9_fid_remove(struct p9_server *s, struct p9_fid *fid)
{
	struct p9_fid **at = chain_of(s, fid->number);

	while (*at != fid)
		at = &(*at)->next;
	*at = fid->next;
	destroy(s, fid);
}

void p9_fid_remove_all(struct p9_server *s)
{
	size_t i;

	for (i = 0; i < P9_CHAINS; i++) {
		while (s->chain[i]) {
			struct p9_fid *fid = s->chain[i];

			s->chain[i] = fid->next;
			destroy(s, fid);
		}
	}
}

static bool is_dots(const struct p9_text *name)
{
	return p9_is_text(name, ".") || p9_is_text(name, "..");
}

int p9_path_append(char *path, const struct p9_text *name)
{
	size_t len = strlen(path);

	if (name->len > P9_NAME_MAX)
		return -ENAMETOOLONG;
	if (!name->len || is_dots(name) || memchr(name->at, '/', name->len) ||
	    memchr(name->at, 0, name->len))
		return -ENOENT;
	if (len + 1 + name->len >= P9_PATH_MAX)
		return -ENAMETOOLONG;
	if (len)
		path[len++] = '/';
	memcpy(path + len, name->at, name->len);
	path[len + name->len] = 0;
	return 0;
}

void p9_path_up(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = 0;
}
