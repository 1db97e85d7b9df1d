// SPDX-License-Identifier: GPL-2.0-or-later
/* Cut the sessions of a stream into segments. */
#include "decode/segment.h"

#include <stdlib.h>

#include "vpt/atom_packet.h"
#include "vpt/packet.h"

#define PSB_BYTES 16

bool decode_is_psb(const uint8_t *bytes, size_t len)
{
	return len >= PSB_BYTES && !vpt_packet_find_psb(bytes, PSB_BYTES);
}

bool decode_is_atom_psb(const uint8_t *bytes, size_t len)
{
	return len >= VPT_ATOM_PSB_BYTES && !vpt_atom_packet_find_psb(bytes, VPT_ATOM_PSB_BYTES);
}

static bool ends_cut(const struct trace_period *period)
{
	return !period->end || period->end->end == TRACE_END_TOPA_STOP ||
	       period->end->end == TRACE_END_ERROR || period->end->end == TRACE_END_LOST;
}

struct decode_segment *decode_segments(const struct trace_period *periods, size_t nperiods,
				       const uint8_t *stream, size_t len, decode_psb_test *is_psb,
				       size_t *count)
{
	struct decode_segment *all = calloc(nperiods + 1, sizeof(*all));
	struct decode_segment *s = all;
	size_t i;

	*count = 0;
	if (!all || !len)
		return all;

	s->fresh = is_psb(stream, len);
	for (i = 0; i < nperiods; i++) {
		uint64_t at = periods[i].start->offset;
		bool goes_on =
			i && periods[i - 1].end && periods[i - 1].end->end == TRACE_END_CHANGED;
		bool psb = !goes_on && is_psb(stream + at, len - at);

		/* Bytes before the first session belong to the first segment. */
		if (i && (psb || ends_cut(&periods[i - 1])) && at > s->begin) {
			s->end = at;
			s->cut = ends_cut(&periods[i - 1]);
			s++;
			s->begin = at;
			s->first = i;
			s->fresh = psb;
		}
		s->count++;
	}
	s->end = len;
	s->cut = !nperiods || ends_cut(&periods[nperiods - 1]);
	*count = (size_t)(s - all) + 1;
	return all;
}
