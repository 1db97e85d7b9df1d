// SPDX-License-Identifier: GPL-2.0-or-later
/* Time and core clocks between the items of a flow. */
#include "decode/pace.h"

__extension__ typedef unsigned __int128 u128;

void decode_pace_begin(struct decode_pace *p)
{
	p->has_first = p->has_last = p->running = false;
	p->at_cycles = 0;
	p->ticks = 0;
}

static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	u128 q = c ? (u128)a * b / c : 0;

	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

uint64_t decode_pace_ns(const struct decode_pace *p, uint64_t ticks)
{
	return scale(ticks, 1000000000, p->hz);
}

uint64_t decode_pace_core_hz(const struct decode_pace *p, uint64_t cycles, uint64_t ticks)
{
	return scale(p->hz, cycles, ticks);
}

static void take_tsc(struct decode_pace *p, const struct decode_item *item)
{
	p->ticks = 0;
	if (!decode_pace_knows(&item->when))
		return;
	if (!p->has_first)
		p->first = item->when.tsc;
	p->has_first = true;
	if (p->has_last && item->when.tsc > p->last)
		p->ticks = item->when.tsc - p->last;
	p->last = item->when.tsc;
	p->has_last = true;
}

/* Take the clocks up to this item. They only count if the time before the item was traced. */
static void take_cycles(struct decode_pace *p, const struct decode_item *item, bool counts)
{
	if (counts && !p->paused && item->when.cycles > p->at_cycles)
		p->cycles += item->when.cycles - p->at_cycles;
	p->at_cycles = item->when.cycles;
}

static void take_event(struct decode_pace *p, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		p->running = true;
		break;
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
		p->running = false;
		break;
	case DECODE_FLOW_OVERFLOW:
		p->running = item->has_to;
		break;
	default:
		break;
	}
}

void decode_pace_item(struct decode_pace *p, const struct decode_item *item)
{
	take_tsc(p, item);
	switch (item->kind) {
	case DECODE_ITEM_SEGMENT:
		p->running = false;
		p->at_cycles = 0;
		break;
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
		take_cycles(p, item, p->running);
		p->running = true;
		if (!p->paused)
			p->insns += item->insns;
		break;
	case DECODE_ITEM_EVENT:
		/* Time before this item may be untraced or lost. */
		take_cycles(p, item,
			    p->running && item->event != DECODE_FLOW_OVERFLOW &&
				    item->event != DECODE_FLOW_CFE &&
				    item->event != DECODE_FLOW_BLOCK);
		take_event(p, item);
		break;
	case DECODE_ITEM_ERROR:
		p->running = false;
		break;
	default:
		break;
	}
}
