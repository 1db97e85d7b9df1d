/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that a process has mapped, and its bytes. */
#ifndef VMM_HOST_MAPS_H
#define VMM_HOST_MAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "memory.h"

/* Whole pages that can be executed. */
struct vpt_map {
	struct vpt_host_range range;
	uint64_t offset; /* in the file */
	char path[256];	 /* or a name in [], or nothing */
};

struct vpt_maps {
	struct vpt_map *at;
	size_t n, room;
};

/* Add what the text of /proc/PID/maps says. 0 or -ENOMEM. */
int vpt_maps_read(FILE *file, struct vpt_maps *maps);
/* One more, from another source; it takes the place of what it overlaps. */
int vpt_maps_add(struct vpt_maps *maps, const struct vpt_map *map);
void vpt_maps_free(struct vpt_maps *maps);

/*
 * A page at `vaddr` of a map: from the process's memory, if `mem` is a descriptor of its
 * /proc/PID/mem and not -1, else from the file. False: it is nowhere.
 */
bool vpt_map_page(const struct vpt_map *map, int mem, int file, uint64_t vaddr, uint8_t *bytes);

#endif /* VMM_HOST_MAPS_H */
