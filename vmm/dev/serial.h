/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 16550A. What is sent goes out at once; what is received waits for its reader in the
 * FIFO. The interrupt line passes OUT2, as it does in a PC.
 */
#ifndef VMM_DEV_SERIAL_H
#define VMM_DEV_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#define VPT_SERIAL_FIFO 16

struct vpt_serial {
	uint64_t now;
	uint64_t timeout; /* when what waits below the trigger level interrupts */
	uint8_t fifo[VPT_SERIAL_FIFO];
	uint8_t first, count;
	uint8_t ier, fcr, lcr, mcr, scratch;
	uint8_t errors; /* of LSR: overrun */
	uint8_t delta;	/* of MSR */
	uint8_t thre;	/* the transmitter has become empty, nobody was told */
	uint8_t timed_out;
	uint8_t sending; /* a byte is on its way: see vpt_serial_sent() */
	uint8_t spare[2];
	uint16_t divisor;
};

void vpt_serial_init(struct vpt_serial *s);
void vpt_serial_advance(struct vpt_serial *s, uint64_t now);
uint64_t vpt_serial_next(const struct vpt_serial *s);
bool vpt_serial_irq(const struct vpt_serial *s);

/* Bytes that can be received now. */
unsigned int vpt_serial_room(const struct vpt_serial *s);
void vpt_serial_receive(struct vpt_serial *s, uint8_t byte);
/* Would a byte make it interrupt? */
bool vpt_serial_listens(const struct vpt_serial *s);

/* `reg`: 0 to 7. */
uint8_t vpt_serial_read(struct vpt_serial *s, unsigned int reg);
/* True: `value` goes out. */
bool vpt_serial_write(struct vpt_serial *s, unsigned int reg, uint8_t value);
/* After a write, and a look at the interrupt line: a byte that was on its way has
 * gone. True if there was one. */
bool vpt_serial_sent(struct vpt_serial *s);

#endif /* VMM_DEV_SERIAL_H */
