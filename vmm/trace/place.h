/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolution of paths, which shows that two paths lead to one file. */
#ifndef VMM_TRACE_PLACE_H
#define VMM_TRACE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

enum trace_place_kind {
	TRACE_PLACE_NONE,    /* there is no file yet */
	TRACE_PLACE_REGULAR, /* a regular file, which rename() can replace */
	TRACE_PLACE_OTHER,   /* a directory, a device, a pipe, or an open descriptor */
};

/* A path whose last component's symbolic links were resolved. */
struct trace_place {
	char *path;
	enum trace_place_kind kind;
	struct stat st;	 /* status of the file; not valid with TRACE_PLACE_NONE */
	struct stat dir; /* status of the directory that holds it */
};

/*
 * Resolve @path. Returns 0 and fills in *place, which trace_place_free() releases, or -errno. Like
 * the kernel's fs.protected_symlinks, it returns -EACCES for another user's link in a directory
 * like /tmp.
 */
int trace_place_find(const char *path, struct trace_place *place);
void trace_place_free(struct trace_place *place);

/* Return the last component of place->path. */
const char *trace_place_name(const struct trace_place *place);
/*
 * Return the path of the directory that holds it, which the caller frees. Returns NULL if there is
 * no memory.
 */
char *trace_place_dir(const struct trace_place *place);

/*
 * Returns true if both are the same file or would be. Devices and pipes are never the same, because
 * a write to one destroys nothing.
 */
bool trace_place_same(const struct trace_place *a, const struct trace_place *b);

#endif /* VMM_TRACE_PLACE_H */
