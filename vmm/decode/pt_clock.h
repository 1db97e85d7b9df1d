/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times of the items of a segment: those between packets, from the timeline of its bytes. */
#ifndef VMM_DECODE_PT_CLOCK_H
#define VMM_DECODE_PT_CLOCK_H

#include "decode/item.h"
#include "decode/segment.h"
#include "trace/reader.h"

/* All zero between two segments. */
struct decode_pt_clock {
	struct decode_timeline *line;
	struct decode_timeline_session *sessions;
};

struct decode_pt_clock_input {
	const struct trace_file_info *info;
	const struct decode_segment *segment;
	const struct trace_period *periods;
	const uint8_t *bytes; /* those of the segment, which stay readable */
};

/* Begin a segment. Returns 0 or -ENOMEM. */
int decode_pt_clock_begin(struct decode_pt_clock *c, const struct decode_pt_clock_input *in);
/* End a segment, if one has begun, and add its counts to *sum. */
void decode_pt_clock_end(struct decode_pt_clock *c, struct decode_timeline_sum *sum);

/*
 * Add the time of an item for which @read bytes of the segment were read. Without a segment there
 * is none. @read must not decrease. If @by_decoder is known, its `tsc`, `lo` and `hi` are used.
 * They are more exact than a time by stream offset.
 */
void decode_pt_clock_item(struct decode_pt_clock *c, uint64_t read,
			  const struct decode_when *by_decoder, struct decode_item *item);

#endif /* VMM_DECODE_PT_CLOCK_H */
