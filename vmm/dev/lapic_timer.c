// SPDX-License-Identifier: GPL-2.0-or-later
/* The timer of the local APIC (11.5.4): one-shot, periodic, TSC deadline. */
#include "dev/clock.h"
#include "dev/lapic.h"

#define MODE_SHIFT    17
#define MODE_PERIODIC 1
#define MODE_DEADLINE 2

static unsigned int mode(const struct dev_lapic *l)
{
	return l->lvt[DEV_LVT_TIMER] >> MODE_SHIFT & 3;
}

bool dev_lapic_in_deadline_mode(const struct dev_lapic *l)
{
	return mode(l) & MODE_DEADLINE;
}

/* Bits 3, 1 and 0 select 2, 4, ... 128, and 1 for the last value. */
static uint64_t divisor(const struct dev_lapic *l)
{
	unsigned int n = (l->divide & 3) | (l->divide >> 1 & 4);

	return 1ull << ((n + 1) & 7);
}

static void disarm(struct dev_lapic *l)
{
	l->state &= (uint8_t)~DEV_LAPIC_ARMED;
	l->due = DEV_NEVER;
	l->deadline = 0;
}

static void arm(struct dev_lapic *l, uint64_t expiry)
{
	l->expiry = expiry;
	l->due = dev_clock_ns(expiry, l->hz);
	l->state |= DEV_LAPIC_ARMED;
}

static void start(struct dev_lapic *l, uint32_t count)
{
	if (count && l->hz)
		arm(l, dev_clock_ticks(l->now, l->hz) + count * divisor(l));
	else
		disarm(l);
}

/* Fire once, regardless of the number of periods that have passed. */
static void fire(struct dev_lapic *l)
{
	uint64_t period = l->initial * divisor(l);

	if (mode(l) == MODE_PERIODIC && period) {
		uint64_t late = dev_clock_ticks(l->now, l->hz) - l->expiry;

		arm(l, l->expiry + (late / period + 1) * period);
	} else {
		disarm(l);
	}
	dev_lapic_local(l, DEV_LVT_TIMER);
}

void dev_lapic_advance(struct dev_lapic *l, uint64_t now)
{
	l->now = now;
	if (l->state & DEV_LAPIC_ARMED && now >= l->due)
		fire(l);
}

uint64_t dev_lapic_next(const struct dev_lapic *l)
{
	if (!(l->state & DEV_LAPIC_ARMED) || l->lvt[DEV_LVT_TIMER] & DEV_LVT_MASKED)
		return DEV_NEVER;
	return l->due;
}

uint32_t dev_lapic_count(const struct dev_lapic *l)
{
	uint64_t div = divisor(l), ticks;

	if (!(l->state & DEV_LAPIC_ARMED) || dev_lapic_in_deadline_mode(l))
		return 0;
	ticks = dev_clock_ticks(l->now, l->hz);
	return ticks < l->expiry ? (uint32_t)((l->expiry - ticks + div - 1) / div) : 0;
}

void dev_lapic_set_count(struct dev_lapic *l, uint32_t initial)
{
	if (dev_lapic_in_deadline_mode(l))
		return;
	l->initial = initial;
	start(l, initial);
}

void dev_lapic_set_divide(struct dev_lapic *l, uint32_t value)
{
	uint32_t count = dev_lapic_count(l);

	l->divide = value & 0xb;
	if (count)
		start(l, count);
}

void dev_lapic_set_timer(struct dev_lapic *l, uint32_t lvt)
{
	bool was = dev_lapic_in_deadline_mode(l);

	l->lvt[DEV_LVT_TIMER] = lvt;
	if (was != dev_lapic_in_deadline_mode(l)) {
		l->initial = 0;
		disarm(l);
	}
}

void dev_lapic_set_deadline(struct dev_lapic *l, uint64_t tsc, uint64_t due)
{
	if (!dev_lapic_in_deadline_mode(l))
		return;
	disarm(l);
	if (!tsc)
		return;
	l->deadline = tsc;
	l->due = due;
	l->state |= DEV_LAPIC_ARMED;
	if (due <= l->now)
		fire(l);
}
