/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that spans address spaces, taken apart: how much of it each one has. */
#ifndef VMM_DECODE_SHARE_H
#define VMM_DECODE_SHARE_H

#include "item.h"
#include "trace/reader.h"

struct vpt_space_share {
	struct vpt_space space; /* all zero but the flags where nothing is known of it */
	bool known;
	uint64_t insns, blocks;
	uint64_t entries, exits; /* VM entries to it, or from a host whose guests are not
				  * traced; VM exits from it */
	uint64_t time;		 /* host TSC ticks */
};

/* All zero is empty. */
struct vpt_shares {
	struct {
		struct vpt_space_share *at;
		size_t n, room;
	} spaces;
	uint64_t time; /* all of it, also what is nobody's */

	/* Of the vCPU that is being decoded. */
	size_t now; /* index, where `in` */
	bool in;
	bool has_tsc;
	uint64_t tsc; /* that was seen last */
};

/* What follows is of another vCPU. */
void vpt_shares_begin(struct vpt_shares *s);
/* False: memory. */
bool vpt_shares_item(struct vpt_shares *s, const struct vpt_item *item);
/* Sort: most instructions first. */
void vpt_shares_sort(struct vpt_shares *s);
void vpt_shares_free(struct vpt_shares *s);

#endif /* VMM_DECODE_SHARE_H */
