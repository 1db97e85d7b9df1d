// SPDX-License-Identifier: GPL-2.0-or-later
/* 16550A serial port. */
#include "dev/serial.h"

#include <string.h>

#include "dev/clock.h"

/* The registers. Registers 0 and 1 are the divisor while LCR.DLAB is set. */
enum reg { REG_DATA, REG_IER, REG_IIR_FCR, REG_LCR, REG_MCR, REG_LSR, REG_MSR, REG_SCRATCH };

#define IER_RECEIVED 0x01
#define IER_THRE     0x02
#define IER_LINE     0x04
#define IER_MODEM    0x08

#define IIR_NONE     0x01
#define IIR_MODEM    0x00
#define IIR_THRE     0x02
#define IIR_RECEIVED 0x04
#define IIR_LINE     0x06
#define IIR_TIMEOUT  0x0c
#define IIR_FIFOS    0xc0

#define FCR_ENABLE 0x01
#define FCR_CLEAR  0x02
#define LCR_DLAB   0x80
#define MCR_OUT2   0x08
#define MCR_LOOP   0x10
#define LSR_READY  0x01
#define LSR_OVER   0x02
#define LSR_EMPTY  0x60 /* the holding register and the shift register */

/* A connected device is ready and the line is up: DCD, DSR, CTS. */
#define MSR_PRESENT 0xb0
#define MSR_RI	    0x40
#define MSR_TERI    0x04

/* The bits of a character on the line, and the clock: 1.8432 MHz / 16. */
#define CHARACTER_BITS	   10u
#define BIT_HZ		   115200u
#define TIMEOUT_CHARACTERS 4u
#define POLLS		   2u

void dev_serial_init(struct dev_serial *s)
{
	memset(s, 0, sizeof(*s));
	s->divisor = 12;
	s->timeout = DEV_NEVER;
}

static bool has_fifo(const struct dev_serial *s)
{
	return s->fcr & FCR_ENABLE;
}

static unsigned int capacity(const struct dev_serial *s)
{
	return has_fifo(s) ? DEV_SERIAL_FIFO : 1;
}

static unsigned int trigger(const struct dev_serial *s)
{
	static const uint8_t levels[4] = {1, 4, 8, 14};

	return has_fifo(s) ? levels[s->fcr >> 6] : 1;
}

unsigned int dev_serial_room(const struct dev_serial *s)
{
	return s->mcr & MCR_LOOP || s->count >= capacity(s) ? 0 : capacity(s) - s->count;
}

/* Restart the timeout of four characters. A divisor of 0 counts as 1. */
static void restart_timeout(struct dev_serial *s)
{
	uint64_t bits = (uint64_t)CHARACTER_BITS * TIMEOUT_CHARACTERS;

	s->timed_out = false;
	s->timeout = DEV_NEVER;
	if (has_fifo(s) && s->count)
		s->timeout = s->now + dev_clock_ns(bits * (s->divisor ? s->divisor : 1), BIT_HZ);
}

static void receive(struct dev_serial *s, uint8_t byte)
{
	if (s->count >= capacity(s)) {
		s->errors |= LSR_OVER;
		return;
	}
	s->fifo[(s->first + s->count) % DEV_SERIAL_FIFO] = byte;
	s->count++;
	restart_timeout(s);
}

void dev_serial_receive(struct dev_serial *s, uint8_t byte)
{
	if (!(s->mcr & MCR_LOOP))
		receive(s, byte);
}

void dev_serial_advance(struct dev_serial *s, uint64_t now)
{
	s->now = now;
	if (now < s->timeout)
		return;
	s->timeout = DEV_NEVER;
	s->timed_out = s->count != 0;
}

static bool reaches_processor(const struct dev_serial *s)
{
	return s->mcr & MCR_OUT2;
}

uint64_t dev_serial_next(const struct dev_serial *s)
{
	bool wanted = s->ier & IER_RECEIVED && s->count < trigger(s) && reaches_processor(s);

	return wanted ? s->timeout : DEV_NEVER;
}

/* Return the cause with the highest priority. */
static uint8_t cause(const struct dev_serial *s)
{
	if (s->ier & IER_LINE && s->errors)
		return IIR_LINE;
	if (s->ier & IER_RECEIVED && s->count >= trigger(s))
		return IIR_RECEIVED;
	if (s->ier & IER_RECEIVED && s->timed_out)
		return IIR_TIMEOUT;
	if (s->ier & IER_THRE && s->thre)
		return IIR_THRE;
	if (s->ier & IER_MODEM && s->delta)
		return IIR_MODEM;
	return IIR_NONE;
}

bool dev_serial_irq(const struct dev_serial *s)
{
	return reaches_processor(s) && cause(s) != IIR_NONE;
}

bool dev_serial_listens(const struct dev_serial *s)
{
	const bool interrupts = s->ier & IER_RECEIVED && reaches_processor(s);

	return (interrupts || s->polls >= POLLS) && dev_serial_room(s);
}

/* Return the modem inputs. In loopback the four outputs are the four inputs. */
static uint8_t modem(const struct dev_serial *s)
{
	uint8_t m = s->mcr;

	if (!(m & MCR_LOOP))
		return MSR_PRESENT;
	return (uint8_t)((m & 2) << 3 | (m & 1) << 5 | (m & 4) << 4 | (m & 8) << 4);
}

static void write_mcr(struct dev_serial *s, uint8_t value)
{
	uint8_t old = modem(s), changed;

	s->mcr = value & 0x1f;
	changed = old ^ modem(s);
	s->delta |= (changed >> 4) & (uint8_t)~MSR_TERI;
	/* The ring indicator only reports its trailing edge. */
	if (changed & old & MSR_RI)
		s->delta |= MSR_TERI;
}

static void write_fcr(struct dev_serial *s, uint8_t value)
{
	/* Enabling or disabling the FIFO also empties it. */
	if ((s->fcr ^ value) & FCR_ENABLE || value & FCR_CLEAR)
		s->first = s->count = 0;
	s->fcr = value & FCR_ENABLE ? value & 0xc9 : 0;
	restart_timeout(s);
}

static void write_ier(struct dev_serial *s, uint8_t value)
{
	/* Enabling the interrupt of an empty transmitter raises it at once. */
	if (value & (uint8_t)~s->ier & IER_THRE)
		s->thre = true;
	s->ier = value & 15;
}

static uint8_t read_data(struct dev_serial *s)
{
	uint8_t byte = s->fifo[s->first % DEV_SERIAL_FIFO];

	if (!s->count)
		return has_fifo(s) ? 0 : byte;
	/* Without the FIFO the byte can be read again. */
	if (has_fifo(s))
		s->first = (s->first + 1) % DEV_SERIAL_FIFO;
	s->count--;
	restart_timeout(s);
	return byte;
}

static uint8_t read_iir(struct dev_serial *s)
{
	uint8_t value = cause(s);

	if (value == IIR_THRE)
		s->thre = false;
	return value | (has_fifo(s) ? IIR_FIFOS : 0);
}

static uint8_t read_lsr(struct dev_serial *s)
{
	uint8_t value = LSR_EMPTY | s->errors | (s->count ? LSR_READY : 0);

	s->errors = 0;
	return value;
}

static uint8_t read_msr(struct dev_serial *s)
{
	uint8_t value = modem(s) | s->delta;

	s->delta = 0;
	return value;
}

/* Count the reads of LSR that follow each other. */
static void note_access(struct dev_serial *s, bool is_poll)
{
	if (!is_poll)
		s->polls = 0;
	else if (s->polls < POLLS)
		s->polls++;
}

uint8_t dev_serial_read(struct dev_serial *s, unsigned int reg)
{
	note_access(s, (reg & 7) == REG_LSR);
	switch (reg & 7) {
	case REG_DATA:
		return s->lcr & LCR_DLAB ? (uint8_t)s->divisor : read_data(s);
	case REG_IER:
		return s->lcr & LCR_DLAB ? (uint8_t)(s->divisor >> 8) : s->ier;
	case REG_IIR_FCR:
		return read_iir(s);
	case REG_LCR:
		return s->lcr;
	case REG_MCR:
		return s->mcr;
	case REG_LSR:
		return read_lsr(s);
	case REG_MSR:
		return read_msr(s);
	default:
		return s->scratch;
	}
}

static bool write_data(struct dev_serial *s, uint8_t value)
{
	s->thre = false;
	s->sending = true;
	if (s->mcr & MCR_LOOP) {
		receive(s, value);
		return false;
	}
	return true;
}

bool dev_serial_sent(struct dev_serial *s)
{
	if (!s->sending)
		return false;
	s->sending = false;
	s->thre = true;
	return true;
}

bool dev_serial_write(struct dev_serial *s, unsigned int reg, uint8_t value)
{
	note_access(s, false);
	switch (reg & 7) {
	case REG_DATA:
		if (!(s->lcr & LCR_DLAB))
			return write_data(s, value);
		s->divisor = (uint16_t)((s->divisor & 0xff00) | value);
		break;
	case REG_IER:
		if (s->lcr & LCR_DLAB)
			s->divisor = (uint16_t)((s->divisor & 0xff) | value << 8);
		else
			write_ier(s, value);
		break;
	case REG_IIR_FCR:
		write_fcr(s, value);
		break;
	case REG_LCR:
		s->lcr = value;
		break;
	case REG_MCR:
		write_mcr(s, value);
		break;
	case REG_SCRATCH:
		s->scratch = value;
		break;
	default:
		break;
	}
	return false;
}
