/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libipt 2.0.5 does not know of IP filters, made up for.
 *
 * A conditional branch out of a filter or into a TraceStop range sends TIP.PGD
 * without an IP (33.4.2.5); so do a far transfer and MOV CR3 out of context, and
 * MOV CR3 into a TraceStop range. libipt's instruction decoder looks for one of the
 * latter and reports an error at the branch. Its block decoder takes the branch as
 * well, but binds the packet to a MOV CR3 whose PIP it follows.
 *
 * With an IP, any IP, both end the trace at the next branch of those that need a
 * packet, which is the right one: had there been one before, it would have had its
 * own. So packets that are not of MOV CR3 get an IP that is the target of no branch,
 * and packets that lean on it as last IP get all of theirs.
 *
 * Which are of MOV CR3? After a PIP: one whose CR3 is not traced, or if a TraceStop
 * follows (a conditional branch into a TraceStop range, with no other since a MOV
 * CR3, looks the same). Without a PIP the block decoder sees for itself. For the
 * other there is no question unless CR3 is filtered, or if the next TIP.PGE comes
 * without a PIP: it takes a load of CR3 to come back. What is left is taken to be
 * of MOV CR3; if it is not, the decoder fails at the very branch, and all is done
 * again with what has been learned.
 */
#ifndef VMM_DECODE_FILTER_H
#define VMM_DECODE_FILTER_H

#include "segment.h"

/* Not canonical, and out of reach of a displacement from any address that is. */
#define VPT_FILTER_NO_IP UINT64_C(0x5a5a000000000000)

struct vpt_filtered {
	uint8_t *bytes; /* NULL: the stream can be read as it is */
	size_t len;
	struct {
		struct vpt_filter_shift {
			uint64_t at;   /* from here on in `bytes`, */
			uint64_t back; /* offsets are this much too high */
		} * at;
		size_t n, room;
	} shifts;
	struct {
		struct vpt_filter_doubt {
			uint64_t at;	/* a TIP.PGD in the stream, taken to be of MOV CR3 */
			uint64_t until; /* the next packet of the flow */
		} * at;
		size_t n, room;
	} doubts;
};

/* TIP.PGDs in the stream that are known to be of conditional branches. */
struct vpt_filter_known {
	uint64_t *at;
	size_t n, room;
};

/* Does a session of the segment use address ranges? */
bool vpt_filter_ranges(const struct vpt_segment *segment, const struct vpt_period *periods);

/*
 * Rewrite a segment, if it needs that, for the block decoder (`known` is NULL) or
 * for the other. 0 or -ENOMEM.
 */
int vpt_filter_rewrite(struct vpt_filtered *out, const struct vpt_segment *segment,
		       const struct vpt_period *periods, const uint8_t *stream,
		       const struct vpt_filter_known *known);
void vpt_filter_free(struct vpt_filtered *out);

/* Where in the segment an offset in `bytes` belongs. */
uint64_t vpt_filter_offset(const struct vpt_filtered *out, uint64_t offset);

/*
 * A decoder that has read up to `offset` of the stream failed at a conditional
 * branch. Was it for a TIP.PGD that was taken wrongly? If so, `known` is added to.
 */
bool vpt_filter_learn(const struct vpt_filtered *out, uint64_t offset,
		      struct vpt_filter_known *known);

#endif /* VMM_DECODE_FILTER_H */
