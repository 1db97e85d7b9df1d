// SPDX-License-Identifier: GPL-2.0-or-later
/* 8254 programmable interval timer. */
#include "dev/pit.h"

#include <string.h>

#include "dev/clock.h"

#define PORT_FIRST   0x40
#define PORT_CONTROL 0x43
#define ACCESS_BOTH  3
#define BYTE_LOW     1
#define BYTE_HIGH    2
/* Port 61H: the refresh signal changes every 15.085 us. */
#define REFRESH_NS 15085u

static uint64_t ticks(const struct dev_pit *pit)
{
	return dev_clock_ticks(pit->now, DEV_PIT_HZ);
}

/* Return the mode. Modes 6 and 7 are aliases of 2 and 3. */
static unsigned int mode(const struct dev_pit_channel *c)
{
	return c->mode & 2 ? c->mode & 3 : c->mode & 7;
}

static bool is_triggered(const struct dev_pit_channel *c)
{
	return mode(c) == 1 || mode(c) == 5;
}

static bool is_periodic(const struct dev_pit_channel *c)
{
	return c->mode & 2;
}

static uint64_t elapsed(const struct dev_pit_channel *c, uint64_t tick)
{
	return c->passed + (c->counting && tick > c->base ? tick - c->base : 0);
}

/* Return the period. A periodic count of 1 is not legal. */
static uint32_t period(const struct dev_pit_channel *c)
{
	uint32_t least = is_periodic(c) ? 2 : 1;

	return c->reload < least ? least : c->reload;
}

static bool out(const struct dev_pit_channel *c, uint64_t tick)
{
	uint64_t n = period(c), e = elapsed(c, tick);

	if (!c->started)
		return mode(c) != 0;
	switch (mode(c)) {
	case 0:
	case 1:
		return e >= n;
	case 2:
		return !c->gate || e % n != n - 1;
	case 3:
		return !c->gate || e % n < (n + 1) / 2;
	default:
		return e != n;
	}
}

/* Return the tick of the next rise of OUT after `tick`. */
static uint64_t next_rise(const struct dev_pit_channel *c, uint64_t tick)
{
	uint64_t n = period(c), e = elapsed(c, tick), at;

	if (!c->started || !c->counting)
		return DEV_NEVER;
	switch (mode(c)) {
	case 0:
	case 1:
		at = n;
		break;
	case 2:
	case 3:
		at = (e / n + 1) * n;
		break;
	default:
		at = n + 1;
		break;
	}
	return at > e ? tick + (at - e) : DEV_NEVER;
}

static void plan(struct dev_pit *pit)
{
	uint64_t at = next_rise(&pit->channel[0], ticks(pit));

	pit->due = at == DEV_NEVER ? DEV_NEVER : dev_clock_ns(at, DEV_PIT_HZ);
}

void dev_pit_init(struct dev_pit *pit)
{
	memset(pit, 0, sizeof(*pit));
	pit->channel[0].gate = pit->channel[1].gate = 1;
	pit->channel[0].access = pit->channel[1].access = pit->channel[2].access = ACCESS_BOTH;
	pit->due = DEV_NEVER;
}

void dev_pit_advance(struct dev_pit *pit, uint64_t now)
{
	pit->now = now;
	if (now < pit->due)
		return;
	pit->rose = true;
	plan(pit);
}

uint64_t dev_pit_next(const struct dev_pit *pit)
{
	return pit->due;
}

bool dev_pit_out(const struct dev_pit *pit, unsigned int channel)
{
	return out(&pit->channel[channel % DEV_PIT_CHANNELS], ticks(pit));
}

static uint32_t from_bcd(uint32_t v)
{
	return (v & 15) + 10 * (v >> 4 & 15) + 100 * (v >> 8 & 15) + 1000 * (v >> 12 & 15);
}

static uint32_t to_bcd(uint32_t v)
{
	return v % 10 | v / 10 % 10 << 4 | v / 100 % 10 << 8 | v / 1000 % 10 << 12;
}

static void start(struct dev_pit_channel *c, uint64_t tick)
{
	c->base = tick;
	c->passed = 0;
	c->started = true;
	c->counting = is_triggered(c) || c->gate;
}

static void load(struct dev_pit_channel *c, uint32_t value, uint64_t tick)
{
	if (c->bcd)
		value = from_bcd(value);
	c->reload = value ? value : c->bcd ? 10000 : 65536;
	if (!is_triggered(c))
		start(c, tick);
}

static void set_gate(struct dev_pit_channel *c, bool gate, uint64_t tick)
{
	bool rises = gate && !c->gate, falls = !gate && c->gate;

	if (c->reload && rises && (is_triggered(c) || is_periodic(c))) {
		c->gate = true;
		start(c, tick);
	} else if (rises && c->started) {
		c->base = tick;
		c->counting = true;
	} else if (falls && !is_triggered(c)) {
		c->passed = elapsed(c, tick);
		c->counting = false;
	}
	c->gate = gate;
}

/* Return the value of the counting element. */
static uint16_t count(const struct dev_pit_channel *c, uint64_t tick)
{
	uint64_t n = period(c), e = elapsed(c, tick), half = (n + 1) / 2;
	uint64_t wrap = c->bcd ? 10000 : 65536, value;

	if (!c->reload)
		return 0;
	if (mode(c) == 2) {
		value = n - e % n;
	} else if (mode(c) == 3) {
		e %= n;
		value = (n - 2 * (e < half ? e : e - half)) & ~1ull;
	} else {
		value = (n % wrap + wrap - e % wrap) % wrap;
	}
	value %= wrap;
	return (uint16_t)(c->bcd ? to_bcd((uint32_t)value) : value);
}

static void latch_count(struct dev_pit_channel *c, uint64_t tick)
{
	if (c->latched)
		return;
	c->latch = count(c, tick);
	c->latched = c->access;
}

static void latch_status(struct dev_pit_channel *c, uint64_t tick)
{
	if (c->has_status)
		return;
	c->status = (uint8_t)(out(c, tick) << 7 | !c->reload << 6 | c->access << 4 | c->mode << 1 |
			      c->bcd);
	c->has_status = true;
}

static void read_back(struct dev_pit *pit, uint8_t value)
{
	unsigned int i;

	for (i = 0; i < DEV_PIT_CHANNELS; i++) {
		if (!(value >> (i + 1) & 1))
			continue;
		if (!(value & 0x20))
			latch_count(&pit->channel[i], ticks(pit));
		if (!(value & 0x10))
			latch_status(&pit->channel[i], ticks(pit));
	}
}

static void control(struct dev_pit *pit, uint8_t value)
{
	struct dev_pit_channel *c;

	if (value >> 6 == 3) {
		read_back(pit, value);
		return;
	}
	c = &pit->channel[value >> 6];
	if (!(value >> 4 & 3)) {
		latch_count(c, ticks(pit));
		return;
	}
	*c = (struct dev_pit_channel){
		.access = value >> 4 & 3,
		.mode = value >> 1 & 7,
		.bcd = value & 1,
		.gate = c->gate,
	};
}

static void write_count(struct dev_pit_channel *c, uint8_t value, uint64_t tick)
{
	if (c->access != ACCESS_BOTH) {
		load(c, c->access == BYTE_HIGH ? (uint32_t)value << 8 : value, tick);
		return;
	}
	c->high_next_write = !c->high_next_write;
	if (!c->high_next_write) {
		load(c, (uint32_t)value << 8 | c->low, tick);
		return;
	}
	c->low = value;
	/* Mode 0 does not count after the first of two bytes. */
	if (mode(c) == 0) {
		c->started = false;
		c->counting = false;
	}
}

static uint8_t read_count(struct dev_pit_channel *c, uint64_t tick)
{
	bool high = c->access == BYTE_HIGH;
	uint16_t value;

	if (c->has_status) {
		c->has_status = false;
		return c->status;
	}
	if (c->latched) {
		high = !(c->latched & BYTE_LOW);
		c->latched &= (uint8_t) ~(high ? BYTE_HIGH : BYTE_LOW);
		return (uint8_t)(high ? c->latch >> 8 : c->latch);
	}
	if (c->access == ACCESS_BOTH) {
		high = c->high_next_read;
		c->high_next_read = !high;
	}
	value = count(c, tick);
	return (uint8_t)(high ? value >> 8 : value);
}

static uint8_t read_speaker(const struct dev_pit *pit)
{
	return (uint8_t)(pit->speaker | (pit->now / REFRESH_NS & 1) << 4 |
			 dev_pit_out(pit, 2) << 5);
}

bool dev_pit_read(struct dev_pit *pit, uint16_t port, uint8_t *value)
{
	if (port == DEV_PORT_SPEAKER)
		*value = read_speaker(pit);
	else if (port == PORT_CONTROL)
		*value = 0xff;
	else if (port >= PORT_FIRST && port < PORT_CONTROL)
		*value = read_count(&pit->channel[port - PORT_FIRST], ticks(pit));
	else
		return false;
	return true;
}

bool dev_pit_write(struct dev_pit *pit, uint16_t port, uint8_t value)
{
	if (port == DEV_PORT_SPEAKER) {
		pit->speaker = value & 15;
		set_gate(&pit->channel[2], value & 1, ticks(pit));
	} else if (port == PORT_CONTROL) {
		control(pit, value);
	} else if (port >= PORT_FIRST && port < PORT_CONTROL) {
		write_count(&pit->channel[port - PORT_FIRST], value, ticks(pit));
	} else {
		return false;
	}
	plan(pit);
	return true;
}
