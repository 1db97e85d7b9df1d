/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments of a stream, which are decoded one by one.
 *
 * A decoder continues from session to session, since a session that starts with PacketByteCnt above
 * 0 has no PSB of its own (33.2.8.4). It starts anew where a session has a PSB, and where the last
 * packet before may be cut off. With RTIT each session has a PSB, unless the session only changes
 * registers (TRACE_END_CHANGED).
 */
#ifndef VMM_DECODE_SEGMENT_H
#define VMM_DECODE_SEGMENT_H

#include "decode/timeline.h"
#include "trace/reader.h"

struct decode_segment {
	uint64_t begin, end; /* in the stream */
	size_t first, count; /* sessions; count 0: there are none */
	bool fresh;	     /* its first byte is that of a PSB */
	bool cut;	     /* its last packet may not be whole */
};

/* Is there a PSB at these bytes? */
typedef bool decode_psb_test(const uint8_t *bytes, size_t len);
decode_psb_test decode_is_psb, decode_is_atom_psb;

/*
 * A list from malloc(), NULL: memory. A stream without bytes has no segments. `psb`: that of the
 * trace system.
 */
struct decode_segment *decode_segments(const struct trace_period *periods, size_t nperiods,
				       const uint8_t *stream, size_t len, decode_psb_test *psb,
				       size_t *count);

/*
 * Returns true if TNT packets are disabled in a session of Intel PT, so that the trace does not have
 * the directions of branches (33.3.9).
 */
bool decode_segment_no_tnt(const struct decode_segment *s, const struct trace_period *periods);

/* The sessions of the segment for a timeline, from malloc(). Returns NULL if there is no memory. */
struct decode_timeline_session *decode_segment_sessions(const struct decode_segment *s,
							const struct trace_period *periods);

/* Add the counts of the timeline of a segment, which may be NULL, to @sum, and free the timeline. */
void decode_segment_end_time(struct decode_timeline *line, struct decode_timeline_sum *sum);

#endif /* VMM_DECODE_SEGMENT_H */
