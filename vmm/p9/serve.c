// SPDX-License-Identifier: GPL-2.0-or-later
/* Dispatches the requests, and makes replies of the results. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "p9/server.h"

static p9_serve_one *const requests[P9_TYPES] = {
	[P9_TSTATFS] = p9_serve_statfs,	    [P9_TLOPEN] = p9_serve_lopen,
	[P9_TLCREATE] = p9_serve_lcreate,   [P9_TSYMLINK] = p9_serve_special,
	[P9_TMKNOD] = p9_serve_special,	    [P9_TRENAME] = p9_serve_rename,
	[P9_TREADLINK] = p9_serve_readlink, [P9_TGETATTR] = p9_serve_getattr,
	[P9_TSETATTR] = p9_serve_setattr,   [P9_TXATTRWALK] = p9_serve_xattr,
	[P9_TXATTRCREATE] = p9_serve_xattr, [P9_TREADDIR] = p9_serve_readdir,
	[P9_TFSYNC] = p9_serve_fsync,	    [P9_TLOCK] = p9_serve_lock,
	[P9_TGETLOCK] = p9_serve_getlock,   [P9_TLINK] = p9_serve_special,
	[P9_TMKDIR] = p9_serve_mkdir,	    [P9_TRENAMEAT] = p9_serve_renameat,
	[P9_TUNLINKAT] = p9_serve_unlinkat, [P9_TVERSION] = p9_serve_version,
	[P9_TAUTH] = p9_serve_auth,	    [P9_TATTACH] = p9_serve_attach,
	[P9_TFLUSH] = p9_serve_flush,	    [P9_TWALK] = p9_serve_walk,
	[P9_TREAD] = p9_serve_read,	    [P9_TWRITE] = p9_serve_write,
	[P9_TCLUNK] = p9_serve_clunk,	    [P9_TREMOVE] = p9_serve_remove,
};

struct p9_server *p9_create(int root, enum p9_access access)
{
	struct p9_server *s = calloc(1, sizeof(*s));

	if (s) {
		s->root = root;
		s->access = access;
	}
	return s;
}

void p9_destroy(struct p9_server *s)
{
	if (!s)
		return;
	p9_fid_remove_all(s);
	close(s->root);
	free(s);
}

static int serve(struct p9_server *s, uint32_t size, uint8_t type, struct p9_in *in,
		 struct p9_out *out)
{
	p9_serve_one *const one = type < P9_TYPES ? requests[type] : NULL;

	if (size < P9_HEADER || size - P9_HEADER > in->left)
		return -EINVAL;
	in->left = size - P9_HEADER;
	if (!one)
		return -EOPNOTSUPP;
	if (type != P9_TVERSION && !s->msize)
		return -EPROTO;
	if (type != P9_TVERSION && size > s->msize)
		return -EMSGSIZE;
	return one(s, in, out);
}

static void put_header(struct p9_out *out, size_t size, uint8_t type, uint16_t tag)
{
	out->used = 0;
	p9_put(out, size, 4);
	p9_put(out, type, 1);
	p9_put(out, tag, 2);
}

size_t p9_serve(struct p9_server *s, const uint8_t *request, size_t bytes, uint8_t *reply,
		size_t room)
{
	struct p9_in in = {request, bytes, false};
	const uint32_t size = (uint32_t)p9_get(&in, 4);
	const uint8_t type = (uint8_t)p9_get(&in, 1);
	const uint16_t tag = (uint16_t)p9_get(&in, 2);
	const uint32_t most = s->msize ? s->msize : P9_MESSAGE_MAX;
	struct p9_out out = {reply, P9_HEADER, room < most ? room : most, false};
	size_t used;
	int err;

	if (in.bad || room < P9_ERROR)
		return 0;
	err = serve(s, size, type, &in, &out);
	/* A client that gives too little room for a reply receives an error instead. */
	if (!err && out.full)
		err = -EMSGSIZE;
	used = out.used;
	if (err) {
		put_header(&out, P9_ERROR, P9_RLERROR, tag);
		p9_put(&out, (uint32_t)-err, 4);
		return P9_ERROR;
	}
	put_header(&out, used, (uint8_t)(type + 1), tag);
	return used;
}
