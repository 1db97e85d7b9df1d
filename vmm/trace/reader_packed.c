// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unpacks PACKED blocks. The inner blocks are checked like the blocks of a file, because another
 * writer may have written the frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"
#include "trace/reader_state.h"
#include "trace/zstd.h"

static const char bad_inside[] = "a PACKED block holds something that is no block";
static const char not_inside[] = "a PACKED block holds a block that may not be in one";

/* Return the size of a block in the file. */
static uint64_t whole(const struct trace_block *head)
{
	return sizeof(*head) + (((uint64_t)head->len + 7) & ~(uint64_t)7);
}

static bool may_be_inside(uint16_t type)
{
	return type != TRACE_BLOCK_INFO && type != TRACE_BLOCK_PACKED &&
	       type != TRACE_BLOCK_INDEX && type != TRACE_BLOCK_POINT && type != TRACE_BLOCK_END;
}

/* Find a whole block at @at. Returns NULL and sets *head, or the reason why there is none. */
static const char *check(const uint8_t *at, size_t left, struct trace_block *head)
{
	static const uint8_t zeros[8];
	struct trace_block sum;

	if (left < sizeof(*head))
		return bad_inside;
	memcpy(head, at, sizeof(*head));
	if (head->magic != TRACE_BLOCK_MAGIC || whole(head) > left)
		return bad_inside;
	sum = *head;
	sum.crc = 0;
	if (trace_crc32c(trace_crc32c(0, &sum, sizeof(sum)), at + sizeof(*head), head->len) !=
		    head->crc ||
	    memcmp(at + sizeof(*head) + head->len, zeros, -head->len & 7))
		return bad_inside;
	return may_be_inside(head->type) ? NULL : not_inside;
}

/* Take one block, and copy its payload if the payload must stay. */
static const char *take(struct trace_blocks *b, const struct trace_block *head, const void *payload)
{
	const enum trace_block_use use = b->use(b, head);
	const char *why;
	void *copy;

	if (use == TRACE_USE_PASS)
		return b->take(b, head, NULL);
	if (use == TRACE_USE_LOOK)
		return b->take(b, head, payload);
	copy = trace_arena_alloc(&b->arena, head->len);
	if (!copy)
		return trace_reader_no_memory;
	memcpy(copy, payload, head->len);
	why = b->take(b, head, copy);
	if (why)
		trace_arena_undo(&b->arena, copy, head->len);
	return why;
}

static const char *take_all(struct trace_blocks *b, const uint8_t *at, size_t left)
{
	struct trace_block head;
	const char *why = NULL;

	while (left && !why && !b->error) {
		why = check(at, left, &head);
		if (!why)
			why = take(b, &head, at + sizeof(head));
		if (why)
			break;
		b->extent.inside++;
		at += whole(&head);
		left -= whole(&head);
	}
	return why;
}

static bool lengths_ok(const struct trace_packed *packed, size_t len)
{
	return packed->bytes && !(packed->bytes % 8) && packed->bytes <= TRACE_PACKED_MAX &&
	       packed->bytes / TRACE_PACKED_RATIO <= len && packed->packed &&
	       packed->packed <= len - sizeof(*packed) && !packed->reserved;
}

const char *trace_blocks_unpack(struct trace_blocks *b, const void *payload, size_t len)
{
	struct trace_packed packed;
	const char *why;
	uint8_t *bytes;
	int err;

	if (len < sizeof(packed))
		return "a block's length is wrong";
	memcpy(&packed, payload, sizeof(packed));
	if (packed.method != TRACE_PACKED_ZSTD)
		return "how a PACKED block is compressed is not known";
	if (!lengths_ok(&packed, len))
		return "a PACKED block's lengths are out of range";
	bytes = malloc(packed.bytes);
	if (!bytes)
		return trace_reader_no_memory;
	err = trace_zstd_unpack(bytes, packed.bytes, (const uint8_t *)payload + sizeof(packed),
				packed.packed);
	b->packed = true;
	if (!err)
		why = take_all(b, bytes, packed.bytes);
	else
		why = err == -ENOMEM ? trace_reader_no_memory : "a PACKED block cannot be unpacked";
	b->packed = false;
	free(bytes);
	return why;
}
