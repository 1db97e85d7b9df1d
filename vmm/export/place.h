/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The position of a lane's flow in the packets, and the time there. The decoder reports the packet
 * that it has read, and how many earlier outcomes were left. At that position the export adds a
 * change of process or code for perf.
 */
#ifndef VMM_EXPORT_PLACE_H
#define VMM_EXPORT_PLACE_H

#include "export/lane.h"

/* Add a stamp after the deferred TIPs found so far. Returns 0 or -ENOMEM. */
int export_stamp_add(struct export_lane *lane, const struct export_stamp *stamp);

/* Read timing packets up to an offset. Returns 0 or -ENOMEM. */
int export_read_to(struct export_lane *lane, uint64_t end);

/*
 * Read timing packets up to the end of the next packet that moves the flow. Does nothing if such a
 * packet was already read. Returns 0 or -ENOMEM.
 */
int export_read_token(struct export_lane *lane);

/* Find the place of the lane's item, a BLOCK or EVENT. Returns 0 or -ENOMEM. */
int export_find_place(struct export_lane *lane);

/* Find the TIP.PGD of the lane's item, which ended tracing. Returns false if there is none. */
bool export_find_pgd(const struct export_lane *lane, uint64_t *at);

/* Start a new segment. The packets that follow are in [begin, end). */
void export_begin_segment(struct export_lane *lane, uint64_t begin, uint64_t end);

enum export_passed {
	EXPORT_PASS_PSB,   /* the end of a PSB+ */
	EXPORT_PASS_TSX,   /* the beginning or the end of a transaction */
	EXPORT_PASS_BLOCK, /* the events within the current BLOCK, some of which are not items */
};

/*
 * Advance the position past packets with an IP that the flow has passed. These packets are between
 * two packets of the flow. perf must not run beyond that IP before it has read them.
 */
void export_pass(struct export_lane *lane, enum export_passed what);

#endif /* VMM_EXPORT_PLACE_H */
