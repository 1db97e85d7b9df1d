/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A map of 64 KiB, as AFL's mode for QEMU makes it. A block at @ip adds 1 to the byte at h(ip) ^
 * h(ip before) >> 1, where h(x) is (x >> 4 ^ x << 8) modulo 65536. The byte stays at 255, so that
 * the order of blocks and of maps does not matter.
 */
#ifndef VMM_DECODE_BLOCK_MAP_H
#define VMM_DECODE_BLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/edge.h"

#define DECODE_BLOCK_MAP_SIZE 65536u

/* Zero-initialise: all counts are 0. */
struct decode_block_map {
	uint8_t *count; /* NULL before the first block */
};

/* Count a block that is reached from a place. Returns false if there is no memory. */
bool decode_block_map_add(struct decode_block_map *map, const struct decode_from *from,
			  uint64_t ip);
/* Add to the count of a byte. Returns false if there is no memory. */
bool decode_block_map_count(struct decode_block_map *map, uint16_t index, uint8_t count);
/* Add all counts of another map. Returns false if there is no memory. */
bool decode_block_map_join(struct decode_block_map *map, const struct decode_block_map *from);
void decode_block_map_free(struct decode_block_map *map);

#endif /* VMM_DECODE_BLOCK_MAP_H */
