/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a lane's flow is in the packets: which packet it has to go by next, and behind which
 * ones it is. What perf is to be told in between goes to that place.
 */
#ifndef VMM_EXPORT_TOKEN_H
#define VMM_EXPORT_TOKEN_H

#include "lane.h"

/* 0 or -ENOMEM. */
int vpt_export_stamp_add(struct vpt_export_lane *lane, const struct vpt_export_stamp *stamp);

/* Have the token that is next, if there is one before `end`. 0 or -ENOMEM. */
int vpt_export_pull(struct vpt_export_lane *lane, uint64_t end);

/* The flow needs a token of this kind; `tnt`: or an outcome. 0 or -ENOMEM. */
int vpt_export_expect(struct vpt_export_lane *lane, enum vpt_pkt_kind kind, bool tnt);

/* All up to there has been decoded, in whatever way. 0 or -ENOMEM. */
int vpt_export_drop_to(struct vpt_export_lane *lane, uint64_t end);

/*
 * A lane that is lost, at its next item: the decoder has read up to the item's offset; if
 * what it read last is a TIP to the item's block, that is the place. 0 or -ENOMEM.
 */
int vpt_export_find_again(struct vpt_export_lane *lane);

/*
 * The flow is past something between two tokens that has an IP of its own: a PSB+, or a
 * transaction's beginning or end. perf must not be led beyond that before it.
 */
void vpt_export_pass(struct vpt_export_lane *lane, bool psb);

/*
 * The flow has gone through the item, a block: past events in it that it is not told of,
 * or not there.
 */
void vpt_export_pass_events(struct vpt_export_lane *lane);

#endif /* VMM_EXPORT_TOKEN_H */
