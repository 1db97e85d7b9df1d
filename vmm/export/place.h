/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a lane's flow is in the packets, and what time it is there. The decoder says which packet
 * it was at, and how many outcomes of those before it were left; perf gets a change of process or
 * code at that place.
 */
#ifndef VMM_EXPORT_PLACE_H
#define VMM_EXPORT_PLACE_H

#include "lane.h"

/* Add a stamp, which comes behind the deferred TIPs that were found so far. 0 or -ENOMEM. */
int vpt_export_stamp_add(struct vpt_export_lane *lane, const struct vpt_export_stamp *stamp);

/* Read timing packets up to an offset. 0 or -ENOMEM. */
int vpt_export_read_to(struct vpt_export_lane *lane, uint64_t end);

/* The same up to the end of the next packet that the flow goes by, unless one was read already. */
int vpt_export_read_token(struct vpt_export_lane *lane);

/* Find the place of the lane's item, a BLOCK or EVENT. Returns 0 or -ENOMEM. */
int vpt_export_find_place(struct vpt_export_lane *lane);

/* The TIP.PGD of the lane's item, by which tracing ended. Returns false if there is none. */
bool vpt_export_find_pgd(const struct vpt_export_lane *lane, uint64_t *at);

/* The packets that follow are those of another segment. */
void vpt_export_begin_segment(struct vpt_export_lane *lane, uint64_t begin, uint64_t end);

enum vpt_export_passed {
	VPT_EXPORT_PASS_PSB,   /* a PSB+ */
	VPT_EXPORT_PASS_TSX,   /* a transaction's beginning or end */
	VPT_EXPORT_PASS_BLOCK, /* the item, a block: events in it, some of which are no items */
};

/*
 * Move the place behind packets between two that the flow goes by, which have an IP of their own
 * that the flow is past. perf must not be led beyond that IP before it has read them.
 */
void vpt_export_pass(struct vpt_export_lane *lane, enum vpt_export_passed what);

#endif /* VMM_EXPORT_PLACE_H */
