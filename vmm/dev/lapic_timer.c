// SPDX-License-Identifier: GPL-2.0-or-later
/* The timer of the local APIC (11.5.4): one-shot, periodic, TSC deadline. */
#include "dev/clock.h"
#include "dev/lapic.h"

#define MODE_SHIFT    17
#define MODE_PERIODIC 1
#define MODE_DEADLINE 2

static unsigned int mode(const struct vpt_lapic *l)
{
	return l->lvt[VPT_LVT_TIMER] >> MODE_SHIFT & 3;
}

bool vpt_lapic_in_deadline_mode(const struct vpt_lapic *l)
{
	return mode(l) & MODE_DEADLINE;
}

/* Bits 3, 1 and 0: 2, 4, ... 128, and 1 last. */
static uint64_t divisor(const struct vpt_lapic *l)
{
	unsigned int n = (l->divide & 3) | (l->divide >> 1 & 4);

	return 1ull << ((n + 1) & 7);
}

static void disarm(struct vpt_lapic *l)
{
	l->armed = false;
	l->due = VPT_NEVER;
	l->deadline = 0;
}

static void arm(struct vpt_lapic *l, uint64_t expiry)
{
	l->expiry = expiry;
	l->due = vpt_clock_ns(expiry, l->hz);
	l->armed = true;
}

static void start(struct vpt_lapic *l, uint32_t count)
{
	if (count && l->hz)
		arm(l, vpt_clock_ticks(l->now, l->hz) + count * divisor(l));
	else
		disarm(l);
}

/* However many periods have passed, they are one interrupt. */
static void fire(struct vpt_lapic *l)
{
	uint64_t period = l->initial * divisor(l);

	if (mode(l) == MODE_PERIODIC && period) {
		uint64_t late = vpt_clock_ticks(l->now, l->hz) - l->expiry;

		arm(l, l->expiry + (late / period + 1) * period);
	} else {
		disarm(l);
	}
	vpt_lapic_local(l, VPT_LVT_TIMER);
}

void vpt_lapic_advance(struct vpt_lapic *l, uint64_t now)
{
	l->now = now;
	if (l->armed && now >= l->due)
		fire(l);
}

uint64_t vpt_lapic_next(const struct vpt_lapic *l)
{
	return l->armed && !(l->lvt[VPT_LVT_TIMER] & VPT_LVT_MASKED) ? l->due : VPT_NEVER;
}

uint32_t vpt_lapic_count(const struct vpt_lapic *l)
{
	uint64_t div = divisor(l), ticks;

	if (!l->armed || vpt_lapic_in_deadline_mode(l))
		return 0;
	ticks = vpt_clock_ticks(l->now, l->hz);
	return ticks < l->expiry ? (uint32_t)((l->expiry - ticks + div - 1) / div) : 0;
}

void vpt_lapic_set_count(struct vpt_lapic *l, uint32_t initial)
{
	if (vpt_lapic_in_deadline_mode(l))
		return;
	l->initial = initial;
	start(l, initial);
}

void vpt_lapic_set_divide(struct vpt_lapic *l, uint32_t value)
{
	uint32_t count = vpt_lapic_count(l);

	l->divide = value & 0xb;
	if (count)
		start(l, count);
}

void vpt_lapic_set_timer(struct vpt_lapic *l, uint32_t lvt)
{
	bool was = vpt_lapic_in_deadline_mode(l);

	l->lvt[VPT_LVT_TIMER] = lvt;
	if (was != vpt_lapic_in_deadline_mode(l)) {
		l->initial = 0;
		disarm(l);
	}
}

void vpt_lapic_set_deadline(struct vpt_lapic *l, uint64_t tsc, uint64_t due)
{
	if (!vpt_lapic_in_deadline_mode(l))
		return;
	disarm(l);
	if (!tsc)
		return;
	l->deadline = tsc;
	l->due = due;
	l->armed = true;
	if (due <= l->now)
		fire(l);
}
