// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A map of 64 KiB, as AFL's mode for QEMU makes it. A block at @ip adds 1 to the byte at
 * h(ip) ^ h(ip before) >> 1, where h(x) is (x >> 4 ^ x << 8) modulo 65536. The byte stays at 255.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"

#define MAP_SIZE 65536u

struct bitmap {
	uint8_t count[MAP_SIZE];
};

static int begin(struct format_run *run)
{
	run->own = calloc(1, sizeof(struct bitmap));
	return run->own ? 0 : -ENOMEM;
}

static uint32_t hash(uint64_t ip)
{
	return (uint32_t)(ip >> 4 ^ ip << 8) & (MAP_SIZE - 1);
}

/* The block before is known unless the flow was interrupted, or another lane ran in between. */
static int block(struct format_run *run, struct format_lane *lane, const struct format_block *b)
{
	struct bitmap *map = run->own;
	const uint32_t before = lane->from.known ? hash(lane->from.block) >> 1 : 0;
	uint8_t *count = &map->count[hash(b->ip) ^ before];

	if (*count < UINT8_MAX)
		++*count;
	return 0;
}

static int end(struct format_run *run)
{
	const struct bitmap *map = run->own;

	fwrite(map->count, 1, sizeof(map->count), run->out);
	return 0;
}

static void close(struct format_run *run)
{
	free(run->own);
}

const struct format_type format_type_bitmap = {
	.name = "bitmap", .begin = begin, .block = block, .end = end, .close = close};
