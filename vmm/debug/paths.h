/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of source files, each kept once. */
#ifndef VMM_DEBUG_PATHS_H
#define VMM_DEBUG_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* Longer ones are cut. */
#define VPT_PATH_BYTES 4096

struct vpt_path_chunk;

/* All zero is empty. */
struct vpt_paths {
	struct vpt_path_chunk *chunks;
	const char **slots; /* a hash table, NULL: free */
	size_t nslots, used;
	uint64_t bytes; /* of all paths */
};

/*
 * Returns DIR/NAME, or NAME alone if `dir` is NULL or `name` is absolute; it stays valid until
 * vpt_paths_free(). NULL: no memory.
 */
const char *vpt_paths_add(struct vpt_paths *p, const char *dir, const char *name);
void vpt_paths_free(struct vpt_paths *p);

#endif /* VMM_DEBUG_PATHS_H */
