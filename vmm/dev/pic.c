// SPDX-License-Identifier: GPL-2.0-or-later
/* The pair of 8259A interrupt controllers. */
#include "dev/pic.h"

#include <string.h>

#define CASCADE 2

#define ICW1	    0x10
#define ICW1_LEVEL  0x08
#define ICW1_SINGLE 0x02
#define ICW1_ICW4   0x01
#define ICW4_AEOI   0x02
#define ICW4_NESTED 0x10 /* special fully nested mode */
#define OCW3	    0x08
#define OCW3_POLL   0x04

/*
 * The lines that ELCR can make level-triggered: all except timer, keyboard, cascade, RTC and FPU.
 */
static const uint8_t elcr_mask[2] = {0xf8, 0xde};

void dev_pic_init(struct dev_pic *pic)
{
	memset(pic, 0, sizeof(*pic));
	pic->chip[0].lowest = pic->chip[1].lowest = 7;
}

/* Return the input with the highest priority, or -1 if there is none. */
static int first(const struct dev_pic_chip *c, uint8_t inputs)
{
	unsigned int i;

	for (i = 1; inputs && i <= 8; i++)
		if (inputs >> ((c->lowest + i) & 7) & 1)
			return (c->lowest + i) & 7;
	return -1;
}

static unsigned int rank(const struct dev_pic_chip *c, int input)
{
	return input < 0 ? 8 : (unsigned int)(input - c->lowest - 1) & 7;
}

/* Return the input to serve now, or -1 if there is none. */
static int candidate(const struct dev_pic_chip *c, bool master)
{
	uint8_t blocking = c->isr;
	int input = first(c, c->irr & ~c->imr);

	if (input < 0)
		return -1;
	/* In special mask mode a masked input in service does not block others. */
	if (c->special_mask)
		blocking &= (uint8_t)~c->imr;
	/* In special fully nested mode the second chip does not block itself. */
	if (master && c->icw4 & ICW4_NESTED)
		blocking &= (uint8_t) ~(1u << CASCADE);
	return rank(c, input) < rank(c, first(c, blocking)) ? input : -1;
}

static bool is_level(const struct dev_pic_chip *c, unsigned int input)
{
	return c->icw1 & ICW1_LEVEL || c->elcr >> input & 1;
}

static void set_input(struct dev_pic_chip *c, unsigned int input, bool level)
{
	uint8_t bit = (uint8_t)(1u << input);

	if (level && (!(c->levels & bit) || is_level(c, input)))
		c->irr |= bit;
	else if (!level && is_level(c, input))
		c->irr &= (uint8_t)~bit;
	c->levels = (uint8_t)(level ? c->levels | bit : c->levels & ~bit);
}

static void cascade(struct dev_pic *pic)
{
	bool intr = candidate(&pic->chip[1], false) >= 0;

	/* If no request is left, drop the line and the pending request. */
	if (!intr)
		pic->chip[0].irr &= (uint8_t) ~(1u << CASCADE);
	set_input(&pic->chip[0], CASCADE, intr);
}

void dev_pic_set(struct dev_pic *pic, unsigned int line, bool level)
{
	if (line >= DEV_PIC_LINES || line == CASCADE)
		return;
	set_input(&pic->chip[line / 8], line % 8, level);
	cascade(pic);
}

bool dev_pic_intr(const struct dev_pic *pic)
{
	return candidate(&pic->chip[0], true) >= 0;
}

/*
 * Acknowledge an input. A request that was withdrawn is answered as input 7, which is not in
 * service.
 */
static unsigned int ack(struct dev_pic_chip *c, bool master)
{
	int input = candidate(c, master);
	uint8_t bit;

	if (input < 0)
		return 7;
	bit = (uint8_t)(1u << input);
	if (!is_level(c, (unsigned int)input))
		c->irr &= (uint8_t)~bit;
	if (!(c->icw4 & ICW4_AEOI))
		c->isr |= bit;
	else if (c->rotate_aeoi)
		c->lowest = (uint8_t)input;
	return (unsigned int)input;
}

uint8_t dev_pic_ack(struct dev_pic *pic)
{
	bool real = dev_pic_intr(pic);
	unsigned int input = ack(&pic->chip[0], true);

	if (!real || input != CASCADE)
		return (uint8_t)(pic->chip[0].base + input);
	input = ack(&pic->chip[1], false);
	/*
	 * The line of the second chip is low during the acknowledge, so that another edge can
	 * follow.
	 */
	pic->chip[0].levels &= (uint8_t) ~(1u << CASCADE);
	cascade(pic);
	return (uint8_t)(pic->chip[1].base + input);
}

static void write_icw1(struct dev_pic_chip *c, uint8_t value)
{
	uint8_t elcr = c->elcr, levels = c->levels, base = c->base;

	/* ICW1 clears the latched edges. */
	memset(c, 0, sizeof(*c));
	c->elcr = elcr;
	c->levels = levels;
	c->base = base;
	c->lowest = 7;
	c->icw1 = value;
	c->step = 2;
	for (unsigned int i = 0; i < 8; i++)
		if (is_level(c, i) && levels >> i & 1)
			c->irr |= (uint8_t)(1u << i);
}

static void write_icw(struct dev_pic_chip *c, uint8_t value)
{
	bool wants_icw4 = c->icw1 & ICW1_ICW4;

	switch (c->step) {
	case 2:
		c->base = value & 0xf8;
		c->step = c->icw1 & ICW1_SINGLE ? (wants_icw4 ? 4 : 0) : 3;
		break;
	case 3: /* the wiring is fixed */
		c->step = wants_icw4 ? 4 : 0;
		break;
	default:
		c->icw4 = value;
		c->step = 0;
		break;
	}
}

/*
 * Handle the end of interrupt and rotation. In special mask mode, only a specific EOI ends a masked
 * input.
 */
static void write_ocw2(struct dev_pic_chip *c, uint8_t value)
{
	uint8_t in_service = c->special_mask ? c->isr & (uint8_t)~c->imr : c->isr;
	unsigned int command = value >> 5;
	int input = command & 2 ? value & 7 : first(c, in_service);

	switch (command) {
	case 0: /* rotate in automatic EOI mode: off, on */
	case 4:
		c->rotate_aeoi = command == 4;
		break;
	case 6: /* set priority */
		c->lowest = value & 7;
		break;
	case 1: /* EOI: non-specific, specific; both with rotation */
	case 3:
	case 5:
	case 7:
		if (input < 0)
			break;
		c->isr &= (uint8_t) ~(1u << input);
		if (command & 4)
			c->lowest = (uint8_t)input;
		break;
	default:
		break;
	}
}

static void write_ocw3(struct dev_pic_chip *c, uint8_t value)
{
	if (value & 2)
		c->read_isr = value & 1;
	if (value & 0x40)
		c->special_mask = value >> 5 & 1;
	c->poll = (value & OCW3_POLL) != 0;
}

static void write_chip(struct dev_pic_chip *c, bool odd, uint8_t value)
{
	if (odd && c->step)
		write_icw(c, value);
	else if (odd)
		c->imr = value;
	else if (value & ICW1)
		write_icw1(c, value);
	else if (value & OCW3)
		write_ocw3(c, value);
	else
		write_ocw2(c, value);
}

/* Read a register. A read in poll mode acknowledges an interrupt. */
static uint8_t read_chip(struct dev_pic_chip *c, bool master, bool odd)
{
	if (c->poll) {
		bool there = candidate(c, master) >= 0;

		c->poll = false;
		return (uint8_t)(there << 7 | ack(c, master));
	}
	if (odd)
		return c->imr;
	return c->read_isr ? c->isr : c->irr;
}

/* Return the chip of a port, or -1. Sets *odd for its second port. */
static int decode(uint16_t port, bool *odd)
{
	*odd = port & 1;
	if ((port & ~1u) == 0x20)
		return 0;
	if ((port & ~1u) == 0xa0)
		return 1;
	return -1;
}

bool dev_pic_read(struct dev_pic *pic, uint16_t port, uint8_t *value)
{
	bool odd;
	int n = decode(port, &odd);

	if ((port & ~1u) == 0x4d0) {
		*value = pic->chip[odd].elcr;
		return true;
	}
	if (n < 0)
		return false;
	*value = read_chip(&pic->chip[n], !n, odd);
	cascade(pic);
	return true;
}

bool dev_pic_write(struct dev_pic *pic, uint16_t port, uint8_t value)
{
	bool odd;
	int n = decode(port, &odd);

	if ((port & ~1u) == 0x4d0)
		pic->chip[odd].elcr = value & elcr_mask[odd];
	else if (n >= 0)
		write_chip(&pic->chip[n], odd, value);
	else
		return false;
	cascade(pic);
	return true;
}
