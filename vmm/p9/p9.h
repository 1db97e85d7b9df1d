/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of 9P2000.L for one directory of the host. A guest mounts the directory as a shared
 * folder. The server has no thread and no clock: it makes the reply to one request at a time.
 *
 * The guest is hostile. No request leaves the directory: each component of a path is opened by
 * itself, without following a symbolic link. Only regular files, directories and symbolic links
 * exist for the guest, and symbolic links are only read. The numbers of fids and open files, the
 * memory and the sizes of messages have bounds.
 *
 * Replies depend on names, types, sizes and contents of the host's files, and on one permission:
 * whether a file is executable. Directories are sorted by name, a qid is a hash of the path, and
 * all times, owners and counts of links are fixed.
 */
#ifndef VMM_P9_P9_H
#define VMM_P9_P9_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest message in bytes. */
#define P9_MESSAGE_MAX (128u << 10)

struct p9_server;

enum p9_access {
	P9_READ_ONLY, /* a request that would change a file fails with EROFS */
	P9_READ_WRITE,
};

/*
 * Create a server for the directory that @root is open at. On success, the server owns the
 * descriptor. Returns NULL if there is no memory.
 */
struct p9_server *p9_create(int root, enum p9_access access);
void p9_destroy(struct p9_server *s);

/*
 * Make the reply to a request of @bytes bytes in @reply, which has @room bytes. Returns the size of
 * the reply, which is 0 if the request has no tag or if there is no room for an error.
 */
size_t p9_serve(struct p9_server *s, const uint8_t *request, size_t bytes, uint8_t *reply,
		size_t room);

#endif /* VMM_P9_P9_H */
