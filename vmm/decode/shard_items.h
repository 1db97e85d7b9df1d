/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The items of a shard, kept until the shards before it were decoded. */
#ifndef VMM_DECODE_SHARD_ITEMS_H
#define VMM_DECODE_SHARD_ITEMS_H

#include <stddef.h>

#include "decode/cfe.h"
#include "decode/item.h"

/* Initialise with zeros. */
struct decode_shard_items {
	struct {
		struct decode_item *at;
		size_t n, room;
	} items;
	/* The data to which the items refer, in the same order. */
	struct {
		struct decode_part *at;
		size_t n, room;
	} parts;
	struct {
		struct decode_cfe *at;
		size_t n, room;
	} cfes;
	struct {
		struct decode_block_item *at;
		size_t n, room;
	} values;
	struct {
		size_t item, part, cfe, value;
	} next;
};

/* Append a copy of an item. Its text must be static. Returns false if there is no memory. */
bool decode_shard_items_add(struct decode_shard_items *s, const struct decode_item *item);
/* Get the next item. Returns false at the end. The item is valid as long as the list. */
bool decode_shard_items_next(struct decode_shard_items *s, struct decode_item *item);
void decode_shard_items_free(struct decode_shard_items *s);

#endif /* VMM_DECODE_SHARD_ITEMS_H */
