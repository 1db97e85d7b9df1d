/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments of a stream, which are decoded one by one.
 *
 * A decoder continues from session to session, since a session that starts with PacketByteCnt above
 * 0 has no PSB of its own (33.2.8.4). The decoder starts anew where a session has a PSB, and where
 * the last packet before may be cut off. With RTIT each session has a PSB, unless the session only
 * changes registers (TRACE_END_CHANGED).
 */
#ifndef VMM_DECODE_SEGMENT_H
#define VMM_DECODE_SEGMENT_H

#include "decode/timeline.h"
#include "trace/reader.h"

struct decode_segment {
	uint64_t begin, end; /* the range in the stream */
	size_t first, count; /* the range of sessions; count may be 0 */
	bool fresh;	     /* the first byte begins a PSB */
	bool cut;	     /* the last packet may be incomplete */
};

/* Returns true if these bytes begin with a PSB. */
typedef bool decode_psb_test(const uint8_t *bytes, size_t len);
decode_psb_test decode_is_psb, decode_is_atom_psb;

/*
 * Divide a stream into segments. The list is from malloc(), or NULL if there is no memory. A stream
 * without bytes has no segments. `psb` is the test of the trace system.
 */
struct decode_segment *decode_segments(const struct trace_period *periods, size_t nperiods,
				       const uint8_t *stream, size_t len, decode_psb_test *psb,
				       size_t *count);

/*
 * Returns true if TNT packets are disabled in a session of Intel PT, so that the trace does not have
 * the directions of branches (33.3.9).
 */
bool decode_segment_no_tnt(const struct decode_segment *s, const struct trace_period *periods);

/*
 * Return the sessions of the segment for a timeline, from malloc(). Returns NULL if there is no
 * memory.
 */
struct decode_timeline_session *decode_segment_sessions(const struct decode_segment *s,
							const struct trace_period *periods);

/* Add the counts of the timeline of a segment, which may be NULL, to @sum, and free the timeline. */
void decode_segment_end_time(struct decode_timeline *line, struct decode_timeline_sum *sum);

#endif /* VMM_DECODE_SEGMENT_H */
