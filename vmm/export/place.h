/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a lane's flow is in the packets, and what time it is there. The decoder says which packet
 * it was at, and how many outcomes of those before it were left; perf gets a change of process or
 * code at that place.
 */
#ifndef VMM_EXPORT_PLACE_H
#define VMM_EXPORT_PLACE_H

#include "export/lane.h"

/* Add a stamp, which comes behind the deferred TIPs that were found so far. 0 or -ENOMEM. */
int export_stamp_add(struct export_lane *lane, const struct export_stamp *stamp);

/* Read timing packets up to an offset. 0 or -ENOMEM. */
int export_read_to(struct export_lane *lane, uint64_t end);

/* The same up to the end of the next packet that the flow goes by, unless one was read already. */
int export_read_token(struct export_lane *lane);

/* Find the place of the lane's item, a BLOCK or EVENT. Returns 0 or -ENOMEM. */
int export_find_place(struct export_lane *lane);

/* The TIP.PGD of the lane's item, by which tracing ended. Returns false if there is none. */
bool export_find_pgd(const struct export_lane *lane, uint64_t *at);

/* The packets that follow are those of another segment. */
void export_begin_segment(struct export_lane *lane, uint64_t begin, uint64_t end);

enum export_passed {
	EXPORT_PASS_PSB,   /* a PSB+ */
	EXPORT_PASS_TSX,   /* a transaction's beginning or end */
	EXPORT_PASS_BLOCK, /* the item, a block: events in it, some of which are no items */
};

/*
 * Move the place behind packets between two that the flow goes by, which have an IP of their own
 * that the flow is past. perf must not be led beyond that IP before it has read them.
 */
void export_pass(struct export_lane *lane, enum export_passed what);

#endif /* VMM_EXPORT_PLACE_H */
