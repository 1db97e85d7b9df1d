/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the server: its state, its fids, and the functions that make the replies. */
#ifndef VMM_P9_SERVER_H
#define VMM_P9_SERVER_H

#include "p9/host.h"
#include "p9/p9.h"
#include "p9/wire.h"

/* Bounds of what a guest can make the server hold. */
#define P9_FIDS	     65536u
#define P9_OPEN	     256u	 /* open files */
#define P9_BYTES     (32u << 20) /* of paths and listings */
#define P9_CHAINS    1024u
#define P9_MSIZE_MIN 4096u

/* The names of a directory, sorted: for each name its enum p9_qid_type, the name and a NUL. */
struct p9_listing {
	char *text;
	size_t len;
	uint32_t *at; /* the offsets of the entries in @text */
	uint32_t count;
};

enum p9_fid_flags {
	P9_FID_OPEN = 1 << 0,
	P9_FID_DIR = 1 << 1,   /* it is open, and a directory */
	P9_FID_WRITE = 1 << 2, /* it is open for writing */
	P9_FID_READ = 1 << 3,
};

struct p9_fid {
	struct p9_fid *next; /* in its chain */
	uint32_t number;
	uint32_t flags; /* enum p9_fid_flags */
	char *path;	/* allocated */
	int fd;		/* the open file, else -1 */
	struct p9_listing listing;
};

struct p9_server {
	int root;
	enum p9_access access;
	uint32_t msize; /* 0 before the first Tversion */
	uint32_t fids, open;
	size_t bytes; /* of paths and listings */
	struct p9_fid *chain[P9_CHAINS];
};

/* fid.c */
struct p9_fid *p9_fid_find(struct p9_server *s, uint32_t number);
/* Read the number of a fid from a request, and find the fid. Returns NULL if there is none. */
struct p9_fid *p9_fid_take(struct p9_server *s, struct p9_in *in);
/* Add a fid. Returns 0, -EBADF if the number is in use, or -ENOMEM or -ENFILE. */
int p9_fid_add(struct p9_server *s, uint32_t number, const char *path);
/* Replace the path of a fid. Returns 0 or -ENOMEM. */
int p9_fid_move(struct p9_server *s, struct p9_fid *fid, const char *path);
/* Change the paths of all fids at @from and below after a rename. */
void p9_fid_rename(struct p9_server *s, const char *from, const char *to);
/* Mark the fid as open with this descriptor, which it owns. */
void p9_fid_open(struct p9_server *s, struct p9_fid *fid, int fd, uint32_t flags);
/*
 * Open or create a regular file for a fid with the flags of Tlopen or Tlcreate. @create is 0 or
 * O_CREAT. Returns 0 or -errno.
 */
int p9_fid_open_file(struct p9_server *s, struct p9_fid *fid, const char *path, uint32_t flags,
		     int create, mode_t mode);
void p9_fid_remove(struct p9_server *s, struct p9_fid *fid);
void p9_fid_remove_all(struct p9_server *s);
/* Append a name to a path. @path has P9_PATH_MAX bytes. Returns 0 or -errno for a bad name. */
int p9_path_append(char *path, const struct p9_text *name);
/* Remove the last component of a path. */
void p9_path_up(char *path);

/* listing.c */
int p9_listing_read(struct p9_server *s, const char *path, struct p9_listing *listing);
void p9_listing_free(struct p9_server *s, struct p9_listing *listing);

/* The functions that read the fields of a request and append those of its reply: 0 or -errno. */
typedef int p9_serve_one(struct p9_server *s, struct p9_in *in, struct p9_out *out);
/* session.c */
p9_serve_one p9_serve_version, p9_serve_auth, p9_serve_attach, p9_serve_flush, p9_serve_walk,
	p9_serve_clunk;
/* file.c */
p9_serve_one p9_serve_statfs, p9_serve_lopen, p9_serve_read, p9_serve_readdir, p9_serve_readlink,
	p9_serve_getattr, p9_serve_fsync, p9_serve_lock, p9_serve_getlock, p9_serve_xattr;
/* change.c */
p9_serve_one p9_serve_lcreate, p9_serve_write, p9_serve_mkdir, p9_serve_setattr, p9_serve_rename,
	p9_serve_renameat, p9_serve_unlinkat, p9_serve_remove, p9_serve_special;

#endif /* VMM_P9_SERVER_H */
