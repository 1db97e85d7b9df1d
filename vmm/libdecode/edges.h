/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Count the targets of indirect branches and RETs, which the code does not contain. */
#ifndef VMM_LIBDECODE_EDGES_H
#define VMM_LIBDECODE_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slot is free if its count is 0. */
struct dec_edges {
	struct dec_edge {
		uint64_t to;
		uint64_t count;
		uint32_t from; /* the id of the block that ends with the branch */
	} * slots;
	size_t mask, used;
	bool lost; /* an edge was not counted, because there was no memory */
};

/* Returns the hash of an edge, whose upper 16 bits are its byte in a bitmap (vptdecode.h). */
static inline uint64_t dec_edge_hash(uint64_t from, uint64_t to)
{
	return (from ^ (to << 32 | to >> 32)) * 0x9e3779b97f4a7c15ull;
}

/* Add @count, which is not 0, to an edge. Sets `lost` if there is no memory. */
void dec_edges_add(struct dec_edges *edges, uint32_t from, uint64_t to, uint64_t count);
/* Set all counts to 0. Keeps `lost`. */
void dec_edges_clear(struct dec_edges *edges);
void dec_edges_free(struct dec_edges *edges);

#endif /* VMM_LIBDECODE_EDGES_H */
