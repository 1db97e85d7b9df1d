// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the code that a process has mapped. */
#include "host/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/vec.h"

#define PAGE	  4096u
#define USER_HALF 0x0100000000000000ull

int host_maps_add(struct host_maps *maps, const struct host_map *map)
{
	size_t i, kept = 0;

	for (i = 0; i < maps->n; i++) {
		const struct host_range *r = &maps->at[i].range;

		if (r->end <= map->range.start || r->start >= map->range.end)
			maps->at[kept++] = maps->at[i];
	}
	maps->n = kept;
	if (!trace_vec_room(maps))
		return -ENOMEM;
	maps->at[maps->n++] = *map;
	return 0;
}

static bool parse(const char *line, struct host_map *map)
{
	char rights[5];
	int at = 0;

	memset(map, 0, sizeof(*map));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &map->range.start,
		   &map->range.end, rights, &map->offset, &at) != 4)
		return false;
	if (rights[2] != 'x' || map->range.end <= map->range.start || map->range.end > USER_HALF ||
	    map->range.start % PAGE || map->range.end % PAGE)
		return false;
	snprintf(map->path, sizeof(map->path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	return true;
}

int host_maps_read(FILE *file, struct host_maps *maps)
{
	char line[4096 + 128];
	struct host_map map;
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		if (parse(line, &map))
			err = host_maps_add(maps, &map);
	}
	return err;
}

void host_maps_free(struct host_maps *maps)
{
	free(maps->at);
	memset(maps, 0, sizeof(*maps));
}

bool host_map_page(const struct host_map *map, int mem, int file, uint64_t vaddr, uint8_t *bytes)
{
	ssize_t n;

	if (mem >= 0 && pread(mem, bytes, PAGE, (off_t)vaddr) == PAGE)
		return true;
	if (file < 0)
		return false;
	n = pread(file, bytes, PAGE, (off_t)(map->offset + (vaddr - map->range.start)));
	if (n <= 0)
		return false;
	memset(bytes + n, 0, PAGE - (size_t)n);
	return true;
}
