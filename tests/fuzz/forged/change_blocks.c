// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes .vpt and .vps files by their blocks, and corrects the checksums. */
#include <string.h>

#include "core/snapshot.h"
#include "fuzz/forged/change.h"
#include "lib/rawfile.h"

#define BLOCKS_MAX 1024
#define HEADER	   sizeof(struct trace_file_header)
/* Most payloads begin with a struct; records and pages follow it. */
#define STRUCT_BYTES 96

struct blocks {
	struct change *c;
	bool strict;		   /* blocks have an order and a number, as in a snapshot */
	size_t at[BLOCKS_MAX + 1]; /* where blocks begin, and where the last one ends */
	size_t n;
};

static struct trace_block header_at(const struct change *c, size_t at)
{
	struct trace_block block;

	memcpy(&block, c->bytes + at, sizeof(block));
	return block;
}

static void find_blocks(struct blocks *b)
{
	const struct change *c = b->c;
	size_t at = HEADER;

	for (b->n = 0; b->n < BLOCKS_MAX && at < c->len; b->n++) {
		size_t left = c->len - at, size;

		if (left < sizeof(struct trace_block))
			break;
		size = (size_t)header_at(c, at).len + 7;
		size = sizeof(struct trace_block) + size / 8 * 8;
		if (size > left)
			break;
		b->at[b->n] = at;
		at += size;
	}
	b->at[b->n] = at;
}

/* Choose a block. Half of the time choose its type first, since some types are rare. */
static size_t choose(struct blocks *b)
{
	size_t i = change_below(b->c, b->n), k, found = i, n = 0;
	unsigned int type = 1 + (unsigned int)change_below(b->c, TRACE_BLOCK_TYPES);

	if (change_next(b->c) & 1)
		return i;
	for (k = 0; k < b->n; k++) {
		if (header_at(b->c, b->at[k]).type == type && !change_below(b->c, ++n))
			found = k;
	}
	return found;
}

static void leave_out(struct blocks *b, size_t i)
{
	change_resize(b->c, b->at[i], b->at[i + 1] - b->at[i], 0);
}

/* Put a copy of block `i` before block `to`. */
static void repeat(struct blocks *b, size_t i, size_t to)
{
	size_t size = b->at[i + 1] - b->at[i], from = b->at[i];

	if (!change_resize(b->c, b->at[to], 0, size))
		return;
	if (from >= b->at[to])
		from += size;
	memmove(b->c->bytes + b->at[to], b->c->bytes + from, size);
}

/* Move block `i` before block `to`. */
static void move(struct blocks *b, size_t i, size_t to)
{
	repeat(b, i, to);
	find_blocks(b);
	if (i + (to <= i) < b->n)
		leave_out(b, i + (to <= i));
}

/* Cut a block's payload, or lengthen it by zeros. */
static void stretch(struct blocks *b, size_t i)
{
	struct change *c = b->c;
	struct trace_block block = header_at(c, b->at[i]);
	size_t at = b->at[i] + sizeof(block), old = b->at[i + 1] - at, size;

	block.len = (uint32_t)(change_next(c) & 1 ? change_below(c, block.len + 1)
						  : block.len + change_below(c, 256));
	size = ((size_t)block.len + 7) / 8 * 8;
	if (!change_resize(c, at, old, size))
		return;
	if (size > old)
		memset(c->bytes + at + old, 0, size - old);
	memcpy(c->bytes + b->at[i], &block, sizeof(block));
}

/* The type and the vCPU, or the type of a .vps block: what follows the magic. */
static void change_header(struct blocks *b, size_t i)
{
	size_t at = b->at[i] + 4;

	if (change_next(b->c) & 1)
		b->c->bytes[at] = (uint8_t)(1 + change_below(b->c, TRACE_BLOCK_TYPES));
	else
		change_field(b->c, at, at + 4);
}

/* Overwrite bytes with the beginning of a packet. */
static void write_packet(struct blocks *b, size_t begin, size_t end)
{
	static const uint8_t packets[][2] = {
		{0x02, 0x82}, {0x02, 0x23}, {0x02, 0x83}, {0x02, 0xa3}, {0x02, 0x43}, {0x02, 0xc8},
		{0x02, 0xf3}, {0x02, 0x03}, {0x02, 0x73}, {0x02, 0x12}, {0x02, 0x62}, {0x02, 0xc2},
		{0x02, 0x22}, {0x02, 0xa2}, {0x02, 0x63}, {0x02, 0x33}, {0x02, 0xb3}, {0x02, 0x13},
		{0x02, 0x53}, {0x02, 0xd9}, {0x0d, 0x00}, {0x2d, 0x00}, {0x4d, 0x00}, {0xcd, 0x00},
		{0x31, 0x00}, {0x51, 0x00}, {0x01, 0x00}, {0x21, 0x00}, {0x1d, 0x00}, {0x3d, 0x00},
		{0x5d, 0x00}, {0x99, 0x01}, {0x99, 0x21}, {0x59, 0x00}, {0x19, 0x00}, {0x03, 0x00},
		{0x07, 0xff}, {0x04, 0x00}, {0xfe, 0x00}, {0x00, 0x00}, {0xff, 0xff}};
	const uint8_t *packet = packets[change_below(b->c, sizeof(packets) / 2)];
	size_t at = begin + change_below(b->c, end - begin);

	b->c->bytes[at] = packet[0];
	if (at + 1 < end)
		b->c->bytes[at + 1] = packet[1];
}

static void change_payload(struct blocks *b, size_t i)
{
	size_t begin = b->at[i] + sizeof(struct trace_block), end = b->at[i + 1];
	size_t packets = begin + sizeof(struct trace_chunk);

	if (header_at(b->c, b->at[i]).type == TRACE_BLOCK_TRACE && packets < end &&
	    change_next(b->c) & 1)
		write_packet(b, packets, end);
	else if (end - begin > STRUCT_BYTES && change_next(b->c) & 1)
		change_field(b->c, begin, begin + STRUCT_BYTES);
	else
		change_field(b->c, begin, end);
}

static void change_one(struct blocks *b)
{
	size_t i = choose(b);

	/*
	 * A snapshot with missing or reordered blocks is always refused, so make such changes
	 * rarely.
	 */
	switch (change_below(b->c, b->strict ? 96 : 12)) {
	case 0:
		leave_out(b, i);
		break;
	case 1:
		repeat(b, i, change_below(b->c, b->n + 1));
		break;
	case 2:
		move(b, i, change_below(b->c, b->n + 1));
		break;
	case 3:
		stretch(b, i);
		break;
	case 4:
		change_header(b, i);
		break;
	default:
		change_payload(b, i);
	}
}

/* Correct the number of blocks in the END block, without which a snapshot is not read. */
static void mend_count(struct blocks *b)
{
	const struct core_snap_end end = {.blocks = b->n};
	struct core_snap_block last;

	if (!b->strict || !b->n)
		return;
	memcpy(&last, b->c->bytes + b->at[b->n - 1], sizeof(last));
	if (last.type == CORE_SNAP_END && last.len == sizeof(end))
		memcpy(b->c->bytes + b->at[b->n - 1] + sizeof(last), &end, sizeof(end));
}

void change_blocks(struct change *c)
{
	struct blocks b = {.c = c};
	uint64_t magic;
	size_t steps;

	memcpy(&magic, c->bytes, sizeof(magic));
	b.strict = magic == CORE_SNAP_MAGIC;
	for (steps = 1 + change_below(c, 4); steps; steps--) {
		find_blocks(&b);
		if (b.n && change_below(c, 64))
			change_one(&b);
		else
			change_field(c, 0, c->len < HEADER ? c->len : HEADER);
	}
	find_blocks(&b);
	if (change_below(c, 16))
		mend_count(&b);
	/* Truncate some files. */
	if (!change_below(c, 64))
		c->len = change_below(c, c->len + 1);
	rawfile_mend(c->bytes, c->len);
}
