/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 16550A. What is sent goes out at once; what is received waits for its reader in the
 * FIFO. The interrupt line passes OUT2, as it does in a PC.
 */
#ifndef VMM_DEV_SERIAL_H
#define VMM_DEV_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_SERIAL_FIFO 16

struct dev_serial {
	uint64_t now;
	uint64_t timeout; /* when what waits below the trigger level interrupts */
	uint8_t fifo[DEV_SERIAL_FIFO];
	uint8_t first, count;
	uint8_t ier, fcr, lcr, mcr, scratch;
	uint8_t errors; /* of LSR: overrun */
	uint8_t delta;	/* of MSR */
	uint8_t thre;	/* the transmitter has become empty, nobody was told */
	uint8_t timed_out;
	uint8_t sending; /* a byte is on its way: see dev_serial_sent() */
	uint8_t spare[2];
	uint16_t divisor;
};

void dev_serial_init(struct dev_serial *s);
void dev_serial_advance(struct dev_serial *s, uint64_t now);
uint64_t dev_serial_next(const struct dev_serial *s);
bool dev_serial_irq(const struct dev_serial *s);

/* Bytes that can be received now. */
unsigned int dev_serial_room(const struct dev_serial *s);
void dev_serial_receive(struct dev_serial *s, uint8_t byte);
/* Would a byte make it interrupt? */
bool dev_serial_listens(const struct dev_serial *s);

/* `reg`: 0 to 7. */
uint8_t dev_serial_read(struct dev_serial *s, unsigned int reg);
/* True: `value` goes out. */
bool dev_serial_write(struct dev_serial *s, unsigned int reg, uint8_t value);
/* After a write, and a look at the interrupt line: a byte that was on its way has
 * gone. True if there was one. */
bool dev_serial_sent(struct dev_serial *s);

#endif /* VMM_DEV_SERIAL_H */
