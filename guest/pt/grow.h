/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ToPA output that is never full (33.2.7.2 table 33-4): regions with INT, and a handler. The
 * handler adds entries to the table, links a new table, or makes a ring whose filled entries get
 * new regions. It chooses at random. No region is used twice, so that the whole trace can be read
 * at the end.
 */
#ifndef GUEST_PT_GROW_H
#define GUEST_PT_GROW_H

#include "lib/rand.h"
#include "topa.h"

#define GROW_REGIONS 512
#define GROW_AHEAD   8 /* minimum number of free regions after a handler */

struct grow {
	struct rng *rng;
	/* The place of the next entry: the END of `table`, or a filled entry. */
	uint64_t *table;
	unsigned int end, slot;
	bool ring;
	/* Regions in the order of output, and their entries. */
	struct {
		const uint8_t *region;
		const uint64_t *table;
		unsigned int slot;
	} plan[GROW_REGIONS];
	unsigned int planned, at;
	unsigned int added, tables, rings; /* counts of each choice */
	bool lost;			   /* output is at an unexpected place */
};

void grow_init(struct grow *g, struct rng *rng);

/*
 * Make room, with the trace off and output at OUTPUT_BASE and OUTPUT_MASK_PTRS. Returns how many
 * regions were filled since the last call.
 */
unsigned int grow_handle(struct grow *g, uint64_t base, uint64_t mask_ptrs);

/* Copy the whole output. Returns its size, at most `max`. */
uint64_t grow_log(struct grow *g, uint64_t base, uint64_t mask_ptrs, uint8_t *to, uint64_t max);

#endif /* GUEST_PT_GROW_H */
