/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first difference between two flows, with what both have before it. */
#ifndef VMM_DECODE_DIVERGE_H
#define VMM_DECODE_DIVERGE_H

#include "decode/cfe.h"
#include "decode/flow.h"

/* The most items of a context. */
#define DECODE_DIVERGE_LINES 64u

struct decode_diverge_how {
	unsigned int
		context; /* items before and after a difference, at most DECODE_DIVERGE_LINES */
	bool events;	 /* events are compared, too */
	/*
	 * Set the space of each item of flow 0 or 1, compared or not. Returns 0 or -errno. NULL: the
	 * items keep theirs.
	 */
	int (*place)(void *opaque, unsigned int side, struct decode_item *item);
	/* Returns true if this item of flow 0 or 1 is to be compared. NULL: all. */
	bool (*wants)(void *opaque, unsigned int side, const struct decode_item *item);
	/*
	 * Returns true if both addresses are of one place in the program, which is elsewhere in B.
	 * Bytes of instructions, which have distances, are not compared then. NULL: equal addresses.
	 */
	bool (*same_place)(void *opaque, uint64_t a, uint64_t b);
	void *opaque;
};

/* A copy of an item. Its pointers are NULL, apart from the space, which is valid as long as the flow. */
struct decode_diverge_item {
	struct decode_item item;
	bool has_cfe;
	struct decode_cfe cfe; /* the CFE of an event, or a block without its values */
};

/* The first item of a side differs, and is END if its flow is shorter. */
struct decode_diverge_side {
	struct decode_diverge_item item[DECODE_DIVERGE_LINES];
	unsigned int count;
	char error[96]; /* the text of an ERROR, if that is the first item */
};

struct decode_divergence {
	bool differs;
	uint64_t insns; /* the instructions that are equal, up to the difference or the end */
	struct decode_diverge_item
		common[DECODE_DIVERGE_LINES]; /* the last equal items, in order */
	unsigned int commons;
	struct decode_diverge_side side[2];
};

/*
 * Compare the flows, of units of INSNS, up to the first difference or to the end of both. Equal are
 * addresses, modes and bytes of instructions. Of events these are the kind, the addresses, the value
 * and what a CFE says. Times, and places where decoding starts anew, are not compared. Errors of the
 * decoder at the same place are equal. Returns 0 or -errno.
 */
int decode_diverge(struct decode_flow *a, struct decode_flow *b,
		   const struct decode_diverge_how *how, struct decode_divergence *d);

#endif /* VMM_DECODE_DIVERGE_H */
