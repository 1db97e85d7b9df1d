// SPDX-License-Identifier: GPL-2.0-or-later
/* Time and core clocks between the items of a flow. */
#include "pace.h"

__extension__ typedef unsigned __int128 u128;

void vpt_pace_begin(struct vpt_pace *p)
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

uint64_t vpt_pace_ns(const struct vpt_pace *p, uint64_t ticks)
{
	return scale(ticks, 1000000000, p->hz);
}

uint64_t vpt_pace_core_hz(const struct vpt_pace *p, uint64_t cycles, uint64_t ticks)
{
	return scale(p->hz, cycles, ticks);
}

static void take_tsc(struct vpt_pace *p, const struct vpt_item *item)
{
	p->ticks = 0;
	if (!vpt_pace_knows(&item->when))
		return;
	if (!p->has_first)
		p->first = item->when.tsc;
	p->has_first = true;
	if (p->has_last && item->when.tsc > p->last)
		p->ticks = item->when.tsc - p->last;
	p->last = item->when.tsc;
	p->has_last = true;
}

/* Clocks up to this item count if what it ends was traced. */
static void take_cycles(struct vpt_pace *p, const struct vpt_item *item, bool counts)
{
	if (counts && item->when.cycles > p->at_cycles)
		p->cycles += item->when.cycles - p->at_cycles;
	p->at_cycles = item->when.cycles;
}

static void take_event(struct vpt_pace *p, const struct vpt_item *item)
{
	switch (item->event) {
	case VPT_FLOW_ENABLED:
		p->running = true;
		break;
	case VPT_FLOW_DISABLED:
	case VPT_FLOW_ASYNC_DISABLED:
		p->running = false;
		break;
	case VPT_FLOW_OVERFLOW:
		p->running = item->has_to;
		break;
	default:
		break;
	}
}

void vpt_pace_item(struct vpt_pace *p, const struct vpt_item *item)
{
	take_tsc(p, item);
	switch (item->kind) {
	case VPT_ITEM_SEGMENT:
		p->running = false;
		p->at_cycles = 0;
		break;
	case VPT_ITEM_INSN:
	case VPT_ITEM_BLOCK:
		take_cycles(p, item, p->running);
		p->running = true;
		p->insns += item->insns;
		break;
	case VPT_ITEM_EVENT:
		/* What came before is not traced, or lost. */
		take_cycles(p, item,
			    p->running && item->event != VPT_FLOW_OVERFLOW &&
				    item->event != VPT_FLOW_CFE && item->event != VPT_FLOW_BLOCK);
		take_event(p, item);
		break;
	case VPT_ITEM_ERROR:
		p->running = false;
		break;
	default:
		break;
	}
}
