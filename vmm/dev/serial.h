/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 16550A. Bytes are sent at once, and received bytes wait in the FIFO. OUT2 gates the interrupt
 * line, as in a PC.
 */
#ifndef VMM_DEV_SERIAL_H
#define VMM_DEV_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_SERIAL_FIFO 16

struct dev_serial {
	uint64_t now;
	uint64_t timeout; /* the time at which bytes below the trigger level cause an interrupt */
	uint8_t fifo[DEV_SERIAL_FIFO];
	uint8_t first, count;
	uint8_t ier, fcr, lcr, mcr, scratch;
	uint8_t errors; /* the error bits of LSR: overrun */
	uint8_t delta;	/* the delta bits of MSR */
	uint8_t thre;	/* the transmitter has become empty, and this is not reported yet */
	uint8_t timed_out;
	uint8_t sending; /* a byte is being sent: see dev_serial_sent() */
	uint8_t polls;	 /* reads of LSR since the last access to another register, at most 2 */
	uint8_t spare;
	uint16_t divisor;
};

void dev_serial_init(struct dev_serial *s);
void dev_serial_advance(struct dev_serial *s, uint64_t now);
uint64_t dev_serial_next(const struct dev_serial *s);
bool dev_serial_irq(const struct dev_serial *s);

/* Return the number of bytes that can be received now. */
unsigned int dev_serial_room(const struct dev_serial *s);
void dev_serial_receive(struct dev_serial *s, uint8_t byte);
/*
 * Returns true if the guest expects a byte. It does if the byte could cause an interrupt, or if its
 * last two accesses were reads of LSR: then it polls. A driver that prints or probes does neither.
 */
bool dev_serial_listens(const struct dev_serial *s);

/* Read a register. `reg` is 0 to 7. */
uint8_t dev_serial_read(struct dev_serial *s, unsigned int reg);
/* Write a register. Returns true if `value` is sent. */
bool dev_serial_write(struct dev_serial *s, unsigned int reg, uint8_t value);
/*
 * Complete the sending of a byte, after a write and an update of the interrupt line. Returns true
 * if a byte was being sent.
 */
bool dev_serial_sent(struct dev_serial *s);

#endif /* VMM_DEV_SERIAL_H */
