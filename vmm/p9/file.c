// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests that read: files, directories, links and attributes. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "p9/server.h"

#define FS_MAGIC	0x01021997u
#define BLOCK		4096u
#define GETATTR_BASIC	0x7ffu
#define LOCK_SUCCESS	0u
#define LOCK_TYPE_UNLCK 2u
#define FS_BLOCKS	(1u << 20) /* a fixed number: the host's space is not shown */

int p9_serve_statfs(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	const uint32_t left = s->access == P9_READ_WRITE ? FS_BLOCKS : 0;

	if (in->bad || !fid)
		return in->bad ? -EINVAL : -EBADF;
	p9_put(out, FS_MAGIC, 4);
	p9_put(out, BLOCK, 4);
	p9_put(out, FS_BLOCKS, 8);
	p9_put(out, left, 8);
	p9_put(out, left, 8);
	p9_put(out, FS_BLOCKS, 8);
	p9_put(out, left, 8);
	p9_put(out, 0, 8);
	p9_put(out, P9_NAME_MAX, 4);
	return 0;
}

static int open_dir(struct p9_server *s, struct p9_fid *fid, bool writes)
{
	int fd;

	if (writes)
		return -EISDIR;
	fd = p9_host_open_dir(s->root, fid->path);
	if (fd < 0)
		return fd;
	close(fd);
	p9_fid_open(s, fid, -1, P9_FID_DIR);
	return 0;
}

int p9_serve_lopen(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	const uint32_t flags = (uint32_t)p9_get(in, 4);
	const bool writes = flags & (P9_OPEN_ACCESS | P9_OPEN_TRUNC);
	struct p9_attr attr;
	int err;

	if (in->bad || (flags & P9_OPEN_ACCESS) == P9_OPEN_ACCESS)
		return -EINVAL;
	if (!fid || fid->flags & P9_FID_OPEN)
		return -EBADF;
	err = p9_host_stat(s->root, fid->path, &attr);
	if (err)
		return err;
	if (attr.type == P9_QID_LINK)
		return -ELOOP;
	if (writes && s->access == P9_READ_ONLY)
		return attr.type == P9_QID_DIR ? -EISDIR : -EROFS;
	if (attr.type == P9_QID_DIR)
		err = open_dir(s, fid, writes);
	else
		err = p9_fid_open_file(s, fid, fid->path, flags, 0, 0);
	p9_put_qid(out, attr.type, fid->path);
	p9_put(out, 0, 4); /* the client chooses the size of its accesses */
	return err;
}

/* Read until the end of the file or until @count bytes. Returns the number of bytes or -errno. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t count, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < count) {
		n = pread(fd, bytes + done, count - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Append the place of a count. Returns the bytes that may follow, at most @count. */
static size_t begin_data(struct p9_out *out, uint32_t count)
{
	p9_put(out, 0, 4);
	return count < out->room - out->used ? count : out->room - out->used;
}

static void end_data(struct p9_out *out, size_t count)
{
	out->used = P9_HEADER;
	p9_put(out, count, 4);
	out->used += count;
}

int p9_serve_read(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	const uint64_t offset = p9_get(in, 8);
	const uint32_t count = (uint32_t)p9_get(in, 4);
	size_t room;
	ssize_t n;

	if (in->bad)
		return -EINVAL;
	if (!fid || !(fid->flags & P9_FID_OPEN))
		return -EBADF;
	if (fid->flags & P9_FID_DIR)
		return -EISDIR;
	if (!(fid->flags & P9_FID_READ))
		return -EBADF;
	if (offset > INT64_MAX - P9_MESSAGE_MAX)
		return -EINVAL;
	room = begin_data(out, count);
	if (out->full)
		return 0;
	n = read_all(fid->fd, out->bytes + out->used, room, offset);
	if (n < 0)
		return (int)n;
	end_data(out, (size_t)n);
	return 0;
}

/* Append the entry at a position: 0 is ".", 1 is "..", then come the names. */
static int put_entry(const struct p9_fid *fid, uint64_t position, struct p9_out *out)
{
	const struct p9_listing *listing = &fid->listing;
	enum p9_qid_type type = P9_QID_DIR;
	struct p9_text name = {"..", position ? 2 : 1};
	char path[P9_PATH_MAX];
	int err = 0;

	strcpy(path, fid->path);
	if (position == 1)
		p9_path_up(path);
	if (position > 1) {
		const char *entry = listing->text + listing->at[position - 2];

		type = (uint8_t)entry[0];
		name = (struct p9_text){entry + 1, strlen(entry + 1)};
		err = p9_path_append(path, &name);
	}
	if (err)
		return err;
	p9_put_qid(out, type, path);
	p9_put(out, position + 1, 8);
	/* DT_DIR, DT_LNK, DT_REG */
	p9_put(out, type == P9_QID_DIR ? 4 : type == P9_QID_LINK ? 10 : 8, 1);
	p9_put_text(out, name.at, name.len);
	return 0;
}

int p9_serve_readdir(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_take(s, in);
	uint64_t position = p9_get(in, 8);
	const uint32_t count = (uint32_t)p9_get(in, 4);
	struct p9_out data = *out;
	size_t used;
	int err;

	if (in->bad)
		return -EINVAL;
	if (!fid || !(fid->flags & P9_FID_OPEN))
		return -EBADF;
	if (!(fid->flags & P9_FID_DIR))
		return -ENOTDIR;
	if (!position) {
		p9_listing_free(s, &fid->listing);
		err = p9_listing_read(s, fid->path, &fid->listing);
		if (err)
			return err;
	}
	data.room = begin_data(out, count) + out->used;
	data.used = out->used;
	for (; position < (uint64_t)fid->listing.count + 2; position++) {
		used = data.used;
		/* An entry whose path would be too long cannot be opened, and is omitted. */
		if (put_entry(fid, position, &data))
			continue;
		if (data.full) {
			data.used = used;
			break;
		}
	}
	if (!out->full)
		end_data(out, data.used - P9_DATA);
	return 0;
}

int p9_serve_readlink(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	char text[P9_PATH_MAX];
	struct p9_attr attr;
	ssize_t n;

	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	n = p9_host_stat(s->root, fid->path, &attr);
	if (!n && attr.type != P9_QID_LINK)
		return -EINVAL;
	if (!n)
		n = p9_host_readlink(s->root, fid->path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	p9_put_text(out, text, (size_t)n);
	return 0;
}

int p9_serve_getattr(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	const uint64_t mask = p9_get(in, 8);
	struct p9_attr attr;
	unsigned int i;
	int err;

	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	err = fid->fd >= 0 ? p9_host_stat_open(fid->fd, &attr)
			   : p9_host_stat(s->root, fid->path, &attr);
	if (err)
		return err;
	p9_put(out, mask & GETATTR_BASIC, 8);
	p9_put_qid(out, attr.type, fid->path);
	p9_put(out, attr.mode, 4);
	p9_put(out, 0, 4); /* the user */
	p9_put(out, 0, 4); /* the group */
	p9_put(out, 1, 8); /* links */
	p9_put(out, 0, 8); /* the device's number */
	p9_put(out, attr.size, 8);
	p9_put(out, BLOCK, 8);
	p9_put(out, attr.size / 512 + (attr.size % 512 != 0), 8);
	/* Four times in seconds and nanoseconds, then the generation and the version. */
	for (i = 0; i < 10; i++)
		p9_put(out, 0, 8);
	return 0;
}

int p9_serve_fsync(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);

	(void)out;
	p9_get(in, 4);
	if (in->bad)
		return -EINVAL;
	return fid ? 0 : -EBADF;
}

/* There is one client, whose kernel decides about its locks. */
int p9_serve_lock(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);

	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	p9_put(out, LOCK_SUCCESS, 1);
	return 0;
}

int p9_serve_getlock(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const struct p9_fid *fid = p9_fid_take(s, in);
	uint64_t start, length;
	uint32_t process;
	struct p9_text id;

	p9_get(in, 1); /* the type */
	start = p9_get(in, 8);
	length = p9_get(in, 8);
	process = (uint32_t)p9_get(in, 4);
	id = p9_get_text(in);
	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	p9_put(out, LOCK_TYPE_UNLCK, 1);
	p9_put(out, start, 8);
	p9_put(out, length, 8);
	p9_put(out, process, 4);
	p9_put_text(out, id.at, id.len);
	return 0;
}

int p9_serve_xattr(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	(void)s;
	(void)in;
	(void)out;
	return -EOPNOTSUPP;
}
