// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of a session: versions, and fids for paths. */
#include <errno.h>
#include <string.h>

#include "p9/server.h"

#define VERSION "9P2000.L"

int p9_serve_version(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	uint32_t msize = (uint32_t)p9_get(in, 4);
	const struct p9_text version = p9_get_text(in);

	if (in->bad)
		return -EINVAL;
	/* A session begins, and ends the one before. */
	p9_fid_remove_all(s);
	s->msize = 0;
	if (msize < P9_MSIZE_MIN)
		return -EMSGSIZE;
	if (msize > P9_MESSAGE_MAX)
		msize = P9_MESSAGE_MAX;
	p9_put(out, msize, 4);
	if (!p9_is_text(&version, VERSION)) {
		p9_put_text(out, "unknown", 7);
		return 0;
	}
	s->msize = msize;
	p9_put_text(out, VERSION, strlen(VERSION));
	return 0;
}

int p9_serve_auth(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	(void)s;
	(void)in;
	(void)out;
	return -EOPNOTSUPP;
}

int p9_serve_attach(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const uint32_t number = (uint32_t)p9_get(in, 4), afid = (uint32_t)p9_get(in, 4);
	struct p9_text name;
	struct p9_attr attr;
	int err;

	p9_get_text(in); /* the user */
	name = p9_get_text(in);
	p9_get(in, 4); /* the user's number */
	if (in->bad)
		return -EINVAL;
	if (afid != P9_NO_FID)
		return -EOPNOTSUPP;
	if (name.len && !p9_is_text(&name, "/"))
		return -ENOENT;
	err = p9_host_stat(s->root, "", &attr);
	if (!err)
		err = p9_fid_add(s, number, "");
	if (!err)
		p9_put_qid(out, attr.type, "");
	return err;
}

/* A request is complete before the next one is read. */
int p9_serve_flush(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	(void)s;
	(void)out;
	p9_get(in, 2);
	return in->bad ? -EINVAL : 0;
}

/* Follow one name, and append the qid of the result. */
static int walk_one(struct p9_server *s, char *path, const struct p9_text *name, struct p9_out *out)
{
	struct p9_attr attr;
	int err = p9_host_stat(s->root, path, &attr);

	if (!err && attr.type != P9_QID_DIR)
		err = -ENOTDIR;
	if (err)
		return err;
	if (p9_is_text(name, ".."))
		p9_path_up(path);
	else
		err = p9_path_append(path, name);
	if (!err)
		err = p9_host_stat(s->root, path, &attr);
	if (!err)
		p9_put_qid(out, attr.type, path);
	return err;
}

static int move(struct p9_server *s, struct p9_fid *fid, uint32_t to, const char *path)
{
	if (fid->number != to)
		return p9_fid_add(s, to, path);
	/* An open file keeps its path. */
	return fid->flags & P9_FID_OPEN ? -EBADF : p9_fid_move(s, fid, path);
}

int p9_serve_walk(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	const uint32_t from = (uint32_t)p9_get(in, 4), to = (uint32_t)p9_get(in, 4);
	const unsigned int names = (unsigned int)p9_get(in, 2);
	struct p9_fid *fid = p9_fid_find(s, from);
	const size_t count_at = out->used;
	char path[P9_PATH_MAX];
	unsigned int i;
	int err = 0;

	if (in->bad || names > P9_WALK_MAX)
		return -EINVAL;
	if (!fid || (from != to && p9_fid_find(s, to)))
		return -EBADF;
	strcpy(path, fid->path);
	p9_put(out, names, 2);
	for (i = 0; i < names; i++) {
		const struct p9_text name = p9_get_text(in);

		err = in->bad ? -EINVAL : walk_one(s, path, &name, out);
		if (err)
			break;
	}
	if (in->bad || out->full || (err && !i))
		return err;
	/* The names before the one that failed have qids, and there is no new fid. */
	if (err)
		out->bytes[count_at] = (uint8_t)i;
	else
		err = move(s, fid, to, path);
	return i < names ? 0 : err;
}

int p9_serve_clunk(struct p9_server *s, struct p9_in *in, struct p9_out *out)
{
	struct p9_fid *fid = p9_fid_find(s, (uint32_t)p9_get(in, 4));

	(void)out;
	if (in->bad)
		return -EINVAL;
	if (!fid)
		return -EBADF;
	p9_fid_remove(s, fid);
	return 0;
}
