/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that spans address spaces, taken apart: how much of it each one has. */
#ifndef VMM_DECODE_SHARE_H
#define VMM_DECODE_SHARE_H

#include "decode/item.h"
#include "trace/reader.h"

struct decode_space_share {
	struct trace_space space; /* all zero but the flags where nothing is known of it */
	bool known;
	uint64_t insns, blocks;
	uint64_t entries, exits; /* VM entries to it, or from a host whose guests are not
				  * traced; VM exits from it */
	uint64_t time;		 /* host TSC ticks */
};

/* All zero is empty. */
struct decode_shares {
	struct {
		struct decode_space_share *at;
		size_t n, room;
	} spaces;
	uint64_t time; /* all of it, also what is nobody's */

	/* Of the vCPU that is being decoded. */
	size_t now; /* index, where `in` */
	bool in;
	bool has_tsc;
	uint64_t tsc; /* that was seen last */
};

/* Begin another vCPU, to which the items that follow belong. */
void decode_shares_begin(struct decode_shares *s);
/* False: memory. */
bool decode_shares_item(struct decode_shares *s, const struct decode_item *item);
/* Sort: most instructions first. */
void decode_shares_sort(struct decode_shares *s);
void decode_shares_free(struct decode_shares *s);

#endif /* VMM_DECODE_SHARE_H */
