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

#endif /* VMM_DECODE_SEGMENT_H */
