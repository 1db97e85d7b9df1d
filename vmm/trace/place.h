/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a path leads, so that two paths to one file can be recognised. */
#ifndef VMM_TRACE_PLACE_H
#define VMM_TRACE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

enum trace_place_kind {
	TRACE_PLACE_NONE,    /* no file is there yet */
	TRACE_PLACE_REGULAR, /* a regular file, which another can replace by rename() */
	TRACE_PLACE_OTHER,   /* a directory, a device, a pipe, or an open descriptor */
};

/* A path after its last component's symbolic links were followed. */
struct trace_place {
	char *path;
	enum trace_place_kind kind;
	struct stat st;	 /* of the file; not valid with TRACE_PLACE_NONE */
	struct stat dir; /* of the directory that holds it */
};

/*
 * Find where @path leads. Returns 0 and fills in *place, which trace_place_free() releases, or
 * -errno. -EACCES is also for a link that another user made in a directory like /tmp, as with the
 * kernel's fs.protected_symlinks.
 */
int trace_place_find(const char *path, struct trace_place *place);
void trace_place_free(struct trace_place *place);

/* The last component of place->path. */
const char *trace_place_name(const struct trace_place *place);
/* The path of the directory that holds it, which the caller frees. NULL: no memory. */
char *trace_place_dir(const struct trace_place *place);

/*
 * Returns true if both are the same file or would be. Devices and pipes are never the same:
 * writing to one takes nothing away.
 */
bool trace_place_same(const struct trace_place *a, const struct trace_place *b);

#endif /* VMM_TRACE_PLACE_H */
