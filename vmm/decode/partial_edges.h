/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to partial_*.c: the blocks and the changes of flow of a space in the tables of a file. */
#ifndef VMM_DECODE_PARTIAL_EDGES_H
#define VMM_DECODE_PARTIAL_EDGES_H

#include "decode/partial_spaces.h"

/* The rest of the tables, which spaces take one after the other. */
struct decode_partial_edges_left {
	const struct decode_partial_edge *edges;
	size_t nedges;
	const struct decode_partial_block *blocks;
	size_t nblocks;
	const struct decode_partial_range *ranges;
	size_t nranges;
};

/* Append the tables of a space, and set its fields in @s. Returns false if there is no memory. */
bool decode_partial_edges_make(const struct decode_space_edges *e, struct decode_partial_spaces *to,
			       struct decode_partial_space *s);
/* Take the tables of a space, which may be forged. Returns 0, -EINVAL or -ENOMEM. */
int decode_partial_edges_take(struct decode_partial_edges_left *left,
			      const struct decode_partial_space *s, struct decode_space_edges *to);

bool decode_partial_map_make(const struct decode_block_map *map, struct decode_partial_spaces *to);
/* The bytes of a map ascend. Returns 0, -EINVAL or -ENOMEM. */
int decode_partial_map_take(const struct decode_partial_spaces *from, struct decode_block_map *map);

#endif /* VMM_DECODE_PARTIAL_EDGES_H */
