/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that a process has mapped, and its bytes. */
#ifndef VMM_HOST_MAPS_H
#define VMM_HOST_MAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "host/memory.h"

/* A range of whole executable pages. */
struct host_map {
	struct host_range range;
	uint64_t offset; /* offset in the file */
	char path[256];	 /* path, or a name in [], or empty */
};

struct host_maps {
	struct host_map *at;
	size_t n, room;
};

/* Add the executable mappings in the text of /proc/PID/maps. Returns 0 or -ENOMEM. */
int host_maps_read(FILE *file, struct host_maps *maps);
/* Add a mapping from another source. It replaces the mappings that it overlaps. */
int host_maps_add(struct host_maps *maps, const struct host_map *map);
void host_maps_free(struct host_maps *maps);

/*
 * Read the page at `vaddr` of a map. `mem` is a descriptor of the process's /proc/PID/mem; if it is
 * -1, the page is read from the file. Returns false if neither has the page.
 */
bool host_map_page(const struct host_map *map, int mem, int file, uint64_t vaddr, uint8_t *bytes);

#endif /* VMM_HOST_MAPS_H */
