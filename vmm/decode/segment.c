// SPDX-License-Identifier: GPL-2.0-or-later
/* Divide the sessions of a stream into segments. */
#include "decode/segment.h"

#include <stdlib.h>

#include "vpt/atom_packet.h"
#include "vpt/msr.h"
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

/* Returns true if session @i continues session @i - 1 after a write to a register. */
static bool continues(const struct trace_period *periods, size_t i)
{
	return i && periods[i - 1].end && periods[i - 1].end->end == TRACE_END_CHANGED;
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
		bool psb = !continues(periods, i) && is_psb(stream + at, len - at);

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

bool decode_segment_no_tnt(const struct decode_segment *s, const struct trace_period *periods)
{
	size_t i;

	for (i = s->first; i < s->first + s->count; i++) {
		if (periods[i].start->ctl & VPT_CTL_MASK(DIS_TNT))
			return true;
	}
	return false;
}

struct decode_timeline_session *decode_segment_sessions(const struct decode_segment *s,
							const struct trace_period *periods)
{
	struct decode_timeline_session *all = calloc(s->count + 1, sizeof(*all));
	size_t i;

	for (i = 0; all && i < s->count; i++) {
		const struct trace_session *start = periods[s->first + i].start;

		all[i].at = start->offset - s->begin;
		all[i].ctl = start->ctl;
		all[i].goes_on = continues(periods, s->first + i);
	}
	return all;
}

void decode_segment_end_time(struct decode_timeline *line, struct decode_timeline_sum *sum)
{
	struct decode_timeline_sum own = {0, 0};

	if (line)
		decode_timeline_sum(line, &own);
	sum->cycles += own.cycles;
	sum->ticks += own.ticks;
	decode_timeline_free(line);
}
