/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divide a trace that spans address spaces: the share of each space. */
#ifndef VMM_DECODE_SHARE_H
#define VMM_DECODE_SHARE_H

#include "decode/item.h"
#include "trace/reader.h"

struct decode_space_share {
	struct trace_space space; /* zero except for the flags if nothing is known of the space */
	bool known;
	uint64_t insns, blocks;
	/*
	 * The VM entries to the space, and the VM exits from it. For a host whose guests are not
	 * traced, the VM entries from it.
	 */
	uint64_t entries, exits;
	uint64_t time; /* the time in host TSC ticks */
	bool seen;     /* an item came while nothing was paused */
};

/* Initialise with zeros. */
struct decode_shares {
	struct {
		struct decode_space_share *at;
		size_t n, room;
	} spaces;
	uint64_t time; /* the total time, including that of unknown spaces */
	bool paused;   /* follow the flow, and count nothing */

	/* The state of the current vCPU. */
	size_t now; /* the index of the current space, if `in` is set */
	bool in;
	bool has_tsc;
	uint64_t tsc; /* the last TSC */
};

/* Start another vCPU. The items that follow belong to it. */
void decode_shares_begin(struct decode_shares *s);
/* Add an item. Returns false if there is no memory. */
bool decode_shares_item(struct decode_shares *s, const struct decode_item *item);
/*
 * Sort by the number of instructions, in descending order. Spaces that only had items while @paused
 * was set are removed.
 */
void decode_shares_sort(struct decode_shares *s);
/* Add the shares of @from, which follow. Only the counts are joined. Returns false if there is no memory. */
bool decode_shares_join(struct decode_shares *s, const struct decode_shares *from);
/* Get the state that later items depend on, as words. */
#define DECODE_SHARES_WORDS 6
void decode_shares_words(const struct decode_shares *s, uint64_t *words);
void decode_shares_free(struct decode_shares *s);

#endif /* VMM_DECODE_SHARE_H */
