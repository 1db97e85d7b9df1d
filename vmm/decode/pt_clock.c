// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the times of items by the bytes that were read, and by the decoder. */
#include "decode/pt_clock.h"

#include <errno.h>
#include <stdlib.h>

int decode_pt_clock_begin(struct decode_pt_clock *c, const struct decode_pt_clock_input *in)
{
	const struct decode_segment *s = in->segment;
	struct decode_timeline_config config = {
		.bytes = in->bytes,
		.len = s->end - s->begin,
		.caps = &in->info->caps,
		.atom = in->info->flags & TRACE_INFO_ATOM,
		.errata = TRACE_INFO_ERRATA(in->info->flags),
		.nsessions = s->count,
	};

	c->sessions = decode_segment_sessions(s, in->periods);
	if (!c->sessions)
		return -ENOMEM;
	config.sessions = c->sessions;
	c->line = decode_timeline_new(&config);
	return c->line ? 0 : -ENOMEM;
}

void decode_pt_clock_end(struct decode_pt_clock *c, struct decode_timeline_sum *sum)
{
	decode_segment_end_time(c->line, sum);
	free(c->sessions);
	*c = (struct decode_pt_clock){.line = NULL};
}

void decode_pt_clock_item(struct decode_pt_clock *c, uint64_t read,
			  const struct decode_when *by_decoder, struct decode_item *item)
{
	if (c->line)
		decode_timeline_flow(c->line, read, &item->when);
	if (!by_decoder->known)
		return;
	item->when.known = true;
	item->when.relative = false;
	item->when.tsc = by_decoder->tsc;
	item->when.lo = by_decoder->lo;
	item->when.hi = item->when.until = by_decoder->hi;
}
