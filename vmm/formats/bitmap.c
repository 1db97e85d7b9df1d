// SPDX-License-Identifier: GPL-2.0-or-later
/* A map of edges between blocks (decode/block_map.h), as a file of its bytes. */
#include <errno.h>
#include <stdlib.h>

#include "formats/format.h"

static int begin(struct format_run *run)
{
	struct decode_block_map *map = calloc(1, sizeof(*map));

	run->own = map;
	if (map)
		map->count = calloc(DECODE_BLOCK_MAP_SIZE, 1);
	return map && map->count ? 0 : -ENOMEM;
}

/* The block before is known unless the flow was interrupted, or another lane ran in between. */
static int block(struct format_run *run, struct format_lane *lane, const struct format_block *b)
{
	return decode_block_map_add(run->own, &lane->from, b->ip) ? 0 : -ENOMEM;
}

static int join_map(struct format_run *run, const struct decode_block_map *map)
{
	return decode_block_map_join(run->own, map) ? 0 : -ENOMEM;
}

static int end(struct format_run *run)
{
	const struct decode_block_map *map = run->own;

	fwrite(map->count, 1, DECODE_BLOCK_MAP_SIZE, run->out);
	return 0;
}

static void close(struct format_run *run)
{
	if (run->own)
		decode_block_map_free(run->own);
	free(run->own);
}

const struct format_type format_type_bitmap = {.name = "bitmap",
					       .begin = begin,
					       .block = block,
					       .join_map = join_map,
					       .end = end,
					       .close = close};
