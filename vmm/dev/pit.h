/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 8254 timer, and its third channel at port 61H. A count takes effect at the write, also in the
 * periodic modes, where the real chip first completes its period.
 */
#ifndef VMM_DEV_PIT_H
#define VMM_DEV_PIT_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_PIT_HZ	 1193182u
#define DEV_PIT_CHANNELS 3
#define DEV_PORT_SPEAKER 0x61u

struct dev_pit_channel {
	uint64_t base;	 /* the tick at which counting started or resumed */
	uint64_t passed; /* the ticks counted before `base` */
	uint32_t reload; /* 0 if no count was written */
	uint16_t latch;
	uint8_t latched; /* the unread bytes of `latch`: 1 low, 2 high */
	uint8_t has_status, status;
	uint8_t mode, access, bcd;
	uint8_t gate;
	uint8_t started;  /* OUT follows the count */
	uint8_t counting; /* the gate does not stop the count */
	uint8_t low;	  /* the first byte of a count of two bytes */
	uint8_t high_next_write, high_next_read;
	uint8_t spare[2];
};

struct dev_pit {
	uint64_t now;
	uint64_t due; /* the time of the next rise of OUT of channel 0 */
	struct dev_pit_channel channel[DEV_PIT_CHANNELS];
	uint8_t speaker; /* bits 0 to 3 of port 61H */
	uint8_t rose;	 /* OUT of channel 0 has risen since the last clear */
	uint8_t spare[6];
};

void dev_pit_init(struct dev_pit *pit);
void dev_pit_advance(struct dev_pit *pit, uint64_t now);
uint64_t dev_pit_next(const struct dev_pit *pit);
bool dev_pit_out(const struct dev_pit *pit, unsigned int channel);

/* Access ports 40H to 43H or 61H. Returns false for other ports. */
bool dev_pit_read(struct dev_pit *pit, uint16_t port, uint8_t *value);
bool dev_pit_write(struct dev_pit *pit, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PIT_H */
