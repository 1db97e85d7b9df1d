// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The times of the items of shards. A thread knows the decoder's time at each item of its shard.
 * Times between packets, and the core clocks since the begin of the segment, depend on all packets
 * before and on some behind. So the consumer reads the timing packets of the whole stream, and adds
 * both to each item.
 */
#include <errno.h>

#include "decode/shards_flow.h"

int decode_shards_clock_open(struct decode_shards_flow *s)
{
	unsigned int i;

	if (!s->base.timed)
		return 0;
	for (i = 0; i < s->work.nworkers; i++)
		decode_pt_time_by_reads(s->work.workers[i].flow);
	/* Times between packets are found before the flow. */
	return trace_reader_whole(s->reader, s->vcpu);
}

static int begin_segment(struct decode_shards_flow *s)
{
	const struct decode_pt_flow *f = s->work.workers[0].flow;
	const struct decode_segment *segment = &f->segments[s->clock_segment++];
	const struct decode_pt_clock_input in = {
		.info = trace_reader_info(s->reader),
		.segment = segment,
		.periods = f->periods,
		.bytes = f->stream + segment->begin,
	};

	return decode_pt_clock_begin(&s->clock, &in);
}

int decode_shards_clock_item(struct decode_shards_flow *s, struct decode_item *item)
{
	const struct decode_when by_decoder = item->when;

	if (!s->base.timed)
		return 0;
	switch (item->kind) {
	case DECODE_ITEM_SEGMENT:
		decode_pt_clock_end(&s->clock, &s->base.sum);
		return begin_segment(s);
	case DECODE_ITEM_END:
		decode_pt_clock_end(&s->clock, &s->base.sum);
		return 0;
	default:
		break;
	}
	/* An item that has no place in the stream has no time. */
	if (!by_decoder.cycles)
		return 0;
	decode_pt_clock_item(&s->clock, by_decoder.cycles, &by_decoder, item);
	return 0;
}
