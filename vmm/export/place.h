/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The position of a lane's flow in the packets, and the time there. The decoder reports the packet
 * that it has read, and how many earlier outcomes were left. At that position perf gets a change of
 * process or code.
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
 * Move the position behind packets that have an IP which the flow has passed. They stand between
 * two packets of the flow. perf must not run beyond that IP before it has read them.
 */
void export_pass(struct export_lane *lane, enum export_passed what);

#endif /* VMM_EXPORT_PLACE_H */
