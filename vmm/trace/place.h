/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a path leads, so that two paths to one file can be recognised. */
#ifndef VMM_TRACE_PLACE_H
#define VMM_TRACE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

enum vpt_place_kind {
	VPT_PLACE_NONE,	   /* no file is there yet */
	VPT_PLACE_REGULAR, /* a regular file, which another can replace by rename() */
	VPT_PLACE_OTHER,   /* a directory, a device, a pipe, or an open descriptor */
};

/* A path after its last component's symbolic links were followed. */
struct vpt_place {
	char *path;
	enum vpt_place_kind kind;
	struct stat st;	 /* of the file; not valid with VPT_PLACE_NONE */
	struct stat dir; /* of the directory that holds it */
};

/*
 * Find where @path leads. Returns 0 and fills in *place, which vpt_place_free() releases, or
 * -errno. -EACCES is also for a link that another user made in a directory like /tmp, as with the
 * kernel's fs.protected_symlinks.
 */
int vpt_place_find(const char *path, struct vpt_place *place);
void vpt_place_free(struct vpt_place *place);

/* The last component of place->path. */
const char *vpt_place_name(const struct vpt_place *place);
/* The path of the directory that holds it, which the caller frees. NULL: no memory. */
char *vpt_place_dir(const struct vpt_place *place);

/*
 * Returns true if both are the same file or would be. Devices and pipes are never the same:
 * writing to one takes nothing away.
 */
bool vpt_place_same(const struct vpt_place *a, const struct vpt_place *b);

#endif /* VMM_TRACE_PLACE_H */
