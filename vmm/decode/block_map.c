// SPDX-License-Identifier: GPL-2.0-or-later
/* Hash edges between blocks into a map of counts. */
#include "decode/block_map.h"

#include <stdlib.h>

static uint32_t hash(uint64_t ip)
{
	return (uint32_t)(ip >> 4 ^ ip << 8) & (DECODE_BLOCK_MAP_SIZE - 1);
}

bool decode_block_map_count(struct decode_block_map *map, uint16_t index, uint8_t count)
{
	uint8_t *byte;

	if (!map->count)
		map->count = calloc(DECODE_BLOCK_MAP_SIZE, 1);
	if (!map->count)
		return false;
	byte = &map->count[index];
	*byte = count < UINT8_MAX - *byte ? (uint8_t)(*byte + count) : UINT8_MAX;
	return true;
}

bool decode_block_map_add(struct decode_block_map *map, const struct decode_from *from, uint64_t ip)
{
	const uint32_t before = from->known ? hash(from->block) >> 1 : 0;

	return decode_block_map_count(map, (uint16_t)(hash(ip) ^ before), 1);
}

bool decode_block_map_join(struct decode_block_map *map, const struct decode_block_map *from)
{
	uint32_t i;

	for (i = 0; from->count && i < DECODE_BLOCK_MAP_SIZE; i++) {
		if (from->count[i] && !decode_block_map_count(map, (uint16_t)i, from->count[i]))
			return false;
	}
	return true;
}

void decode_block_map_free(struct decode_block_map *map)
{
	free(map->count);
	map->count = NULL;
}
