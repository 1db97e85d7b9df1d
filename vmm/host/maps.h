/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that a process has mapped, and its bytes. */
#ifndef VMM_HOST_MAPS_H
#define VMM_HOST_MAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "host/memory.h"

/* Whole pages that can be executed. */
struct host_map {
	struct host_range range;
	uint64_t offset; /* in the file */
	char path[256];	 /* or a name in [], or nothing */
};

struct host_maps {
	struct host_map *at;
	size_t n, room;
};

/* Add what the text of /proc/PID/maps says. 0 or -ENOMEM. */
int host_maps_read(FILE *file, struct host_maps *maps);
/* One more, from another source; it takes the place of what it overlaps. */
int host_maps_add(struct host_maps *maps, const struct host_map *map);
void host_maps_free(struct host_maps *maps);

/*
 * A page at `vaddr` of a map: from the process's memory, if `mem` is a descriptor of its
 * /proc/PID/mem and not -1, else from the file. False: it is nowhere.
 */
bool host_map_page(const struct host_map *map, int mem, int file, uint64_t vaddr, uint8_t *bytes);

#endif /* VMM_HOST_MAPS_H */
