// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests that change files. A server with P9_READ_ONLY refuses each of them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "p9/server.h"

#define SETATTR_SIZE 0x8u

/* Returns 0 if a request with these fields may change a file. */
static int check(const struct p9_server *s, const struct p9_in *in, const struct p9_fid *fid)
{
	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	return s->access == P9_READ_WRITE ? 0 : -EROFS;
}

/* The path of a name in the directory of a fid. */
static int path_in(const struct p9_fid *dir, const struct p9_text *name, char *path)
{
	strcpy(path, dir->path);
	return p9_path_append(path, name);
}

int p9_serve_lcreate(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	const struct p9_text name = p9_get_text(in);
	const uint32_t flags = (uint32_t)p9_get(in, 4), mode = (uint32_t)p9_get(in, 4);
	char path[P9_PATH_MAX];
	int err;

	p9_get(in, 4); /* the group */
	err = check(s, in, fid);
	if (!err && fid->flags & P9_FID_OPEN)
		err = -EBADF;
	if (!err)
		err = path_in(fid, &name, path);
	if (!err)
		err = p9_fid_open_file(s, fid, path, flags,
				       O_CREAT | (flags & P9_OPEN_EXCL ? O_EXCL : 0),
				       mode & 0100 ? 0755 : 0644);
	if (err)
		return err;
	p9_put_qid(out, P9_QID_FILE, path);
	p9_put(out, 0, 4); /* the client chooses the size of its accesses */
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t count, uint64_t offset, size_t *done)
{
	ssize_t n;

	for (*done = 0; *done < count; *done += (size_t)n) {
		n = pwrite(fd, bytes + *done, count - *done, (off_t)(offset + *done));
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return *done ? 0 : n ? -errno : -EIO;
	}
	return 0;
}

int p9_serve_write(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	const uint64_t offset = p9_get(in, 8);
	const uint32_t count = (uint32_t)p9_get(in, 4);
	size_t done;
	int err;

	if (in->bad || count > in->left)
		return -EINVAL;
	if (!fid || !(fid->flags & P9_FID_WRITE))
		return -EBADF;
	if (offset > INT64_MAX - P9_MESSAGE_MAX)
		return -EFBIG;
	err = write_all(fid->fd, in->at, count, offset, &done);
	if (!err)
		p9_put(out, done, 4);
	return err;
}

int p9_serve_mkdir(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	const struct p9_text name = p9_get_text(in);
	char path[P9_PATH_MAX];
	int err;

	p9_get(in, 8); /* the mode and the group */
	err = check(s, in, fid);
	if (!err)
		err = path_in(fid, &name, path);
	if (!err)
		err = p9_host_mkdir(s->root, path);
	if (!err)
		p9_put_qid(out, P9_QID_DIR, path);
	return err;
}

/* Only the size changes. All other attributes are fixed, and a change of them has no effect. */
int p9_serve_setattr(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	const uint32_t valid = (uint32_t)p9_get(in, 4);
	uint64_t size;
	int fd, err;

	(void)out;
	p9_get(in, 8);
	p9_get(in, 4); /* mode, user and group */
	size = p9_get(in, 8);
	p9_get(in, 8);
	p9_get(in, 8);
	p9_get(in, 8);
	p9_get(in, 8); /* two times */
	err = check(s, in, fid);
	if (err || !(valid & SETATTR_SIZE))
		return err;
	if (size > INT64_MAX)
		return -EFBIG;
	if (fid->flags & P9_FID_WRITE)
		return ftruncate(fid->fd, (off_t)size) ? -errno : 0;
	fd = p9_host_open(s->root, fid->path, O_WRONLY, 0);
	if (fd < 0)
		return fd;
	err = ftruncate(fd, (off_t)size) ? -errno : 0;
	close(fd);
	return err;
}

static int rename_to(struct p9_server *s, const char *from, const struct p9_fid *dir,
		     const struct p9_text *name)
{
	char to[P9_PATH_MAX];
	int err = path_in(dir, name, to);

	if (!err)
		err = p9_host_rename(s->root, from, to);
	if (!err && strcmp(from, to) != 0)
		p9_fid_rename(s, from, to);
	return err;
}

int p9_serve_rename(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in), *dir = p9_fid_take(s, in);
	const struct p9_text name = p9_get_text(in);
	char from[P9_PATH_MAX];
	int err = check(s, in, fid);

	(void)out;
	if (!err)
		err = check(s, in, dir);
	if (err)
		return err;
	strcpy(from, fid->path);
	return rename_to(s, from, dir, &name);
}

int p9_serve_renameat(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *old = p9_fid_take(s, in);
	const struct p9_text name = p9_get_text(in);
	const struct p9_fid *dir = p9_fid_take(s, in);
	const struct p9_text to = p9_get_text(in);
	char from[P9_PATH_MAX];
	int err = check(s, in, old);

	(void)out;
	if (!err)
		err = check(s, in, dir);
	if (!err)
		err = path_in(old, &name, from);
	return err ? err : rename_to(s, from, dir, &to);
}

int p9_serve_unlinkat(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *dir = p9_fid_take(s, in);
	const struct p9_text name = p9_get_text(in);
	const uint32_t flags = (uint32_t)p9_get(in, 4);
	char path[P9_PATH_MAX];
	int err = check(s, in, dir);

	(void)out;
	if (!err && flags & ~(uint32_t)AT_REMOVEDIR)
		err = -EINVAL;
	if (!err)
		err = path_in(dir, &name, path);
	return err ? err : p9_host_remove(s->root, path, flags & AT_REMOVEDIR);
}

/* The fid is gone also if the file is not removed. */
int p9_serve_remove(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	struct p9_attr attr;
	int err;

	(void)out;
	if (in->bad || !fid)
		return in->bad ? -EINVAL : -EBADF;
	err = check(s, in, fid);
	if (!err)
		err = p9_host_stat(s->root, fid->path, &attr);
	if (!err)
		err = p9_host_remove(s->root, fid->path, attr.type == P9_QID_DIR);
	p9_fid_remove(s, fid);
	return err;
}

/* Links and special files are not created. */
int p9_serve_special(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	(void)in;
	(void)out;
	return s->access == P9_READ_WRITE ? -EPERM : -EROFS;
}
