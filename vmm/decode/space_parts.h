/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of each address space of a vCPU, in a part of a trace. They are its tree of calls, or
 * its blocks and changes of flow. Spaces are those of decode/by_cr3.h.
 */
#ifndef VMM_DECODE_SPACE_PARTS_H
#define VMM_DECODE_SPACE_PARTS_H

#include <stddef.h>

#include "decode/calls.h"
#include "decode/space_edges.h"

struct decode_space_part {
	uint64_t id; /* that of the space, which is its CR3; ~0 if the space is not known */
	uint64_t
		task; /* the number of the thread that ran on this CR3, plus 1; 0: the file has no tasks */
	struct decode_calls *calls; /* an open tree, or NULL */
	struct decode_space_edges edges;
	/*
	 * EDGES: events of the space that ran last in the part before. Only the first space can be this
	 * one, and its @id is not used.
	 */
	bool before;
};

/* The results that are collected of each space. */
enum decode_space_wanted { DECODE_SPACE_CALLS, DECODE_SPACE_EDGES };

/* Zero-initialise, with `wanted`. */
struct decode_space_parts {
	enum decode_space_wanted wanted;
	struct {
		struct decode_space_part *at; /* in the order in which they ran */
		size_t n, room;
	} spaces;
	/* The flow was interrupted, which ended the stacks of the spaces of earlier parts, too. */
	bool broken;
	size_t now;		     /* the index of the space that ran last */
	struct decode_block_map map; /* EDGES: of all spaces */
};

/*
 * Take an item of a flow of blocks, merged by functions if trees are wanted, after
 * decode_by_cr3_item(). Changes of flow are those of a walk (formats/walk.h). Returns false if there is
 * no memory.
 */
bool decode_space_parts_item(struct decode_space_parts *p, const struct debug_symbols *symbols,
			     const struct decode_item *item);

/* Append @next, which is emptied. Returns false if there is no memory. */
bool decode_space_parts_join(struct decode_space_parts *p, struct decode_space_parts *next);
/* Append an empty space. The caller gives it a tree. Returns NULL if there is no memory. */
struct decode_space_part *decode_space_parts_add(struct decode_space_parts *p, uint64_t id,
						 uint64_t task);
/* Count what is open at both ends of the changes of flow. Returns false if there is no memory. */
bool decode_space_parts_close(struct decode_space_parts *p);
void decode_space_parts_free(struct decode_space_parts *p);

#endif /* VMM_DECODE_SPACE_PARTS_H */
